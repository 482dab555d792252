#!/bin/sh
# tests/cli/test_fits.sh - pictures of fit against data, drawn by gnuplot from made-up rows.
command -v gnuplot >/dev/null || {
    echo "SKIP: no gnuplot"
    exit 77
}

. "${srcdir:-.}/tests/support/command.sh"
# draw STATUS ARGUMENTS...: judges products.csv and whatever else is named
draw() {
    wanted=$1
    shift
    "$forerun" calibrate check "$@" >out 2>err
    check "exit status $wanted of: $*" test $? -eq "$wanted"
}

gpu="x'; system('touch broken') #\`touch broken\`\$(touch broken)"
{
    echo "gpu,dtype,m,n,k,time_us"
    for m in 1 2 4 8 16 32 64 128 256; do
        echo "$gpu,fp16,$m,4096,4096,$((30 + m))"
    done
} >products.csv
sed 's/fp16/bf16/' products.csv >more.csv

draw 0 products.csv -d a100-sxm4-80gb --gpu "$gpu" --all -o one/
check "a_folder_has_a_picture_a_curve" test "$(ls one)" = matmul-fp16.png
draw 0 products.csv more.csv -d a100-sxm4-80gb --gpu "$gpu" --all -o two -o two
check "a_folder_is_used_again" test "$(ls two | tr '\n' ' ')" = "matmul-bf16.png matmul-fp16.png "
draw 0 products.csv -d a100-sxm4-80gb --gpu "$gpu" --all -o one.svg -o one.pdf
check "a_name_with_an_ending_is_one_picture" test -s one.svg -a -s one.pdf
check "a_picture_has_axes" drawn axes one.svg
check "text_of_the_data_is_text_in_the_picture" drawn texts one.svg \
    "9 rows to judge by: median 43.3 %, 90th percentile 77.6 %, worst 81.0 %, bias -43.3 %; $gpu"
check "no_text_is_obeyed" test ! -e broken
check "the_rows_along_a_size_are_named" drawn texts one.svg "batch 1, columns 4096, depth 4096"
check "the_table_is_printed_too" grep -q "matmul *fp16 *9 " out

draw 0 products.csv more.csv -d a100-sxm4-80gb --gpu "$gpu" --all -o rows.csv
check "a_table_has_a_line_a_row" test "$(wc -l <rows.csv)" -eq 19
check "with_the_rows_place_and_shape" grep -q "^products.csv,2,matmul,fp16,\"1 x 1 x 4096 x 4096 (batch, rows, columns, depth)\",3.1e-05," rows.csv
check "its_error_is_predicted_over_measured" awk -F, '
    NR > 1 { e = $(NF - 2) / $(NF - 3) - 1 - $(NF - 1); if (e > 1e-9 || e < -1e-9) exit 1 }' rows.csv

# a single row, twice the same, and rows that no fit may judge
{
    echo "gpu,dtype,m,n,k,time_us"
    echo "G,fp16,64,64,64,1"
} >single.csv
draw 0 single.csv -d a100-sxm4-80gb --gpu G --all -o single.svg
check "a_single_row_is_drawn" test -s single.svg

# collectives: 8 GPUs, and two nodes that this system knows nothing of
{
    echo "source,system,gpus,nodes,op,bytes,dtype,algorithm,protocol,time_us"
    for kib in 1 4 16 64 256 1024 4096; do
        echo "S,$gpu,8,1,all_reduce,$((1024 * kib)),half,auto,auto,$((10 + kib / 100))"
        echo "S,$gpu,16,2,all_reduce,$((1024 * kib)),half,auto,auto,$((10 + kib / 100))"
        echo "S,$gpu,4,1,alltoall,$((1024 * kib)),half,auto,auto,$((10 + kib / 100))"
    done
} >collectives.csv
draw 0 collectives.csv --system h100-nvswitch --rows-of "$gpu" --all -o system
check "a_system_has_a_picture_an_operation" test "$(ls system | tr '\n' ' ')" = "all-reduce.png all-to-all.png "
grep -v alltoall collectives.csv >sums.csv
draw 0 sums.csv --system h100-nvswitch --rows-of "$gpu" --all -o system.svg
check "numbers_of_gpus_are_named" grep -q "8 GPUs" system.svg
check "names_of_systems_are_text" grep -q "; system('touch broken') #" system.svg
check "and_not_obeyed" test ! -e broken
draw 2 collectives.csv --system h100-nvswitch --rows-of "$gpu" --all -o system.png
check "one_picture_of_two_operations_is_refused" grep -q "rows of 2 classes; name a folder" err
draw 2 collectives.csv --system h100-nvswitch --rows-of nobody -o none
check "no_collectives_make_no_folder" test ! -e none
draw 2 collectives.csv --system h100-nvswitch --rows-of "$gpu" --all -o fits.gif
draw 0 collectives.csv --system h100-nvswitch --rows-of "$gpu" --all -o fits.csv
check "a_system_s_rows_are_a_table" grep -q "^line,class,gpus,nodes,bytes,measured_s,predicted_s,error,held_out$" fits.csv
check "with_a_line_for_each" grep -q "^[0-9]*,all-reduce,[0-9]*,1,[0-9]*,[0-9.e-]*,[0-9.e-]*,[0-9.e-]*,[01]$" fits.csv
rm -f fits.csv

draw 2 products.csv more.csv -d a100-sxm4-80gb --gpu "$gpu" --all -o both.png
check "one_picture_of_two_curves_is_refused" grep -q "'both.png' is one picture and the data have rows of 2 curves" err
check "and_leaves_nothing" test ! -e both.png
draw 2 products.csv -d a100-sxm4-80gb --gpu "$gpu" --all -o fits.gif
check "another_ending_is_refused" grep -q "'fits.gif' is neither a folder" err
draw 1 products.csv -d a100-sxm4-80gb --gpu "$gpu" --all -o nowhere/fits
check "a_folder_in_no_folder_is_refused" grep -q "nowhere/fits: cannot make the folder" err
draw 1 products.csv -d a100-sxm4-80gb --gpu "$gpu" --all -o products.csv/fits
: >empty.csv
draw 2 empty.csv -d a100-sxm4-80gb -o fits
echo "gpu,dtype,m,n,k,time_us" >none.csv
draw 2 none.csv -d a100-sxm4-80gb -o fits
check "no_rows_make_no_folder" test ! -e fits
check "no_rows_are_named" grep -q "the data have no row to judge" err

finish
