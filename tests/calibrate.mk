# tests of calibrate/
if HAVE_CHECK
check_PROGRAMS += tests/test_calibrate_cost
TESTS += tests/test_calibrate_cost
tests_test_calibrate_cost_SOURCES = tests/test_calibrate_cost.c
tests_test_calibrate_cost_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_calibrate_cost_LDADD = $(TEST_CALIBRATE_LIBS)
endif
