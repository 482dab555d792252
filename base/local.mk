noinst_LTLIBRARIES += libbase.la
libbase_la_SOURCES = \
	base/arena.h base/arena.c base/base.h base/bits.h base/bytes.h base/cancel.h \
	base/crew.h base/crew.c \
	base/csv.h base/csv.c base/decimal.h base/dtype.h base/dtype.c base/error.h base/error.c \
	base/figures.h base/figures.c \
	base/file.h base/file.c base/hash.h base/hash.c base/human.c base/json.h base/json.c base/json_read.c base/json_read.h \
	base/machine.h base/machine.c base/names.h base/names.c base/number.c base/printable.h \
	base/printable.c base/rng.h base/rng.c base/round.h base/round.c base/same_file.c \
	base/text.h base/text.c base/units.h base/units.c base/utf8.h base/utf8.c base/xml.h \
	base/xml.c base/yaml.h base/yaml.c
libbase_la_LIBADD = $(GSL_LIBS) $(YAML_LIBS) $(CSV_LIBS) $(EXPAT_LIBS)

# Makes constant tables of facts in YAML, for the build alone.
noinst_PROGRAMS += base/facts/compile
base_facts_compile_SOURCES = base/facts/compile.c
base_facts_compile_LDADD = libbase.la $(LIB_DEPS)
# $@ of $$facts, a list of SCHEMA FILE... in the folder of the sources
make_table = $(MKDIR_P) `dirname $@` && (cd $(srcdir) && \
	  LC_ALL=C $(abs_builddir)/base/facts/compile$(EXEEXT) $$facts) > $@.new && mv $@.new $@
