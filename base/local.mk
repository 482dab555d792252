noinst_LTLIBRARIES += libbase.la
libbase_la_SOURCES = base/base.h base/error.h base/error.c base/arena.h base/arena.c
libbase_la_LIBADD = $(GSL_LIBS) $(YAML_LIBS) $(CSV_LIBS)
