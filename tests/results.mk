# tests of results/
if HAVE_CHECK
check_PROGRAMS += tests/test_results_table
TESTS += tests/test_results_table
tests_test_results_table_SOURCES = tests/test_results_table.c
tests_test_results_table_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_results_table_LDADD = $(TEST_RESULTS_LIBS)

check_PROGRAMS += tests/test_results_record
TESTS += tests/test_results_record
tests_test_results_record_SOURCES = tests/test_results_record.c tests/json_check.c \
	tests/json_check.h
tests_test_results_record_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_results_record_LDADD = $(TEST_RESULTS_LIBS)

check_PROGRAMS += tests/test_results_reproduce
TESTS += tests/test_results_reproduce
tests_test_results_reproduce_SOURCES = tests/test_results_reproduce.c tests/json_check.c \
	tests/json_check.h
tests_test_results_reproduce_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_results_reproduce_LDADD = $(TEST_RESULTS_LIBS)

check_PROGRAMS += tests/test_results_trace
TESTS += tests/test_results_trace
tests_test_results_trace_SOURCES = tests/test_results_trace.c tests/json_check.c \
	tests/json_check.h
tests_test_results_trace_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_results_trace_LDADD = $(TEST_RESULTS_LIBS)

check_PROGRAMS += tests/test_results_sensitivity
TESTS += tests/test_results_sensitivity
tests_test_results_sensitivity_SOURCES = tests/test_results_sensitivity.c
tests_test_results_sensitivity_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_results_sensitivity_LDADD = $(TEST_RESULTS_LIBS)

check_PROGRAMS += tests/test_results_report
TESTS += tests/test_results_report
tests_test_results_report_SOURCES = tests/test_results_report.c tests/html_check.c \
	tests/html_check.h tests/json_check.c tests/json_check.h
tests_test_results_report_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_results_report_LDADD = $(TEST_RESULTS_LIBS)

check_PROGRAMS += tests/test_results_interference
TESTS += tests/test_results_interference
tests_test_results_interference_SOURCES = tests/test_results_interference.c
tests_test_results_interference_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_results_interference_LDADD = $(TEST_RESULTS_LIBS)

check_PROGRAMS += tests/test_results_collectives
TESTS += tests/test_results_collectives
tests_test_results_collectives_SOURCES = tests/test_results_collectives.c
tests_test_results_collectives_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_results_collectives_LDADD = $(TEST_RESULTS_LIBS)

check_PROGRAMS += tests/test_results_draw
TESTS += tests/test_results_draw
tests_test_results_draw_SOURCES = tests/test_results_draw.c
tests_test_results_draw_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_results_draw_LDADD = $(TEST_RESULTS_LIBS)

check_PROGRAMS += tests/test_results_fits
TESTS += tests/test_results_fits tests/test_fits.sh
EXTRA_DIST += tests/test_fits.sh
tests_test_results_fits_SOURCES = tests/test_results_fits.c
tests_test_results_fits_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_results_fits_LDADD = $(TEST_RESULTS_LIBS)

check_PROGRAMS += tests/test_results_advice
TESTS += tests/test_results_advice
tests_test_results_advice_SOURCES = tests/test_results_advice.c tests/json_check.c \
	tests/json_check.h
tests_test_results_advice_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_results_advice_LDADD = $(TEST_RESULTS_LIBS)

check_PROGRAMS += tests/test_results_zoo
TESTS += tests/test_results_zoo
tests_test_results_zoo_SOURCES = tests/test_results_zoo.c
tests_test_results_zoo_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_results_zoo_LDADD = $(TEST_RESULTS_LIBS)

check_PROGRAMS += tests/test_results_sweep
TESTS += tests/test_results_sweep
tests_test_results_sweep_SOURCES = tests/test_results_sweep.c
tests_test_results_sweep_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_results_sweep_LDADD = $(TEST_RESULTS_LIBS)

check_PROGRAMS += tests/test_results_uncertainty
TESTS += tests/test_results_uncertainty
tests_test_results_uncertainty_SOURCES = tests/test_results_uncertainty.c
tests_test_results_uncertainty_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_results_uncertainty_LDADD = $(TEST_RESULTS_LIBS)

check_PROGRAMS += tests/test_results_store
TESTS += tests/test_results_store
tests_test_results_store_SOURCES = tests/test_results_store.c
tests_test_results_store_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_results_store_LDADD = $(TEST_RESULTS_LIBS)
endif

# predictions beside published rates (doc/truth.md); MEASURED: the table of rates
MEASURED = $(srcdir)/../shared/data/measured/training.csv
truth: forerun
	python3 $(srcdir)/tests/training_rows.py '$(MEASURED)' > training_rows.csv
	./forerun validate training_rows.csv -o truth.png -o truth.csv
CLEANFILES += training_rows.csv truth.png truth.csv
.PHONY: truth
TESTS += tests/test_validate.sh
EXTRA_DIST += tests/test_validate.sh tests/training_rows.py
TESTS += tests/test_report.sh tests/test_draw.sh
EXTRA_DIST += tests/test_report.sh tests/test_draw.sh

# a row of make bench
EXTRA_PROGRAMS += tests/bench_sweep
tests_bench_sweep_SOURCES = tests/bench_sweep.c tests/bench.h
tests_bench_sweep_LDADD = libresults.la libstrategies.la libsim.la libcalibrate.la libworkloads.la \
	libtopo.la libbase.la $(LIB_DEPS)
