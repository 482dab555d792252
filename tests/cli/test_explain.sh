#!/bin/sh
# tests/cli/test_explain.sh - `forerun explain`: the worked example against its hand-derived values,
# faults.
. "${srcdir:-.}/tests/support/command.sh"
examples=$source/examples
golden=$source/tests/golden/cli

# says TEXT: a line that is TEXT, whatever the blanks
says() { sed 's/  */ /g; s/^ //; s/ $//' out | grep -q -x -F -e "$1"; }
equals() { test "$1" = "$2"; }
# The last column of the table under the title that matches, up to an empty line: "NAME VALUE" a
# row.
ranks() { awk '/= rank/ { on = 1; next } on && NF == 0 { exit } on { print $2 " " $(NF > 4 ? NF - 1 : NF) }' out; }

ten="-w $examples/ten-tasks -t $examples/ten-tasks/processors.yaml"

# ---- Topcuoglu, Hariri, Wu (IEEE TPDS 13(3), 2002), figure 2; DPOS of it by hand ----
# Ranks of the longest costs, from the exit up: t10 21; t7 15+17+21; t8 14+11+21; t9 20+13+21;
# t2 19+16+54; t3 19+23+53; t4 17+23+54; t5 13+13+54; t6 16+15+46; t1 16+12+95.

run explain $ten -s dpos
check the_example_succeeds succeeds
check the_ranks_are_those_derived_by_hand equals "$(ranks | tr '\n' ',')" \
    "t1 123,t3 95,t4 94,t2 89,t5 80,t6 77,t9 54,t7 53,t8 46,t10 21,"
check the_path_follows_the_ranks says "t1 > t3 > t7 > t10"
check the_second_processor_has_the_smallest_mean says "n0.P2 985 MiB 4 of 4 12.75 takes them"
check the_first_has_53_over_4 says "n0.P1 985 MiB 4 of 4 13.25"
check t4_ends_first_behind_t3 says "n0.P2 16 29 37 ends first, free from 29 on"
check t7_is_inserted_before_t9 says "ready 29, starts 37, ends 52; into the gap from 37 to 63"
check the_step_takes_87 says "The step takes 87 ms. No placement takes less than 41, the largest of:"
check the_last_starts_when_t8_arrives says "10 t10 n0.P2 80 87 t8 is here from n0.P1"

# The engine agrees where nothing shares a link.
run simulate $ten -s dpos:rule=paper --order strict --network analytic --channels inf
check the_engine_takes_as_long says "iteration time 87 ms"
# HEFT's plan takes 80
run simulate $ten -s dpos --order strict --network analytic --channels inf
check the_engine_finds_a_shorter_plan says "iteration time 76 ms"

# ---- what is shown ----

run explain $ten -s dpos --ops 3
check a_table_is_cut says "... and 7 operations more (--ops 0 shows all)"
check what_is_cut_is_not_told equals "$(grep -c '^[0-9]*\. t' out)" 3
run explain $ten -s dpos --ops 0
check zero_shows_all equals "$(grep -c '^[0-9]*\. t' out)" 10
run explain -w lenet -t dgx1-v100 -g 2 -b 64 -s dpos
cp out whole
run explain -w lenet -t dgx1-v100 -g 2 -b 64 -s dpos
check two_runs_say_the_same cmp -s out whole
run explain -w lenet -t dgx1-v100 -g 2 -b 64 -s dpos --op "conv2.wgrad of replica 2"
check a_name_with_blanks_is_found succeeds
run explain -w lenet -t dgx1-v100 -g 1 -b 64 -s os-dpos --ops 5
check one_device_is_enough succeeds
check one_device_has_nothing_to_split says "nothing on the longest path can be split."

# Splits that are kept: the second plan is of the dag with them, and shorter.
toy="-w $golden/toy -t $golden/pair.yaml -s os-dpos:rule=paper,start=model"
run explain $toy
check splits_are_told succeeds
check what_was_kept_is_said grep -q ' kept$' out
check the_plan_with_splits_is_told grep -q '^The dag with the splits that were kept' out
check the_step_gets_shorter equals \
    "$(sed -n 's/^The step takes \([0-9.]*\) ms.*/\1/p' out | sort -n | head -1)" \
    "$(sed -n 's/^The step takes \([0-9.]*\) ms.*/\1/p' out | tail -1)"
run simulate $toy --json
planned=$(sed -n 's/.*"planned_s": \([0-9.e-]*\),*/\1/p' out)
run explain $toy --json
check what_is_explained_is_what_is_planned equals "$planned" \
    "$(sed -n 's/.*"makespan_s": \([0-9.e-]*\),*/\1/p' out | tail -1)"

# ---- a mesh ----

two="-w gpt:layers=4,hidden=256,heads=8,seq=128,vocab=512 -p fp16"
run explain $two -t dgx1-v100 -b 32 -s hybrid:tp=2,pp=2 -o mesh.mesh.dot
check a_mesh_is_drawn succeeds
check every_rank_is_there equals "$(grep -c '^  r[0-9]* \[' mesh.mesh.dot)" 8
check rank_0_has_a_line_for_each_axis equals "$(grep -c '^  r0 -- ' mesh.mesh.dot)" 3
check the_schedule_is_drawn_too grep -q '^rank 1 .*F0' out
run explain $two -b 320 -t "20x hgx-h100 via ib:400Gbps" -s hybrid:tp=4,pp=2 -o mesh.mesh.dot
check of_many_machines_a_few_are_drawn equals "$(grep -c '^  r[0-9]* \[' mesh.mesh.dot)" 80
run explain $two -b 320 -t "20x hgx-h100 via ib:400Gbps" -s hybrid:tp=4,pp=2 -o mesh.mesh.svg
check the_others_are_counted grep -q 'more row' mesh.mesh.svg
run explain $two -t dgx1-v100 -b 32 -s hybrid:tp=2 -o mesh.dot
check a_mesh_is_no_graph_of_operations fails 2 "expected .mesh.svg .mesh.png"
run explain $ten -s dpos -o ten.mesh.dot
check a_planner_has_no_mesh fails 2 "has no mesh to draw"
run explain $two -t dgx1-v100 -b 32 -s hybrid:tp=2,pp=2 -s pp
check pipelines_stand_side_by_side_still succeeds

# ---- pictures ----

run explain $ten -s dpos -o ten.dot
check the_graph_is_text succeeds
check a_move_has_its_time grep -q 'o0 -> o1 .*label=" 18"' ten.dot
check what_stays_has_none grep -q 'o0 -> o2 \[color="#555555"\];' ten.dot
run explain -w vgg19 -t dgx1-v100 -g 2 -b 16 -s dpos -o vgg19.dot
check a_large_graph_is_of_layers grep -q '^  l1 .*label="conv1_1.n3.22 ms"' vgg19.dot
if command -v gnuplot > gnuplot.path; then
    for ending in png svg pdf; do
        run explain $toy -o toy.$ending
        check "the_plan_over_time_is_drawn: $ending" test -s toy.$ending
    done
    check before_and_after_stand_in_one_picture drawn texts toy.svg \
        'planned by DPOS: 6 ms' 'with the splits that were kept: 4.55 ms' 'fc, part 2 of 2'
    check its_axes_rise drawn axes toy.svg "axes 2"
    run explain $toy -o toy.png -o again.png
    check two_pictures_are_alike cmp -s toy.png again.png
    run explain -w lenet -t dgx1-v100 -g 8 -b 8 -s dpos -o eight.svg
    check eight_devices_are_drawn drawn texts eight.svg n0.gpu0 n0.gpu1 n0.gpu2 n0.gpu3 n0.gpu4 \
        n0.gpu5 n0.gpu6 n0.gpu7
fi
if command -v dot > dot.path; then
    run explain $toy -o toy.graph.svg
    check the_graph_is_drawn drawn graph toy.graph.svg "nodes 10" "edges 15"
    run explain $ten -s dpos -o ten.graph.svg
    check the_path_is_framed equals "$(grep -c 'stroke-width:3.33' ten.graph.svg)" 4
    check the_graph_has_what_was_split drawn texts toy.graph.svg "fc, part 1 of 2" \
        "fc, part 2 of 2" "join of fc"
    run explain -w vgg19 -t dgx1-v100 -g 2 -b 16 -s dpos -o vgg19.graph.svg
    check layers_are_drawn drawn graph vgg19.graph.svg "nodes 29" "edges 26"
    check stripes_fill_a_node drawn stripes vgg19.graph.svg "striped 26"
fi

# ---- faults ----

run explain $ten -s dpos -o x.txt
check an_unknown_ending_is_wrong_usage fails 2 "'x.txt' has no ending that names a format of explanations"
run explain $ten -s dpos -o no/such/x.svg
check an_unwritable_file_fails fails 1 "no/such/x.svg"

run explain $ten
check a_strategy_is_needed fails 2 "no strategy given"
run explain $ten -s dp
check others_have_nothing_to_explain fails 2 "'dp' has nothing to explain, expected 'pp' or 'hybrid' or 'dpos' or 'os-dpos'"
run explain $ten -s dpos -s os-dpos
check planners_are_not_told_side_by_side fails 2 "only pipelines are explained side by side"
run explain $ten -s dposs
check a_misspelt_strategy_has_a_hint fails 2 "did you mean 'dpos'"
run explain $ten -s dpos --op t11
check an_unknown_operation_fails fails 2 "no operation of the dag is called 't11', did you mean"
run explain $ten -s dpos --ops x
check a_number_is_needed fails 2 "option '--ops' is \"x\""
run explain $ten -s dpos --order strict
check the_engine_has_no_say fails 2 "unknown option '--order'"
run explain -s dpos -t dgx1-v100
check a_workload_is_needed fails 2 "no workload given"
run explain $ten -s dpos -g 4
check gpus_are_counted fails 2 "4 GPUs asked for, but"
run explain $ten -s dpos:start=dp
check replicas_need_samples fails 2 "1 samples are too few for 3 replicas"
run explain -w gpt2-xl -t dgx1-v100 -g 1 -b 8 -s dpos
check what_does_not_fit_is_3 fails 3 "most left"

# ---- names from outside ----

cp -r "$examples/ten-tasks" hostile
chmod -R u+w hostile
sed 's/^t3,/t3,"""<b>\\N"" $(touch hacked) & \\"" `touch hacked` %s",/; 2,3s/^\(t[12]\),/\1,,/; 5,11s/^\(t[0-9]*\),/\1,,/; 1s/^id,/id,name,/' \
    "$examples/ten-tasks/ops.csv" > hostile/ops.csv
run explain -w hostile -t "$examples/ten-tasks/processors.yaml" -s dpos
check a_hostile_name_is_only_text succeeds
check control_characters_do_not_reach_a_terminal equals "$(LC_ALL=C tr -d '\n -~' < out | wc -c)" 0
run explain -w hostile -t "$examples/ten-tasks/processors.yaml" -s dpos --json
check nor_do_they_reach_json equals "$(LC_ALL=C tr -d '\n -~' < out | wc -c)" 0
run explain -w hostile -t "$examples/ten-tasks/processors.yaml" -s dpos -o hostile.dot
check a_quote_does_not_end_a_label equals \
    "$(grep -c ' \[width=[^\\]*, label="\([^"\\]\|\\.\)*"\];$' hostile.dot)" 10
if command -v dot > dot.path; then
    run explain -w hostile -t "$examples/ten-tasks/processors.yaml" -s dpos -o hostile.graph.svg
    check graphviz_takes_a_hostile_name drawn graph hostile.graph.svg "nodes 10" \
        "edges 15"
fi
if command -v gnuplot > gnuplot.path; then
    run explain -w hostile -t "$examples/ten-tasks/processors.yaml" -s dpos -o hostile.svg
    check gnuplot_takes_a_hostile_name succeeds
    check markup_is_escaped drawn texts hostile.svg
fi
check nothing_was_run test ! -e hacked

# ---- pipelines ----

line="-w lenet -t dgx1-v100 -g 2 -b 8"
run explain $line -s pp:micro=1,schedule=gpipe -s pp:micro=1,schedule=1f1b
check pipelines_are_told_side_by_side succeeds
check each_schedule_is_drawn equals "$(grep -c '^rank ' out)" 4
run explain $line -s pp:micro=1,schedule=zb-h1 --json
check a_pipeline_is_json grep -q '"unit": "ms"' out
run explain $line -s pp:micro=1,schedule=zb-h9
check an_unknown_schedule_is_named fails 2 "'zb-h9' is no schedule"
run explain $line -s pp:micro=1 -s dpos
check others_do_not_stand_beside_pipelines fails 2 "strategy 'dpos' is no pipeline"
if command -v gnuplot > /dev/null; then
    run explain $line -s pp:micro=1,schedule=gpipe -s pp:micro=1,schedule=zb-h2 -o two.svg
    check two_schedules_are_drawn grep -q 'gradient of the input' two.svg
fi

finish
