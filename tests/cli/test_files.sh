#!/bin/sh
# tests/cli/test_files.sh - nothing that stands on the disk is lost: outputs over inputs are refused,
# a full disk leaves the old file, pipes do not hang, and what a kill left behind goes away.
. "${srcdir:-.}/tests/support/command.sh"

# refused TEXT ARGUMENT...: exit status 2, one line, and file keeps its bytes
refused() {
    text=$1
    shift
    cp "$file" before
    status=0
    timeout 20 "$forerun" "$@" >out 2>err </dev/null || status=$?
    fails 2 "$text" && cmp -s "$file" before
}

cp -r "$source/examples/gnmt-head" w
file=w/ops.csv
ln -s ops.csv w/link.csv
ln w/ops.csv hard.csv
check "a_folder_s_own_file_is_no_output" refused "is an input" \
    simulate -w w -t dgx1-v100 -g 2 -s dp -o w/ops.csv
check "nor_through_a_link" refused "is an input" \
    simulate -w w -t dgx1-v100 -g 2 -s dp -o w/link.csv
check "nor_under_another_name" refused "is an input" \
    simulate -w w -t dgx1-v100 -g 2 -s dp -ohard.csv
check "a_workload_is_not_exported_over_itself" refused "is the workload itself" graph export w ./w
mkdir t
printf 'task,time,after\na,1s,\nb,2s,a\n' >t/ops.csv
file=t/ops.csv
check "nor_is_a_file_by_the_folder_that_holds_it" refused "is the workload itself" \
    graph export t/ops.csv t
mkdir l
ln -s ../w/ops.csv l/ops.csv
file=w/ops.csv
check "nor_through_a_link_in_the_other_folder" refused "is the workload itself" graph export w l
printf 'source,system,src,dst,link,bytes,bandwidth_GBps,latency_us\n' >k.csv
file=k.csv
check "data_of_a_fit_are_no_output" refused "is an input" \
    calibrate fit k.csv --system S -o ./k.csv
"$forerun" sweep -q -w lenet -t dgx1-v100 -B 16 -s single --store s.csv >/dev/null
file=s.csv
check "a_store_is_no_other_output" refused "is the store" \
    sweep -w lenet -t dgx1-v100 -B 16 -s single --store s.csv -o s.csv
"$forerun" topo export dgx1-v100 -o c.yaml
file=c.yaml
check "a_topology_is_no_output" refused "is an input" \
    sweep -w lenet -t dgx1-v100,c.yaml -B 16 -s single -o c.yaml
cp c.yaml own.yaml
printf '%s\n' '{collectives: "mine.yaml"}' >>own.yaml
: >mine.yaml
file=mine.yaml
check "nor_is_a_file_that_it_names" refused "is an input" topo export own.yaml -o mine.yaml

# Outputs are compared by where they will stand: none of them is there yet.
# clash TEXT ARGUMENT...: exit status 2, one line, and nothing is made
clash() {
    text=$1
    shift
    rm -rf apart
    mkdir apart apart/in
    ln -s real.csv apart/link.csv
    ln -s . apart/here
    status=0
    (cd apart && timeout 60 "$forerun" "$@" >../out 2>../err </dev/null) || status=$?
    fails 2 "$text" && test "$(ls -A apart | tr '\n' ' ')" = "here in link.csv " &&
        test -z "$(ls -A apart/in)"
}
grid="-q -w lenet -t dgx1-v100 -B 16 -s single"
space="-q -w gpt2-small -t dgx1-v100 -b 8"
for pair in "q.csv q.csv" "q.csv ./q.csv" "q.csv in/../q.csv" "q.csv here/q.csv" "link.csv real.csv" \
    "real.csv link.csv" "here/link.csv real.csv" "in/q.csv ./in//q.csv"; do
    store=${pair% *} file=${pair#* }
    check "a_new_store_is_no_other_output ($pair)" clash "is the store" \
        sweep $grid --store "$store" -o "$file"
    check "nor_of_a_search ($pair)" clash "is the store" \
        search $space --store "$store" -o "$file"
done
check "two_outputs_are_two_files" clash "is the same file as the output 'in/a.json'" \
    simulate -w lenet -t dgx1-v100 -s single -o in/a.json -o here/in/a.json
check "also_through_a_link" clash "is the same file" \
    simulate -w lenet -t dgx1-v100 -s single -o link.csv -o real.csv
run sweep $grid --store new.csv -o other.csv
check "a_store_and_a_table_may_be_new_together" test "$status" -eq 0 -a -s new.csv -a -s other.csv
cp other.csv table.csv
echo 'id,workload,topology,gpus,strategy,global_batch,precision,options,iteration_s,peak_bytes,notes' >rows.csv
echo 'a,w,dgx1-v100,1,single,16,fp32,--measured=table.csv,0.1,,' >>rows.csv
file=table.csv
check "a_file_that_a_table_s_row_names_is_no_output" refused "is an input" \
    validate rows.csv -o table.csv

# A disk that is full: files may not grow beyond 8 KiB, and a program that draws says nothing.
mkdir bin
printf '#!/bin/sh\ncat >/dev/null\nhead -c 100000 /dev/zero\nexit 0\n' >bin/gnuplot
chmod +x bin/gnuplot
cp bin/gnuplot bin/dot
echo old >old.png
echo old >old.svg
limited() {
    status=0
    (
        ulimit -f 16
        PATH=$work/bin:$PATH exec "$forerun" "$@" >out 2>err </dev/null
    ) || status=$?
    test "$status" -eq 1 && test "$(wc -l <err)" -eq 1
}
check "a_picture_cut_short_replaces_nothing" limited \
    compare -w lenet -t dgx1-v100 -g 2 -b 16 -s single -s dp -o old.png
check "nor_does_a_drawing" limited topo draw dgx1-v100 -o old.svg
check "the_old_picture_is_there" test "$(cat old.png old.svg | tr '\n' ' ')" = "old old "
check "and_nothing_beside_it" test -z "$(ls -A | grep '^\.forerun')"
# A program that draws and ends well without a picture, or does not end, costs no old file.
# drawer SCRIPT: gnuplot, dot and rsvg-convert are this
drawer() {
    printf '#!/bin/sh\n%s\n' "$1" >bin/gnuplot
    cp bin/gnuplot bin/dot
    cp bin/gnuplot bin/rsvg-convert
}
# spared TEXT ARGUMENT... FILE: exit status 1, one line that has the text, and FILE is as it was
spared() {
    text=$1
    shift
    for file; do :; done
    echo old >"$file"
    status=0
    PATH=$work/bin:$PATH timeout 30 "$forerun" "$@" >out 2>err </dev/null || status=$?
    test "$status" -eq 1 && test "$(wc -l <err)" -eq 1 && grep -q -e "$text" err &&
        test "$(cat "$file")" = old
}
for format in svg png pdf; do
    kind=$(echo "$format" | tr a-z A-Z)
    drawer 'exit 0'
    check "an_empty_picture_replaces_nothing ($format)" spared "gnuplot ended well but drew nothing" \
        simulate -w lenet -t dgx1-v100 -s single -o "old.$format"
    check "nor_does_an_empty_drawing ($format)" spared "dot ended well but drew nothing" \
        graph draw vgg19 --layer conv1_1 --ops -o "old.$format"
    drawer 'echo no picture'
    check "nor_does_other_text ($format)" spared "no whole $kind" \
        simulate -w lenet -t dgx1-v100 -s single -o "old.$format"
    check "nor_as_a_drawing ($format)" spared "no whole layout" \
        graph draw vgg19 --layer conv1_1 --ops -o "old.$format"
    test "$format" = svg ||
        check "nor_as_one_of_our_own ($format)" spared "no whole $kind" \
            topo draw dgx1-v100 -o "old.$format"
done

# ---- a program that draws and does not listen ----

# deaf SIGNAL GAP: it sends the signal to the command, once more after GAP seconds (timeout(1) sends
# to the command and to its group), and goes on for ten seconds
deaf() {
    drawer "trap '' INT TERM HUP
kill -$1 \$PPID
sleep $2
kill -$1 \$PPID
i=0
while [ \$i -lt 100 ]; do sleep 0.1; : >alive; i=\$((i + 1)); done"
    echo old >old.png
    status=0
    PATH=$work/bin:$PATH timeout --foreground -k 10 30 "$forerun" \
        simulate -w lenet -t dgx1-v100 -s single -o old.png >out 2>err </dev/null || status=$?
    rm -f alive
    sleep 0.5
}
for signal in INT TERM; do
    ends_with=$(test "$signal" = INT && echo 130 || echo 143)
    # a shell in the background has its commands ignore it
    if { sh -c "kill -$signal \$\$; exit 0"; } 2>/dev/null; then
        skip "$signal is ignored here"
        continue
    fi
    for gap in 0 0.01 0.2; do
        deaf "$signal" "$gap"
        what="$signal, again after $gap s"
        check "a_deaf_program_makes_nobody_else_deaf ($what)" grep -q interrupted err
        check "the_status_names_the_signal ($what)" exits "$ends_with"
        check "it_is_not_left_behind ($what)" test ! -e alive
        check "the_old_file_stays ($what)" test "$(cat old.png)" = old
        check "nothing_lies_beside_it ($what)" test -z "$(find . -name '.forerun-*')"
    done
done

mkdir full
echo old >full/ops.csv
check "an_export_that_fails_leaves_the_folder" limited graph export resnet50 full
check "with_its_old_file" test "$(ls -A full)$(cat full/ops.csv)" = "ops.csvold"
check "an_export_that_fails_makes_no_folder" limited graph export resnet50 new
check "not_even_an_empty_one" test ! -e new

mkfifo pipe.csv
status=0
timeout 20 "$forerun" simulate -w lenet -t dgx1-v100 -s single -o pipe.csv >out 2>err || status=$?
check "a_pipe_that_nobody_reads_is_refused" fails 1 "nobody reads"
exec 3<>pipe.csv
status=0
timeout 20 "$forerun" simulate -w lenet -t dgx1-v100 -s single -o pipe.csv >out 2>err || status=$?
timeout 5 head -n 2 <&3 >piped
check "a_pipe_that_is_read_works" test "$status$(wc -l <piped)" -eq 02

# a number that no process has; one of a process that lives; one of a file in use
gone=999999999
: >.forerun-$gone-0.tmp
: >.forerun-$$-0.tmp
: >.forerun-notes
run simulate -w lenet -t dgx1-v100 -s single -o a.csv
check "what_a_killed_run_left_goes_away" test ! -e .forerun-$gone-0.tmp
check "what_others_write_stays" test -e .forerun-$$-0.tmp -a -e .forerun-notes
finish
