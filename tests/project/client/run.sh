#!/bin/sh
# tests/project/client/run.sh PREFIX WORK - what is installed under PREFIX serves a stranger: a C
# client builds through pkg-config and runs, each header stands alone (in C++ too), the library
# exports nothing but fr_*, and the command and its manual page are there.
set -eu
prefix=$1
work=$2
here=$(cd "$(dirname "$0")" && pwd)
export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"
export LD_LIBRARY_PATH="$prefix/lib"
cflags=$(pkg-config --cflags forerun)
libs=$(pkg-config --libs forerun)

# shellcheck disable=SC2086 # lists of options
${CC:-cc} -std=c11 -Wall -Wextra -Wpedantic -Werror $cflags -o "$work/client" "$here/client.c" \
    $libs -lm
"$work/client"

# ---- one header ----

# shellcheck disable=SC2086
${CC:-cc} -std=c11 -Wall -Wextra -Wpedantic -Werror $cflags -o "$work/embed" "$here/embed.c" \
    $libs -lpthread
"$work/embed" simulate '{"workload": "alexnet", "topology": "dgx1-v100", "gpus": 2, "batch": 32,
    "strategy": "dp", "no_timing": true}' >"$work/embed.json"
"$prefix/bin/forerun" simulate -w alexnet -t dgx1-v100 -g 2 -b 32 -s dp --no-timing --json |
    cmp - "$work/embed.json"
echo "a program with one header gets what the command prints"

for header in "$prefix"/include/forerun/*.h; do
    printf '#include <forerun/%s>\n#include <forerun/%s>\n' "${header##*/}" "${header##*/}" \
        >"$work/header.c"
    # shellcheck disable=SC2086
    ${CC:-cc} -std=c11 -Wall -Wextra -Wpedantic -Werror $cflags -fsyntax-only "$work/header.c"
    if command -v "${CXX:-c++}" >/dev/null; then
        # shellcheck disable=SC2086
        ${CXX:-c++} -std=c++11 -Wall -Wextra -Werror $cflags -fsyntax-only -x c++ "$work/header.c"
    fi
done
echo "each installed header stands alone"

exported=$(nm -D --defined-only "$prefix/lib/libforerun.so" | awk '{ print $3 }')
echo "$exported" | grep -q '^fr_simulate$' || { echo "fr_simulate is not exported" && exit 1; }
foreign=$(echo "$exported" | grep -v '^fr_[a-z]' || true)
[ -z "$foreign" ] || { echo "exported, but not fr_*: $foreign" && exit 1; }
echo "$(echo "$exported" | wc -l) functions are exported, all of them fr_*"

"$prefix/bin/forerun" --version
[ -s "$prefix/share/man/man1/forerun.1" ] || { echo "no manual page" && exit 1; }

# ---- strategies of one's own ----

# shellcheck disable=SC2086
${CC:-cc} -std=c11 -Wall -Wextra -Wpedantic -Werror -shared -fPIC $cflags -o "$work/halves.so" \
    "$prefix/share/forerun/examples/plug-ins/halves.c"
"$prefix/bin/forerun" simulate -w alexnet -t dgx1-v100 -g 2 -b 32 -s "$work/halves.so:cut=60" \
    >"$work/halves.txt"
grep -q 'on 2 of 8 GPUs' "$work/halves.txt"
if "$prefix/bin/forerun" simulate -w alexnet -t dgx1-v100 -g 2 -b 32 \
    -s "$prefix/lib/libforerun.so" 2>"$work/not.txt"; then
    echo "a library that is no strategy was taken" && exit 1
fi
grep -q 'is no strategy: it lacks FR_STRATEGY_PLUGIN' "$work/not.txt"
sed 's/^FR_STRATEGY_PLUGIN(halves);/const struct fr_strategy_plugin fr_strategy_plugin = {99, 0, 0, 0, 0, 0, 0, \&halves};/' \
    "$prefix/share/forerun/examples/plug-ins/halves.c" >"$work/old.c"
# shellcheck disable=SC2086
${CC:-cc} -std=c11 -shared -fPIC $cflags -o "$work/old.so" "$work/old.c"
if "$prefix/bin/forerun" simulate -w alexnet -t dgx1-v100 -g 2 -b 32 -s "$work/old.so" \
    2>"$work/old.txt"; then
    echo "a plug-in for another interface was taken" && exit 1
fi
grep -q 'was built for interface 99' "$work/old.txt"
echo "a strategy in a shared object runs; others are refused"

# ---- a store notices another shared object ----

sweep() {
    "$prefix/bin/forerun" sweep -w alexnet -t dgx1-v100 -g 2 -b 32 -s "$work/halves.so" \
        --store "$work/halves.csv" -q
}
rm -f "$work/halves.csv"
sweep >"$work/sweep.txt"
# shellcheck disable=SC2086
${CC:-cc} -std=c11 -O2 -g -shared -fPIC $cflags -DOTHER -o "$work/other.so" \
    "$prefix/share/forerun/examples/plug-ins/halves.c"
mv "$work/other.so" "$work/halves.so"
if sweep >"$work/sweep.txt" 2>"$work/changed.txt"; then
    echo "a changed shared object was not noticed" && exit 1
fi
grep -q 'halves.so' "$work/changed.txt"

# ---- placements, and examples where the package puts them ----

(cd "$prefix/share/forerun" && "$prefix/bin/forerun" simulate -w examples/placements/tasks.csv \
    -t "2 machines via 1GB/s" -s placement:file=examples/placements/two-towers.csv) |
    grep -q '^  makespan  *9$'
[ -s "$prefix/share/man/man1/forerun-simulate.1" ] || { echo "no page of simulate" && exit 1; }
[ -s "$prefix/share/bash-completion/completions/forerun" ] || { echo "no completion" && exit 1; }
echo "placements run, examples, pages and completions are installed"
