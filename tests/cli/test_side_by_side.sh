#!/bin/sh
# tests/cli/test_side_by_side.sh - options given twice, several workloads and clusters in one table,
# what an answer's header says of NICs and of names that stand for something, prices of machines.
. "${srcdir:-.}/tests/support/command.sh"

# ---- an option that takes one value is not given two ----
small="-w lenet -t dgx1-v100 -g 2 -s dp --costs datasheet --no-timing"
run simulate $small -b 32 -b 64
check two_batches_are_refused fails 2 "'--batch' is given twice, \"32\" and \"64\""
run simulate $small -w alexnet -b 32
check two_workloads_are_refused fails 2 "'--workload' is given twice, \"lenet\" and \"alexnet\""
run simulate $small -b 32 --seed 1 --seeds 0..3
check two_names_of_one_option_are_one fails 2 "given twice, \"1\" and \"0..3\""
run search -w gpt2-small -t dgx1-v100 -t dgx2 -b 8
check a_search_has_one_cluster fails 2 "given twice, \"dgx1-v100\" and \"dgx2\""
run schedule show gpipe --ranks 2 --ranks 4 --micro-batches 4
check so_with_schedules fails 2 "'--ranks' is given twice, \"2\" and \"4\""
run comm all-reduce -t dgx1-v100 --op sum -o prod
check two_reductions_are_refused fails 2 "two reductions are given, sum and prod"
run simulate $small -b 32 -q -q
check a_flag_may_be_repeated test "$status" = 0

# ---- compare shows them side by side ----
run compare -w lenet -w alexnet -t dgx1-v100 -t dgx2 -g 2 -b 64 -s single -s dp --costs datasheet
check eight_answers test "$(grep -c '^  \(lenet\|alexnet\) ' out)" = 8
check each_question_has_its_header test "$(grep -c '^global batch 64' out)" = 4
check no_speed_up_over_another_workload test "$(grep -c speed-up out)" = 0
run compare -w lenet -t dgx1-v100 -g 2 -b 64 -b 128 -s dp --costs datasheet --json
check batches_in_json test "$(grep -c '"global_batch": \(64\|128\),' out)" = 2
check the_strategy_keeps_its_name test "$(grep -c '^      "strategy": "dp",' out)" = 2
# an iteration of 128 samples takes longer, a sample of it does not
run compare -w vgg11 -t dgx1-v100 -g 1 -b 16 -b 128 -s single --costs datasheet
check speed_up_by_rate says "^speed-up against single, 16 samples in samples a second"
check and_the_base_is_one test "$(grep -c '^ *16 .* 1.00x ' out)" = 1
check a_larger_batch_is_no_slower_for_it test "$(grep -c '^ *128 .* 0\.[0-9]*x ' out)" = 0
run compare -w lenet -t dgx1-v100 -g 2 -g 4 -s dp --costs datasheet
check numbers_of_gpus says "^  *GPUs  strategy"
run compare -w lenet -t dgx1-v100 -g 2 -b 64 -b 128 -s dp --costs datasheet -o side.html -o side.svg
check reports_name_rows grep -q 'dp, 128 samples' side.html
check pictures_name_rows grep -q '128' side.svg

# ---- NICs in the header ----
# DGX H100: eight NICs of 400 Gbit/s = 50 GB/s, each behind PCIe 5.0 of 48 GB/s, so 800 change nothing
run simulate -w gpt2-small -t "2x hgx-h100" -b 16 -s dp --costs datasheet
check pcie_limits says "^NICs of a machine: 8 x 400 Gbit/s, PCIe 48 GB/s (PCIe limits)$"
run simulate -w gpt2-small -t "2x hgx-h100 via ib:800Gbps" -b 16 -s dp --costs datasheet --json
check in_json says '"rate_Bps": 100000000000, "pcie_Bps": 48000000000, "limited_by": "pcie"'
run simulate -w lenet -t "4x dgx1-v100 via eth:10Gbps" -b 64 -s dp --costs datasheet
check a_dgx1_has_four says "^NICs of a machine: 4 x 10 Gbit/s, PCIe 12 GB/s (the network limits)$"
run simulate -w lenet -t "2x dgx1-v100 + 1x dgx2" -b 96 -s dp --costs datasheet
check machines_that_differ says "4 x 100 Gbit/s.* in 2 machines; 8 x 100 Gbit/s.* in 1 machine"
run simulate -w lenet -t "2x dgx1-v100 less n0.nic1=0.5" -b 64 -s dp --costs datasheet
check and_nics_of_one says "3 x 100 Gbit/s.* in 1 machine; 1 x 50 Gbit/s"
run simulate -w lenet -t "2x dgx1-v100" -g 8 -b 64 -s dp --costs datasheet
check one_machine_has_no_network test "$(grep -c NICs out)" = 0
dgx='8 x 400 Gbit/s, PCIe 48 GB/s (PCIe limits)'
run comm all-reduce -t "2x hgx-h100 via ib:400Gbps" --sizes 1M
check a_collective_says_them_too says "^# NICs of a machine: $dgx$"
run comm all-reduce -t "2x hgx-h100 via ib:400Gbps" --sizes 1M --explain
check and_its_story says "^NICs of a machine: $dgx$"
run comm all-reduce -t "2x hgx-h100 via ib:400Gbps" --sizes 1M --json
check and_its_json says '{"machines": 2, "per_machine": 8, "rate_Bps": 50000000000, "pcie_Bps": 48000000000, "limited_by": "pcie"}'
run comm all-reduce -t "2x hgx-h100 via ib:400Gbps" -g 8 --sizes 1M
check not_of_one_machine test "$(grep -c NICs out)" = 0
lenet="-w lenet -b 64 -s dp --no-timing"
run sweep -w lenet -b 64 -s dp -t "2x hgx-h100 via ib:400Gbps" -t "4x hgx-h100 via ib:400Gbps" -t hgx-h100 -o one.html
check a_sweep_of_like_clusters_says_them_once test "$(grep -c NICs out)" = 1
check in_the_same_words says "^NICs of a machine: $dgx$"
check its_page_too grep -qF "<p>NICs of a machine: $dgx</p>" one.html
run sweep -w lenet -b 64 -s dp -t "2x hgx-h100 via ib:400Gbps" -t "2x dgx1-v100 via eth:10Gbps" -o two.html
check a_sweep_of_others_names_them says "^NICs of a machine of 2x hgx-h100 via ib:400Gbps: $dgx$"
check each_of_them says "^NICs of a machine of 2x dgx1-v100 via eth:10Gbps: 4 x 10 Gbit/s, PCIe 12 GB/s (the network limits)$"
check both_on_its_page test "$(grep -c '<p>NICs' two.html)" = 2
run sweep -w lenet -b 64 -s dp -t "2x hgx-h100 via ib:400Gbps" -g 1..8
check a_sweep_within_a_machine_says_none test "$(grep -c NICs out)" = 0
run sweep -w lenet -b 64 -s dp -t "2x hgx-h100 via ib:400Gbps" -g 8,16,32
check one_question_over_machines_suffices says "^NICs of a machine: $dgx$"
run simulate $lenet -t "2x hgx-h100 via ib:400Gbps" -o one.html
check a_report_says_them grep -qF "<p>NICs of a machine: $dgx</p>" one.html
run compare $lenet -s single -t "2x hgx-h100 via ib:400Gbps" -t "2x dgx1-v100 via eth:10Gbps" -o two.html
check a_report_of_several_clusters_has_them grep -qF "NICs of a machine: 4 x 10 Gbit/s" two.html
check and_says_each_once test "$(grep -c '<p>NICs' two.html)" = 2

# ---- names that people know ----
run simulate -w gpt2-small -t 8xh100 -b 16 -s dp --costs datasheet --json
check eight_h100_are_a_machine says '"8xh100 stands for hgx-h100 (H100)"'
iteration=$(grep '"iteration_s"' out)
run simulate -w gpt2-small -t hgx-h100 -b 16 -s dp --costs datasheet --json
check and_the_same_one test "$iteration" = "$(grep '"iteration_s"' out)"
run simulate -w gpt2-small -t a100 -b 16 -s dp
check a_gpu_is_no_machine fails 2 "'dgx-a100-80g' has 8 of them; -t dgx-a100-80g -g 1 uses 1"
run simulate -w gpt2-small -t 4xH100 -b 16 -s dp
check nor_are_four fails 2 "-t hgx-h100 -g 4 uses 4"
run simulate -w gpt2-small -t 16xh100 -b 16 -s dp
check sixteen_are_two_machines fails 2 "'2x hgx-h100'"
# 3200 Gbit/s over eight NICs
run simulate -w gpt2-small -t "2x p5.48xlarge" -b 16 -s dp --costs datasheet
check a_cloud_machine says "^p5.48xlarge stands for hgx-h100 via roce:400Gbps"
check has_its_network says "8 x 400 Gbit/s"
run simulate -w gpt2-small -t dgx1-v100 -b 16 -s fsdp:micro=1 -O adam --costs datasheet --json
check fsdp_is_zero_3 says '"fsdp stands for hybrid:zero=3'
iteration=$(grep '"iteration_s"' out)
run simulate -w gpt2-small -t dgx1-v100 -b 16 -s hybrid:zero=3,micro=1 -O adam --costs datasheet --json
check it_takes_options test "$iteration" = "$(grep '"iteration_s"' out)"
run simulate -w gpt2-small -t dgx1-v100 -b 16 -s tp
check tp_needs_a_number fails 2 "hybrid:tp=N splits each layer over N GPUs"
run simulate -w gpt2-small -t dgx1-v100 -b 16 -s fsdp:zero=2
check an_alias_keeps_what_it_says fails 2 "'zero' of 'hybrid' is given twice"
for name in $(grep -v '^#\|^name,' "$source/strategies/aliases.csv" | awk -F, '$2 != "" { print $1 }'); do
    run simulate -w gpt2-small -t dgx1-v100 -g 2 -b 8 -s "$name" --costs datasheet --network analytic
    check "$name is a strategy" test "$status" = 0 -o "$status" = 3
done
for name in $(grep -v '^#\|^name,' "$source/topo/machines/aliases.csv" | awk -F, '$4 == "" { print $1 }'); do
    run topo show "2x $name"
    check "$name is a machine" test "$status" = 0
done

# ---- help ----
for verb in simulate compare sweep search explain learn; do
    run help $verb
    check "help $verb fits a screen" test "$(wc -l < out)" -le 28
    check "and tells how to see all" says "forerun help $verb --all"
    run help $verb --all
    check "help $verb --all has all" says "^      --memory-limit"
done
cp out whole
run learn --help --all
check both_ways_are_one cmp -s out whole
run help vgg19
check "help_knows_a_model" says "^'vgg19' is a model: .*"
run help torchtitan
check "help_knows_a_recipe" says "forerun recipe show torchtitan"
run help hybrid
check a_strategy_has_help says "^    zero=0 "
run help fsdp
check so_has_an_alias says "'fsdp' stands for hybrid:zero=3"
run help p5.48xlarge
check and_a_machine says "stands for the machine hgx-h100"
run help a100
check a_gpus_name_has_help says "a100-sxm4-80gb has 79.2 GiB of memory at 2.04 TB/s"
check it_has_an_example says "^Example: forerun simulate .* -t dgx-a100-80g "
run help H100
check in_any_case says "8 of them are in the machine hgx-h100"
run help t4
check a_cards_name_has_help says "fp16 65.* TFLOP/s"
check a_card_has_an_example says "^Example: forerun simulate .* -t box:8xt4 "
for word in nccl ring; do
    run help $word
    check "ways_of_collectives_have_help: $word" says "^Example: .* --collective-algorithm $word"
done
run help nonsense
check other_words_are_refused fails 2 "'nonsense' is no command of 'forerun'"

# ---- what clouds call their machines ----
# Spelling alone said "did you mean 'p5.48xlarge'?" (H100) for g5.48xlarge (A10G).
while IFS='|' read -r name hint; do
    run simulate -w lenet -b 8 -s dp -t "$name"
    check "a_clouds_name_gets_its_own_gpus: $name" fails 2 "$hint"
done << 'names'
g5.48xlarge|eight A10G; .*; write 'box:8xa10g', or several as '2x box:8xa10g via eth:100Gbps'
g5.2xlarge|one A10G; .*; write 'box:1xa10g'
G6.48xlarge|eight L4; .*; write 'box:8xl4'
g6e.24xlarge|four L40S; .*; write 'box:4xl40s'
p3.8xlarge|four V100 16 GB .*; write p3.16xlarge with -g 4
a2-highgpu-4g|four A100 40 GB .*; write a2-highgpu-8g with -g 4
Standard_NC96ads_A100_v4|four A100 PCIe 80 GB; .*; write 'box:4xa100-pcie-80gb'
p4de|'p4de.24xlarge' has the same GPUs
p5|'p5.48xlarge' has the same GPUs
p4d.8xlarge|'p4d.24xlarge' has the same GPUs
ND96amsr|'nd96amsr_a100_v4' has the same GPUs
x9.48xlarge|no topology preset or file 'x9.48xlarge'; a machine of PCIe cards is written 'box:8xCARD'
names
for pair in a3-highgpu-8g=h100-sxm5-80gb a3-ultragpu-8g=h200-sxm-141gb a4-highgpu-8g=b200-sxm-180gb \
    Standard_ND96asr_v4=a100-sxm4-40gb; do
    run topo show "${pair%%=*}" --json
    check "a_clouds_machine_has_its_gpus: ${pair%%=*}" says "${pair#*=}"
done
# what the hints say can be typed
sed '1,/^name,/d' "$source/topo/machines/rented.csv" | while IFS=, read -r name write nics rest; do
    case $nics in
    "") machine=${write% with -g *} ;;
    *) machine="2x $write via $nics" ;;
    esac
    "$forerun" topo check "$machine" > out 2> err < /dev/null || echo "$name"
done > wrong
check hints_can_be_typed test ! -s wrong

# ---- prices ----
# one hour of two machines at 98.32 USD: cost / hours
run simulate -w gpt2-small -t "2x p5.48xlarge" -b 16 -s dp --costs datasheet --samples 1e6 \
    --price p5.48xlarge=98.32 --json
cost=$(awk -F'[:,]' '/"run_s"/ { s = $2 } /"cost_usd"/ { printf "%.2f", $2 / s * 3600 }' out)
check a_machine_has_a_price test "$cost" = 196.64
run simulate -w gpt2-small -t "2x p5.48xlarge" -g 9 -b 18 -s dp --costs datasheet --samples 1e6 \
    --price p5.48xlarge=98.32 --json
cost=$(awk -F'[:,]' '/"run_s"/ { s = $2 } /"cost_usd"/ { printf "%.2f", $2 / s * 3600 }' out)
check one_of_which_a_gpu_is_used_costs_all test "$cost" = 196.64
line="2x hgx-h100 via rails:400Gbps,spine=2:1"
run simulate -w gpt2-small -t "$line" -b 16 -s dp --costs datasheet --samples 1e6 \
    --price "$line=150,h100=9" --json
cost=$(awk -F'[:,]' '/"run_s"/ { s = $2 } /"cost_usd"/ { printf "%.2f", $2 / s * 3600 }' out)
check a_cluster_has_one_too test "$cost" = 150.00
run sweep -w gpt2-small -t p5.48xlarge -t hgx-h100 -B 2 -s dp --costs datasheet -q \
    --price p5.48xlarge=98.32,hgx-h100=40 --samples 1e6 -o clouds.csv
check two_clouds_stand_side_by_side test "$status" = 0
check with_their_machines grep -q ',p5.48xlarge:1,' clouds.csv
run sweep -w gpt2-small -t dgx2 -t hgx-h100 -B 2 -s dp --costs datasheet -q --price hgx-h100=40 --samples 1e6
check a_cluster_without_a_price_is_said fails 2 "no price of 'v100-sxm3-32gb', which dgx2 has"
run simulate -w lenet -t dgx1-v100 -s dp --samples 1e6 --price hgx-h10=40
check no_such_machine fails 2 "did you mean 'hgx-h100'"

# ---- a search with a deadline, and one that is interrupted ----
run search -w gpt2-small -t dgx1-v100 -b 64 --top 2 --samples 1e6 --deadline 1s --fix micro=8 --fix tp=1 --fix pp=1
check no_layout_is_so_fast says "^deadline 1 s: no layout meets it"
check days_stand_beside says ", late"
run search -w gpt2-small -t dgx1-v100 -b 64 --top 2 --deadline 10days
check a_deadline_needs_a_length fails 2 "'--deadline' needs the length of the run"
finish
