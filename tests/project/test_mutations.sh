#!/bin/sh
# tests/project/test_mutations.sh - each mutation of mutate.py still fits one place of the source.
# Whether a test notices them is for `make mutate` to say.
set -eu
command -v python3 >/dev/null || { echo "SKIP python3 is not here"; exit 77; }
exec python3 -B "${srcdir:-.}/tests/project/mutate.py" --check
