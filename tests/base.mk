# tests of base/
if HAVE_CHECK
check_PROGRAMS += tests/test_base_error
TESTS += tests/test_base_error
tests_test_base_error_SOURCES = tests/test_base_error.c tests/base_check.h
tests_test_base_error_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_base_error_LDADD = $(TEST_BASE_LIBS)
check_PROGRAMS += tests/test_base_arena
TESTS += tests/test_base_arena
tests_test_base_arena_SOURCES = tests/test_base_arena.c tests/base_check.h
tests_test_base_arena_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_base_arena_LDADD = $(TEST_BASE_LIBS)
check_PROGRAMS += tests/test_base_units
TESTS += tests/test_base_units
tests_test_base_units_SOURCES = tests/test_base_units.c tests/base_check.h
tests_test_base_units_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_base_units_LDADD = $(TEST_BASE_LIBS)
check_PROGRAMS += tests/test_base_file
TESTS += tests/test_base_file
tests_test_base_file_SOURCES = tests/test_base_file.c tests/base_check.h
tests_test_base_file_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_base_file_LDADD = $(TEST_BASE_LIBS)
check_PROGRAMS += tests/test_base_csv
TESTS += tests/test_base_csv
tests_test_base_csv_SOURCES = tests/test_base_csv.c tests/base_check.h
tests_test_base_csv_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_base_csv_LDADD = $(TEST_BASE_LIBS)
check_PROGRAMS += tests/test_base_yaml
TESTS += tests/test_base_yaml
tests_test_base_yaml_SOURCES = tests/test_base_yaml.c tests/base_check.h
tests_test_base_yaml_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_base_yaml_LDADD = $(TEST_BASE_LIBS)
check_PROGRAMS += tests/test_base_json
TESTS += tests/test_base_json
tests_test_base_json_SOURCES = tests/test_base_json.c tests/base_check.h
tests_test_base_json_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_base_json_LDADD = $(TEST_BASE_LIBS)
check_PROGRAMS += tests/test_base_rng
TESTS += tests/test_base_rng
tests_test_base_rng_SOURCES = tests/test_base_rng.c tests/base_check.h
tests_test_base_rng_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_base_rng_LDADD = $(TEST_BASE_LIBS)
endif

# not run by make check: see tests/fuzz_csv.c
if ENABLE_FUZZ
check_PROGRAMS += tests/fuzz_csv tests/fuzz_yaml
tests_fuzz_csv_SOURCES = tests/fuzz_csv.c
tests_fuzz_csv_LDADD = libbase.la $(LIB_DEPS)
tests_fuzz_csv_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_yaml_SOURCES = tests/fuzz_yaml.c
tests_fuzz_yaml_LDADD = libbase.la $(LIB_DEPS)
tests_fuzz_yaml_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
endif
