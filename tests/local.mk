# What tests share, the suites of tests, and what runs them.
check_LTLIBRARIES = tests/support/libsupport.la
tests_support_libsupport_la_SOURCES = tests/support/base_check.h \
	tests/support/drawing_check.c \
	tests/support/drawing_check.h \
	tests/support/dpos_case.c \
	tests/support/dpos_case.h \
	tests/support/hand_case.c \
	tests/support/hand_case.h \
	tests/support/html_check.c \
	tests/support/html_check.h \
	tests/support/json_check.c \
	tests/support/json_check.h \
	tests/support/learn_case.c \
	tests/support/learn_case.h \
	tests/support/model_case.c \
	tests/support/model_case.h \
	tests/support/native_case.c \
	tests/support/native_case.h \
	tests/support/profile_case.c \
	tests/support/profile_case.h \
	tests/support/quick_spec.h \
	tests/support/nccl_case.c \
	tests/support/nccl_case.h \
	tests/support/random_plan.c \
	tests/support/random_plan.h \
	tests/support/report_check.c \
	tests/support/report_check.h \
	tests/support/report_pictures.c \
	tests/support/shard_case.c \
	tests/support/shard_case.h \
	tests/support/sim_fixture.c \
	tests/support/sim_fixture.h \
	tests/support/strategies_case.c \
	tests/support/strategies_case.h \
	tests/support/system_case.c \
	tests/support/system_case.h \
	tests/support/tictac_plain.c \
	tests/support/tictac_plain.h \
	tests/support/topo_case.c \
	tests/support/topo_case.h \
	tests/support/xml_check.c \
	tests/support/xml_check.h
EXTRA_DIST += tests/support/command.sh tests/support/direct.sh tests/support/markdown.py \
	tests/support/page_words.py tests/support/picture.py tests/support/torch_forks.py

# A test links all layers as one library that exports every name, and without libtool: 250 programs
# of 13 MB each took a quarter of the time of make check. Without shared libraries it has them inside
# and its folder may be copied (mutate.py).
if SHARED
check_LTLIBRARIES += tests/liblayers.la
tests_liblayers_la_SOURCES = tests/support/base_check.h
tests_liblayers_la_LIBADD = tests/support/libsupport.la $(layers) $(CHECK_LIBS) $(LIB_DEPS)
tests_liblayers_la_LDFLAGS = $(AM_LDFLAGS) -shared -avoid-version -rpath /nowhere
all_layers = tests/.libs/liblayers.so $(CHECK_LIBS) $(LIB_DEPS)
tests/.libs/liblayers.so: tests/liblayers.la
	@:
link_test = $(CC) $(AM_CFLAGS) $(CFLAGS) $(AM_LDFLAGS) $(LDFLAGS) \
	-Wl,-rpath,$(abs_builddir)/tests/.libs -o $@
else
all_layers = $(LDADD)
link_test = $(LINK)
endif

# Check's timeout of 4 s is meant for an idle machine and no sanitizer.
AM_TESTS_ENVIRONMENT = srcdir='$(srcdir)'; export srcdir; CK_TIMEOUT_MULTIPLIER=$${CK_TIMEOUT_MULTIPLIER:-10}; export CK_TIMEOUT_MULTIPLIER;

# Longer ones first, as far as a kind tells: scripts run whole commands.
include tests/list.mk
TESTS += $(script_tests)
if HAVE_CHECK
check_PROGRAMS += $(unit_tests)
TESTS += $(unit_tests)
endif
EXTRA_DIST += tests/list.sh $(script_tests)
include tests/cli/local.mk
include tests/project/local.mk
include tests/torture/local.mk
include tests/hostile/local.mk
include tests/fuzz/local.mk
include tests/bench/local.mk
include tests/oracles/local.mk
include tests/hunt/local.mk
