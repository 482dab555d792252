#!/bin/sh
# tests/cli/test_recipe.sh - recipes: lists, files of one's own, fits, faults, and what answers say.
. "${srcdir:-.}/tests/support/command.sh"

equals() { test "$1" = "$2"; }

run recipe list
check every_recipe_is_listed equals "$(grep -c '^  [a-z]' out)" \
    "$(find "$source/study/recipes" -name '*.yaml' | wc -l)"
for name in $(sed -n 's/^  \([a-z][a-z0-9-]*\) .*/\1/p' out); do
    run recipe show "$name"
    check "$name" succeeds
    run simulate -w lenet -t dgx1-v100 -g 2 -b 64 -s dp --recipe "$name"
    check "the_answer_names_$name" says "recipe $name"
done
run recipe show nvidia-tf-brt
check a_misspelt_name_has_the_nearest_beside_it fails 2 "did you mean 'nvidia-tf-bert'?"
own=$source/examples/recipes/bucket-views.yaml
run recipe show "$own"
check a_file_is_shown says "copies-in=2"
run simulate -w lenet -t dgx1-v100 -g 2 -b 64 -s dp --recipe "$own"
check and_used succeeds

printf 'recipe: r\nsummary: s\nstrategy:\n  - {option: copies-in, value: two, source: x}\n' >bad.yaml
run simulate -w lenet -t dgx1-v100 -g 2 -b 64 -s dp --recipe bad.yaml
check a_wrong_value_has_its_place fails 2 "bad.yaml:4:32:"
printf 'recipe: r\nsummary: s\nstrategy:\n  - {option: adds, value: 3}\n' >bad.yaml
run recipe show bad.yaml
check a_value_needs_a_source fails 2 "bad.yaml:4:5:"
run recipe show nowhere.yaml
check a_missing_file_is_refused fails 2 "nowhere.yaml: cannot open"

# the NCCL that software brings
set -- simulate -w bert-base --seq-len 128 -t '2x p3.16xlarge via ib:100Gbps' -b 512 -s dp -O adam
run "$@" --recipe mindspore-bert-fused
check a_recipe_names_its_nccl says "exposed communication *56\.5 ms"
run "$@" --recipe mindspore-bert-fused --nccl-version 2.10
check what_is_typed_goes_before lacks "exposed communication *56"
run "$@" --recipe mindspore-bert-fused --json
check its_version_is_the_questions says '"nccl-version": "2\.5"'

# fusions, the input and the host
run graph show bert-base --seq-len 128 -b 32 --recipe megatron-lm
check each_fusion_tells_what_it_did says "scale-mask-softmax *12 *72 -> *24"
check and_others_too says "bias-dropout-add *24 *72 -> *24"
run graph show bert-base --fuse bias-activation --json
check for_programs_too says '"ops_before": *28'
run explain -w bert-base -t dgx1-v100 -g 4 -b 32 -s hybrid:pp=4 --recipe megatron-lm
check a_plan_is_told_with_its_fusions says "scale-mask-softmax *12 *72 -> *24"
run graph show bert-base --fuse softmaks
check an_unknown_fusion_is_refused fails 2 "no fusion is called 'softmaks'"
run graph show bert-base --fuse small-ops
check each_op_is_many_without_a_compiler says "small-ops *88 *176 -> *1216"
run graph show bert-base --fuse xla+small-ops
check a_compiler_leaves_no_small_ops fails 2 "does not go with xla or inductor"
run graph show bert-base --recipe tf-horovod-xla
check with_xla_the_recipe_has_clusters lacks "small-ops"
run graph show bert-base --recipe tf-horovod
check without_it_small_ops says "small-ops *88 *176 -> *1216"
run simulate -w resnet50 -t dgx1-v100 -g 8 -b 256 -s dp --input-rate 2000
check a_slow_input_holds_the_step_up says "iteration time *128 ms"
check and_it_is_said says "the input holds the step up: its samples take 128 ms"
run simulate -w resnet50 -t '2x dgx1-v100' -b 512 -s dp --input-rate 2000
check each_machine_reads_for_its_own_gpus says "its samples take 128 ms"
run simulate -w resnet50 -t dgx1-v100 -g 8 -b 256 -s dp --input-rate 100000
check a_fast_input_is_not_spoken_of lacks "input holds"
run simulate -w lenet -t dgx1-v100 -g 1 -b 8 -s single --host-op 1ms --json
check a_slow_host_is_waited_for says '"iteration_s": *0\.0[3-9]'
run simulate -w lenet -t dgx1-v100 -g 1 -b 8 -s single --host-op 0us
check a_host_takes_some_time fails 2 "expected more than 0"
run simulate -w lenet -t dgx1-v100 -g 1 -b 8 -s single --host-op 61s
check a_host_takes_no_minutes_for_an_op fails 2 "at most 60s"

run simulate -w resnet50 -p amp -t dgx1-v100 -g 8 -b 2048 -s dp --decode-rate 100
check cores_decode_images_by_the_machines_data_sheet says \
    "samples take 512 ms (40 cores, each decodes 100 images a second)"
check and_the_wait_has_no_error_of_software says "90 %: 512 ms to 512 ms"
run simulate -w resnet50 -p amp -t '2x dgx1-v100' -b 4096 -s dp --decode-rate 100 --host-cores 32
check cores_are_each_machines_and_may_be_given says "take 640 ms (32 cores"
run simulate -w resnet50 -p amp -t dgx1-v100 -g 8 -b 2048 -s dp --decode-rate 100 --input-rate 2000
check a_rate_of_samples_goes_before_it says "samples take 1024 ms, computing"
run simulate -w resnet50 -p amp -t dgx1-v100 -g 8 -b 2048 -s dp --decode-rate any --recipe pytorch-ddp
check a_recipes_rate_can_be_switched_off lacks "input holds"
run simulate -w bert-base -t dgx1-v100 -g 8 -b 64 -s dp --decode-rate 1 --host-cores 1
check text_is_not_decoded lacks "input holds"
run simulate -w lenet -t dgx1-v100 -g 8 -b 512 -s dp --decode-rate 1 --host-cores 1
check nor_are_small_pictures lacks "input holds"
run simulate -w lenet -t dgx1-v100 -g 1 -b 8 -s single --host-op 16us/20us
check two_host_times_are_refused fails 2 "expected a time, or three as in 16us/16us/20us"
run simulate -w lenet -t dgx1-v100 -g 1 -b 8 -s single --host-op 16us/0us/20us
check each_is_above_0 fails 2 "expected more than 0"
run simulate -w lenet -t dgx1-v100 -g 1 -b 8 -s single --host-sync norm+los
check a_misspelt_point_has_the_nearest_beside_it fails 2 "did you mean 'loss'?"
run simulate -w lenet -t dgx1-v100 -g 1 -b 8 -s single --host-sync ''
check an_empty_point_is_refused fails 2 ""
run simulate -w lenet -t dgx1-v100 -g 1 -b 8 -s single --host-speed 0
check a_core_has_some_speed fails 2 "host-speed"

# the usual one
run simulate -w gpt2-small -t dgx-a100-80g -b 16 -s dp --recipe usual
check a_gpts_usual_recipe_is_named says "recipe megatron-lm"
run simulate -w bert-base -t dgx-a100-80g -b 16 -s dp --recipe usual
check a_berts_is_another says "recipe nvidia-pytorch-bert"
run simulate -w "$source/examples/no-such" -t dgx1-v100 -s dp --recipe usual
check a_file_has_none fails 2 "no model, folder or file"
finish

# a recipe of one's own, from measured steps
run recipe fit "$source/examples/recipes/steps.csv" -o own.yaml -o own.json
check steps_make_a_recipe says "^ *compute "
check that_is_written_by_its_files_name equals "$(head -n 1 own.yaml)" "recipe: own"
check and_says_what_to_measure_next says "else as row 'machine'"
run recipe show own.yaml
check it_can_be_shown says "^3 measured steps move compute"
run simulate -w gpt2-small -t '4x dgx-a100 via ib:200Gbps' -b 512 -p amp -O adam -s dp --recipe own.yaml
check and_used says "3 steps that the recipe was fitted to; so compute takes"
check and_warns_that_no_step_was_on_two_machines says "warning: the recipe was fitted to steps inside"
run recipe fit "$source/examples/recipes/steps.csv" -o own.csv
check another_ending_is_refused fails 2 "own.csv"
run recipe fit nowhere.csv
check a_table_must_be_there fails 2 "nowhere.csv"
