noinst_LTLIBRARIES += libpapers.la
libpapers_la_SOURCES = \
	papers/papers.h papers/papers.c papers/markdown.c papers/plot.c \
	papers/fastt/experiments.c papers/fastt/parts.h papers/fastt/parts.c papers/fastt/scaling.c \
	papers/gpipe/experiments.c \
	papers/megatron/experiments.c \
	papers/parts/build.h papers/parts/build.c papers/parts/cell.h papers/parts/cell.c \
	papers/pipedream/experiments.c \
	papers/zero-bubble/experiments.c

EXTRA_DIST += papers/gpipe/README.md papers/megatron/README.md papers/zero-bubble/README.md
EXTRA_DIST += papers/pipedream/README.md papers/fastt/README.md papers/fastt/gains.png \
	papers/fastt/fastt.order.png papers/fastt/fastt.spread.png papers/fastt/fastt.breakdown.png
