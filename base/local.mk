noinst_LTLIBRARIES += libbase.la
libbase_la_SOURCES = base/base.h base/error.h base/error.c base/arena.h base/arena.c base/bits.h \
	base/utf8.h base/utf8.c base/decimal.h base/number.c base/units.h base/units.c base/human.c \
	base/file.h base/file.c base/csv.h base/csv.c base/yaml.h base/yaml.c \
	base/json.h base/json.c base/rng.h base/rng.c
libbase_la_LIBADD = $(GSL_LIBS) $(YAML_LIBS) $(CSV_LIBS)
