#!/bin/sh
# tests/cli/test_sweep.sh - sweeps as people and batch systems meet them: the same answers for any
# number of threads, kills, shards and processes. SWEEP_KILLS is how often it is killed (5).
. "${srcdir:-.}/tests/support/command.sh"
kills=${SWEEP_KILLS:-5}

# dump STORE FILE: its rows by key
dump() {
    rm -f "$2"
    "$forerun" sweep merge "$2" "$1" >out 2>err
}

small="-w lenet -w alexnet -t dgx1-v100 -t dgx-a100-80g -g 1,2,4,8,16 -B 16,65536 -s dp -s pp"

# ---- tables and files ----
run sweep $small --dry-run
check "a_dry_run_counts_the_points" says "^80 points: 2 workload x 2 topology x 5 gpus x 2 batch-per-gpu x 2 strategy$"
run sweep $small
check "a_sweep_ends_with_0_when_something_fits" exits 0
check "the_table_counts_outcomes" says "^80 points: .* fit, .* out of memory, 16 impossible$"
check "the_table_names_the_best" says "^  time "
check "the_table_says_what_does_not_fit" says "^out of memory: "
check "the_table_says_why_a_point_is_impossible" says "16 GPUs asked for, but 'dgx1-v100' has 8"
run sweep $small --price v100=2.5,a100=4 --samples 1e9 --deadline 30days --json
check "json_has_as_many_results_as_points" test "$(grep -c '"outcome": ' out)" -eq 80
check "json_has_costs" says '"cost_usd": [0-9]'
check "json_has_null_times_where_nothing_runs" says '"iteration_s": null'
cp out first.json
run sweep $small --price v100=2.5,a100=4 --samples 1e9 --deadline 30days --json -j 1
cp out one.json
run sweep $small --price v100=2.5,a100=4 --samples 1e9 --deadline 30days --json -j 8
check "one_thread_and_eight_write_the_same" cmp one.json out
check "and_so_do_all_cores" cmp one.json first.json
if command -v python3 >/dev/null; then
    check "the_json_parses" python3 -m json.tool out parsed
fi
"$forerun" simulate -w alexnet -t dgx1-v100 -g 2 -B 16 -s dp --recipe none --json --no-timing -q |
    sed -n 's/^  "iteration_s": \(.*\),/\1/p' >simulated
grep '"workload": "alexnet", "topology": "dgx1-v100", "gpus": 2,' first.json |
    grep '"strategy": "dp".*"global_batch": 32,' | sed 's/.*"iteration_s": \([^,]*\),.*/\1/' >swept
check "a_point_is_what_simulate_says" cmp simulated swept
run sweep $small -o rows.csv -o rows.json -q
check "the_csv_has_a_line_a_point" test "$(wc -l <rows.csv)" -eq 81
check "the_json_file_has_a_summary" grep -q '"best_by_cost"' rows.json
run sweep $small -o rows.html -q
check "a_page_has_its_sections" drawn report rows.html "Over time, to one scale" "All points"
check "a_page_has_a_row_for_each_point" \
    test "$(sed -n '/All points/,/<\/table>/p' rows.html | grep -c '^<tr>')" -eq 80
if command -v gnuplot >/dev/null; then
    run sweep $small -o rows.svg -q
    check "a_picture_is_drawn" drawn texts rows.svg "frontier"
    check "its_axes_rise" drawn axes rows.svg "axes 4"
    run sweep -w alexnet -t dgx1-v100 -g 1,2,4,8 -b 64 -s dp -s pp --costs datasheet -q -o rows.scaling.svg
    check "scaling_is_drawn" drawn texts rows.scaling.svg "efficiency (%)" "alexnet: strong scaling, one batch on more GPUs"
    run sweep -w alexnet -t dgx1-v100 -g 8 -b 64 -s dp --costs datasheet -q -o rows.scaling.svg
    check "one_number_of_gpus_has_no_scaling" grep -q "no question fits on several numbers of GPUs" err
fi
run sweep -w lenet -t dgx1-v100 -t dgx-a100-40g -B 8 -s dp --price v100=2.5
check "a_machine_without_a_price_is_an_error" fails 2 "no price of 'a100-sxm4-40gb', .* add a100=USD"
run sweep -w gpt3-1.3b -t dgx1-v100 -g 2 -O adam -s single -s dp -B 4
check "where_nothing_fits_it_says_what_would" says "nothing fits; .* lacks least. What would fit:"
run sweep -w gpt3-1.3b -t dgx1-v100 -g 2 -O adam -s single -B 4 --no-advice
check "unless_told_not_to" lacks "What would fit"
run sweep -w gpt3-175b -t dgx1-v100 -s single -b 1,2 --no-advice
check "a_sweep_where_nothing_fits_ends_with_3" exits 3
run sweep -w lenet -t dgx1-v100 -g 16,32 -s single
check "a_sweep_of_impossible_points_ends_with_2" exits 2
run sweep -w lenet -t dgx1-v100 -s dp -B 4 --recipe pytorch-ddp,pytorch-dpp
check "an_unknown_recipe_is_no_impossible_point" fails 2 "no recipe 'pytorch-dpp', did you mean 'pytorch-ddp'"

# ---- usage ----
run sweep -t dgx1-v100
check "a_sweep_needs_a_workload" fails 2 "no workload"
run sweep -w lenet -t dgx1-v100 -g 1,two
check "a_bad_value_in_a_list_is_named" fails 2 "'--gpus' is \"two\""
run sweep -w lenet -t dgx1-v100 -b 8 -B 8
check "two_kinds_of_batch_exclude_each_other" fails 2 "exclude each other"
run sweep -w lenet -t dgx1-v100 --sensitivity
check "what_cannot_be_swept_is_refused" fails 2 "unknown option '--sensitivity'"
run sweep -w lenet -t dgx1-v100 --price v10=1
check "a_misspelt_gpu_is_corrected" fails 2 "did you mean 'v100'?"
for deadline in 30 30dayz -1h 0s nan 1e999days 'h' '30 days 2h'; do
    run sweep -w lenet -t dgx1-v100 --deadline "$deadline"
    check "a_deadline_of_$deadline" fails 2 "option '--deadline'"
done
for shard in 0/4 5/4 1 1/ /4 1/0 -1/4 1/4/2; do
    run sweep -w lenet -t dgx1-v100 --shard "$shard"
    check "a_shard_of_$shard" fails 2 "option '--shard'"
done
run sweep -w lenet -t dgx1-v100 --samples 0
check "no_samples_are_refused" fails 2 "option '--samples'"
run sweep -w lenet -t dgx1-v100 -o rows.trace
check "an_unknown_ending_is_refused" fails 2 "no ending that names a format of sweeps"
run sweep merge one.csv
check "a_merge_needs_something_to_merge" fails 2 "needs OUT IN"
run sweep merge out.csv none.csv
check "a_merge_of_nothing_is_refused" fails 2 "no such store"
check "and_leaves_nothing" test ! -e out.csv
echo "not a store" >text.csv
run sweep -w lenet -t dgx1-v100 --store text.csv
check "a_file_that_is_no_store_is_refused" fails 2 "no store of sweeps"

# ---- stores: both kinds where SQLite is built in ----
endings=csv
run sweep -w lenet -t dgx1-v100 -s single --store probe.sqlite
if test "$status" -eq 0; then
    endings="csv sqlite"
else
    check "a_build_without_sqlite_says_so" fails 2 "no SQLite; name the store .csv"
    echo "skipped: no SQLite in this build"
fi

# a few hundred points, two seconds of work on one core
large="-w resnet50 -w gpt2-medium -t dgx1-v100 -t dgx-a100-80g -g 1..8 -B 8,16,32 -s dp -s pp --network flow,analytic"
run sweep $large --store whole.csv -q
check "the_large_sweep_is_answered" exits 0
cp out whole.txt
dump whole.csv whole.dump.csv

# kill_often STORE TIMES N: kill -9 at moments spread over the run (by a fixed sequence), then to the
# end. N sweeps want the store at once: one gets it, the others are refused, and all are killed.
kill_often() {
    k=0
    n_killed=0
    while test "$k" -lt "$2"; do
        k=$((k + 1))
        pids=
        for _ in $(seq "$3"); do
            "$forerun" sweep $large --store "$1" -q >/dev/null 2>&1 </dev/null &
            pids="$pids $!"
        done
        sleep "0.$(printf '%02d' $((k * k * 17 % 60 + 5)))"
        for pid in $pids; do
            kill -9 "$pid" 2>/dev/null && n_killed=$((n_killed + 1))
            wait "$pid" 2>/dev/null && rm -f "$1" # it was done: the next one begins anew
        done
    done
    run sweep $large --store "$1" -q
}
# check_killed STORE WHAT: after the last run
check_killed() {
    check "$2 goes on to the end" exits 0
    check "some of the kills hit $2 at work" test "$n_killed" -gt 0
    check "the table of $2 is that of one run" cmp out whole.txt
    dump "$1" killed.dump.csv
    check "$2 is the whole one" cmp killed.dump.csv whole.dump.csv
    check "nothing is left beside $2" test "$(ls -A | grep -c "^$1")" -eq 1
    check "nothing temporary is left of $2" test "$(ls -A | grep -c '^[.]forerun-')" -eq 0
}
for ending in $endings; do
    kill_often "killed.$ending" "$kills" 1
    check_killed "killed.$ending" "a $ending store killed $kills times"
    kill_often "both.$ending" $(((kills + 1) / 2)) 2
    check_killed "both.$ending" "a $ending store of two killed sweeps"
done

for i in 1 2 3; do
    run sweep $large --shard "$i/3" --store "part$i.csv" -q
    check "shard_$i" exits 0
done
run sweep merge merged.csv part1.csv part2.csv part3.csv
check "shards_are_merged" exits 0
dump merged.csv merged.dump.csv
check "merged_shards_are_the_whole" cmp merged.dump.csv whole.dump.csv
run sweep $large --store merged.csv
check "the_merged_store_answers_everything" cmp out whole.txt
check "and_the_note_says_so" grep -q "384 points were in merged.csv already" err

# ---- processes: mpirun as root, and with more processes than cores, wants to be told so ----
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_plm_rsh_agent=/bin/false
# over NAME ARGUMENT...: as run, in three processes
over() {
    status=0
    timeout 120 mpirun -n 3 "$forerun" "$@" >out 2>err </dev/null || status=$?
}
if ! command -v mpirun >/dev/null; then
    echo "skipped: no mpirun"
else
    over sweep -w lenet -t dgx1-v100 -s single
    if grep -q "this build has no MPI" err; then
        check "a_build_without_mpi_says_so_once" test "$(grep -c '^forerun: ' err)" -eq 1
        echo "skipped: this build has no MPI"
    else
        over sweep $large --store processes.csv -q
        check "three_processes_answer_it_all" exits 0
        check "their_table_is_that_of_one" cmp out whole.txt
        dump processes.csv processes.dump.csv
        check "their_store_is_that_of_one" cmp processes.dump.csv whole.dump.csv
        k=0
        n_killed=0
        while test "$k" -lt "$kills"; do # one rank, and in turn which
            k=$((k + 1))
            mpirun -n 3 "$forerun" sweep $large --store rank.csv -q >/dev/null 2>&1 </dev/null &
            pid=$!
            sleep "0.$(printf '%02d' $((k * k * 17 % 60 + 30)))"
            rank=$(ps -o pid= --ppid "$pid" | sed -n "$((k % 3 + 1))p")
            test -n "$rank" && kill -9 $rank 2>/dev/null && n_killed=$((n_killed + 1))
            # Open MPI 4's mpirun may wait for ever for a rank that was killed as it began
            (sleep 30 && kill -9 "$pid") 2>/dev/null &
            watch=$!
            wait "$pid" 2>/dev/null && rm -f rank.csv
            kill "$watch" 2>/dev/null
        done
        over sweep $large --store rank.csv -q
        check_killed rank.csv "the store of processes of which one was killed"
        over sweep -w lenet -t nope
        check "one_of_three_processes_complains" test "$(grep -c '^forerun: ' err)" -eq 1
        over sweep -w lenet -t dgx1-v100 --store no/such/folder.csv
        check "the_others_end_when_the_first_cannot_begin" test "$status" -eq 1
    fi
fi

# ---- an interrupt ----
if timeout --preserve-status 9 true 2>/dev/null; then
    for after_s in 0.3 1 3; do
        status=0
        rm -f interrupted.csv
        timeout --foreground --preserve-status -s INT "$after_s" "$forerun" sweep $large -g 1..8 \
            --iterations 1..20 --store interrupted.csv >out 2>err </dev/null || status=$?
        test -s err && break
    done
    check "an_interrupt_says_how_to_go_on" fails 130 "interrupted after .* the same command goes on"
fi

# ---- inputs: a store must not answer for what has changed ----
cli=$source/tests/golden/cli
new_inputs() {
    rm -rf inputs
    mkdir inputs
    cp -R "$cli/toy" inputs/toy
    cp "$cli/fitted.yaml" "$cli/system.yaml" inputs
    sed 's/^device: .*/device: toy-gpu/' "$source/calibrate/devices/t4.yaml" >inputs/costs.yaml
    cp "$source/tests/fuzz/corpus/fuzz_graph_txt/conv" inputs/graph.txt
    rm -f inputs.csv
}
over_inputs() { run sweep -w inputs/toy -w inputs/graph.txt -t inputs/fitted.yaml -g 2 -b 8 -s dp \
    --costs calibrated --costs inputs/costs.yaml --store inputs.csv; }
for file in toy/workload.yaml toy/ops.csv toy/edges.csv toy/times.csv graph.txt fitted.yaml \
    system.yaml costs.yaml; do
    new_inputs
    over_inputs
    cp inputs.csv before.csv
    over_inputs
    check "unchanged inputs are found again ($file)" grep -q "^forerun: note: 4 points were in" err
    case $file in
    fitted.yaml) sed 's/1GB/2GB/' "$cli/fitted.yaml" >inputs/fitted.yaml ;;
    *) echo >>"inputs/$file" ;;
    esac
    over_inputs
    check "a changed $file is refused" grep -q "has changed since this store was filled" err
    check "a changed $file ends the sweep" exits 2
    check "the store is as it was ($file)" cmp before.csv inputs.csv
    rm inputs.csv
    over_inputs
    check "a new store takes the changed $file" lacks "already"
done
new_inputs
run sweep -w lenet -t dgx1-v100 -g 2 -s dp --costs inputs/later.yaml --store inputs.csv
cp "$source/calibrate/devices/v100-sxm2-16gb.yaml" inputs/later.yaml
run sweep -w lenet -t dgx1-v100 -g 2 -s dp --costs inputs/later.yaml --store inputs.csv
check "a file that appears later is refused" grep -q "'inputs/later.yaml' has changed" err
sed -n '/measured costs/p' inputs.csv >own
check "the compiled-in costs are an input" test "$(wc -l <own)" -eq 1

# ---- how collectives go, not said ----
# The header said "collective-algorithm none" of what was typed as auto.
run sweep -w lenet -t dgx1-v100 -g 2 -b 64 -s dp --collective-algorithm auto --protocol auto,LL
check "auto is called auto in the header" says "strategy dp, collective-algorithm auto$"
check "auto is called auto in a column" says "time, memory, GPU hours  auto "

finish
