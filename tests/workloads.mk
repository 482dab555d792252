# tests of workloads/
if HAVE_CHECK
check_PROGRAMS += tests/test_workloads_graph
TESTS += tests/test_workloads_graph
tests_test_workloads_graph_SOURCES = tests/test_workloads_graph.c
tests_test_workloads_graph_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_workloads_graph_LDADD = $(TEST_WORKLOADS_LIBS)
endif

if HAVE_CHECK
check_PROGRAMS += tests/test_workloads_training tests/test_workloads_zoo
TESTS += tests/test_workloads_training tests/test_workloads_zoo
tests_test_workloads_training_SOURCES = tests/test_workloads_training.c
tests_test_workloads_training_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_workloads_training_LDADD = $(TEST_WORKLOADS_LIBS)
tests_test_workloads_zoo_SOURCES = tests/test_workloads_zoo.c
tests_test_workloads_zoo_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_workloads_zoo_LDADD = $(TEST_WORKLOADS_LIBS)
endif
