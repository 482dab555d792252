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
