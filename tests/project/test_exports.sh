#!/bin/sh
# tests/project/test_exports.sh - the shared library exports the functions that the installed
# headers declare, all of them and no others.
. "${srcdir:-.}/tests/support/command.sh"

library=$build/.libs/libforerun.so
if ! test -e "$library" || ! command -v nm > /dev/null; then
    echo "SKIP: no shared library, or no nm"
    exit 77
fi

# The headers that make install installs.
headers=$(sed -n '/^public_api = /,/[^\\]$/p' "$source/Makefile.am" |
    sed 's/^public_api =//; s/\\$//')

# declared FILE: the names of the functions that a header declares. Comments, lines of the
# preprocessor, types of functions and what is defined in the header itself are no declarations.
declared() {
    sed -e :a -e '/\\$/N; s/\\\n//; ta' "$1" | grep -v '^ *#' | tr '\n' ' ' |
        sed 's,/\*[^*]*\*\+\([^/*][^*]*\*\+\)*/,,g; s/[;{}]/\n/g' |
        grep -v -w -e typedef -e static | sed -n 's/^[^(]*\b\(fr_[A-Za-z0-9_]*\)(.*/\1/p'
}

# none WHAT FILE: the file is empty; else each line of it is named.
none() {
    test -s "$2" && sed "s/^/  $1: /" "$2"
    test ! -s "$2"
}

nm -D --defined-only "$library" | sed -n 's/.* T \(fr_[a-z]\)/\1/p' | sort > exported
for header in $headers; do
    test -e "$source/$header" || echo "$header" >> missing
    declared "$source/$header" > names
    grep -H -e 'fr__' "$source/$header" >> private
    test -s names || echo "$header" >> silent
    cat names >> found
done
touch missing silent private
sort found > sorted
uniq -d sorted > twice
sort -u sorted > declared
comm -23 exported declared > undeclared
comm -13 exported declared > hidden

check "the_headers_are_there" none missing missing
check "each_header_declares_functions" none "declares none" silent
check "no_installed_header_has_a_private_name" none "has a private name" private
check "a_function_is_declared_once" none "declared twice" twice
check "the_library_exports_many_functions" test "$(wc -l < exported)" -gt 100
check "each_exported_function_is_in_an_installed_header" none "in no installed header" undeclared
check "each_function_of_an_installed_header_is_exported" none "not exported" hidden
check "nothing_but_fr_is_exported" sh -c "! nm -D --defined-only '$library' | grep -v ' [Tt] fr_[a-z]'"

finish
