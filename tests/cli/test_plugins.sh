#!/bin/sh
# tests/cli/test_plugins.sh - code is loaded only where the command line names it, and a shared
# object that is cut short, a pipe, or one that plans nothing is refused.
. "${srcdir:-.}/tests/support/command.sh"

command -v "${CC:-cc}" >/dev/null || {
    skip "no C compiler"
    finish
    exit
}

# An object that says when it was loaded.
printf '%s\n' '#include <stdio.h>' \
    '__attribute__((constructor)) static void tell(void)' \
    '{ FILE *f = fopen("loaded", "w"); if (f) fclose(f); }' >tell.c
"${CC:-cc}" -shared -fPIC tell.c -o tell.so || {
    skip "the C compiler makes no shared objects"
    finish
    exit
}
"$forerun" simulate -w lenet -t dgx1-v100 -s single --json >good.json
sed 's#"strategy": "single"#"strategy": "./tell.so"#' good.json >answer.json
sed 's#"question": {#"question": {"measured": "10ms@8:./tell.so", #' good.json >measured.json
columns='id,workload,topology,gpus,strategy,global_batch,precision,options,iteration_s,peak_bytes,notes'
printf '%s\na,lenet,dgx1-v100,1,single,16,fp32,,0.1,,\nb,lenet,dgx1-v100,1,tell.so,16,fp32,,0.1,,\n' \
    "$columns" >rows.csv
printf '%s\na,lenet,dgx1-v100,1,single,16,fp32,--measured=10ms@8:./tell.so,0.1,,\n' \
    "$columns" >options.csv
printf '%s\n%s\n' model,gpu,batch,time,precision,memory,gpus,strategy \
    lenet,v100-sxm2-16gb,16,10ms,fp32,,8,./tell.so >steps.csv
printf '%s\n%s\n' model,gpu,batch,time,precision,memory,gpus,strategy \
    resnet50,v100-sxm2-16gb,16,10ms,fp32,,8,./tell.so:x=1 >others.csv
printf 'strategy:\n  ./tell.so:\n    value: 1\n    source: a test\n' >recipe.yaml

# kept_out TEXT ARGUMENT...: exit status 2, one line that has the text, and nothing was loaded
kept_out() {
    text=$1
    shift
    rm -f loaded
    run "$@"
    fails 2 "$text" && test ! -e loaded
}
# outside ARGUMENT...: nothing was loaded, whatever is answered
outside() {
    rm -f loaded
    run "$@"
    test ! -e loaded
}
refusal="is a shared object, and code is loaded only where the command line names it"
check "a_row_s_strategy" kept_out "rows.csv:3:21: strategy 'tell.so' $refusal" validate rows.csv
check "also_of_an_anchor" kept_out "rows.csv:3:21: .*$refusal" validate rows.csv --anchored
check "a_row_s_measured_step" kept_out "options.csv:2:36: .*$refusal" validate options.csv
check "an_answer_s_strategy" kept_out "answer.json:[0-9]*:[0-9]*: .*$refusal" \
    diff answer.json good.json
check "also_of_the_second" kept_out "answer.json:[0-9]*:[0-9]*: .*$refusal" \
    diff good.json answer.json
check "an_answer_s_measured_step" kept_out "measured.json:[0-9]*:[0-9]*: .*$refusal" \
    diff measured.json good.json
problem="-w lenet -t dgx1-v100 -g 4 -s dp"
check "a_measured_step_of_a_file" kept_out "steps.csv:2:38: .*$refusal" \
    simulate $problem --measured steps.csv
check "also_of_another_model" kept_out "others.csv:2:41: .*$refusal" \
    simulate $problem --measured others.csv
check "in_a_comparison" kept_out "steps.csv:2:38: .*$refusal" compare $problem --measured steps.csv
check "in_a_sweep" outside sweep -q $problem --measured steps.csv
check "in_a_search" outside search -q -w lenet -t dgx1-v100 -b 64 --measured steps.csv
check "in_a_recipe" outside simulate $problem --recipe recipe.yaml
"$forerun" sweep -q $problem --store store.csv >/dev/null
sed 's#,dp,#,./tell.so,#' store.csv >changed.csv
check "in_a_store" outside sweep -q $problem --store changed.csv
rm -f loaded
run simulate -w lenet -t dgx1-v100 -s ./tell.so
check "the_command_line_loads_it" test "$status" -eq 2 -a -e loaded

# ---- objects that are not whole ----

printf '%s\n' '#include "strategies/strategies.h"' \
    'static const struct fr_option options[] = {{.name = 0}};' \
    'static enum fr_status plan(const struct fr_problem *in, const struct fr_context *ctx,' \
    '                           struct fr_plan *out, struct fr_error *err)' \
    '{ (void)in, (void)ctx, (void)out, (void)err; return FR_OK; }' \
    'static const struct fr_strategy nothing = {.name = "nothing", .summary = "none",' \
    '    .source = "a test", .options = options, .plan = plan};' \
    'FR_STRATEGY_PLUGIN(nothing);' >nothing.c
"${CC:-cc}" -shared -fPIC -I"$source" nothing.c -o nothing.so
ask="-w lenet -t dgx1-v100 -s"
run simulate $ask ./nothing.so
check "a_plan_without_work_is_refused" fails 2 "'nothing' made a plan in which no GPU computes"
run sweep -q -w lenet -t dgx1-v100 -s ./nothing.so
check "also_in_a_sweep" test "$status" -ne 0
mkfifo pipe.so
status=0
timeout 20 "$forerun" simulate $ask ./pipe.so >out 2>err </dev/null || status=$?
check "a_pipe_is_refused" fails 2 "'./pipe.so' cannot be loaded: is a pipe or a device"
mkdir folder.so
run simulate $ask ./folder.so
check "a_folder_is_refused" fails 2 "'./folder.so' cannot be loaded: is a folder"
size=$(wc -c <nothing.so)
cut_short() {
    for n in 0 1 15 63 64 65 200 800 1000 4000 4096 8192 $((size / 2)) $((size - 1)); do
        test "$n" -lt "$size" || continue
        head -c "$n" nothing.so >cut.so
        run simulate $ask ./cut.so
        fails 2 "'./cut.so' cannot be loaded: " || return 1
    done
}
check "an_object_that_is_cut_anywhere_is_refused" cut_short
finish
