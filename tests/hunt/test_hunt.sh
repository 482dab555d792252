#!/bin/sh
# tests/hunt/test_hunt.sh - a few random questions against what must always be true; make hunt asks
# thousands. HUNT_QUESTIONS and HUNT_SEED say how many and which. Files that the printed commands
# name are then in hunt-found.
set -eu
command -v python3 >/dev/null || { echo "SKIP python3 is not here"; exit 77; }
exec python3 -B "${srcdir:-.}/tests/hunt/hunt.py" ./forerun -n "${HUNT_QUESTIONS:-80}" \
    -s "${HUNT_SEED:-1}" -j 2
