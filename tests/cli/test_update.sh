#!/bin/sh
# tests/cli/test_update.sh - how software runs a step: chains cost more than one kernel, recipes say
# it, what is typed goes before, and tasks have its name.
. "${srcdir:-.}/tests/support/command.sh"

# The step in microseconds under those words, and under $recipe.
recipe=none
step() {
    "$forerun" simulate --recipe "$recipe" -w bert-base --seq-len 128 -t dgx1-v100 -g 1 -b 8 -s single -O adam --json \
        -q "$@" | sed -n 's/^ *"iteration_s": \([0-9.e-]*\),$/\1/p' |
        awk '{printf "%d\n", $1 * 1e6}'
}

fused=$(step --update torch-adam-fused)
foreach=$(step --update torch-adamw-foreach)
loop=$(step --update torch-adamw-loop)
clipped=$(step --update torch-adam-fused+torch-clip-foreach)
# 110 106 428 parameters, 60 and 12 bytes of each more, at 780 GB/s or so
check passes_over_all_weights_take_what_they_move test $((foreach - fused)) -gt 7500
check and_no_more test $((foreach - fused)) -lt 9500
check clipping_likewise test $((clipped - fused)) -gt 1500 -a $((clipped - fused)) -lt 1900
# 206 tensors, 9 kernels each, of which most are a launch
check a_loop_adds_its_launches test $((loop - foreach)) -gt 2500
check without_it_a_step_is_the_least test "$(step)" -le $((fused + 600))
check of_another_optimizer_it_says_nothing test "$(step --update torch-sgd-loop)" = "$(step)"
run simulate --recipe none -w lenet -t dgx1-v100 -g 2 -b 64 -s dp -O adam --update tf-clip+keras-adam -o x.trace.json
check the_trace_is_written succeeds
check what_is_done_to_gradients_is_a_task grep -q '"tf-clip"' x.trace.json

run simulate --recipe none -w lenet -t dgx1-v100 -g 2 -b 64 -s dp -O adam --update apex-adan
check a_misspelt_update_is_refused fails 2 "no update is called 'apex-adan', did you mean 'apex-adam'?"
run simulate --recipe none -w lenet -t dgx1-v100 -g 2 -b 64 -s dp -O adam --update apex-adam+apex-lamb
check one_optimizer_has_one fails 2 "'apex-adam' and 'apex-lamb' are of one optimizer"
run sweep -w lenet -t dgx1-v100 -g 2 -b 64 -s dp -O adam --update none,apex-adam,torch-adam-loop -o out.csv
check it_is_swept succeeds
check with_a_row_each test "$(wc -l <out.csv)" = 4

cat >own.yaml <<'Y'
recipe: own
summary: s
question:
  - {option: update, value: torch-adamw-loop, source: x}
Y
recipe=own.yaml
check a_recipe_says_it test "$(step)" = "$loop"
check what_is_typed_goes_before test "$(step --update torch-adam-fused)" = "$fused"
finish
