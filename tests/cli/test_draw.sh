#!/bin/sh
# tests/cli/test_draw.sh - `topo draw` and `graph draw` as people meet them: files, graphviz,
# faults.
. "${srcdir:-.}/tests/support/command.sh"

only_files() { test "$(ls | tr '\n' ' ')" = "$1"; }
starts_with() { head -c 4 "$1" | grep -a -q -e "$2"; }

cat > hostile.yaml <<'END'
name: "a \"quote\"; b [label=x] \\N <i>&lt;</i> new\nline $(touch hacked)"
source: test
machines:
- vertices:
  - {name: gpu0, kind: gpu, type: v100-sxm2-16gb}
  - {name: x, kind: nic}
  links:
  - {from: gpu0, to: x, kind: pcie, bandwidth: 24GB/s, latency: 0.5us}
END

for what in "topo draw dgx1-v100" "graph draw lenet" "graph draw lenet --ops"; do
    run $what
    check "without_a_file_the_text_is_printed: $what" succeeds
    check "the_text_ends: $what" grep -q '^}$' out
    run $what -o x.txt
    check "an_unknown_ending_is_wrong_usage: $what" fails 2 "'x.txt' has no ending"
    run $what -o no/such/x.dot
    check "an_unwritable_file_fails: $what" fails 1 "no/such/x.dot"
    run $what -o x.dot
    check "the_text_goes_to_a_file: $what" succeeds
    run $what
    check "file_and_standard_output_are_alike: $what" cmp -s out x.dot
    rm -f x.dot
done
# alone ARGUMENT...: without any program beside it, past libtool's script, which needs a PATH itself
alone() {
    status=0
    LD_LIBRARY_PATH=$build/.libs PATH=/nonexistent "$build/.libs/forerun" "$@" > out 2> err ||
        status=$?
}
if test -x "$build/.libs/forerun"; then
    alone topo draw dgx1-v100 -o x.svg
    check an_svg_needs_no_program succeeds
    rm -f x.svg
    for format in png pdf; do
        alone topo draw dgx1-v100 -o x.$format
        check missing_librsvg_is_named fails 1 \
            "rsvg-convert is not installed; install librsvg (package librsvg2-bin), or write .svg"
    done
    alone graph draw vgg19 --layer conv1_1 --ops -o x.svg
    check missing_graphviz_is_named fails 1 "dot is not installed; install graphviz"
    check missing_programs_leave_no_files only_files "err hostile.yaml out "
else
    echo "skipped: no shared library: missing programs are not played"
fi
run topo draw dgx9
check "an_unknown_cluster_is_named" fails 2 "no topology preset or file 'dgx9'"
run topo draw dgx2 --json
check "drawings_are_no_json" fails 2 "unknown option '--json'"
run graph draw gpt2-xl --ops
check "too_many_ops_are_refused" fails 2 "at most 300 can be read: choose a layer with --layer"
run graph draw vgg19 --layer fc66
check "an_unknown_layer_gets_a_hint" fails 2 "no layer 'fc66', did you mean 'fc6'?"
run graph draw vgg19 --phase backwrd
check "an_unknown_phase_gets_a_hint" fails 2 "did you mean 'backward'?"

if ! command -v dot > /dev/null || ! command -v rsvg-convert > /dev/null; then
    echo "skipped: graphviz or librsvg2-bin is not installed, no picture is looked at"
else
    # parts and cables of a DGX-2; a node a block and one for what is before and after; ops
    for row in "41 56 topo draw dgx2" "6 6 graph draw gpt3-175b" \
        "15 15 graph draw resnet50 --layer layer1.0 --ops"; do
        n_nodes=${row%% *}
        row=${row#* }
        n_edges=${row%% *}
        what=${row#* }
        run $what -o x.svg -o x.png -o x.pdf
        check "pictures_of_all_kinds_are_drawn: $what" succeeds
        check "an_svg_has_its_boxes_and_lines: $what" drawn graph x.svg "nodes $n_nodes" \
            "edges $n_edges"
        check "a_png_is_one: $what" starts_with x.png PNG
        check "a_pdf_is_one: $what" starts_with x.pdf '%PDF'
        mv x.svg once.svg
        mv x.png once.png
        mv x.pdf once.pdf
        sleep 1.1 # a file that says when it was made
        run $what -o x.svg -o x.png -o x.pdf
        check "the_same_bytes_each_time: $what" cmp -s x.svg once.svg
        check "the_same_pixels_each_time: $what" cmp -s x.png once.png
        check "the_same_print_each_time: $what" cmp -s x.pdf once.pdf
        rm -f x.svg x.png x.pdf once.svg once.png once.pdf
    done
    run topo draw dgx1-v100 -o colours.dot
    run topo draw dgx1-v100 --grey -o greys.dot
    check "a_drawing_has_colours" grep -q 'color="#D55E00"' colours.dot
    check "a_grey_drawing_has_none" test "$(grep -o 'color="#[0-9A-Fa-f]*' greys.dot |
        grep -vc '#\(..\)\1\1$')" -eq 0
    check "and_is_else_the_same" test "$(sed 's/#[0-9A-Fa-f]\{6\}//g' colours.dot)" = \
        "$(sed 's/#[0-9A-Fa-f]\{6\}//g' greys.dot)"
    run topo draw dgx1-v100 --grey -o greys.svg
    check "nor_has_a_grey_svg" test "$(grep -o '\(fill\|stroke\):#[0-9A-Fa-f]*' greys.svg |
        grep -vc '#\(..\)\1\1$')" -eq 0
    run topo draw hostile.yaml -o x.svg
    check "a_hostile_name_is_drawn" succeeds
    # shellcheck disable=SC2016 # the shell must not read it
    check "a_hostile_name_is_text" drawn texts x.svg \
        'a "quote"; b [label=x] \N <i>&lt;</i> new\x0aline $(touch hacked): 1 GPU (1x v100-sxm2-16gb) on 1 machine'
    check "a_hostile_name_adds_no_box" drawn graph x.svg "nodes 2" "edges 1"
    check "a_hostile_name_runs_nothing" test ! -e hacked
    rm -f x.svg
    for verb in "topo draw" "graph draw"; do
        run $verb --help
        sed -n '/^Examples:/,$s/^  forerun //p' out > examples
        check "$verb has examples" test -s examples
        while read -r example; do
            eval "run $example"
            check "example_works: $example" succeeds
        done < examples
    done
fi

finish
