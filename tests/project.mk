# Tests of the product as a whole: its command, its documentation, threads, installation.
dist_check_SCRIPTS = tests/test_hostile.sh tests/test_doc_examples.sh
TESTS += $(dist_check_SCRIPTS)
EXTRA_DIST += tests/same_bytes.sh tests/client/client.c tests/client/run.sh

if HAVE_CHECK
check_PROGRAMS += tests/test_parallel
TESTS += tests/test_parallel
tests_test_parallel_SOURCES = tests/test_parallel.c
tests_test_parallel_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_parallel_LDADD = $(TEST_RESULTS_LIBS)
endif
