bin_PROGRAMS += forerun
forerun_SOURCES = cli/start.c
# All but main(): tests call the command as a function (tests/hostile).
noinst_LTLIBRARIES += libcli.la
libcli_la_SOURCES = cli/cli.h cli/main.c cli/options/answer.c cli/options/comm.c \
	cli/options/command.c cli/options/completion.c cli/options/help.c cli/options/learn.c \
	cli/options/man.c cli/options/options.c cli/options/parse.c cli/options/schedule.c \
	cli/options/search.c cli/options/sweep.c cli/running/colour.c cli/running/draw.c cli/running/examples.c \
	cli/running/mpi.c cli/running/mpi.h cli/running/output.c cli/running/overwrite.c \
	cli/running/progress.c cli/running/signals.c cli/running/terminal.c cli/verbs/calibrate.c cli/verbs/calibrate_system.c \
	cli/verbs/comm.c cli/verbs/compare.c cli/verbs/diff.c cli/verbs/explain.c cli/verbs/graph.c \
	cli/verbs/graph_draw.c cli/verbs/layers.c cli/verbs/learn.c cli/verbs/recipe.c \
	cli/verbs/reproduce.c cli/verbs/schedule.c cli/verbs/search.c cli/verbs/simulate.c \
	cli/verbs/stages.c cli/verbs/sweep.c cli/verbs/topo.c cli/verbs/topo_import.c \
	cli/verbs/validate.c
libcli_la_CFLAGS = $(AM_CFLAGS) $(MPI_CFLAGS) -DPKGDATADIR='"$(pkgdatadir)"'
# libbase: the command reads and prints quantities as the library does
forerun_LDADD = libcli.la libforerun.la libbase.la $(LIB_DEPS) $(MPI_LIBS)
