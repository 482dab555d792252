#!/bin/sh
# tests/cli/test_validate.sh - predictions against made-up measurements whose errors are known: each
# measured time is the predicted one times a factor, so that the error is 1/factor - 1.
. "${srcdir:-.}/tests/support/command.sh"
LC_ALL=C
export LC_ALL
refuses() {
    "$forerun" validate "$1" >out 2>err
    [ $? -eq 2 ] && grep -q -- "$2" err
}
header=id,workload,topology,gpus,strategy,global_batch,precision,options,iteration_s,peak_bytes,notes

# seconds GPUS STRATEGY BATCH: our prediction for lenet
seconds() {
    "$forerun" simulate -w lenet -t dgx1-v100 -g "$1" -s "$2" -b "$3" -p fp32 -O momentum --recipe none --json |
        sed -n 's/^  "iteration_s": \([0-9.e-]*\),$/\1/p'
}
product() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.17g", a * b }'; }

one=$(seconds 1 single 64)
four=$(seconds 4 dp 256)
mp=$(seconds 4 mp 256)
{
    echo "$header"
    echo "AA-1,lenet,dgx1-v100,1,single,64,fp32,-O momentum --recipe none,$(product "$one" 1),,x"         # 0
    echo "AA-2,lenet,dgx1-v100,4,dp,256,fp32,-O momentum --recipe none,$(product "$four" 0.8),,x"         # +25 %
    echo "AA-3,lenet,dgx1-v100,4,mp,256,fp32,--optimizer=momentum --recipe=none,$(product "$mp" 2),,x"    # -50 %
    echo "B-1,lenet,dgx1-v100,4,mp,256,fp32,'-O' 'momentum' --recipe none,$(product "$mp" 1.25),,x"     # -20 %
    echo "B-2,lenet,dgx1-v100,4,alpa:tp=2,256,fp32,,1,,no such strategy"
    echo "B-3,vgg19,dgx1-v100,1,single,4096,fp32,,1,,does not fit"
    echo "B-4,lenet,dgx1-v100,1,single,64,fp32,--workload vgg16,1,,no such option here"
    echo "B-5,lenet,dgx1-v100,1,single,64,fp12,,1,,no such format"
} >rows.csv

"$forerun" validate rows.csv --all -o rows_out.csv -o rows.html >out 2>err
check "it_ends_well" test $? -eq 0
check "its_page_has_the_picture" test "$(grep -c '<svg class="chart"' rows.html)" -eq 1
# sizes 0, 20, 25, 50: median 22.5, mean 23.75, p90 at 2.7 of 0..3: 42.5; signed -50 -20 0 25: -10
check "errors_are_those_put_in" says "^  all       all rows   *4  22.5 %  23.[78] %  42.5 %  50.0 %  -10.0 %$"
check "a_source_is_the_letters_of_the_id" says "^  source    AA   *3  25.0 %"
check "strategies_have_groups" says "^  strategy  mp   *2  35.0 %"
# AA-1 against AA-2: speed-up predicted over measured is (one/four) / (one/(0.8 four)) = 0.8
check "scaling_compares_speed_ups" says "^scaling, N GPUs against 1: median 20.0 % off, 1 pairs$"
check "what_cannot_be_predicted_is_counted" says "^not predicted: 4 of 8 rows$"
check "an_unknown_strategy_is_named" says "1: unknown strategy 'alpa'"
check "what_does_not_fit_is_named" says "1: does not fit: n0.gpu0 lacks"
check "a_column_is_no_option" says "1: '--workload' is not an option of a row"
check "rows_are_listed" says "^  AA-2  lenet .* +25.0 %$"
check "a_page_is_called_by_its_kind" drawn report rows.html validations
command -v python3 >/dev/null &&
    check "and_says_the_same_words" python3 "$source/tests/support/page_words.py" out rows.html
check "the_csv_has_every_row" test "$(wc -l <rows_out.csv)" -eq 9

"$forerun" validate rows.csv -j 1 --json >out 2>err
check "json_names_why_not" says '"id": "B-2", .*"error": null, "memory_error": null, "why_not": "unknown strategy'
check "json_has_a_summary" says '"summary": {"n": 4, "median": 0.22'
cp out one.json
"$forerun" validate rows.csv -j 4 --json >out 2>err
check "threads_do_not_change_the_answer" cmp one.json out
"$forerun" validate rows.csv --costs datasheet >out 2>err
check "costs_are_a_choice" sh -c '! grep -q "all rows   *4  22.5 %" out'

# every predicted row has a range; several GPUs are predicted from their source's one
check "rows_say_where_measurements_lie" sh -c 'grep -c "\"low_s\": [0-9.e-]*, \"high_s\": [0-9]" one.json | grep -qx 4'
check "rows_that_are_not_predicted_claim_nothing" sh -c 'grep -c "\"low_s\": null, \"high_s\": null" one.json | grep -qx 4'
"$forerun" validate rows.csv --anchored --all >out 2>err
check "several_gpus_are_predicted_from_one" says "^  AA-2  lenet .* +2[0-9].[0-9] %$"
check "rows_of_one_gpu_are_not_judged" says "is of one GPU$"
check "rows_without_one_of_their_source_are_counted" says "has no row of one GPU$"
check "ranges_are_judged" says "^in the range claimed for 90 %: [01] of 1 rows"

# Two batches of one GPU and of four: measured is 1.25 times what is predicted, so lines are, too.
small=$(seconds 1 single 128)
{
    echo "$header"
    echo "S-1,lenet,dgx1-v100,1,single,64,fp32,-O momentum --recipe none,$(product "$one" 1.25),,ours|lenet"
    echo "S-2,lenet,dgx1-v100,1,single,128,fp32,-O momentum --recipe none,$(product "$small" 1.25),,ours|lenet"
    echo "S-3,lenet,dgx1-v100,4,dp,256,fp32,-O momentum --recipe none,$(product "$four" 1.25),,ours|lenet"
} >split.csv
"$forerun" validate split.csv -o steps.split.svg >out 2>err
check "a_step_is_split" says "^  ours *1 *-20.0 % "
check "lines_are_counted" says "^  --all shows 1 line over batches and 1 change of GPUs or precision$"
check "lines_are_drawn" drawn svg steps.split.svg
"$forerun" validate split.csv --all >out 2>err
check "each_line_is_shown" says "^  ours *lenet *fp32 *1 *64 to 128 *[0-9.]* *[0-9.]* "
check "each_change_is_shown" says "^  ours *lenet *fp32 *1 -> 4 GPUs *1 "
"$forerun" validate split.csv --json >out 2>err
check "json_has_lines" says '"software": "ours", "lines": 1, "per_sample_error": -0.\(2\|19999\|20000\)'
# the one-GPU row of a step on two machines does not say --spread
{
    echo "$header"
    echo "D-1,lenet,dgx1-v100,1,single,64,fp32,-O momentum,$one,,x"
    echo "D-2,lenet,2x dgx1-v100,8,dp,512,fp32,-O momentum --spread,$one,,x"
    echo "D-3,lenet,2x dgx1-v100,8,dp,512,fp32,-O adam --spread,$one,,x"
} >spread.csv
"$forerun" validate spread.csv --anchored --all --json >out 2>err
check "gpus_taken_evenly_are_predicted_from_one" says '"id": "D-2", .*"class": "machines fp32 [a-z]* anchored"'
check "of_the_same_options" says '"id": "D-3", .*"why_not": "has no row of one GPU"'
"$forerun" validate spread.csv -o none.split.svg >out 2>err
check "no_lines_are_no_picture" sh -c "test $? -eq 2 && grep -q 'no rows differ in their batch alone' err"

# GPUs may be named, as many as `gpus` says
{
    echo "$header"
    echo "C-1,lenet,dgx1-v100,4,dp,256,fp32,-O momentum --recipe none --devices n0.gpu0..3,$(product "$four" 0.8),,x"
    echo "C-2,lenet,dgx1-v100,2,dp,256,fp32,--devices n0.gpu0..3,1,,x"
    echo "C-3,lenet,dgx1-v100,2,dp,256,fp32,--devices n0.gpu0..9,1,,x"
} >named.csv
"$forerun" validate named.csv --all >out 2>err
check "named_gpus_answer_as_the_first_ones" says "^  C-1  lenet .* +25.0 %$"
check "gpus_must_be_as_many_as_are_named" says "1: 'gpus' is 2, but '--devices' names 4"
check "a_wrong_list_is_told" says "1: 'n0.gpu0..9' stands for more GPUs than 'dgx1-v100' has"

if command -v gnuplot >/dev/null; then
    "$forerun" validate rows.csv -o scatter.svg -o scatter.png >out 2>err
    check "a_picture_is_drawn" drawn texts scatter.svg "predicted iteration (ms)" \
        "measured iteration (ms)" AA B
    check "two_pictures_are_drawn" test -s scatter.png
    "$forerun" validate rows.csv -o scatter.gif >out 2>err
    check "another_ending_is_refused" test $? -eq 2
fi

: >empty.csv
check "an_empty_file_is_refused" refuses empty.csv "empty.csv"
echo "$header" >none.csv
check "a_file_without_rows_is_refused" refuses none.csv "has no rows"
echo "id,workload" >short.csv
check "a_missing_column_is_refused" refuses short.csv "topology"
printf '%s\nA,lenet,dgx1-v100,1,single,64,fp32,,soon,,\n' "$header" >word.csv
check "a_word_for_a_time_is_refused" refuses word.csv "word.csv:2:.*soon"
printf '%s\nA,lenet,dgx1-v100,0,single,64,fp32,,1,,\n' "$header" >zero.csv
check "no_gpus_are_refused" refuses zero.csv "zero.csv:2:"
check "a_missing_file_is_refused" refuses nowhere.csv "nowhere.csv"

opened=$source/../shared/data/measured/opened
if [ -r "$opened.csv" ] && command -v python3 >/dev/null; then
    python3 "$source/tests/oracles/opened_rows.py" "$opened.csv" "${opened}_sources.csv" >opened.csv 2>err
    check "rows_are_corrected_none_is_lost" test "$(wc -l <opened.csv)" -eq "$(wc -l <"$opened.csv")"
    check "boards_of_500_W_are_asked_as_such" grep -q '^TT-0001,.*,hgx-h100-96g,' opened.csv
    { head -1 opened.csv; grep -E '^TT-000[12],' opened.csv; } >boards.csv
    "$forerun" validate boards.csv --json >boards.json 2>err
    check "which_is_true_within_a_tenth" python3 -c '
import json
for row in json.load(open("boards.json"))["rows"]:
    if not abs(row["error"]) < 0.1:
        raise SystemExit(row)'
else
    echo "SKIP: no published rates in $opened.csv"
fi
data=$source/../shared/data/measured/training.csv
if [ -r "$data" ] && command -v python3 >/dev/null; then
    python3 "$source/tests/oracles/training_rows.py" "$data" >real.csv 2>err
    check "published_rates_become_rows" test "$(wc -l <real.csv)" -gt 400
    check "a_law_is_no_row_of_error_statistics" sh -c "! grep -q '^VTRS' real.csv"
    check "fine_tuning_takes_the_length_of_its_scripts" \
        grep -q '^DLE-0268,bert-large:head=pooler,.*--seq-len 384,' real.csv
    python3 "$source/tests/oracles/training_rows.py" --recipes "$data" >recipes.csv 2>err
    check "software_is_named_where_it_is_wanted" \
        grep -q '^DLE-0688,.*--recipe nvidia-tf-bert,' recipes.csv
    check "fine_tuning_in_fp32_has_a_recipe_of_its_own" \
        grep -q '^DLE-0268,.*--recipe nvidia-squad-fp32,' recipes.csv
    check "and_what_its_script_leaves_out_stands_beside_it" \
        grep -q '^DLE-0797,.*--seq-len 128 --recipe nvidia-tf-bert --fuse small-ops,' recipes.csv
    sed 's/ --recipe [a-z0-9-]*\( --fuse [a-z-]*\)*//' recipes.csv | sort >without.csv
    sort real.csv >sorted.csv
    check "and_else_rows_are_the_same" \
        sh -c "test \$(wc -l <without.csv) -gt 400 && ! comm -23 without.csv sorted.csv | grep ."
    # TensorFlow on V100, PaddlePaddle on A100: one GPU, then eight
    { head -1 recipes.csv; grep '^DLE-068[48]' recipes.csv; grep '^DLE-006[24]' recipes.csv; } >bert.csv
    "$forerun" validate bert.csv --json >bert.json 2>err
    check "eight_gpus_take_longer_than_one_by_what_was_measured_within_a_factor_of_1.5" python3 -c '
import json
rows = {row["id"]: row for row in json.load(open("bert.json"))["rows"]}
for a, b in (("DLE-0684", "DLE-0688"), ("DLE-0062", "DLE-0064")):
    one, eight = rows[a], rows[b]
    more = (eight["predicted_s"] - one["predicted_s"]) / (eight["measured_s"] - one["measured_s"])
    if not 1 / 1.5 < more < 1.5:
        raise SystemExit(f"{a}: {more}")'
    python3 "$source/tests/oracles/large_rows.py" "$data" >large.csv 2>err
    check "steps_of_large_models_become_rows" test "$(wc -l <large.csv)" -gt 1300
    grep '^VTRS' large.csv | cut -d'"' -f5 | grep -v '^,[0-9]*,fp16,' >other.csv
    check "a_law_is_asked_in_16_bits" test ! -s other.csv
    left=$(awk '{ n += $1 } END { print n }' err)
    asked=$(($(wc -l <large.csv) - 1))
    large=$(grep -cE '^(LM[A-Z]|LLMF|VTRS|MEG|TT|NEMO|BSA|BSV)-' "$data")
    check "each_row_of_a_large_model_is_asked_or_counted" test $((left + asked)) -eq "$large"
    { head -1 large.csv; grep '^LMX-000[1-4]' large.csv; } >few.csv
    "$forerun" validate few.csv --json >few.json 2>err
    check "steps_of_large_models_are_predicted" test $? -eq 0
    python3 "$source/tests/oracles/large_report.py" few.csv few.json >few.txt 2>err
    check "and_summed_up_by_source" grep -q '^| SimuMax (LMX) | 4 | 4 | ' few.txt
    check "allocated_bytes_are_within_three_per_cent" python3 -c 'import json, sys
sys.exit(any(abs(r["memory_error"]) > 0.03 for r in json.load(open("few.json"))["rows"]))'
else
    echo "SKIP: no published rates in $data"
fi
finish
