#!/bin/sh
# tests/cli/test_names.sh - names from files and from the command line do no harm where they are
# shown: no control or bidirectional character reaches a terminal, and pictures stay XML.
. "${srcdir:-.}/tests/support/command.sh"

if ! command -v python3 >/dev/null; then
    skip "no python3"
    finish
    exit
fi

# ---- what a terminal would act on ----

# Workloads whose ops, layers and name hold the character, as far as their readers let it in.
cat >make.py <<'END'
import shutil, sys
source = sys.argv[1]
for tag, mark in {"cr": "\r", "escape": "\x1b[31m", "c1": "\u009b", "rlo": "\u202e",
                  "isolate": "\u2066"}.items():
    name = "A" + mark + "Z"
    folder = "w-" + tag
    shutil.copytree(source + "/examples/gnmt-head", folder)
    for file in "ops.csv", "edges.csv":
        text = open(folder + "/" + file, newline="", encoding="utf8").read()
        open(folder + "/" + file, "w", newline="", encoding="utf8").write(
            text.replace("tokens", '"' + name + '"'))
    text = open(folder + "/workload.yaml", encoding="utf8").read()
    escaped = "".join(c if " " <= c <= "~" else "\\u%04x" % ord(c) for c in name)
    open(folder + "/workload.yaml", "w", encoding="utf8").write(
        text.replace("name: gnmt-head", 'name: "%s"' % escaped))
    open("t-%s.csv" % tag, "w", newline="", encoding="utf8").write(
        'task,time,after\n"%s",1s,\nb,2s,"%s"\n' % (name, name))
    open("s-%s.stg" % tag, "w", newline="", encoding="utf8").write(
        "1\n0 0 0\n1 5 1 0\n2 0 1 1\n# %s\n%s\n" % (name, name))
    open("smi-%s.txt" % tag, "w", newline="", encoding="utf8").write(
        "\tGPU0\t%s\tCPU Affinity\nGPU0\t X \t%s\t0-19\n%s\t%s\t X \t0-19\n" % (name, name, name, name))
    open("c-%s.json" % tag, "w", encoding="utf8").write('{"model_type": "%s"}' % escaped)
END
python3 make.py "$source"

# Prints what of the files' characters a terminal acts on.
cat >raw.py <<'END'
import sys
for path in sys.argv[1:]:
    for c in open(path, "rb").read().decode("utf8", "backslashreplace"):
        code = ord(c)
        if (code < 32 and c not in "\n\t") or 127 <= code < 160 or code in (0x61c, 0x200e, 0x200f) \
                or 0x2028 <= code <= 0x202e or 0x2066 <= code <= 0x2069:
            print("%s: %#x" % (path, code))
END
# quiet ARGUMENT...: whatever the answer, no such character is in it
quiet() {
    run "$@"
    test "$status" -le 3 && test -z "$(python3 raw.py out err)"
}
all_quiet() {
    for tag in cr escape c1 rlo isolate; do
        quiet graph show "w-$tag" --layers && quiet graph show "w-$tag" --json &&
            quiet graph draw "w-$tag" && quiet graph check "t-$tag.csv" &&
            quiet simulate -w "w-$tag" -t dgx1-v100 -g 2 -s dp &&
            quiet compare -w "w-$tag" -t dgx1-v100 -g 1 -s dp --json &&
            quiet explain -w "w-$tag" -t dgx1-v100 -g 2 -s pp &&
            quiet sweep -q -w "w-$tag" -t dgx1-v100 -s single &&
            quiet explain -w "t-$tag.csv" -t dgx1-v100 -g 2 -s heft &&
            quiet simulate -w "s-$tag.stg" -t dgx1-v100 -s single &&
            quiet topo import "smi-$tag.txt" --gpu-type v100-sxm2-16gb &&
            quiet graph show "c-$tag.json" || return 1
    done
}
check "no_name_of_a_file_reaches_the_terminal_raw" all_quiet
run graph show w-rlo
check "it_is_printed_as_what_it_is" says 'A\\u202eZ, batch 32'
# files_quiet: reports, answers, tables, traces and pictures keep it out of a reader's sight too
files_quiet() {
    for tag in rlo isolate; do
        for file in f.html f.json f.csv f.trace.json f.svg; do
            run simulate -q -w "t-$tag.csv" -t "2 machines" -s heft -o "$file"
            test "$status" -eq 0 && test -z "$(python3 raw.py "$file")" || return 1
        done
        run explain -w "t-$tag.csv" -t "2 machines" -s heft -o f.dot
        test "$status" -eq 0 && test -z "$(python3 raw.py f.dot)" || return 1
    done
}
check "nor_a_file_that_is_written" files_quiet
words_quiet() {
    for word in "$(printf 'a\rb')" "$(printf 'a\033[2Jb')" "$(printf 'a\302\233b')" \
        "$(printf 'a\342\200\256b')" "$(printf 'a\377b')"; do
        quiet simulate -w "$word" -t dgx1-v100 -s dp && quiet simulate -w lenet -t "$word" -s dp &&
            quiet simulate -w lenet -t dgx1-v100 -s "$word" && quiet "$word" &&
            quiet simulate "--$word" && quiet topo show "$word" &&
            quiet simulate -w lenet -t dgx1-v100 -s single -o "$word" || return 1
        cp -r w-rlo "$word"
        quiet sweep -w "$word" -t dgx1-v100 -s single --store "$word.csv" -o "$word.json" &&
            quiet sweep -w "$word" -t dgx1-v100 -s single --store "$word.csv" || return 1
    done
}
check "nor_does_a_word_of_the_command_line" words_quiet
run simulate -w "$(printf 'no\rb')" -t dgx1-v100 -s dp
check "a_message_says_what_it_is" fails 2 'no\\x0db'

# ---- names inside of pictures ----

cp -r "$source/examples/gnmt-head" odd
sed -i 's/tokens/a]]>b\&<c>/g; s/layer1/]]]>]]>/g' odd/ops.csv odd/edges.csv
sed -i "s/name: gnmt-head/name: 'x]]>y\&<z>'/" odd/workload.yaml
for file in a.svg; do
    run explain -w odd -t dgx1-v100 -g 2 -s pp -o "$file"
    check "what_explain_draws_is_xml ($file)" python3 -c \
        'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' "$file"
done
run simulate -w odd -t dgx1-v100 -g 2 -s dp -o b.svg
check "a_timeline_is_xml" python3 -c 'import xml.dom.minidom as m; m.parse("b.svg")'
check "and_shows_the_name" grep -q 'x]] >y' b.svg
run compare -w odd -t dgx1-v100 -g 2 -s dp -s mp -o c.svg
check "a_comparison_is_xml" python3 -c 'import xml.dom.minidom as m; m.parse("c.svg")'
run graph draw odd -o d.svg
check "a_graph_is_xml" python3 -c 'import xml.dom.minidom as m; m.parse("d.svg")'
finish
