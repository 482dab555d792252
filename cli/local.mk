bin_PROGRAMS += forerun
forerun_SOURCES = cli/cli.h cli/main.c cli/options.c cli/help.c cli/output.c cli/simulate.c cli/explain.c \
	cli/compare.c cli/topo.c cli/topo_time.c cli/comm.c cli/graph.c cli/layers.c cli/draw.c cli/graph_draw.c cli/progress.c cli/signals.c \
	cli/command.c
forerun_SOURCES += cli/sweep.c cli/mpi.h cli/mpi.c cli/calibrate.c cli/calibrate_system.c \
	cli/validate.c cli/reproduce.c cli/learn.c
# libbase: the command reads and prints quantities as the library does
forerun_CFLAGS = $(AM_CFLAGS) $(MPI_CFLAGS)
forerun_LDADD = libforerun.la libbase.la $(LIB_DEPS) $(MPI_LIBS)
