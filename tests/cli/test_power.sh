#!/bin/sh
# tests/cli/test_power.sh - what a power limit does, as a user asks for it, and against trainings
# that were measured under limits.
. "${srcdir:-.}/tests/support/command.sh"
data=$source/../shared/data/power/training_under_cap.csv

run simulate --recipe none -w gpt2-small -t hgx-h100 -b 64 -p bf16 -s dp --power-limit 400W
check "power_is_a_line" says "^  power of a GPU  *[0-9]* W  *9[0-9.]* %  of 400 W, clock down to [0-9.]* %; [0-9.]* kJ a step, [0-9.]* mJ a token"
run simulate --recipe none -w gpt2-small -t hgx-h100 -b 64 -p bf16 -s dp --power-limit 400W --json
check "json_has_it" says '^  "power_limit_W": 400,$'
check "with_what_a_gpu_draws" says '^  "average_power_w": 3[0-9.]*,$'
check "and_its_clock" says '^  "clock_frac": 0.[0-9]*,$'
check "and_that_it_binds" says '^  "power_limited": true,$'
run simulate --recipe none -w llama2-7b -t hgx-h100 -b 16 -p bf16 -O adam -s hybrid:zero=3
check "without_a_limit_the_boards_own_binds" says "^  power of a GPU .* of 700 W, clock down to 9[0-9.]* %"
run simulate --recipe none -w llama2-7b -t hgx-h100 -b 16 -p bf16 -O adam -s hybrid:zero=3 --power-limit none
check "none_is_as_measured" sh -c '! grep -q "power of a GPU" out'
run simulate --recipe none -w gpt2-small -t dgx-a100-80g -b 64 -p bf16 -s dp
check "what_does_not_bind_is_no_line" sh -c '! grep -q "power of a GPU" out'
run simulate --recipe none -w gpt2-small -t dgx-a100-80g -b 64 -p bf16 -s dp --json
check "but_json_says_it" says '^  "power_limited": false,$'
run simulate --recipe none -w gpt2-small -t hgx-h100 -b 64 -s dp --power-limit 400
check "a_limit_has_a_unit" fails 2 "has no unit"
run simulate --recipe none -w gpt2-small -t hgx-h100 -b 64 -s dp --power-limit 0W
check "a_limit_is_above_nothing" fails 2 "between 1 W and 100 kW"
run sweep -w lenet -t dgx1-v100 -b 64 -s dp --power-limit 300W,200W,none -o out.csv
check "it_can_be_swept" test "$(wc -l <out.csv)" -eq 4

if [ -e "$data" ] && command -v python3 >/dev/null; then
    python3 "$source/tests/oracles/power_rows.py" "$forerun" "$data" >out 2>err
    check "three_gpus_are_judged" test "$(wc -l <out)" -eq 3
    check "time_under_a_limit_is_within_four_per_cent" awk '$3 > 4 { exit 1 }' out
    check "and_power_within_seven" awk '$5 > 7 { exit 1 }' out
else
    echo "SKIP: no measured trainings under limits in $data"
fi
finish
