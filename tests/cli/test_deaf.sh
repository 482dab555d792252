#!/bin/sh
# tests/cli/test_deaf.sh - the first SIGTERM, that of timeout(1) and of batch systems, ends every verb
# and every strategy at its slowest: soon, with 143 (SIGINT: 130), and with a sentence.
. "${srcdir:-.}/tests/support/command.sh"

# told SECONDS SIGNAL ARGUMENT...: runs the command and sends it the signal after that time.
# timeout(1) sends it to its whole group as well, so it comes twice, which is one wish.
MOST_S=20
told() {
    after=$1 signal=$2
    shift 2
    status=0
    rm -f half.json
    timeout --preserve-status -s "$signal" -k "$MOST_S" "$after" \
        "$forerun" "$@" > out 2> err < /dev/null || status=$?
}

# ends NAME STATUS SIGNAL ARGUMENT...: work of many seconds is told to end. A command that has ended
# by itself, or was refused, before the signal is no answer. Where the machine is busy the command
# may not have begun: it says nothing then, and is given more time. It may compute for half a second
# more; the bound is for busy machines.
ends() {
    what=$1 expected=$2 signal=$3
    shift 3
    for after in 0.4 2 8; do
        told "$after" "$signal" "$@"
        test "$status" -eq 0 || grep -q '^forerun: ' err && break
    done
    if test "$status" -eq 0; then
        skip "$what: done before the signal"
        return
    fi
    check "$what" exits "$expected"
    check "$what: says so" grep -q "interrupted" err
    check "$what: leaves nothing half-written" test ! -e half.json
}

if ! timeout --preserve-status -k 9 9 true 2> /dev/null; then
    skip "no timeout(1) that keeps the exit status"
    finish
    exit $?
fi

large="16x dgx1-v100 via ib:100Gbps"
huge="8192x dgx1-v100 via ib:100Gbps"
ask() { echo simulate -w resnet200 -B 8 -t; }

# ---- strategies ----
for s in dp:bucket=64KiB dp:sync=ps-sharded pp:micro=64 heft cpop etf mcp dpos os-dpos \
    dpos:rule=paper,referee=belief,links=slots os-dpos:rule=paper; do
    ends "a_termination_ends_$s" 143 TERM $(ask) "$large" -s "$s" --collectives expanded \
        --network flow -o half.json
done
# a shell in the background has its commands ignore it
if { sh -c 'kill -INT $$; exit 0'; } 2> /dev/null; then
    skip "an interrupt is ignored here"
else
    ends "an_interrupt_ends_dpos" 130 INT $(ask) "$large" -s dpos -o half.json
fi
ends "a_termination_ends_servers_on_many_machines" 143 TERM simulate -w alexnet -B 8 -t "$huge" \
    -s dp:sync=ps-sharded --memory-limit 64GiB
ends "a_termination_ends_hybrid" 143 TERM simulate -w gpt3-175b -t "128x dgx-a100-80g" -b 1536 -p bf16 \
    -O adam -s hybrid:tp=8,pp=16,micro=1,fold=0 --collectives expanded
ends "a_termination_ends_pipedream" 143 TERM simulate -w resnet200 -t "$large" -B 64 -s pipedream
"$forerun" graph random layered:tasks=60,width=10,ccr=1,seed=3 -o tasks.csv
ends "a_termination_ends_exact" 143 TERM simulate -w tasks.csv -t "6 machines via 1GB/s" -s exact:nodes=0

# ---- verbs ----
ends "a_termination_ends_compare" 143 TERM compare -w gnmt-8 -t "$large" -B 8 -o half.json
ends "a_termination_ends_explain" 143 TERM explain -w resnet200 -t "$large" -B 8 -s heft
ends "a_termination_ends_sweep" 143 TERM sweep -w all -t all -B 16..64x2
ends "a_termination_ends_search" 143 TERM search -w gpt3-175b -t "128x dgx-a100-80g" -b 1536 -O adam
ends "a_termination_ends_learn" 143 TERM learn -w resnet200 -t "4x dgx1-v100-32g" -B 8
ends "a_termination_ends_comm" 143 TERM comm all-reduce -t "$huge"
ends "a_termination_ends_comm_to_all" 143 TERM comm all-to-all -t "$huge"
ends "a_termination_ends_topo_time" 143 TERM topo time "$huge" all-to-all 64MiB
ends "a_termination_ends_topo_show" 143 TERM topo show "$huge" --json
ends "a_termination_ends_topo_export" 143 TERM topo export "$huge"
ends "a_termination_ends_topo_draw" 143 TERM topo draw "$huge"
ends "a_termination_ends_topo_check" 143 TERM topo check "$huge"
ends "a_termination_ends_graph_show" 143 TERM graph show "gpt:layers=4096,hidden=64,heads=2,seq=16,vocab=100" \
    --json
ends "a_termination_ends_graph_random" 143 TERM graph random erdos-renyi:tasks=20000,density=1
ends "a_termination_ends_schedule" 143 TERM schedule show zb-v --ranks 256 --micro-batches 4096
ends "a_termination_ends_reproduce" 143 TERM reproduce fastt
finish
