bin_PROGRAMS += forerun
forerun_SOURCES = cli/calibrate.c cli/calibrate_system.c cli/cli.h cli/colour.c cli/comm.c \
	cli/command.c \
	cli/compare.c cli/completion.c cli/diff.c cli/draw.c cli/examples.c cli/explain.c cli/graph.c \
	cli/graph_draw.c cli/help.c cli/layers.c cli/learn.c cli/main.c cli/man.c cli/mpi.c cli/mpi.h \
	cli/options.c cli/options_answer.c cli/options_comm.c cli/options_learn.c \
	cli/options_schedule.c cli/options_search.c cli/options_sweep.c cli/output.c \
	cli/overwrite.c cli/progress.c cli/recipe.c cli/reproduce.c cli/schedule.c cli/search.c \
	cli/signals.c \
	cli/simulate.c cli/stages.c cli/sweep.c cli/topo.c cli/topo_import.c cli/topo_time.c \
	cli/validate.c
# libbase: the command reads and prints quantities as the library does
forerun_CFLAGS = $(AM_CFLAGS) $(MPI_CFLAGS) -DPKGDATADIR='"$(pkgdatadir)"'
forerun_LDADD = libforerun.la libbase.la $(LIB_DEPS) $(MPI_LIBS)
