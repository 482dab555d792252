#!/bin/sh
# tests/cli/test_diff.sh - `forerun diff` and `compare --explain`: numbers that add up as printed,
# files, faults.
. "${srcdir:-.}/tests/support/command.sh"

vgg="-w alexnet -t dgx1-v100 -g 2 -b 32 --costs datasheet --no-timing"
# In every table of out whose columns are "... A B B-A": the rows above the last one add up to it,
# and B - A is what is printed.
adds_up() {
    awk '
        function close_table() {
            if (rows > 1 && !is_links)
                for (k = 0; k < 3; k++)
                    if (sum[k] - last[k] != last[k]) { print title ": " sum[k] - last[k] " " last[k]; bad = 1 }
            rows = 0
        }
        function value(text) { sub(/^\+/, "", text); return sprintf("%.0f", text * 1000) + 0 }
        / B - A \(/ { close_table(); on = 1; title = $0; is_links = /^  link/
                      for (k = 0; k < 3; k++) sum[k] = 0; next }
        NF == 0 { if (on) close_table(); on = 0; next }
        on && /^  and / { next }
        on { rows++; tables++
             for (k = 0; k < 3; k++) { last[k] = value($(NF - 2 + k)); sum[k] += last[k] }
             if (last[1] - last[0] != last[2]) { print "not a difference: " $0; bad = 1 } }
        END { if (on) close_table(); exit bad || tables < 10 }' out
}

run simulate $vgg -s dp -q -o a.json
run simulate $vgg -s mp -q -o b.json
run diff a.json b.json
check two_answers_are_laid_side_by_side succeeds
check it_says_in_what_the_questions_differ says "they differ in strategy: dp | mp"
check it_says_how_much_longer says "^B takes .* longer than A (+"
check printed_numbers_add_up_exactly adds_up
run diff a.json b.json -v
check so_they_do_when_all_pieces_are_printed adds_up
run diff a.json a.json
check an_answer_takes_as_long_as_itself says "^B takes as long as A"
check and_nothing_differs says "both ask the same"

run compare $vgg -s dp -s mp -s pp --explain
check a_comparison_explains_itself succeeds
check each_beside_the_first test "$(grep -c '^A: .*strategy dp,' out)" -eq 2
check and_its_numbers_add_up adds_up
run compare $vgg -s dp -s mp --explain --json
check its_json_has_the_difference says '"differences": \['
cp out both.json
run diff both.json#1 both.json#2
check answers_of_one_file_are_named_by_number says "they differ in strategy: dp | mp"
run diff both.json a.json
check a_file_of_several_needs_a_number fails 2 "both.json': the file holds 2 answers, name one as FILE.json#1"

run diff a.json b.json -q -o two.html
check the_page_says_how_much_longer drawn report two.html "Why B takes longer than A" \
    "Over time, to one scale"
# the cells of a table's body add up to its foot, as printed
page_adds_up() {
    awk '
        function value(n) { gsub(/[^-0-9.\342\210\222]/, "", n); sub(/\342\210\222/, "-", n); return n * 1000 }
        /<tbody>/ { for (k = 0; k < 3; k++) sum[k] = 0; rows = 0 }
        /^<tr>.*<td class="n"/ {
            line = $0; n = 0
            while (match(line, /<td class="n" data-v="[^"]*">[^<]*/)) {
                cell = substr(line, RSTART, RLENGTH); sub(/.*>/, "", cell)
                v[n++] = value(cell); line = substr(line, RSTART + RLENGTH)
            }
            if (foot) { for (k = 0; k < 3; k++) if (sprintf("%.0f", v[k]) != sprintf("%.0f", sum[k])) bad = 1; tables++ }
            else { for (k = 0; k < 3; k++) sum[k] += v[k]; rows++ }
        }
        /<tfoot>/ { foot = 1 }
        /<\/tfoot>/ { foot = 0 }
        END { exit bad || tables < 3 }' two.html
}
check its_tables_add_up_as_printed page_adds_up
check both_runs_have_axes_of_one_length test "$(grep -o 'data-span="[^"]*"' two.html | sort -u | wc -l)" -eq 1
check both_runs_are_drawn test "$(grep -c '<svg class="zoom"' two.html)" -eq 2

if command -v gnuplot > /dev/null; then
    run diff a.json b.json -q -o two.svg -o two.json
    check a_picture_is_drawn test -s two.svg
    check both_are_in_it grep -q "B: alexnet" two.svg
    check json_is_written grep -q '"difference_s"' two.json
else
    skip "no gnuplot"
fi

sed 's/"iteration_s": [0-9.e-]*/"iteration_s": 1/' a.json > changed.json
run diff changed.json b.json
check a_changed_answer_is_noted grep -q "note: changed.json says 1 s, the same question now takes" err
run diff a.json
check two_files_are_needed fails 2 "needs A.json B.json"
run diff a.json nowhere.json
check a_missing_file_is_named fails 2 "nowhere.json: cannot open"
run diff a.json b.json -o two.txt
check an_unknown_ending_is_refused fails 2 "no ending that names a format of differences"
echo '{"question": {"workload": "alexnett", "strategy": "dp", "topology": "dgx1-v100"}}' > bad.json
run diff a.json bad.json
check what_a_file_names_must_exist fails 2 "alexnett"
run compare $vgg -s dp --explain
check explaining_takes_two fails 2 "'--explain' needs two strategies"
finish
