#!/bin/sh
# tests/project/test_doc_figures.sh - the figures in sentences and tables of the documents are what
# their commands print today (tests/project/doc_figures.txt). GOLDEN_UPDATE=1 renews the pages,
# DOC_FIGURES=--all runs the papers' experiments and large searches too, which take minutes.
set -u
source=${srcdir:-.}
. "${srcdir:-.}/tests/support/direct.sh"
command -v python3 >/dev/null || { echo "SKIP python3 is not here: the figures of the documents are not compared"; exit 77; }
# shellcheck disable=SC2086 # an option or nothing
python3 -B "$source/tests/project/doc_figures.py" ${GOLDEN_UPDATE:+--update} ${DOC_FIGURES:-} \
    "$source" "$forerun"
