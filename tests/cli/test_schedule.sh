#!/bin/sh
# tests/cli/test_schedule.sh - `forerun schedule`: lists, figures, pictures, files of one's own, faults.
. "${srcdir:-.}/tests/support/command.sh"

equals() { test "$1" = "$2"; }

run schedule list
check every_schedule_is_listed equals "$(grep -c '^  [a-z0-9]' out)" 20

run schedule show 1f1b --ranks 2 --micro-batches 2
check a_list_is_csv succeeds
check rank_0_runs_two_forwards_first equals "$(sed -n 2,5p out | tr '\n' ' ')" \
    "0,0,0F0 0,1,0F1 0,2,0B0 0,3,0B1 "
cp out own.csv
run schedule show file:own.csv
check a_list_is_read_as_it_is_written cmp -s out own.csv
run schedule check own.csv
check a_path_needs_no_prefix says "nothing wrong with 8 actions"

# p 4, m 8: (8 + 3) 3 = 33; live 4, 3, 2, 1 (Megatron-LM, SC 2021); bubble 3 / 11
run schedule show 1f1b --ranks 4 --micro-batches 8 --times F=1,I=1,W=1,comm=0
check the_figures_are_those_of_the_paper says '^1f1b,4,1,8,64,33,33,0.2727[0-9]*,4;3;2;1,4;3;2;1,'
run schedule show 1f1b --ranks 4 --micro-batches 16 --times comm=0.25
check transfers_count says ',64,64,'
run schedule show gpipe --ranks 3 --micro-batches 5 --stages 1,3,2 --times F=1
check stages_may_differ says '^gpipe,3,1,5,30,54,'
run schedule show interleaved-1f1b --ranks 4 --micro-batches 8 --one-model --times F=1
check a_stage_is_half_a_share says ',28.5,28.5,'
run schedule show pipedream --ranks 4 --micro-batches 16 --vertical-sync --json
check vertical_sync_keeps_all_versions says '"weight_versions": \[4, 4, 4, 4\]'

run schedule draw 1f1b gpipe --ranks 2 --micro-batches 2
check boxes_stand_over_time says '^rank 1     F0 B0--- F1 B1---$'

# ---- faults ----

run schedule show zb-h3 --ranks 4 --micro-batches 8
check a_misspelt_name_gets_a_hint fails 2 "'zb-h3' is no schedule, did you mean 'zb-h"
run schedule show 1f1b --micro-batches 8
check the_ranks_are_asked_for fails 2 "no number of devices given (--ranks)"
run schedule show 1f1b --ranks 4 --micro-batches 8 --group 4
check an_option_that_says_nothing_is_refused fails 2 "'1f1b' has no groups of micro-batches"
run schedule show 1f1b --ranks 4 --micro-batches 8 --times X=1
check a_time_of_nothing_is_refused fails 2 "option '--times' has \"X\""
run schedule show interleaved-1f1b --ranks 4 --micro-batches 8 --group 2
check a_group_that_is_too_small_shows_the_circle fails 2 "cannot end: rank 0 at '4F3' waits for"
run schedule draw 1f1b --ranks 4 --micro-batches 8 -o x.txt
check an_unknown_ending_is_refused fails 2 "'x.txt' has no ending that names a format of schedules"
printf 'rank,index,action\n0,0,0F0\n0,1,0X0\n' > bad.csv
run schedule check bad.csv
check a_bad_action_has_its_place fails 2 "bad.csv:3:5: 'action' is \"0X0\""
run schedule check file:none.csv
check a_missing_file_is_named fails 2 "none.csv"

# ---- pictures ----

if ! command -v gnuplot > /dev/null; then
    skip "gnuplot is not installed, no picture is made"
else
    for ending in svg png pdf; do
        run schedule draw gpipe 1f1b interleaved-1f1b zb-h1 zb-v dualpipe --ranks 4 \
            --micro-batches 8 --one-model -o six.$ending
        check "six_schedules_are_drawn: $ending" succeeds
        check "the_picture_is_there: $ending" test -s six.$ending
    done
    check micro_batches_are_numbered grep -q 'gradient of the input' six.svg
    run schedule draw gpipe 1f1b zb-h1 --ranks 4 --micro-batches 8 --grey -o grey.svg
    coloured() { grep -oiE '#[0-9a-f]{6}|rgb\( *[0-9]+, *[0-9]+, *[0-9]+\)' "$1" | tr -d ' ' | sort -u |
        grep -vciE '#(..)\1\1$|rgb\(([0-9]+),\2,\2\)'; }
    check a_grey_picture_has_no_colour test "$(coloured grey.svg)" -eq 0
    check another_one_has test "$(coloured six.svg)" -gt 2
    run schedule draw gpipe --ranks 300 --micro-batches 2 -o x.svg
    check too_many_rows_are_refused fails 2 "cannot be read"
fi

finish
