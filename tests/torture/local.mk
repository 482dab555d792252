# Out of memory: each command of tests/torture/commands with an allocation that fails. make check
# tries a few allocations of each, make torture the first from each place that allocates (some
# minutes), make torture TORTURE_MOST=0 every one (hours).
check_PROGRAMS += tests/torture/torture
tests_torture_torture_LDADD =
check_LTLIBRARIES += tests/torture/failing_malloc.la
tests_torture_failing_malloc_la_SOURCES = tests/torture/failing_malloc.c
tests_torture_failing_malloc_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared -rpath /nowhere
EXTRA_DIST += tests/torture/commands tests/torture/inputs
TORTURE_MOST = sites
.PHONY: torture
torture: forerun tests/torture/torture tests/torture/failing_malloc.la
	srcdir='$(srcdir)' TORTURE_MOST='$(TORTURE_MOST)' $(srcdir)/tests/torture/test_torture.sh
