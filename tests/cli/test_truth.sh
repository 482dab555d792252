#!/bin/sh
# tests/cli/test_truth.sh - the chapter "How true is it?" says of the kernels what the shipped
# device files say, names no picture that is not there, and its tables can be made without any data.
. "${srcdir:-.}/tests/support/command.sh"
page=$source/doc/true.md
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

finish
