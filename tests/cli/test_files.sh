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
