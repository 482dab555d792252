#!/bin/sh
# tests/cli/test_truth.sh - the chapter "How true is it?" says of the kernels what the shipped
# device files say, names no picture that is not there, and its tables can be made without any data.
. "${srcdir:-.}/tests/support/command.sh"
page=$source/doc/evidence/kernels.md
make_tables() { sh "$source/calibrate/fit/truth.sh" "$forerun" "$@" >"$work/out" 2>"$work/err"; }

cp "$page" "$work/page.md"
check "tables_need_no_data" make_tables "$work/page.md"
check "tables_are_those_of_the_shipped_files" diff "$page" "$work/page.md"
check "a_folder_without_data_is_said" make_tables "$work/page.md" "$work/nowhere" "$work"
check "in_words" grep -q "no measured kernels in $work/nowhere" "$work/out"

# every curve that is shipped has its row
"$forerun" calibrate show | awk '$3 ~ /^[a-z]+[0-9]+,?$/' | cut -c 19- | tr ',' '\n' | grep -cE ' (fp|tf|bf)[0-9]+$' >"$work/n_curves"
sed -n '/^<!-- kernels: made/,/^<!-- kernels: end/p' "$page" | grep -c '^| .* % |' >"$work/n_rows"
check "every_curve_has_a_row" cmp "$work/n_curves" "$work/n_rows"

# tables follow what is shipped, the rest of the page stays
sed 's/| matmul | a40 | fp16 | vidur | 2295 | 580 | [0-9.]* %/| matmul | a40 | fp16 | vidur | 2295 | 580 | 0.1 %/' "$page" >"$work/page.md"
check "a_wrong_figure_differs" sh -c "! cmp -s '$page' '$work/page.md'"
check "tables_are_made_again" make_tables "$work/page.md"
check "and_right_again" cmp "$page" "$work/page.md"

echo "no tables here" >"$work/other.md"
check "a_page_without_places_for_tables_is_refused" sh -c "! sh '$source/calibrate/fit/truth.sh' '$forerun' '$work/other.md' 2>'$work/err'"
check "by_name" grep -q "no line '<!-- summary: made by make truth-fits -->'" "$work/err"
check "and_left_alone" grep -qx "no tables here" "$work/other.md"

sed -n 's/.*](\(pictures\/[^)]*\)).*/\1/p' "$page" | while read -r picture; do
    test -s "$source/doc/$picture" || echo "$picture"
done >"$work/missing"
check "every_picture_is_there" test ! -s "$work/missing"

# the terms of ranges, from made-up residuals: 20 rows a source, 2 sources, 10 % slow each
terms="python3 $source/tests/oracles/interval_terms.py"
if python3 -c 'import json' 2>"$work/no_python"; then
    awk 'BEGIN { print "id,workload,options,notes"
                 for (i = 0; i < 40; i++) printf "%s-%d,lenet,,x\n", i % 2 ? "A" : "B", i }' >"$work/rows.csv"
    awk 'BEGIN { printf "{\"rows\": ["
                 for (i = 0; i < 40; i++)
                     printf "%s{\"id\": \"%s-%d\", \"measured_s\": %g, \"predicted_s\": 1, \"cost_error\": 0.05, \"class\": \"one-gpu fp32 products\"}",
                            i ? ", " : "", i % 2 ? "A" : "B", i, 1.1 * (1 + 0.002 * (i - 20))
                 print "]}" }' >"$work/predicted.json"
    cp "$source/study/interval/terms.yaml" "$source/study/interval/terms.c" "$work"
    check "ranges_are_judged_with_sources_left_out" sh -c "$terms --write '$work/terms.yaml' '$work/rows.csv' '$work/predicted.json' >'$work/out' 2>'$work/err'"
    check "both_sources_lie_in_the_range_of_the_other" grep -q '^| one-gpu fp32 products | 40 | 2 | .* | 100 % |' "$work/out"
    # all rows are 5.6 to 13.3 % slow, so the median is ln 1.098 = 0.0935, and no quantile is far off
    sed -n 's|^     q: \[\([-0-9., ]*\)\], cost_error: 0.0500, rows: 40, sources: 2}$|\1|p' "$work/terms.yaml" >"$work/quantiles"
    check "the_class_has_its_median" awk -F, 'END { exit !(NR == 1 && $3 > 0.08 && $3 < 0.11) }' "$work/quantiles"
    check "and_quantiles_around_it" awk -F, 'END { exit !($1 < $2 && $2 < $3 && $3 < $4 && $4 < $5 && $1 > 0 && $5 < 0.2) }' "$work/quantiles"
    # anchored: 10 rows a source and class, 3 sources, all 4 to 6 % slow whatever they were before
    awk 'BEGIN { print "id,workload,options,notes"
                 for (i = 0; i < 30; i++) printf "%s-%d,m%d,,x\n", substr("ABC", i % 3 + 1, 1), i, i % 5 }' >"$work/many.csv"
    for kind in "" " anchored"; do
        awk -v kind="$kind" 'BEGIN {
            printf "{\"rows\": ["
            for (i = 0; i < 30; i++)
                printf "%s{\"id\": \"%s-%d\", \"measured_s\": %g, \"predicted_s\": 1, \"cost_error\": 0.03, \"class\": \"one-machine fp32 products%s\"}",
                       i ? ", " : "", substr("ABC", i % 3 + 1, 1), i,
                       (kind ? 1 : 1 + 0.3 * (i % 3)) * (1.05 + 0.002 * (i % 11 - 5)), kind
            print "]}" }' >"$work/many$kind.json"
    done
    check "anchored_rows_are_judged_too" sh -c "$terms --write '$work/terms.yaml' '$work/many.csv' '$work/many.json' '$work/many.csv' '$work/many anchored.json' >'$work/out' 2>'$work/err'"
    # ln 1.05 = 0.0488; sources that differ by 30 and 60 % differ no more once they are anchored
    sed -n '/one-machine fp32 products anchored,/{n;s|^     q: \[\([-0-9., ]*\)\].*|\1|p;}' "$work/terms.yaml" >"$work/quantiles"
    check "their_sources_have_little_apart" awk -F, 'END { exit !(NR == 1 && $3 > 0.04 && $3 < 0.06 && $5 - $1 < 0.06 && $5 > $1) }' "$work/quantiles"
    sed -n '/one-machine fp32 products,/{n;s|^     q: \[\([-0-9., ]*\)\].*|\1|p;}' "$work/terms.yaml" >"$work/quantiles"
    check "as_they_had_before" awk -F, 'END { exit !(NR == 1 && $5 - $1 > 0.4) }' "$work/quantiles"
    # rows that leave something unsaid judge no question with a recipe: of Lambda's, software
    awk 'BEGIN { print "id,workload,topology,gpus,strategy,global_batch,precision,options,notes"
                 for (s = 0; s < 2; s++) for (n = 1; n <= 8; n *= 2)
                     printf "%s-%d,lenet,dgx1-v100,%d,dp,%d,fp32,,x\n", (s ? "CSC" : "LAM"), n, n, 16 * n }' >"$work/said.csv"
    awk 'BEGIN { print "id,framework,model,notes,precision,gpus,nodes,gpu"
                 for (s = 0; s < 2; s++) for (n = 1; n <= 8; n *= 2)
                     printf "%s-%d,PyTorch,ResNet-50,,,%d,1,V100\n", (s ? "CSC" : "LAM"), n, n }' >"$work/measured.csv"
    awk 'BEGIN { printf "{\"rows\": ["
                 for (s = 0; s < 2; s++) for (n = 1; n <= 8; n *= 2)
                     printf "%s{\"id\": \"%s-%d\", \"measured_s\": %g, \"predicted_s\": 1, \"cost_error\": 0.05, \"class\": \"%s fp32 convolutions recipe\"}",
                            (s + n == 1 ? "" : ", "), (s ? "CSC" : "LAM"), n, 1 + n / 100, (n == 1 ? "one-gpu" : "one-machine")
                 print "]}" }' >"$work/said.json"
    check "what_rows_leave_unsaid_is_known" sh -c "$terms --measured '$work/measured.csv' '$work/said.csv' '$work/said.json' >'$work/out' 2>'$work/err'"
    check "they_judge_no_question_with_a_recipe" sh -c "sed '/^\*The same/,\$d' '$work/out' | grep -q '^| all recipe | 4 | 1 |'"
    check "but_are_shown_beside" sh -c "sed '1,/^\*The same/d' '$work/out' | grep -q '^| all recipe | 8 | 2 |'"
    # 4 GPUs from 2, 8 from 2 and 4: three pairs a source
    check "several_gpus_are_predicted_from_fewer" sh -c "sed '1,/^\*The same/d' '$work/out' | grep -q '^| all recipe anchored by several | 6 | 2 |'"
    echo "int no_terms;" >"$work/other.c"
    check "a_file_without_a_place_for_terms_is_refused" sh -c "! $terms --write '$work/other.c' '$work/rows.csv' '$work/predicted.json' >'$work/out' 2>'$work/err'"
    check "a_row_without_its_prediction_is_refused" sh -c "! $terms '$work/rows.csv' >'$work/out' 2>'$work/err'"
else
    skip "no python3"
fi

finish
