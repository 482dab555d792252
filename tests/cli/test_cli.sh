#!/bin/sh
# tests/cli/test_cli.sh - the command as people and scripts meet it: what it prints where, how it
# ends.
. "${srcdir:-.}/tests/support/command.sh"
vgg="-w vgg19 -t dgx1-v100 -g 4 -b 64"

# here a success also says something
succeeds() { test "$status" -eq 0 && test -s out && test ! -s err; }
only_files() { test "$(ls | tr '\n' ' ')" = "$1"; }

# ---- help ----
run --help
check "help_succeeds" succeeds
check "help_names_the_commands" says "simulate"
for verb in simulate compare "topo show" "graph show" topo graph; do
    run $verb --help
    check "help_of_${verb}_succeeds" succeeds
    check "help_of_${verb}_has_examples" says "forerun ${verb%% *}"
done
run --version
check "version_is_one_line" says '^forerun [0-9]'

# every example in the help does what it says, but for files that only their reader has
for verb in simulate compare learn comm "sweep merge" "topo list" "topo show" "topo time" "topo check" "graph list" "graph show" \
    "graph check" "graph export"; do
    run $verb --help --all
    sed -n '/^Examples:/,$s/^  forerun //p' out | grep -v ' my' > examples
    while read -r example; do
        case $example in
        *.png* | *.svg*) command -v gnuplot > /dev/null || continue ;;
        esac
        eval "run $example"
        check "example_works: $example" exits 0
    done < examples
done
rm -rf examples rounds.png rounds.svg curves.svg vgg19.trace.json vgg19.png report.html vgg19-workload

# ---- GPUs that nobody measured ----
run calibrate show
check "a_gpu_without_a_file_is_listed" says '^k80-die  *no curves of its own, transferred: p100-pcie-16gb$'
run calibrate show k80-die
check "and_shows_whose_curves_it_takes" says '^  conv-forward  *fp32  *p100-pcie-16gb  *[0-9.]* %$'
run calibrate show h200-sxm-141gb
check "one_with_launches_alone_shows_both" says '^  gap_s '
check "that_is_what_it_borrows_too" says '^  matmul  *bf16  *h100-sxm5-80gb '
for topology in p2.16xlarge dgx1-p100 hgx-h200; do
    run simulate -w resnet18 -t $topology -g 1 -b 8 -s single --precision fp32
    check "${topology}_takes_its_relatives_curves" says '^costs from transferred 100.0 %$'
done

# ---- usage ----
run
check "no_command_is_wrong_usage" fails 2 "no command given"
run simulat
check "a_misspelt_command_is_corrected" fails 2 "did you mean 'simulate'?"
run topo shw x
check "a_misspelt_subcommand_is_corrected" fails 2 "did you mean 'show'?"
run topo
check "a_group_needs_a_command" fails 2 "needs a command"
run simulate --batsh 4
check "a_misspelt_option_is_corrected" fails 2 "did you mean '--batch'?"
run topo show dgx1-v100 --batch 4
check "an_option_of_another_command_is_refused" fails 2 "unknown option '--batch' here: other commands have it ('forerun help topo show')"
run topo show dgx1-v100 -b 4
check "so_is_its_letter" fails 2 "unknown option '-b' here: other commands have it"
run topo show dgx1-v100 -Z
check "a_letter_that_no_command_has_is_just_unknown" fails 2 "unknown option '-Z'"
run comm list
check "algorithms_are_listed" says "double binary trees"
run comm list --json
check "a_list_of_algorithms_is_a_table_only" fails 2 "writes a table only"
run simulate -b
check "an_option_without_value_is_refused" fails 2 "needs a value"
run simulate --json=1
check "a_flag_with_a_value_is_refused" fails 2 "takes no value"
run simulate $vgg -s dp extra
check "an_unexpected_argument_is_refused" fails 2 "unexpected argument 'extra'"
run simulate -w vgg19 -t dgx1-v100 -s dp -b 12x
check "a_batch_that_is_no_number_is_refused" fails 2 "option '--batch'.*12x"
run simulate -w vgg19 -t dgx1-v100 -s dp -g 0
check "zero_gpus_are_refused" fails 2 "option '--gpus'"
run simulate -w vgg19 -t dgx1-v100 -s dp -g 9
check "more_gpus_than_there_are_are_refused" fails 2 "9 GPUs asked for"
run simulate -w vgg19 -t dgx1-v100 -s dp -b 64 -B 8
check "two_kinds_of_batch_exclude_each_other" fails 2 "exclude each other"
run simulate -w vgg19 -t dgx1-v100 -s dp --order fito
check "a_misspelt_order_is_corrected" fails 2 "did you mean 'fifo'?"
run simulate -w vgg19 -t dgx1-v100 -s dp --order tic,tac
check "simulate_takes_one_order" fails 2 "option '--order' is \"tic,tac\""
run simulate -w vgg19 -t dgx1-v100 -s dp:pull=start
check "a_ring_has_no_pulls" fails 2 "option 'pull' of 'dp' belongs to parameter servers"
run simulate -w vgg91 -t dgx1-v100 -s dp
check "an_unknown_workload_is_bad_input" fails 2 "vgg91"
run simulate -w vgg19 -t dgx1-v10 -s dp
check "an_unknown_topology_is_bad_input" fails 2 "dgx1-v100"
run simulate -w vgg19 -t dgx1-v100 -s pd
check "an_unknown_strategy_is_wrong_usage" fails 2 "pd"
run simulate -w vgg16 -t dgx1-v100 -s pp -b 4294967294
check "the_largest_batch_there_is_does_not_fit" exits 3
check "and_what_would_fit_is_said" says 'what would fit'
run simulate -w vgg19 -t dgx1-v100
check "simulate_needs_a_strategy" fails 2 "no strategy"
run simulate -t dgx1-v100 -s dp
check "simulate_needs_a_workload" fails 2 "no workload"
run simulate $vgg -s dp -s single
check "simulate_takes_one_strategy" fails 2 "forerun compare"

# ---- results ----
run simulate -w lenet -t dgx1-v100 -g 2 -s dp:sync=ps-cpu,pull=start --order tic --channels 1 --json
check "an_order_tells_json_its_efficiency" says '"order_efficiency": [0-9.]*,'
check "and_how_many_transfers_it_has" says '"ordered_transfers": [1-9]'
run simulate -w lenet -t dgx1-v100 -g 2 -s dp --order tic --json
check "a_ring_has_no_transfers_to_order" says '"ordered_transfers": 0,'
run compare -w lenet -t dgx1-v100 -g 2 -s dp -s mp -s dp:sync=ps-cpu --order control
check "strategies_are_compared_in_an_order_of_one_kind" says "order control"
run simulate -w gpt:layers=2,hidden=64,heads=4,seq=16,vocab=100 -t dgx1-v100 -g 2 -b 2 --order control \
    -s dp:copies-in=1
check "a_copy_of_shared_gradients_comes_after_their_sum" says "iteration time"
for order in control strict; do
    run simulate -w lenet -t gh200-quad -b 4 --order $order -s hybrid:zero=1,overlap-gather=1
    check "a_gather_at_the_start_stands_before_its_readers_$order" says "iteration time"
done
for schedule in dualpipe chimera chimera-released; do
    for order in control strict; do
        run simulate -w gpt:layers=2,hidden=64,heads=4,seq=16,vocab=100 -t dgx1-v100 -g 2 -b 4 \
            --order $order -s pp:schedule=$schedule
        check "two_copies_of_a_stage_sum_in_one_order_$schedule,$order" says "iteration time"
    done
done
run simulate $vgg -s dp
check "simulate_prints_a_table" succeeds
check "the_table_echoes_the_question" says "vgg19 on 4 of 8 GPUs of dgx1-v100, strategy dp"
run simulate $vgg -s dp -v
check "verbose_tables_list_the_devices" says "n0.gpu3"
run simulate $vgg -s dp --json --no-timing
check "json_succeeds" succeeds
check "json_has_no_readings_of_clocks_when_told" says '"wall_s": 0,'
cp out first.json
run simulate $vgg -s dp --json --no-timing
check "the_same_question_gives_the_same_bytes" cmp -s out first.json
LC_ALL=de_DE.UTF-8 LC_NUMERIC=de_DE.UTF-8 run simulate $vgg -s dp --json --no-timing
check "a_locale_with_decimal_commas_changes_no_byte" cmp -s out first.json
run simulate $vgg -s dp -o dp.json --no-timing -q
check "the_json_file_is_what_standard_output_gets" cmp -s dp.json first.json
run simulate $vgg -s dp -o dp.csv -o dp.trace.json
check "several_files_are_written" test -s dp.csv -a -s dp.trace.json
check "the_csv_has_a_header_and_a_row" test "$(wc -l < dp.csv)" -eq 2
if command -v python3 > /dev/null; then
    check "the_json_parses" python3 -m json.tool first.json out
    check "the_trace_parses" python3 -m json.tool dp.trace.json out
else
    skip "no python3 to parse JSON a second way"
fi
rm -f dp.* first.json
run compare $vgg
check "compare_without_strategies_takes_all" exits 0
check "compare_has_a_row_for_single" says '^  single '
check "compare_has_a_row_for_dp" says '^  dp '
# lines_fit N: no line of a table is longer
lines_fit() { test "$(grep "^  " out | wc -L)" -le "$1"; }
big="-w gpt2-small -t dgx1-v100 -B 4 -p fp16 -O adam -s hybrid:tp=2,zero=1 -s hybrid:zero=3,recompute=full"
run compare $big
cp out whole
check "a_file_has_one_table" test "$(grep -c '^  strategy ' out)" -eq 1
for width in 80 120; do
    COLUMNS=$width
    export COLUMNS
    run compare $big
    unset COLUMNS
    check "a_table_is_cut_to_$width" lines_fit "$width"
    check "what_was_cut_stands_below_$width" test "$(grep -c '^  strategy ' out)" -ge 2
done
COLUMNS=1000
export COLUMNS
run compare $big
unset COLUMNS
check "wide_lines_hold_one_table" cmp -s out whole
rm -f whole
run compare $vgg -s single -s dp --json
check "compare_gives_an_array" says '"results": \['
run simulate -w vgg19 -t dgx1-v100 -b 4096 -s single
check "what_does_not_fit_ends_with_3" exits 3
check "what_does_not_fit_is_named" says "out of memory: n0.gpu0"
run simulate -w vgg19 -t dgx1-v100 -b 4096 -s single --json
check "no_iteration_time_without_memory" says '"iteration_s": null'

run compare -w vgg19 -t dgx1-v100 -g 4 -b 65536 -s single -s dp
check "a_comparison_where_nothing_fits_ends_with_3" exits 3
run compare -w vgg19 -t dgx1-v100 -g 4 -b 256 -s single -s dp --json
check "a_comparison_where_something_fits_ends_with_0" exits 0

run simulate $vgg -s dp:sync=ps-cpu --sensitivity
check "sensitivity_names_what_counts" says "^  PCIe bandwidth .* +25.0 % .* -[0-9.]* %$"
run simulate $vgg -s dp:sync=ps-cpu --sensitivity-rerun --json
check "sensitivity_is_in_json_too" says '"resource": "PCIe bandwidth".*"rerun_elasticity": -0[.][3-9]'
run simulate $vgg -s dp:sync=ps-cpu --json
check "sensitivity_is_there_only_when_asked_for" test "$(grep -c sensitivities out)" -eq 0
run compare $vgg -s dp -s dp:sync=ps-cpu --sensitivity
check "a_comparison_has_sensitivities_of_each" test "$(grep -c '^sensitivities' out)" -eq 2

run simulate $vgg -s dp --jitter 0.1 --seed 1 --json --no-timing
cp out first.json
run simulate $vgg -s dp --jitter 0.1 --seed 1 --json --no-timing
check "the_same_seed_gives_the_same_bytes" cmp -s out first.json
run simulate $vgg -s dp --jitter 0.1 --seed 2 --json --no-timing
check "another_seed_gives_another_time" test "$(sed 2q out)" != "$(sed 2q first.json)"
rm -f first.json

# ---- learning ----
learn="learn -w lenet -t dgx1-v100 -g 2 -b 256"
run $learn -o rounds.csv -o rounds.json --json
check "learning_converges" says '"has_converged": true'
check "a_learning_file_is_what_is_printed" cmp -s rounds.json out
check "learning_has_a_row_a_round" \
    test "$(wc -l < rounds.csv)" -eq $(($(grep -c '"is_profile"' out) + 1))
rm -f rounds.csv rounds.json
run $learn --rounds 1 --profiles 2
check "rounds_and_profiles_are_as_many_as_asked_for" test "$(grep -c '^  [0-9]' out)" -eq 4
check "learning_says_when_it_was_cut_short" says "cut short after round 1"
run $learn --jitter 0.05 --seed 3 --json
cp out first.json
run $learn --jitter 0.05 --seed 3 --json
check "the_same_seed_learns_the_same" cmp -s out first.json
rm -f first.json
for bad in "--drift 1" "--drift 1:2" "--drift 1@5" "--drift 1@5:2" "--drift x:2@5" "--drift -1:2@5" \
    "--drift 1:0@5" "--drift 1:nan@5" "--drift 1:1e99@5" "--drift 1:2@x" "--drift 1:2@-5" \
    "--drift 4294967296:2@5" "--drift 1:2@99999999999999999999" "--drift 11111111111111111111:2@1" \
    "--eps 0" "--eps -1" "--eps inf" "--iterations 0" "--rounds -1" "--every 1.5" "--activation 3" \
    "--activation -3s" "--profiles x" "--sensitivity" "-s single" "-s dpos -s os-dpos" "-o x.trace" \
    "-o x" "-o .csv"; do
    run $learn $bad
    check "learning_refuses: $bad" fails 2 .
done
run $learn -s dp
check "a_strategy_without_costs_to_learn_names_those_that_learn" \
    fails 2 "none to learn; 'dpos' and 'os-dpos' do"
run learn -w resnet50 -t dgx1-v100 -g 8 -b 40000
check "what_learning_begins_with_must_fit" fails 3 "does not fit"

# ---- files that cannot be written ----
run simulate $vgg -s dp -o x.doc
check "an_unknown_ending_is_wrong_usage" fails 2 "'x.doc'"
run simulate $vgg -s dp -o no/such/folder.json
check "an_unwritable_file_fails" fails 1 "folder.json"
run compare $vgg -o x.trace.json
check "a_trace_of_a_comparison_is_refused" fails 2 "not a comparison"
check "failures_leave_no_files" only_files "err out "
if test -x "$build/.libs/forerun"; then # past libtool's script, which needs a PATH itself
    status=0
    LD_LIBRARY_PATH=$build/.libs PATH=/nonexistent "$build/.libs/forerun" simulate $vgg -s dp \
        -o x.png -o x.csv > out 2> err || status=$?
    check "a_missing_gnuplot_is_named" grep -q "^forerun: gnuplot is not installed; write .csv" err
    check "a_missing_gnuplot_ends_with_status_1" exits 1
    check "a_missing_gnuplot_does_not_cost_the_answer" says "samples"
    check "a_missing_gnuplot_costs_the_picture_alone" only_files "err out x.csv "
    rm -f x.csv
    for what in "compare $vgg -s single -s dp" "sweep $vgg -s dp" \
        "comm all-reduce -t dgx1-v100 -g 4 -e 1M" "learn $vgg --rounds 2"; do
        status=0
        # shellcheck disable=SC2086 # words
        LD_LIBRARY_PATH=$build/.libs PATH=/nonexistent "$build/.libs/forerun" $what -o x.png \
            > out 2> err || status=$?
        check "without_gnuplot_the_table_is_printed: $what" test "$(wc -l < out)" -gt 5
        check "without_gnuplot_status_is_1: $what" exits 1
    done
else
    skip "no shared library: a missing gnuplot is not played"
fi
if command -v gnuplot > /dev/null; then
    run simulate $vgg -s dp -o x.svg
    check "a_timeline_is_drawn" drawn axes x.svg "axes 2"
    check "a_timeline_names_the_run" drawn texts x.svg "forward" "update" "time (ms)"
    run compare $vgg -s single -s dp -o x.svg
    check "a_comparison_is_drawn" drawn texts x.svg "exposed communication" "bubble" "single" "dp"
    check "a_comparison_has_its_axes" drawn axes x.svg "axes 2"
    rm -f x.svg
else
    skip "no gnuplot: no pictures"
fi
if test -w /dev/full; then
    status=0
    "$forerun" simulate $vgg -s dp --json > /dev/full 2> err || status=$?
    : > out
    check "a_full_disk_is_reported" fails 1 "standard output"
else
    skip "no /dev/full"
fi

# ---- ends before the end ----
status=0
{ "$forerun" topo show "16x dgx1-v100 via ib:100Gbps" --json 2> err; } | head -1 > out
check "a_reader_that_leaves_early_is_no_failure" test ! -s err -a -s out

# interrupt NAME SIGNAL STATUS: work of many seconds is told to end soon after it has begun. A busy
# machine may not have begun at all by then, which shows as no message; then it gets longer.
interrupt() {
    for after_s in 0.3 1 3; do
        status=0
        # timeout(1) signals its whole group as well: the same wish, twice
        timeout --preserve-status -s "$2" "$after_s" \
            "$forerun" simulate -w resnet200 -B 8 -t "64x dgx1-v100 via ib:100Gbps" \
            -s dp:bucket=64KiB --collectives expanded -o long.json > out 2> err || status=$?
        test -s err && break
    done
    check "$1" fails "$3" "interrupted"
    check "$1: nothing is left behind" only_files "err out "
}
if timeout --preserve-status 9 true 2> /dev/null; then
    interrupt "an_interrupt_ends_cleanly" INT 130
    interrupt "a_termination_ends_cleanly" TERM 143
else
    skip "no timeout(1) that keeps the exit status: no interrupts"
fi

# ---- topologies and workloads ----
run topo list
check "topo_list_names_the_presets" says "dgx1-v100"
run topo show dgx1-v100
check "topo_show_starts_with_the_normalised_name" test "$(head -1 out)" = dgx1-v100
run topo show dgx1-v100 --json
check "topo_show_gives_json" says '"links": \['
run topo check dgx1-v100
check "a_preset_passes_its_check" succeeds
run graph list
check "graph_list_names_the_zoo" says "vgg19"
check "graph_list_groups_the_zoo" test "$(grep -c '^[^ ].*:$' out)" = 3
run graph show vgg19 -b 64 --json
for key in params param_bytes param_tensors forward_flops backward_flops saved_bytes ops batch; do
    check "graph_show_has_$key" says "\"$key\":"
done
# Simonyan and Zisserman, ICLR 2015, table 2: 144 million, which is 143 667 240 when counted
check "vgg19_has_its_parameters" says '"params": 143667240,'
run graph show vgg19 --layers
check "graph_show_has_a_row_for_each_layer" says '^  conv5_4  *64x512x14x14  *2359808 .*conv2d bias relu$'
check "the_last_row_is_all_layers" says '^  all  *143667240 '
run graph show vgg19 --layers --json
check "graph_show_gives_layers_as_json" says '"name": "fc6", "output": \[64, 4096\], "params": 102764544,'
run graph show vgg19 --json
check "without_layers_there_are_none" lacks by_layer
run simulate $vgg -s single --layers
check "layers_are_for_graph_show" fails 2 "unknown option '--layers'"
# ---- edges are dependencies ----
# a, b and c own parameters and list no outputs; each edge moves 1000 bytes. Each op takes a second.
mkdir chain
printf 'name: chain\nbatch: 4\n' > chain/workload.yaml
printf 'id,kind,param_bytes\na,other,4000\nb,other,4000\nc,other,4000\nl,loss,\n' > chain/ops.csv
printf 'src,dst,bytes\na,b,1000\nb,c,1000\nc,l,1000\n' > chain/edges.csv
printf 'op,device,batch,time_s\na,*,4,1\nb,*,4,1\nc,*,4,1\n' > chain/times.csv
# begins OP MICROSECONDS: the op's forward task starts then or later
begins() {
    sed -n 's/.*"name":"'"$1"'","cat":"forward","ts":\([0-9]*\).*/\1/p' chain.trace.json > out
    test "$(cat out)" -ge "$2"
}
for strategy in mp dpos:start=model; do
    run simulate -w chain -t dgx1-v100 -g 2 -s $strategy -o chain.trace.json
    check "b_begins_after_a_under_$strategy" begins b 1000000
    check "c_begins_after_b_under_$strategy" begins c 2000000
done
rm -rf chain chain.trace.json

run graph check vgg19
check "the_zoo_is_not_odd" exits 0
run graph export vgg19 folder
check "a_graph_is_exported" test -s folder/ops.csv
run graph show folder
check "what_was_exported_is_read_back" says "143667240"
rm -rf folder

finish
