noinst_LTLIBRARIES += libbase.la
libbase_la_SOURCES = \
	base/arena.h base/arena.c base/base.h base/bits.h base/bytes.h base/crew.h base/crew.c \
	base/csv.h base/csv.c base/decimal.h base/dtype.h base/dtype.c base/error.h base/error.c \
	base/figures.h base/figures.c \
	base/file.h base/file.c base/hash.h base/hash.c base/human.c base/json.h base/json.c \
	base/machine.h base/machine.c base/names.h base/names.c base/number.c base/printable.h \
	base/printable.c base/rng.h base/rng.c base/round.h base/round.c base/same_file.c \
	base/text.h base/text.c base/units.h base/units.c base/utf8.h base/utf8.c base/xml.h \
	base/xml.c base/yaml.h base/yaml.c
libbase_la_LIBADD = $(GSL_LIBS) $(YAML_LIBS) $(CSV_LIBS) $(EXPAT_LIBS)
