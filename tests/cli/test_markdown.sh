#!/bin/sh
# tests/cli/test_markdown.sh - Markdown and the page of every kind of answer say what a terminal shows,
# word for word, and are well formed.
. "${srcdir:-.}/tests/support/command.sh"

if ! command -v python3 > /dev/null; then
    skip "no python3: no Markdown is read"
    finish
fi

# words FILE: without the colons, dashes and dots that tell text apart from headings
words() { tr -s ' ' '\n' < "$1" | sed 's/:$//' | grep -v '^\(--\|\)$'; }

# same NAME ARGUMENT...: the command says the same as text and as Markdown
same() {
    kind=$1
    shift
    run "$@" -q
    cp out text
    run "$@" -q -o answer.md
    check "${kind}_has_markdown" exits 0
    python3 "$source/tests/support/markdown.py" answer.md > said 2> err
    words text > want
    words said > have
    check "${kind}_says_the_same_words" cmp -s want have
    check "${kind}_is_well_formed" test ! -s err
    diff want have | head -n 4
}

# has_picture NAME: the page that paged wrote has a chart of the answer
has_picture() {
    check "${1}_has_a_picture_on_its_page" test "$(grep -c '<svg class="chart"' answer.html)" -eq 1
}

# paged NAME ARGUMENT...: the command says the same as text and on its page, where there is more
paged() {
    kind=$1
    shift
    run "$@" -q
    cp out text
    run "$@" -q -o answer.html
    check "${kind}_has_a_page" drawn report answer.html
    check "${kind}_has_a_page_of_the_same_words" python3 "$source/tests/support/page_words.py" text answer.html
}

small="-w lenet -t dgx1-v100 -g 2 -b 64"
# shellcheck disable=SC2086 # lists of words
{
    same a_record simulate $small -s dp --no-timing -v
    paged a_record simulate $small -s dp --no-timing
    same a_comparison compare $small -s single -s dp -v
    paged a_comparison compare $small -s single -s dp
    same a_sweep sweep $small -s single -s dp --all
    paged a_sweep sweep $small -s single -s dp --all
    same a_search search -w gpt2-small -t dgx1-v100 -g 2 -b 32
    paged a_search search -w gpt2-small -t dgx1-v100 -g 2 -b 32
    has_picture a_search
    same an_explanation explain $small -s os-dpos
    paged an_explanation explain $small -s os-dpos
    has_picture an_explanation
    same a_layout explain -w gpt2-small -t dgx1-v100 -g 2 -b 32 -s hybrid:dp=1,tp=2
    paged a_layout explain -w gpt2-small -t dgx1-v100 -g 2 -b 32 -s hybrid:dp=1,tp=2
    same pipelines explain -w gpt2-small -t dgx1-v100 -g 2 -b 32 -s pp -s pp:schedule=1f1b
    paged pipelines explain -w gpt2-small -t dgx1-v100 -g 2 -b 32 -s pp -s pp:schedule=1f1b
    has_picture pipelines
    same a_collective comm -t dgx1-v100 all-reduce -b 1M -e 4M
    paged a_collective comm -t dgx1-v100 all-reduce -b 1M -e 4M
    has_picture a_collective
    same its_steps comm -t dgx1-v100 all-reduce --explain
    paged its_steps comm -t dgx1-v100 all-reduce --explain
    has_picture its_steps
    run simulate $small -s single -o a.json -q
    run simulate $small -s dp -o b.json -q
    same a_difference diff a.json b.json
    stages="simulate -w $source/examples/stages/graph.txt -s pipedream:machines=4,compression=1"
    same stages $stages
    paged stages $stages
    same a_learning learn $small
    paged a_learning learn $small
    has_picture a_learning
    same schedules schedule draw 1f1b gpipe --ranks 4 --micro-batches 4
    paged schedules schedule draw 1f1b gpipe --ranks 4 --micro-batches 4
    has_picture schedules
}
run simulate $small -s dp -o no/such/folder/a.md
check a_missing_folder_is_said fails 1 "no/such/folder/a.md: cannot write"
finish
