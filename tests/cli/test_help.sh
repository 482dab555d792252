#!/bin/sh
# tests/cli/test_help.sh - help, manual pages and completion, which all come from the tables of
# verbs and options; names that are suggested; names of files that are refused before the work.
. "${srcdir:-.}/tests/support/command.sh"

run help
cp out all
run --help
check help_is_help cmp -s out all
for verb in simulate compare diff explain "topo show" "graph draw" completion; do
    run $verb --help
    cp out long
    run help $verb
    check "help $verb is $verb --help" cmp -s out long
done
run help topo
check help_on_a_group_lists_it says "^  list"
run help simulat
check help_on_a_misspelt_command_suggests fails 2 "did you mean 'simulate'"
run help topo shov
check and_in_a_group fails 2 "did you mean 'show'"

# every word of the list of commands has a page, and groff finds nothing wrong with it
for word in $(sed -n '/^Commands:/,/^$/p' all | awk 'NF { print $1 }' | grep -v Commands | sort -u); do
    run help --man "$word"
    check "$word has a manual page" says "^.TH FORERUN-$word 1"
    check "$word shows examples" says "^.SH EXAMPLES"
    if command -v groff > /dev/null; then
        check "the page of $word is sound" test -z "$(groff -man -Tascii -ww -z out 2>&1)"
    fi
done

offers() { grep -q -x -e "$1" out; }
run completion words sim
check a_command_is_completed offers simulate
run completion words topo sh
check a_command_of_a_group_is_completed offers show
run completion words simulate -t dgx1-v
check a_topology_is_completed offers dgx1-v100
run completion words simulate --workload vgg1
check a_workload_is_completed offers vgg19
run completion words compare -s os
check a_strategy_is_completed offers os-dpos
run completion words compare --expl
check an_option_is_completed offers --explain
run completion words topo show dgx2
check an_argument_is_completed offers dgx2
run completion words simulate -b ""
check a_number_is_not test ! -s out
run completion fish
check other_shells_are_refused fails 2 "only for bash and zsh"
if command -v bash > /dev/null; then
    told=$(bash -c 'eval "$(forerun completion bash)"
        COMP_WORDS=(forerun simulate -t dgx1-v); COMP_CWORD=3; _forerun; echo "${COMPREPLY[*]}"')
    check bash_is_told test "$(echo $told)" = "dgx1-v100 dgx1-v100-32g"
fi

run topo show dgx1
check a_shortened_name_suggests_what_begins_so fails 2 "did you mean 'dgx1-p100', 'dgx1-v100' or"
run topo show dgx1-v10
check a_misspelt_one_the_nearest fails 2 "did you mean 'dgx1-v100'"

run reproduce fastt -o plot.doc
check an_unknown_ending_is_refused_before_the_work fails 2 "plot.doc': expected a name that ends in"
run reproduce fastt -o nowhere/plot.svg
check so_is_a_place_that_is_not_there fails 1 "nowhere/plot.svg: cannot write"

small="-w alexnet -t dgx1-v100 -g 2 -b 32 --costs datasheet --no-timing"
run compare $small -s dp -s pp --order fifo --order strict
check orders_are_compared test "$(grep -c ', order ' out)" -ge 4
check and_the_heading_claims_none says "order as named"
run compare $small -s dp --order fifo --order strict --network flow --network analytic
check two_settings_at_once_are_refused fails 2 "'forerun sweep' takes a grid"
run sweep -w alexnet -t dgx1-v100 -g 2 -b 32 --costs datasheet -s "pp:micro=4|8|16,schedule=gpipe|1f1b" -q
check options_of_strategies_take_grids says "^6 points"
run sweep -w alexnet -t dgx1-v100 -g 2 -b 32 --costs datasheet -s "pp:micro=4|" -q
check an_empty_value_is_refused fails 2 "with an empty value in a list"

# endings NAME COMMAND...: help lists the endings that the command knows, by what it says of another
endings() {
    verb=$1
    shift
    # shellcheck disable=SC2086 # a group and a command
    "$forerun" $verb "$@" -o x.nope 2>&1 |
        sed -n 's/.*expected one of \(\.[a-z. ]*\).*/\1/p' | tr ' ' '\n' | grep . >known
    # shellcheck disable=SC2086 # a group and a command
    "$forerun" help $verb --all | sed -n '/^Output files/,/^$/s/^  \(\.[a-z.]*\) .*/\1/p' >listed
    check "help_lists_the_files_of_$(echo "$verb" | tr ' ' _)" cmp -s known listed
    check "there_are_some_of_$(echo "$verb" | tr ' ' _)" test "$(wc -l <known)" -gt 4
}
endings simulate -w lenet -t dgx1-v100 -s single
endings diff a.json b.json
endings explain -w lenet -t dgx1-v100 -s dpos
endings sweep -w lenet -t dgx1-v100
endings search -w gpt2-small -t dgx1-v100 -b 8
endings learn -w lenet -t dgx1-v100
endings comm all-reduce -t dgx1-v100
endings "schedule draw" 1f1b --ranks 2 --micro-batches 2
endings validate rows.csv
finish
