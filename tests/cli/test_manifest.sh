#!/bin/sh
# tests/cli/test_manifest.sh - `--manifest`: what an answer rests on, and the same answer again;
# `--strict`: warnings that change the exit status.
. "${srcdir:-.}/tests/support/command.sh"

cp "$source/examples/placements/tasks.csv" tasks.csv
lenet="-w lenet -t dgx1-v100 -g 2 -b 64 -s dp"

run simulate $lenet --json --no-timing
cp out typed
run simulate $lenet --json --manifest m.json
check the_answer_is_that_without_one cmp -s out typed
check times_of_the_wall_clock_are_left_out grep -q '"answer": "[0-9a-f]\{16\}"' m.json
check it_says_the_version grep -q '"version"' m.json
check it_says_what_was_typed grep -q '{"name": "batch", "value": "64"}' m.json
check it_says_where_a_data_sheet_is_from \
    grep -q '"of": "data sheet", "name": "v100-sxm2-16gb", "source": "NVIDIA' m.json
check it_says_where_curves_are_from grep -q '"of": "curve", .*"source": "[^"]' m.json
check it_says_where_links_are_from grep -q '"of": "link", .*"source": "[^"]' m.json
check it_says_where_the_assumed_recipe_is_from grep -q '"name": "pytorch-ddp: first=1MiB"' m.json
run simulate --manifest m.json --json
check asked_again_it_gives_the_same_bytes cmp -s out typed
check and_exits_with_0 succeeds

# an option of the manifest that was changed by hand gives another answer
sed 's/"64"/"32"/' m.json >other.json
run simulate --manifest other.json
check another_answer_is_no_success test "$status" = 1
check and_says_so grep -q "the answer is not the one that the manifest is of" err
run compare --manifest m.json
check a_manifest_is_of_one_verb fails 2 "m.json:4:11: the manifest is of 'forerun simulate', not of 'compare'"

# inputs
tasks="-w tasks.csv -s heft"
run simulate $tasks -t "2 machines via 1GB/s" --manifest t.json -q
check a_file_is_an_input grep -q '"path": "tasks.csv", "bytes": [1-9]' t.json
run simulate --manifest t.json -q
check it_is_asked_again_while_that_is_there succeeds
echo >>tasks.csv
run simulate --manifest t.json
check not_when_it_has_changed fails 2 "rests on 'tasks.csv', which has changed since"
rm tasks.csv
run simulate --manifest t.json
check nor_when_it_is_gone fails 2 "rests on 'tasks.csv', which is not there"

# comparisons and searches
run compare -w lenet -t dgx1-v100 -g 2 -s single -s dp --manifest c.json --json
cp out before
run compare --manifest c.json --json
check a_comparison_too cmp -s out before
run search -w gpt2-small -t hgx-h100 -g 2 -b 8 --manifest s.json --json -q
cp out before
run search --manifest s.json --json -q
check a_search_too cmp -s out before

# bad ones
bad() {
    printf '%s\n' "$2" >bad.json
    run simulate --manifest bad.json
    check "$1" fails 2 "$3"
}
bad no_json '{' 'bad.json:2:1:'
bad no_object '[1]' 'bad.json:1:1: a manifest has "forerun_manifest" here'
bad no_version '{"forerun_manifest": 1, "verb": "simulate"}' 'a manifest has "version" here'
version=$("$forerun" --version | sed 's,.* ,,')
head='"forerun_manifest": 1, "version": "'$version'", "verb": "simulate", "answer": "0"'
bad no_options "{$head}" 'a manifest has "options" here'
bad a_misspelt_option "{$head, \"inputs\": [], \"options\": [{\"name\": \"bathc\", \"value\": \"1\"}]}" \
    "unknown option '--bathc'"
bad an_option_without_its_value "{$head, \"inputs\": [], \"options\": [{\"name\": \"batch\"}]}" \
    "bad.json:1:[0-9]*: option '--batch' needs a value"
bad no_code_is_loaded "{$head, \"inputs\": [], \"options\": [{\"name\": \"strategy\", \"value\": \"./a.so\"}]}" \
    "code is loaded only where the command line names it"
run simulate --manifest gone.json
check no_file fails 2 "gone.json: cannot open"
run simulate -w m.json -t dgx1-v100 -s dp --manifest m.json
check an_input_is_never_written_over fails 2 "'m.json' is an input of this command"

# --strict
run simulate $lenet -p fp8 --json
check a_warning_alone_changes_nothing succeeds
check its_kind_is_in_the_json says '"warning_kinds": \["format"\]'
run simulate $lenet -p fp8 --strict
check strict_exits_with_4 test "$status" = 4
check and_says_what_is_in_doubt grep -q "note: strict: format of 'dp'" err
run simulate $lenet --strict
check without_doubt_it_exits_with_0 test "$status" = 0
run compare -w lenet -t dgx1-v100 -g 2 -p fp8 -s dp -s single --strict
check of_comparisons_too test "$status" = 4
finish
