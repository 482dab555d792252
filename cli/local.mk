bin_PROGRAMS += forerun
forerun_SOURCES = cli/main.c
forerun_LDADD = libforerun.la
