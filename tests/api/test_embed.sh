#!/bin/sh
# tests/api/test_embed.sh - a program that sees one header asks what the command is asked and gets
# the same bytes, the same sentences and the same statuses; its calls end when it says so, and two
# threads may ask at once.
. "${srcdir:-.}/tests/support/command.sh"

# As the library was built: with the same compiler and sanitizers.
library=$build/.libs/libforerun.so
cc="$(sed -n 's/^CC = //p' "$build/Makefile") $(sed -n 's/^FR_SAN = //p' "$build/Makefile")"
if ! test -e "$library" || ! command -v "${cc%% *}" > /dev/null; then
    echo "SKIP: no shared library, or no compiler"
    exit 77
fi
# compiled PROGRAM FILE.c
compiled() {
    # shellcheck disable=SC2086 # a list of words
    $cc -std=c11 -Wall -Wextra -Wpedantic -Werror -I. -o "$1" "$2" -L"$build/.libs" -lforerun \
        -lpthread "-Wl,-rpath,$build/.libs"
}

mkdir forerun
cp "$source/api/forerun.h" forerun/
compiled embed "$source/tests/project/client/embed.c" || exit 1

# embed WORD...: as run
embed() {
    status=0
    ./embed "$@" > out 2> err < /dev/null || status=$?
}

# same NAME VERB REQUEST ARGUMENT...: what the program gets is what the command prints
same() {
    name=$1 verb=$2 request=$3
    shift 3
    run "$@"
    mv out said
    expected=$status
    embed "$verb" "$request"
    check "$name" cmp said out
    check "$name: status" exits "$expected"
}

vgg='"workload": "vgg19", "topology": "dgx1-v100", "gpus": 4, "batch": 64'
same simulate simulate "{$vgg, \"strategy\": \"dp\", \"no_timing\": true}" \
    simulate -w vgg19 -t dgx1-v100 -g 4 -b 64 -s dp --no-timing --json
same text simulate "{$vgg, \"strategy\": \"dp\", \"json\": false, \"no-timing\": true}" \
    simulate -w vgg19 -t dgx1-v100 -g 4 -b 64 -s dp --no-timing
same null_is_not_given simulate "{$vgg, \"strategy\": \"dp\", \"json\": null, \"no-timing\": true}" \
    simulate -w vgg19 -t dgx1-v100 -g 4 -b 64 -s dp --no-timing --json
same nothing_fits simulate '{"workload": "gpt:layers=2,hidden=12288,heads=96", "topology": "dgx1-v100", "gpus": 1, "batch": 1,
    "strategy": "single", "no_timing": true}' \
    simulate -w gpt:layers=2,hidden=12288,heads=96 -t dgx1-v100 -g 1 -b 1 -s single --no-timing --json
same compare compare "{$vgg, \"strategy\": [\"dp\", \"pp\"], \"no_timing\": true, \"explain\": true}" \
    compare -w vgg19 -t dgx1-v100 -g 4 -b 64 -s dp -s pp --no-timing --explain --json
same sweep sweep '{"workload": ["vgg19", "alexnet"], "topology": "dgx1-v100", "gpus": [1, 2],
    "batch": 64, "strategy": ["dp"], "price": 2.5, "tokens": "1B"}' \
    sweep -w vgg19 -w alexnet -t dgx1-v100 -g 1,2 -b 64 -s dp --price 2.5 --tokens 1B --json
same search search '{"workload": "gpt2-medium", "topology": "dgx-a100-80g", "batch": 64,
    "precision": "bf16", "optimizer": "adam", "top": 3}' \
    search -w gpt2-medium -t dgx-a100-80g -b 64 -p bf16 -O adam --top 3 --json
same comm comm '{"arguments": "all-reduce", "topology": "hgx-h100", "maxbytes": "64M"}' \
    comm all-reduce -t hgx-h100 -e 64M --json
same explain explain '{"workload": "lenet", "topology": "dgx1-v100", "gpus": 2, "batch": 64,
    "strategy": "dpos"}' explain -w lenet -t dgx1-v100 -g 2 -b 64 -s dpos --json
same learn learn '{"workload": "lenet", "topology": "dgx1-v100", "gpus": 2, "batch": 64}' \
    learn -w lenet -t dgx1-v100 -g 2 -b 64 --json
same topo_show "topo show" '{"arguments": "dgx1-v100"}' topo show dgx1-v100 --json
same topo_time "topo time" '{"arguments": ["dgx-a100-80g", "all-reduce", "1MiB"]}' \
    topo time dgx-a100-80g all-reduce 1MiB --json
same graph_show "graph show" '{"arguments": "lenet", "layers": true}' graph show lenet --layers --json
same schedule_show "schedule show" '{"arguments": "1f1b", "ranks": 4, "micro_batches": 8}' \
    schedule show 1f1b --ranks 4 --micro-batches 8 --json
same a_verb_that_knows_only_text "schedule check" \
    '{"arguments": "zb-v", "ranks": 4, "micro_batches": 8}' \
    schedule check zb-v --ranks 4 --micro-batches 8
same no_request "topo list" '{}' topo list

# ---- errors: the sentence of the command, and the place in the request ----

# refused NAME VERB REQUEST PLACE ARGUMENT...: of both
refused() {
    name=$1 verb=$2 request=$3 place=$4
    shift 4
    run "$@"
    sed "s/^forerun: /$place: /" err > said
    expected=$status
    embed "$verb" "$request"
    check "$name" cmp said err
    check "$name: status" exits "$expected"
    check "$name: no answer" test ! -s out
}

refused an_unknown_option simulate '{"workload": "vgg19",
  "bach": 64}' 2:11 simulate -w vgg19 --bach=64
refused an_option_of_other_verbs "topo show" '{"arguments": "dgx2", "batch": 3}' 1:32 \
    topo show dgx2 --batch 3
refused a_bad_value simulate '{"workload": "vgg19", "batch": "12x"}' 1:32 simulate -w vgg19 -b 12x
refused a_bad_value_in_a_list comm '{"arguments": ["all-reduce"], "topology": "dgx2",
    "sizes": ["1M", "x"]}' 2:21 comm all-reduce -t dgx2 --sizes 1M --sizes x
refused a_value_twice simulate '{"workload": ["vgg19", "lenet"]}' 1:24 simulate -w vgg19 -w lenet
refused an_empty_value simulate '{"workload": ""}' 1:14 simulate --workload=
refused a_flag_with_a_value simulate '{"spread": "yes"}' 1:12 simulate --spread=yes
refused no_argument "topo show" '{}' 0:0 topo show
refused an_argument_too_many "topo show" '{"arguments": ["dgx2", "x"]}' 1:24 topo show dgx2 x
refused an_unknown_model simulate '{"workload": "vgg91", "topology": "dgx2", "batch": 8,
    "strategy": "dp"}' 0:0 simulate -w vgg91 -t dgx2 -b 8 -s dp
refused an_unknown_verb simulte '{}' 0:0 simulte
printf 'task,time,after\na,12x,\n' > tasks.csv
refused a_bad_file simulate '{"workload": "tasks.csv", "topology": "2 machines via 1GB/s",
    "strategy": "heft"}' 2:3 simulate -w tasks.csv -t "2 machines via 1GB/s" -s heft
refused an_output_over_an_input simulate '{"workload": "tasks.csv", "output": "tasks.csv"}' 0:0 \
    simulate -w tasks.csv -o tasks.csv

# says_error STATUS TEXT
says_error() { test "$status" -eq "$1" && grep -q -F -e "$2" err; }
embed simulate '{"workload": "vgg19", "strategy": "./mine.so"}'
check "code_is_not_loaded" says_error 2 "1:35: strategy './mine.so' is a shared object"
embed sweep '{"workload": "vgg19", "strategy": ["dp", "./mine.so:a=1|2"]}'
check "code_is_not_loaded_by_a_list" says_error 2 "is a shared object"
embed simulate '{"workload": "vgg19", "measured": "4ms@8:./mine.so"}'
check "code_is_not_loaded_by_what_was_measured" says_error 2 "is a shared object"
embed simulate '{"help": true}'
check "help_is_for_people" says_error 2 "1:10: a request has no option 'help'"
embed simulate '{"workload": }'
check "no_json" says_error 2 "1:14: found '}', expected a value"
embed simulate '[]'
check "no_object" says_error 2 "1:1: the request is no object"
embed simulate '{"workload": {"name": "vgg19"}}'
check "an_object_is_no_value" says_error 2 "1:14: option '--workload' is no text, number, true or"
embed simulate '{"workload": null, "topology": "dgx2", "spread": false}'
check "null_and_false_are_not_given" says_error 2 "no workload given"

# ---- files ----

embed simulate "{$vgg, \"strategy\": \"dp\", \"no_timing\": true, \"output\": [\"a.json\", \"a.csv\"]}"
check "files_are_written" cmp out a.json
check "files_are_written_too" test -s a.csv
embed simulate "{$vgg, \"strategy\": \"dp\", \"output\": \"nowhere/a.json\"}"
check "a_folder_that_is_not_there_is_an_error" says_error 1 "nowhere/a.json"
mkdir no-programs
status=0
PATH=no-programs ./embed simulate "{$vgg, \"strategy\": \"dp\", \"output\": \"a.png\"}" > out 2> err ||
    status=$?
check "a_picture_that_cannot_be_drawn_is_an_error" says_error 1 "gnuplot"
check "a_picture_that_cannot_be_drawn_leaves_the_answer" says '"iteration_s": '
embed simulate "{$vgg, \"strategy\": \"dp\", \"output\": \"a.html\"}"
check "a_report_names_the_command" grep -q -e '--workload=vgg19 --topology=dgx1-v100' a.html

# ---- columns ----

embed columns compare "{$vgg, \"strategy\": [\"dp\", \"pp\"]}"
check "answers_are_rows" says "^table 'results', 2 rows$"
check "a_text_is_a_column" says '^strategy dp pp$'
check "a_number_is_a_column" says '^iteration_s 0\.[0-9]* 0\.[0-9]*$'
check "a_flag_is_a_number" says '^oom 0 0$'
check "members_of_members_are_columns" says '^cost_sources\.profiled 0 0$'
embed columns simulate "{$vgg, \"strategy\": \"dp\"}"
check "devices_are_a_table" says "^table 'devices', 4 rows$"
check "their_memory_is_columns" says '^memory\.parameters 574668960 574668960'
check "tables_in_members_have_its_name" says "^table 'peak.holders', "
check "what_is_missing_is_no_number" says '^since_s nan '
embed columns "topo list" '{}'
check "text_has_no_tables" test ! -s out

# ---- cancelling, threads ----

# cancelled NAME VERB REQUEST: a call of many seconds is told to end after 0.4; the bound is for busy
# machines
cancelled() {
    embed cancel 0.4 "$2" "$3"
    check "$1" exits 5
    check "$1: says so" says 'after it was told, .*: interrupted'
    check "$1: soon" awk '{ exit !($1 < 5) }' out
}
cancelled cancels_a_search search '{"workload": "gpt3-175b", "topology": "128x dgx-a100-80g",
    "batch": 1536, "optimizer": "adam"}'
cancelled cancels_a_sweep sweep '{"workload": "all", "topology": "all", "batch-per-gpu": "16..64x2"}'
cancelled cancels_a_run simulate '{"workload": "gpt3-175b", "topology": "128x dgx-a100-80g",
    "batch": 1536, "optimizer": "adam", "strategy": "hybrid:tp=8,pp=16,micro=1,fold=0",
    "collectives": "expanded"}'
embed cancel 0 search '{"workload": "gpt3-175b", "topology": "128x dgx-a100-80g", "batch": 1536,
    "optimizer": "adam"}'
check "tells_of_progress_or_ends_before" says 'reports: interrupted'
run compare -w vgg19 -t dgx1-v100 -g 4 -b 64 -s dp -s pp --no-timing --json
mv out said
embed threads compare "{$vgg, \"strategy\": [\"dp\", \"pp\"], \"no_timing\": true}"
check "two_threads_ask_at_once" cmp said out

# ---- the example of doc/embedding.md ----

sed -n '/^```c$/,/^```$/{/^```/d;p;}' "$source/doc/embedding.md" > ask.c
compiled ask ask.c
./ask > out
check "the_example_prints_what_the_page_says" grep -q -x -e "    $(cat out)" \
    "$source/doc/embedding.md"

# ---- the verbs ----

embed verbs '{}'
check "lists_verbs" says '"verb": "topo show"'
check "lists_types" says '"name": "gpus", "letter": "g", "type": "count", .*"default": "all"'
check "lists_flags" says '"name": "spread", "letter": null, "type": "flag"'
check "lists_what_may_come_several_times" says '"name": "strategy", .*"several": true'
check "lists_defaults_of_verbs" says '"name": "maxbytes", .*"default": "1G"'
check "lists_no_help" lacks '"name": "help"'
finish
