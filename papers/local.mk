noinst_LTLIBRARIES += libpapers.la
libpapers_la_SOURCES = \
	papers/papers.h papers/papers.c papers/markdown.c papers/plot.c papers/ways.c \
	papers/fastt/learn.c \
	papers/parts/build.h papers/parts/build.c papers/parts/cell.h papers/parts/cell.c \
	papers/pipedream/stages.c \
	papers/runner/asks.h papers/runner/asks.c papers/runner/formula.h papers/runner/formula.c \
	papers/runner/over.c papers/runner/reader.h papers/runner/reader.c \
	papers/runner/runner.h papers/runner/runner.c \
	papers/zero-bubble/replay.c
nodist_libpapers_la_SOURCES = papers/table.c

# The experiments of the papers, in the order of lists.
paper_files = papers/famous/experiments.yaml \
	papers/fastt/experiments.yaml \
	papers/gpipe/experiments.yaml \
	papers/megatron/experiments.yaml \
	papers/pipedream/experiments.yaml \
	papers/zero-bubble/experiments.yaml
paper_facts = papers/paper.schema.yaml $(paper_files)
papers/table.c: $(paper_facts) base/facts/compile$(EXEEXT)
	$(AM_V_GEN)facts='$(paper_facts)'; $(make_table)
BUILT_SOURCES += papers/table.c
CLEANFILES += papers/table.c
EXTRA_DIST += $(paper_facts)

EXTRA_DIST += papers/famous/README.md papers/gpipe/README.md papers/megatron/README.md papers/zero-bubble/README.md
EXTRA_DIST += papers/pipedream/README.md papers/fastt/README.md papers/fastt/gains.png \
	papers/fastt/fastt.order.png papers/fastt/fastt.spread.png papers/fastt/fastt.breakdown.png
EXTRA_DIST += examples/papers/mine.yaml
