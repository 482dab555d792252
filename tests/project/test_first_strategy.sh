#!/bin/sh
# tests/project/test_first_strategy.sh - the strategy that doc/extending.md shows compiles against
# the headers of today, without a warning.
. "${srcdir:-.}/tests/support/command.sh"

cc=$(sed -n 's/^CC = //p' "$build/Makefile")
sed -n '/^```c$/,/^```$/{/^```/d;p;}' "$source/doc/extending.md" > stripes.c
# shellcheck disable=SC2086 # the compiler may have options
compiles() {
    $cc -std=c11 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -fsyntax-only \
        -I"$source" -I"$build" stripes.c 2> err
}
check "the_page_has_one_strategy" test "$(grep -c '^const struct fr_strategy ' stripes.c)" -eq 1
# its declaration comes from the list, where the page's reader adds it
sed -i 's/^static const struct fr_option/extern const struct fr_strategy fr__strategy_stripes;\n&/' stripes.c
check "the_strategy_of_the_page_compiles" compiles
finish
