#!/bin/sh
# tests/torture/test_torture.sh - every allocation may fail: exit status 1, one sentence, and no
# other answer (torture.c says what is judged). TORTURE_MOST: how many allocations of each command
# are tried; 0: all of them; sites: one from each place that allocates. TORTURE_ONLY: an expression
# of grep that chooses commands.
set -u
build=$PWD
source=$(cd "${srcdir:-.}" && pwd)
shim=$build/tests/torture/.libs/failing_malloc.so
forerun=$build/.libs/forerun
if [ ! -e "$shim" ] || [ ! -x "$forerun" ]; then
    echo "SKIP: no library to preload, or no command that it can be loaded into"
    exit 77
fi
if grep -q -e __asan_init -e __tsan_init "$forerun"; then
    echo "SKIP: a sanitizer has allocation functions of its own"
    exit 77
fi
LD_LIBRARY_PATH=$build/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
if ! LD_PRELOAD=$shim TORTURE_FAIL=1+ "$forerun" --version 2>&1 | grep -q 'out of memory'; then
    echo "SKIP: failing_malloc.c needs glibc"
    exit 77
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
ln -s "$source/examples" examples
ln -s "$source/tests/torture/inputs" inputs
mkdir out
grep -e "${TORTURE_ONLY:-.}" "$source/tests/torture/commands" >commands
"$build/tests/torture/torture" "$forerun" "$shim" commands \
    "${TORTURE_MOST:-5}"
