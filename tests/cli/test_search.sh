#!/bin/sh
# tests/cli/test_search.sh - searches as people meet them: a table, files, flags, clear errors, and
# the same bytes for any number of threads and after an interruption.
. "${srcdir:-.}/tests/support/command.sh"

small="-w gpt:layers=8,hidden=1024,heads=16,seq=512,vocab=8192 -t dgx-a100-80g -b 32 -p bf16 -O adam"

run search $small --top 3 --vary micro=1,2 -o rows.csv -o all.json
check "a_search_ends_with_0" exits 0
check "it_shows_layouts" says "hybrid:dp="
check "it_says_how_many_it_looked_at" says "^[0-9]* layouts:$"
check "it_says_at_which_fidelity_the_best_is_proved" says "^Proved best of the space at the coarse"
cp out one.txt
check "every_layout_is_in_the_file" test "$(wc -l <rows.csv)" -eq "$(($(sed -n 's/^\([0-9]*\) layouts:$/\1/p' out) + 1))"
check "json_has_results" grep -q '"results"' all.json
check "the_best_has_its_range" says "^90 % of measured steps like the best lie between .* and .*cannot be told from it"
check "and_so_has_each_layout_in_json" sh -c 'test $(grep -c "iteration_s.*low_s.*high_s" all.json) -ge 3'
check "and_in_the_file" sh -c 'head -1 rows.csv | grep -q "low_s,high_s$"'
run search $small --top 3 --vary micro=1,2 -j 1
check "one_thread_prints_the_same" cmp -s out one.txt
run search $small --top 3 --vary micro=1,2 --store kept.csv
check "a_store_changes_nothing" cmp -s out one.txt
run search $small --top 3 --vary micro=1,2 --store kept.csv
check "going_on_from_a_store_changes_nothing" cmp -s out one.txt

if command -v gnuplot >/dev/null; then
    run search $small --top 1 --vary micro=1 -o frontier.svg -q
    check "the_frontier_is_drawn" grep -q "memory of the fullest GPU" frontier.svg
fi

# a search that is stopped goes on from its store
"$forerun" search $small --top 12 --vary micro=1,2 --store stopped.csv -j 1 >/dev/null 2>&1 &
pid=$!
tries=0
while [ ! -s stopped.csv ] && [ $tries -lt 100 ] && kill -0 $pid 2>/dev/null; do
    tries=$((tries + 1))
    sleep 0.05
done
kill -INT $pid 2>/dev/null
wait $pid
run search $small --top 12 --vary micro=1,2 --store stopped.csv
cp out resumed.txt
run search $small --top 12 --vary micro=1,2
check "a_stopped_and_resumed_search_prints_the_same" cmp -s out resumed.txt

run search $small --top 2 --vary micro=1 --why tp=2,pp=2,recompute=full
check "it_says_what_became_of_a_layout" says "layouts have tp=2,pp=2,recompute=full"
run search $small --top 1 --vary micro=1 --vary gpus=4,8 --vary nic=ib:100Gbps,roce:25Gbps,4us \
    -o clusters.csv -o clusters.json
check "several_clusters_are_searched" says "best layout of each of 4 clusters"
check "a_frontier_of_all_is_shown" says "^Faster, smaller or cheaper"
check "their_layouts_are_in_one_file" \
    grep -q '^"1x dgx-a100-80g via roce:25Gbps,4us",8,"hybrid' clusters.csv
check "and_in_json" grep -q '"clusters"' clusters.json
run search $small --vary gpus=4,8 --print-flags megatron
check "flags_are_of_one_cluster" fails 2 "one value of nic and of gpus"
run search $small --why tq=2
check "why_knows_its_axes" fails 2 "did you mean 'tp='"

run search $small --fix tp=2 --fix pp=2 --fix micro=1 --fix zero=1 --print-flags megatron
check "flags_are_for_pasting" says "^--tensor-model-parallel-size 2$"
check "and_nothing_else" test "$(grep -vc '^--' out)" -eq 0

run search -w gpt3-175b -t dgx1-v100 -b 8 -O adam --fix micro=1
check "a_search_where_nothing_fits_ends_with_3" exits 3
check "and_says_so" says "^No layout of the space fits"
check "and_by_how_much" says "GiB too much"

run search $small -s dp
check "a_strategy_is_refused" fails 2 "chooses the strategy itself"
run search $small --fix tq=2
check "an_unknown_axis_is_refused" fails 2 "did you mean 'tp='"
run search $small --fix tp=3
check "an_empty_space_is_refused" fails 2 "the space is empty"
run search $small --fix tp=3
check "a_degree_that_does_not_divide_is_named" fails 2 "tp=3 does not divide 8 GPUs"
run search $small --price z100=2
check "a_price_is_of_a_gpu_that_exists" fails 2 "no type of GPU, machine or topology is called 'z100'"
run search -w gpt3-175b -t dgx1-v100 -b 8 -p fp16 -O adam -q -o none.svg
check "reasons_are_shown_where_nothing_can_be_drawn" says "weights and optimizer do not fit"
run search $small --recipe pytorch-dpp
check "an_unknown_recipe_is_refused" fails 2 "no recipe 'pytorch-dpp', did you mean 'pytorch-ddp'"
run search $small --slow n9.gpu9=2
check "a_device_that_is_not_there_is_refused" fails 2 "has no device 'n9.gpu9'"
run search $small --measured nothere.csv
check "a_table_that_is_not_there_is_refused" fails 2 "nothere.csv: cannot open"
run search $small --fix tp=2,2 --fix tp=2 --fix schedule=1f1b,1f1b --vary micro=1
cp out twice.txt
run search $small --fix tp=2 --fix schedule=1f1b --vary micro=1
check "a_value_said_twice_is_one" cmp -s out twice.txt
run search $small --within much
check "a_wrong_margin_is_refused" fails 2 "'--within'"
run search $small --print-flags jax
check "an_unknown_framework_is_refused" fails 2 "megatron, deepspeed or torchtitan"
run search $small -o rows.txt
check "an_unknown_ending_is_refused" fails 2 "no ending that names a format of searches"
finish
