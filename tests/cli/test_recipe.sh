#!/bin/sh
# tests/cli/test_recipe.sh - recipes: lists, files of one's own, faults, and what an answer says.
. "${srcdir:-.}/tests/support/command.sh"

equals() { test "$1" = "$2"; }

run recipe list
check every_recipe_is_listed equals "$(grep -c '^  [a-z]' out)" \
    "$(find "$source/study/recipes" -name '*.yaml' | wc -l)"
for name in $(sed -n 's/^  \([a-z][a-z0-9-]*\) .*/\1/p' out); do
    run recipe show "$name"
    check "$name" succeeds
    run simulate -w lenet -t dgx1-v100 -g 2 -b 64 -s dp --recipe "$name"
    check "the_answer_names_$name" says "recipe $name"
done
run recipe show nvidia-tf-brt
check a_misspelt_name_has_the_nearest_beside_it fails 2 "did you mean 'nvidia-tf-bert'?"
own=$source/examples/recipes/bucket-views.yaml
run recipe show "$own"
check a_file_is_shown says "copies-in=2"
run simulate -w lenet -t dgx1-v100 -g 2 -b 64 -s dp --recipe "$own"
check and_used succeeds

printf 'recipe: r\nsummary: s\nstrategy:\n  - {option: copies-in, value: two, source: x}\n' >bad.yaml
run simulate -w lenet -t dgx1-v100 -g 2 -b 64 -s dp --recipe bad.yaml
check a_wrong_value_has_its_place fails 2 "bad.yaml:4:32:"
printf 'recipe: r\nsummary: s\nstrategy:\n  - {option: adds, value: 3}\n' >bad.yaml
run recipe show bad.yaml
check a_value_needs_a_source fails 2 "bad.yaml:4:5:"
run recipe show nowhere.yaml
check a_missing_file_is_refused fails 2 "nowhere.yaml: cannot open"
finish
