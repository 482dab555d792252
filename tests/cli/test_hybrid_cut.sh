#!/bin/sh
# tests/cli/test_hybrid_cut.sh - stages of as many layers (hybrid:cut=layers), and what Megatron's
# distributed optimizer keeps.
. "${srcdir:-.}/tests/support/command.sh"
cd "$work" || exit 1

# stages LAYERS: the last op of each stage on four GPUs, in one line
stages() {
    "$forerun" simulate --recipe none -w "llama:layers=$1,hidden=1024,ffn=4096,heads=8,kv_heads=8,seq=1024,vocab=128256" \
        -t hgx-h100 -g 4 -b 16 -p bf16 -O adam -s "hybrid:pp=4,micro=1,zero=1,cut=$2" -v 2>&1 |
        sed -n 's/^.*part [0-9] on .* to \([^,]*\),.*/\1/p' | tr '\n' ' '
}
is() { test "$1" = "$2"; }

check "twelve_layers_are_three_a_stage" is "$(stages 12 layers)" "layer2.mlp.add layer5.mlp.add layer8.mlp.add loss "
check "where_ten_do_not_divide_the_ends_count_as_layers" is "$(stages 10 layers)" \
    "layer1.mlp.add layer4.mlp.add layer7.mlp.add loss "
check "eleven_are_as_even_as_they_can_be" is "$(stages 11 layers)" \
    "layer1.mlp.add layer4.mlp.add layer7.mlp.add loss "
check "by_time_a_large_vocabulary_takes_layers_from_the_last" is "$(stages 12 time)" \
    "layer5.mlp.add layer11.mlp.add head loss "
check "by_hand_stages_begin_where_the_user_says" is "$(stages 12 "time,cuts=layer1;layer4;layer9")" \
    "layer0.mlp.add layer3.mlp.add layer8.mlp.add loss "
"$forerun" simulate --recipe none -w "llama:layers=3,hidden=1024,ffn=4096,heads=8,kv_heads=8,seq=1024,vocab=1000" -t hgx-h100 \
    -g 4 -b 16 -s hybrid:pp=4,micro=1,cut=layers >out 2>err
check "fewer_layers_than_stages_are_refused" test $? -eq 2
check "and_counted" grep -q "has 3 layers, too few for 4 parts" err

# Kernels into which sums of gradients of two items are fused stand with the first of them, or a later
# stage would read what an earlier one makes after it
for fuse in xla inductor; do
    for schedule in gpipe interleaved-1f1b zb-h1; do
        "$forerun" simulate --recipe none -w rnnlm:layers=2,hidden=64,vocab=1000 -t box:2xrtx2080ti -b 4 -p amp \
            --fuse "$fuse" -s "pp:schedule=$schedule,micro=1" >out 2>err
        check "fused_kernels_are_cut: $fuse $schedule" test $? -eq 0
    done
done

# 2 + 4 bytes a parameter, 12 shared out over four, and no second copy of the gradients
"$forerun" simulate --recipe none -w "llama:layers=4,hidden=1024,ffn=4096,heads=8,kv_heads=8,seq=1024,vocab=1000" -t hgx-h100 \
    -g 4 -b 4 -p bf16 -O adam -s hybrid:dp=4,zero=1 --memory liveness --json >out 2>err
check "megatron_reduces_gradients_where_they_are" python3 -c 'import json
m = json.load(open("out"))["devices"][0]["memory"]
p = m["parameters"]
assert m["communication"] == 0 and m["gradients"] == 2 * p and m["optimizer"] == 6 * p // 4, m'
# One rank's draws would be those of all that it stands for.
run simulate --recipe none -w gpt:layers=2,hidden=256,heads=4,seq=64,vocab=512 -t box:4xa10g -b 2 --order random \
    -s hybrid:pp=2,fold=1
check "a_random_order_folds_nothing" says "not folded: each rank draws an order of its own"
finish
