# Out of memory: each command of tests/torture/commands with an allocation that fails. make check
# tries a few allocations of each, make torture every one (some minutes).
check_PROGRAMS += tests/torture/torture
tests_torture_torture_LDADD =
check_LTLIBRARIES += tests/torture/failing_malloc.la
tests_torture_failing_malloc_la_SOURCES = tests/torture/failing_malloc.c
tests_torture_failing_malloc_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared -rpath /nowhere
TESTS += tests/torture/test_torture.sh
EXTRA_DIST += tests/torture/test_torture.sh tests/torture/commands tests/torture/inputs
.PHONY: torture
torture: forerun tests/torture/torture tests/torture/failing_malloc.la
	srcdir='$(srcdir)' TORTURE_MOST=0 $(srcdir)/tests/torture/test_torture.sh
