#!/bin/sh
# tests/list.sh - writes tests/list.mk: every test of the tree, so that a test is named by its file
# and nowhere else. configure.ac runs it when autoreconf does; a new test needs autoreconf once.
#
# test_*.c are Check programs of one file each, which share what is in tests/support/ and link all
# layers (that a call only goes down is test_layers.sh's to prove). test_*.sh are scripts. A folder
# that builds its test of several files has a local.mk that names it (tests/hostile).
set -eu
export LC_ALL=C
new=tests/list.mk.new

list() {
    printf '%s =' "$1"
    find tests -name "$2" ! -path 'tests/hostile/*' | sort | sed "s/$3\$//" |
        while read -r name; do printf ' \\\n\t%s' "$name"; done
    printf '\n'
}

{
    echo '# Made by tests/list.sh.'
    list script_tests 'test_*.sh' ''
    list unit_tests 'test_*.c' '\.c'
    find tests -name 'test_*.c' ! -path 'tests/hostile/*' | sort | sed 's/\.c$//; s/[^A-Za-z0-9_]/_/g' |
        sed 's/\(.*\)/\1_LINK = $(link_test)\n\1_LDADD = $(all_layers)/'
} >$new
cmp -s $new tests/list.mk || cp $new tests/list.mk # a date that moves would build everything anew
rm -f $new
