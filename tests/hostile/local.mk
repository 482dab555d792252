# Bad inputs by the hundred, each with its message and exit status, in tables.
if HAVE_CHECK
check_PROGRAMS += tests/hostile/test_hostile
TESTS += tests/hostile/test_hostile
tests_hostile_test_hostile_SOURCES = tests/hostile/test_hostile.c tests/hostile/table.c \
	tests/hostile/table.h
tests_hostile_test_hostile_LDADD = libcli.la libapi.la libforerun.la libbase.la $(LIB_DEPS) $(MPI_LIBS) \
	$(CHECK_LIBS)
endif
EXTRA_DIST += tests/hostile/options.txt tests/hostile/topology.txt tests/hostile/workload.txt \
	tests/hostile/costs.txt tests/hostile/answers.txt tests/hostile/files.txt
