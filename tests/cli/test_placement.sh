#!/bin/sh
# tests/cli/test_placement.sh - `-s placement:file=...`: the example by hand, faults with their
# lines, stores that notice a changed file.
. "${srcdir:-.}/tests/support/command.sh"

cp "$source/examples/placements/tasks.csv" tasks.csv
two="-w tasks.csv -t"
via="2 machines via 1GB/s"

# place ROW...: the file p.csv
place() { printf 'op,device,order,start_s\n' > p.csv; printf '%s\n' "$@" >> p.csv; }
placed() { run simulate $two "$via" -s placement:file=p.csv --json --no-timing; }
takes() { grep -q "^  \"iteration_s\": $1" out; }

# a 2 s, its gigabyte to m2 1 s, b 3 s, d 1 s; c's 2 GB leave m1 after 6 s and take 2 s: d runs from
# 8 to 9 s.
cp "$source/examples/placements/two-towers.csv" p.csv
placed
check the_example_takes_as_long_as_by_hand takes 9
place '*,m1,,'
placed
check all_on_one_machine_is_the_sum takes 10
# c before b on one machine: b's order is what the file says
place '*,m1,,' 'b,m1,2,' 'c,m1,1,'
run explain $two "$via" -s placement:file=p.csv --json
check an_order_is_kept test "$(tr -d ' \n' < out | grep -o '"c".*"b"' | head -c 3)" = '"c"'
place 'a,m1,,0' 'b,m2,,3' 'c,m1,,2' 'd,m2,,8'
placed
check start_times_are_an_order_too takes 9

place 'a,m1,,' 'b,m1,,' 'c,m1,,'
placed
check a_missing_op_is_named fails 2 "p.csv: no row places op 'd'"
place '*,m1,,' 'e,m2,,'
placed
check an_unknown_op_has_its_line fails 2 "p.csv:3:1: the model has no op 'e'"
place '*,m1,,' 'x*,m2,,'
placed
check a_pattern_without_ops_has_its_line fails 2 "p.csv:3:1: no op matches 'x\*'"
place '*,m3,,'
placed
check an_unknown_device_has_its_line fails 2 "p.csv:2:3: 'm3' is none of the 2 GPUs in use (m1 to m2), did you mean"
place '*,m1,,' 'a,m1,2,' 'b,m1,1,'
placed
check an_impossible_order_has_both_lines fails 2 "p.csv:4:1: 'b' needs 'a' (line 3), which stands behind it"
place '*,m1,,' 'a,m1,,5' 'b,m2,,1'
placed
check an_impossible_start_has_both_lines fails 2 "p.csv:4:1: 'b' starts at 1 s, before 'a' (line 3, 5 s)"
place '*,m1,,' 'a,m1,1,' 'd,m1,2,' 'c,m1,3,'
placed
check orders_that_wait_for_each_other_are_refused fails 2 "'d' needs 'c'\|wait for each other"
run simulate $two "$via" -s placement
check the_file_is_needed fails 2 "strategy 'placement' needs its option: placement:file="
run simulate $two "$via" -s placement:file=nowhere.csv
check a_missing_file_is_named fails 2 "nowhere.csv: cannot open"

# a model: what no row names stands with its forward op
printf 'op,device\n*,n0.gpu0\nfc*,n0.gpu1\n' > alex.csv
run simulate -w alexnet -t dgx1-v100 -g 2 -b 32 -s placement:file=alex.csv
check a_model_is_placed_by_patterns succeeds
check both_gpus_work says "on 2 of 8 GPUs"

# ---- what the file holds is part of a sweep's question ----

sweep() { run sweep $two "$via" -s placement:file=p.csv --store s.csv -q; }
place '*,m1,,'
sweep
check a_store_takes_placements succeeds
sweep
check and_goes_on_from_there succeeds
place '*,m2,,'
sweep
check a_changed_placement_is_noticed fails 2 "p.csv"
finish
