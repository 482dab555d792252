# tests of workloads/
if HAVE_CHECK
check_PROGRAMS += tests/test_workloads_graph
TESTS += tests/test_workloads_graph
tests_test_workloads_graph_SOURCES = tests/test_workloads_graph.c
tests_test_workloads_graph_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_workloads_graph_LDADD = $(TEST_WORKLOADS_LIBS)
endif
