#!/bin/sh
# tests/oracles/test_plain_layouts.sh - times and bytes of layouts are those that were derived by hand.
set -eu
. "${srcdir:-.}/tests/support/direct.sh"
command -v python3 >/dev/null || { echo "SKIP python3 is not here"; exit 77; }
exec python3 -B "${srcdir:-.}/tests/oracles/plain_layouts.py" "$forerun"
