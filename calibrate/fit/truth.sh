#!/bin/sh
# calibrate/fit/truth.sh FORERUN PAGE [MICROBENCH PICTURES] - writes the tables of PAGE
# (doc/evidence/kernels.md) anew, between its lines "<!-- NAME: made by make truth-fits -->" and "<!-- NAME: end
# -->":
#   summary, kernels   what the shipped device files say of the rows held out of their fits
#   pooled             the same rows of all devices together, judged on MICROBENCH
#   launches           and of the time of next to nothing
#   systems            likewise of systems; collectives inside a machine judged on MICROBENCH/collectives.csv
# and draws the pictures of PAGE into the folder PICTURES. Without MICROBENCH (the CSV files of
# doc/calibration.md) only what needs none.
set -eu
LC_ALL=C
export LC_ALL
forerun=$1 page=$2 data=${3:-} pictures=${4:-}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# What was to be reached, median and 90th percentile in per cent: class, median, p90. No aim was set
# for embeddings.
cat >"$work/aims" <<'EOF'
matmul 5 18
conv-forward 10 30
conv-backward-data 15 45
conv-backward-filter 15 45
elementwise 5 20
softmax 8 25
layernorm 8 25
embedding - -
attention 12 35
EOF

# Why an aim was missed, where that is known: device, class, format, cause.
cat >"$work/causes" <<'EOF'
l4 matmul fp32 the clock drops under load
t4 matmul fp32 the clock drops under load
l40s matmul bf16 operands stay in the 96 MB of cache between repetitions, or do not
v100-sxm2-16gb matmul fp16 the layout of operands, no size, makes up to a half
a100-pcie-80gb conv-forward fp32 noise of a framework's call
p100-pcie-16gb conv-forward fp32 noise of a framework's call
p4 conv-forward fp32 noise of a framework's call
v100-pcie-32gb conv-forward fp32 noise of a framework's call
v100-sxm2-16gb conv-forward fp16 few rows
t4 conv-forward fp16 few rows
p100-pcie-16gb conv-backward-data fp32 few rows
v100-sxm2-16gb conv-backward-data fp32 few rows
v100-sxm2-16gb conv-backward-data fp16 few rows
t4 conv-backward-filter fp16 few rows
EOF

# ---- kernels: from what is shipped ----

# What is shipped is devices, with a class and a format of each curve, and systems.
show_devices() {
    "$forerun" calibrate show | awk '$3 ~ /^[a-z]+[0-9]+,?$/ { print $1 }' | while read -r device; do
        "$forerun" calibrate show "$device"
    done
}

# device class format fitted n median p90 worst bias again source, one curve a line; again: rows of
# shapes that were measured again, their median and p90 apart, N:MEDIAN:P90, or -
list_curves() {
    show_devices | awk '
        function say(   i) {
            for (i = 0; key && i < n; i++) if (index(row[i], " " key " ")) print row[i] " " again " " source
            key = ""
        }
        / misses on rows / { say(); device = $1; sub(/:$/, "", device); n = 0 }
        /^  [a-z-]+ +[a-z0-9]+ +[0-9]+ +[0-9]+ / { row[n++] = device " " $1 " " $2 " " $3 " " $4 " " $5 " " $7 " " $9 " " $11 }
        /^[a-z-]+ [a-z0-9]+: .*, from / {
            say()
            source = $0; sub(/.*, from /, "", source); sub(/^[^ ]*\//, "", source)
            key = $1 " " $2; sub(/:$/, "", key)
            again = "-"
        }
        /^  repeats .* rows of shapes measured again/ { again = $2 ":" $8 ":" $12 }
        END { say() }'
}

make_kernels() {
    echo "| class | device | format | data | fitted | held out | median | p90 | worst | bias | measured again | missed | why |"
    echo "|---|---|---|---|---|---|---|---|---|---|---|---|---|"
    awk -v aims="$work/aims" -v causes="$work/causes" '
        BEGIN {
            while ((getline line < aims) > 0) { split(line, a, " "); order[++n] = a[1]; median[a[1]] = a[2]; p90[a[1]] = a[3] }
            while ((getline line < causes) > 0) { split(line, a, " "); why = line; sub(/^[^ ]+ [^ ]+ [^ ]+ /, "", why); cause[a[1] " " a[2] " " a[3]] = why }
        }
        {
            source = $11
            for (i = 12; i <= NF; i++) source = source " " $i
            repeats = ""
            if (split($10, again, ":") == 3) repeats = again[2] " / " again[3] " % of " again[1]
            missed = ""
            if (median[$2] != "-" && $6 + 0 > median[$2]) missed = "median"
            if (p90[$2] != "-" && $7 + 0 > p90[$2]) missed = missed (missed ? ", " : "") "p90"
            why = cause[$1 " " $2 " " $3]
            if (missed == "") why = ""; else if (why == "") why = "not known"
            rows[$2] = rows[$2] sprintf("| %s | %s | %s | %s | %s | %s | %s %% | %s %% | %s %% | %s %% | %s | %s | %s |\n", $2, $1, $3, source, $4, $5, $6, $7, $8, $9, repeats, missed, why)
        }
        END { for (i = 1; i <= n; i++) printf "%s", rows[order[i]] }' "$work/curves"
}

# A line a class: the middle one of its curves, the best and the worst, and how many reach the aim.
make_summary() {
    echo "| class | aim: median / p90 | curves | rows held out | their medians: least, middle, most | their p90: least, middle, most | reach the aim |"
    echo "|---|---|---|---|---|---|---|"
    while read -r class median p90; do
        for column in 6 7; do
            awk -v class="$class" -v c=$column '$2 == class { print $c }' "$work/curves" | sort -n |
                awk '{ x[NR] = $1 } END { printf "%s, %s, %s %%", x[1], x[int((NR + 1) / 2)], x[NR] }' >"$work/$column"
        done
        awk -v class="$class" -v m="$median" -v p="$p90" -v ms="$(cat "$work/6")" -v ps="$(cat "$work/7")" '
            $2 == class { n++; rows += $5; ok += m == "-" || ($6 + 0 <= m && $7 + 0 <= p) }
            END {
                aim = m == "-" ? "none" : m " / " p " %"
                printf "| %s | %s | %d | %d | %s | %s | %s |\n", class, aim, n, rows, ms, ps, m == "-" ? "" : ok " of " n
            }' "$work/curves"
    done <"$work/aims"
}

# Held-out rows of all devices together, by class and format: the aim is worded over them.
make_pooled() {
    echo "| class | format | devices | rows held out | median | p90 | bias | missed |"
    echo "|---|---|---|---|---|---|---|---|"
    "$forerun" calibrate show | awk '$3 ~ /^[a-z]+[0-9]+,?$/ { print $1 }' | while read -r device; do
        "$forerun" calibrate check "$data/gemm.csv" "$data/conv.csv" "$data/other_kernels.csv" \
            -d "$device" -o "$work/rows.csv" >/dev/null || continue
        # file,line,class,dtype,"shape, with commas",measured_s,predicted_s,error,held_out
        awk -F, -v device="$device" 'NR > 1 { print $3, $4, device, 100 * $(NF - 1) }' "$work/rows.csv"
    done >"$work/pooled"
    while read -r class median p90; do
        for dtype in fp32 tf32 fp16 bf16 fp8; do
            awk -v c="$class" -v d="$dtype" '$1 == c && $2 == d { print ($4 < 0 ? -$4 : $4) }' "$work/pooled" | sort -g >"$work/sizes"
            [ -s "$work/sizes" ] || continue
            awk -v c="$class" -v d="$dtype" '$1 == c && $2 == d { print $4 }' "$work/pooled" | sort -g >"$work/signed"
            devices=$(awk -v c="$class" -v d="$dtype" '$1 == c && $2 == d { print $3 }' "$work/pooled" | sort -u | wc -l)
            awk -v class="$class" -v dtype="$dtype" -v devices="$((devices))" -v m="$median" -v p="$p90" '
                function quantile(x, n, q,   at, low) {
                    at = 1 + q * (n - 1); low = int(at)
                    return low < n ? x[low] + (at - low) * (x[low + 1] - x[low]) : x[n]
                }
                FNR == NR { size[++n] = $1; next }
                { signed[FNR] = $1 }
                END {
                    median = sprintf("%.1f", quantile(size, n, .5)); p90 = sprintf("%.1f", quantile(size, n, .9))
                    missed = m != "-" && median + 0 > m ? "median" : ""
                    if (p != "-" && p90 + 0 > p) missed = missed (missed ? ", " : "") "p90"
                    printf "| %s | %s | %d | %d | %s %% | %s %% | %+.1f %% | %s |\n", class, dtype, devices, n, median, p90, quantile(signed, n, .5), missed
                }' "$work/sizes" "$work/signed"
        done
    done <"$work/aims"
}

# The first parameter of each curve, the time of next to nothing, by class and whose data.
make_launches() {
    echo "| class | data | curves | least | middle | most |"
    echo "|---|---|---|---|---|---|"
    show_devices | awk '
        /^[a-z-]+ [a-z0-9]+: .*, from / { source = $0; sub(/.*, from [^ ]*\//, "", source); sub(/ .*/, "", source); class = $1 }
        /^  (launch_s|call_s) / { print class, source, 1e6 * $2 }' | sort -k1,1 -k2,2 -k3,3n | awk '
        function say() { if (n) printf "| %s | %s | %d | %.3g us | %.3g us | %.3g us |\n", class, source, n, x[1], x[int((n + 1) / 2)], x[n] }
        $1 != class || $2 != source { say(); n = 0; class = $1; source = $2 }
        { x[++n] = $3 }
        END { say() }'
}

# ---- systems: on the data ----

# judge NAME SYSTEM OPTION...: lines NAME|class|n|median|p90|worst|bias, in per cent
judge() {
    name=$1
    shift
    "$forerun" calibrate check "$data/collectives.csv" --json --system "$@" 2>/dev/null |
        sed -n 's/.*"class": "\([^"]*\)".*"n": \([0-9]*\), "median": \([^,]*\), "p90": \([^,]*\), "worst": \([^,]*\), "bias": \([^}]*\)}.*/\1|\2|\3|\4|\5|\6/p' |
        awk -F '|' -v name="$name" '{ printf "%s|%s|%d|%.1f|%.1f|%.1f|%+.1f\n", name, $1, $2, 100 * $3, 100 * $4, 100 * $5, 100 * $6 }'
}

# Over nodes and links: what the shipped files say, of all sizes. Inside a machine: judged anew from
# 256 KiB on, but where the file was fitted to a selection of the rows, so that the numbers of rows
# differ, as it says.
make_systems() {
    echo "| system | what | sizes | rows | median | p90 | worst | bias | missed |"
    echo "|---|---|---|---|---|---|---|---|---|"
    "$forerun" calibrate show | awk '$3 !~ /^[a-z]+[0-9]+,?$/ { print $1 }' | while read -r system; do
        {
            judge all "$system"
            judge large "$system" --min-bytes 256KiB
            "$forerun" calibrate show "$system" | awk '
                /^  .* [0-9]+ +[0-9.]+ % +[0-9.]+ % +[0-9.]+ % +[-+][0-9.]+ %$/ {
                    name = $1
                    for (i = 2; i < NF - 8; i++) name = name " " $i
                    printf "shown|%s|%s|%s|%s|%s|%s\n", name, $(NF - 8), $(NF - 7), $(NF - 5), $(NF - 3), $(NF - 1)
                }'
        } | awk -F '|' -v system_name="$system" '
            $1 == "all" { n_all[$2] = $3 }
            $1 == "large" { n[$2] = $3; line[$2] = $4 "|" $5 "|" $6 "|" $7 }
            $1 == "shown" {
                is_large = ($2 in line) && n_all[$2] == $3 && $2 !~ /, nodes$/
                if (!is_large) { n[$2] = $3; line[$2] = $4 "|" $5 "|" $6 "|" $7 }
                m = 6; p = 20
                if ($2 ~ /, nodes$/) { m = 16; p = 50 }
                if ($2 ~ /^send:/) p = 25
                split(line[$2], x, "|")
                missed = x[1] + 0 > m ? "median" : ""
                if (x[2] + 0 > p) missed = missed (missed ? ", " : "") "p90"
                printf "| %s | %s | %s | %s | %s %% | %s %% | %s %% | %s %% | %s |\n", system_name, $2, is_large ? "256 KiB on" : "all", n[$2], x[1], x[2], x[3], x[4], missed
            }'
    done
}

# ---- the page ----

# replace NAME: standard input is the block's new text.
replace() {
    cat >"$work/block"
    grep -q "^<!-- $1: made by make truth-fits -->\$" "$page" || {
        echo "$page: no line '<!-- $1: made by make truth-fits -->'" >&2
        exit 1
    }
    awk -v name="$1" -v block="$work/block" '
        $0 == "<!-- " name ": end -->" { skip = 0 }
        !skip { print }
        $0 == "<!-- " name ": made by make truth-fits -->" {
            while ((getline line < block) > 0) print line
            skip = 1
        }' "$page" >"$work/page"
    cat "$work/page" >"$page"
}

list_curves >"$work/curves"
make_summary | replace summary
make_kernels | replace kernels
make_launches | replace launches
[ -n "$data" ] || exit 0
[ -r "$data/gemm.csv" ] || {
    echo "no measured kernels in $data: tables of kernels only"
    exit 0
}
make_pooled | replace pooled
make_systems | replace systems

# draw DEVICE CLASS-DTYPE... : pictures/fit-CLASS.png
draw() {
    device=$1
    shift
    "$forerun" calibrate check "$data/gemm.csv" "$data/conv.csv" "$data/other_kernels.csv" \
        -d "$device" -o "$work/$device" >/dev/null
    for picture; do
        cp "$work/$device/$picture.png" "$pictures/fit-${picture%-*}.png"
    done
}
[ -n "$pictures" ] || exit 0
draw a100-sxm4-80gb matmul-fp16 embedding-fp16 attention-bf16
draw v100-sxm2-16gb conv-forward-fp32 conv-backward-data-fp32 conv-backward-filter-fp32
"$forerun" calibrate check "$data/collectives.csv" --system h100-nvswitch -o "$work/system" >/dev/null
cp "$work/system/all-reduce.png" "$pictures/fit-all-reduce.png"
draw v100-pcie-32gb elementwise-fp32 softmax-fp32 layernorm-fp32
