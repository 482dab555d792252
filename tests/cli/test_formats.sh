#!/bin/sh
# tests/cli/test_formats.sh - number-format recipes as questions: what is kept of weights, who
# refuses them, files and options. The model has 1114880 parameters, 589824 of them in seven linear
# layers that are cast.
. "${srcdir:-.}/tests/support/command.sh"

model="llama:layers=1,hidden=256,heads=4,kv_heads=2,ffn=512,seq=128,vocab=1024,attention=flash"

# parameters_are NAME BYTES PRECISION STRATEGY
parameters_are() {
    run simulate -w "$model" -t hgx-b200 -g 2 -b 4 -p "$3" -O adam -s "$4" --json
    check "$1" says "\"parameters\": $2,"
}

# 2 bytes each, and of the narrow ones two copies of 33/32 bytes; two of 9/16, and 4 bytes each; one
# of a byte, and 4 bytes each
parameters_are mxfp8_keeps_both_copies 3446272 mxfp8 hybrid:zero=1,micro=2
parameters_are nvfp4_keeps_both_copies 2893368 nvfp4 hybrid:zero=1,micro=2
parameters_are blackwell_keeps_one_copy_of_a_scale_a_tensor 2819612 fp8-current hybrid:zero=1,micro=2
# weights in 8 bits are one of the copies; the table and the head keep 16 bits
parameters_are narrow_weights_are_a_copy 2266624 mxfp8 hybrid:zero=1,micro=2,recipe=fp8-weights
parameters_are without_casts_all_have_16_bits 2229760 bf16 hybrid:zero=1,micro=2

run simulate -w "$model" -t hgx-h100 -b 8 -p mxfp8 -s hybrid:micro=1
check hopper_scales_no_blocks fails 2 "precision mxfp8: h100-sxm5-80gb has no units for it; b200"
run simulate -w "$model" -t hgx-b200 -b 8 -p mxfp8 -s dp
check other_strategies_add_no_casts fails 2 "strategy 'dp' adds no casts; take hybrid"
run simulate -w "$model" -t hgx-b200 -b 8 -p fp4 -s hybrid:micro=1
check fp4_alone_says_too_little fails 2 "no number-format recipe or file 'fp4'"
run simulate -w vgg19 -t hgx-b200 -b 8 -p mxfp8 -s hybrid:micro=1
check layers_without_sequences_are_cast_too succeeds

run compare -w "$model" -t hgx-b200 -b 8 -O adam -s hybrid:micro=1 -p mxfp8:wgrad=16
check the_answer_names_the_recipe_with_its_options says 'mxfp8:wgrad=16'
run compare -w "$model" -t hgx-b200 -b 8 -O adam -s hybrid:micro=1 \
    -p "$source/examples/formats/mxfp8-wide-wgrad.yaml"
check a_file_is_named_as_it_says says 'mxfp8-wide-wgrad'
printf 'base: mxfp8\nbits: [8, 8, 7]\n' >bad.yaml
run compare -w "$model" -t hgx-b200 -b 8 -O adam -s hybrid:micro=1 -p ./bad.yaml
check a_wrong_file_has_its_place fails 2 "bad.yaml:1:1: 'bits' has 7"

run graph show "$model" -b 2 -p mxfp8
check a_shown_graph_has_its_casts says 'forward *25 '
run sweep -w "$model" -t hgx-b200 -b 8 -s hybrid:micro=1 -p bf16 -p mxfp8 -p nvfp4:first=0
check a_sweep_takes_recipes succeeds

# a store knows what was in the file
own() { # own BITS
    printf 'base: mxfp8\nname: own\nbits: [8, 8, %s]\n' "$1" >own.yaml
    run sweep -w "$model" -t hgx-b200 -b 8 -s hybrid:micro=1 -p ./own.yaml --store own.csv
}
own 16
check a_store_is_made succeeds
own 8
check another_file_of_that_name_is_not_resumed fails 2 "own.yaml"
finish
