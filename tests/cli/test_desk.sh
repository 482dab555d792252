#!/bin/sh
# tests/cli/test_desk.sh - what a person meets at the desk: columns by name, means of seeds, tables
# as wide as the terminal, colours, installed examples, traces of a sane size.
. "${srcdir:-.}/tests/support/command.sh"

vgg="-w vgg19 -t dgx1-v100 -g 4 -b 64"

# ---- columns ----
run sweep $vgg -s dp -s pp --columns mfu,exposed,iteration
check columns_stand_in_the_order_asked_for \
    says '^  best by .*  strategy  *MFU  exposed comm  iteration$'
check and_no_others lacks "peak memory"
run sweep $vgg -s dp --columns mfuu
check a_misspelt_column_is_suggested fails 2 "did you mean 'mfu'"
run sweep $vgg -s dp --columns ,
check an_empty_column_is_refused fails 2 "no column ''"
run sweep -w vgg19 -t dgx1-v100 -t dgx2 -B 16 -s dp
check gpus_are_shown_where_they_differ says "topology   *GPUs  iteration"
run sweep -w vgg19 -t dgx1-v100 -t dgx2 -g 8 -B 16 -s dp
check and_not_where_they_are_the_same lacks "GPUs  iteration"
check what_has_no_price_is_not_called_cheap lacks "cheap"

# ---- seeds ----
run sweep $vgg -s dp -s pp --jitter 0.1 --seed 0..19 -o seeds.csv
check seeds_are_one_point says "^2 points"
check no_seed_is_the_best lacks "  seed  "
check the_mean_has_its_error says "iteration  std error  *min  *max"
check the_file_has_both test "$(head -n 1 seeds.csv | tr , '\n' |
    grep -c -x -e seeds -e standard_error_s -e min_s -e max_s)" -eq 4
run compare $vgg -s dp -s pp --jitter 0.1 --seed 0..19
check compare_says_the_same says "iteration  std error  *min  *max"
run sweep $vgg -s dp --seed 1 --seed 3
check single_seeds_are_not_compared fails 2 "FIRST..LAST"

# ---- widths ----
narrow() {
    COLUMNS=80 "$forerun" "$@" > out 2> err < /dev/null
    test "$(grep -e '^   *[a-z0-9]' out | awk 'length > 80' | wc -l)" -eq 0
}
check a_sweep_fits_80_columns narrow sweep -w llama2-7b -t hgx-h100 \
    -t "2x hgx-h100 via ib:400Gbps" -b 64 -s 'hybrid:tp=4|8,micro=1'
check long_names_become_numbers says "^  1   *[0-9.]* s to"
check a_comparison_fits_80_columns narrow compare $vgg -s dp -s pp -s mp

# ---- colours ----
if command -v script > /dev/null; then
    for no_color in "" 1; do
        TERM=xterm NO_COLOR=$no_color script -qc "$forerun sweep -w llama2-13b -t dgx-a100-40g \
            -b 16 -s dp --no-advice" /dev/null < /dev/null > "tty$no_color" 2>&1
    done
    check a_terminal_has_colours grep -q "$(printf '\033\\[31mout of memory')" tty
    check unless_nobody_wants_them test "$(grep -c "$(printf '\033')" tty1)" -eq 0
else
    skip "no script: no terminal is made"
fi
run sweep $vgg -s dp
check a_file_has_none test "$(grep -c "$(printf '\033')" out)" -eq 0

# ---- examples ----
FORERUN_DATADIR=$source run simulate -w examples/tasks/heft.csv -t "machines P1 P2 P3 via 1GB/s" \
    -s heft --order strict --network analytic
check examples_are_found_from_anywhere says "makespan  *80$"
FORERUN_DATADIR=$source run simulate -w examples/placements/tasks.csv \
    -t "2 machines via 1GB/s" -s placement:file=examples/placements/two-towers.csv
check inside_an_option_too says "makespan  *9$"
FORERUN_DATADIR=$source run simulate $vgg -s dp -o examples/tasks/heft.csv
check they_are_never_written_to fails 1 "examples/tasks/heft.csv: cannot write"
mkdir -p examples/tasks
printf 'task,time,after\na,2,\n' > examples/tasks/heft.csv
FORERUN_DATADIR=$source run simulate -w examples/tasks/heft.csv -t "1 machines" -s heft
check a_file_here_goes_first says "makespan  *2$"

# ---- the critical path and traces ----
run simulate $vgg -s dp -v
check the_critical_path_has_times says "^   *start  *takes  task"
run simulate $vgg -s pp -o all.trace.json
check a_pipeline_has_arrows test "$(grep -c '"flow_out":true' all.trace.json)" -gt 0
check each_has_two_ends test "$(grep -c '"flow_out":true' all.trace.json)" -eq \
    "$(grep -c '"flow_in":true' all.trace.json)"
run simulate $vgg -s pp -o one.trace.json --trace-ranks 1 --trace-micro-batches 2
check one_rank_alone_is_shown test "$(grep -c '"process_name"' one.trace.json)" -eq 1
check its_later_micro_batches_are_not test "$(grep -c "micro_batch.:[2-9]" one.trace.json)" -eq 0
run simulate $vgg -s pp -o one.trace.json --trace-ranks n0.gpu5
check a_rank_without_tasks_is_refused fails 2 "no task runs there"
run simulate -w llama2-7b -t hgx-h100 -b 256 -s pp:micro=1 -o long.trace.json
check a_long_trace_is_cut_and_says_so grep -q "note: .* the first [0-9]* of 256 micro-b" err
check and_is_not_large test "$(wc -c < long.trace.json)" -lt 40000000

percent=$((100 * (n_checks - n_failures) / n_checks))
echo "$percent%: Checks: $n_checks, Failures: $n_failures, Errors: 0"
test "$n_failures" -eq 0
