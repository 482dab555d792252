# tests of topo/
if HAVE_CHECK
check_PROGRAMS += tests/test_topo_builder
TESTS += tests/test_topo_builder
tests_test_topo_builder_SOURCES = tests/test_topo_builder.c
tests_test_topo_builder_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_topo_builder_LDADD = $(TEST_TOPO_LIBS)

check_PROGRAMS += tests/test_topo_load
TESTS += tests/test_topo_load
tests_test_topo_load_SOURCES = tests/test_topo_load.c
tests_test_topo_load_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_topo_load_LDADD = $(TEST_TOPO_LIBS)

check_PROGRAMS += tests/test_topo_preset
TESTS += tests/test_topo_preset
tests_test_topo_preset_SOURCES = tests/test_topo_preset.c
tests_test_topo_preset_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_topo_preset_LDADD = $(TEST_TOPO_LIBS)

check_PROGRAMS += tests/test_topo_rings
TESTS += tests/test_topo_rings
tests_test_topo_rings_SOURCES = tests/test_topo_rings.c
tests_test_topo_rings_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_topo_rings_LDADD = $(TEST_TOPO_LIBS)

check_PROGRAMS += tests/test_topo_route
TESTS += tests/test_topo_route
tests_test_topo_route_SOURCES = tests/test_topo_route.c
tests_test_topo_route_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_topo_route_LDADD = $(TEST_TOPO_LIBS)
endif

if ENABLE_FUZZ
check_PROGRAMS += tests/fuzz_topo
tests_fuzz_topo_SOURCES = tests/fuzz_topo.c
tests_fuzz_topo_LDADD = libtopo.la libbase.la $(LIB_DEPS)
tests_fuzz_topo_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
endif

# the manual's example is loaded by test_topo_load
EXTRA_DIST += doc/topology.md tests/corpus/fuzz_topo/file.yaml tests/corpus/fuzz_topo/line
