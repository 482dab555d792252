bin_PROGRAMS += forerun
forerun_SOURCES = cli/start.c
# All but main(): tests call the command as a function (tests/hostile).
noinst_LTLIBRARIES += libcli.la
libcli_la_SOURCES = cli/cli.h cli/main.c cli/options/completion.c \
	cli/options/help.c cli/options/man.c cli/running/colour.c \
	cli/running/examples.c cli/running/mpi.c cli/running/mpi.h cli/running/output.c \
	cli/running/progress.c cli/running/signals.c cli/running/terminal.c
libcli_la_CFLAGS = $(AM_CFLAGS) $(MPI_CFLAGS) -DPKGDATADIR='"$(pkgdatadir)"'
# libapi and libbase: the command reads options and prints quantities as the library does
forerun_LDADD = libcli.la libapi.la libforerun.la libbase.la $(LIB_DEPS) $(MPI_LIBS)
