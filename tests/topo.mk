# tests of topo/
if HAVE_CHECK
check_PROGRAMS += tests/test_topo_builder
TESTS += tests/test_topo_builder
tests_test_topo_builder_SOURCES = tests/test_topo_builder.c
tests_test_topo_builder_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_topo_builder_LDADD = $(TEST_TOPO_LIBS)

check_PROGRAMS += tests/test_topo_route
TESTS += tests/test_topo_route
tests_test_topo_route_SOURCES = tests/test_topo_route.c
tests_test_topo_route_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_topo_route_LDADD = $(TEST_TOPO_LIBS)
endif
