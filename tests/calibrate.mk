# tests of calibrate/
if HAVE_CHECK
check_PROGRAMS += tests/test_calibrate_cost
TESTS += tests/test_calibrate_cost
tests_test_calibrate_cost_SOURCES = tests/test_calibrate_cost.c
tests_test_calibrate_cost_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_calibrate_cost_LDADD = $(TEST_CALIBRATE_LIBS)

check_PROGRAMS += tests/test_calibrate_cost_model
TESTS += tests/test_calibrate_cost_model
tests_test_calibrate_cost_model_SOURCES = tests/test_calibrate_cost_model.c
tests_test_calibrate_cost_model_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_calibrate_cost_model_LDADD = $(TEST_CALIBRATE_LIBS)

check_PROGRAMS += tests/test_calibrate_kernel
TESTS += tests/test_calibrate_kernel
tests_test_calibrate_kernel_SOURCES = tests/test_calibrate_kernel.c
tests_test_calibrate_kernel_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_calibrate_kernel_LDADD = $(TEST_CALIBRATE_LIBS)

check_PROGRAMS += tests/test_calibrate_system
TESTS += tests/test_calibrate_system
tests_test_calibrate_system_SOURCES = tests/test_calibrate_system.c
tests_test_calibrate_system_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_calibrate_system_LDADD = $(TEST_CALIBRATE_LIBS)

check_PROGRAMS += tests/test_calibrate_nccl_log
TESTS += tests/test_calibrate_nccl_log
tests_test_calibrate_nccl_log_SOURCES = tests/test_calibrate_nccl_log.c
tests_test_calibrate_nccl_log_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_calibrate_nccl_log_LDADD = $(TEST_CALIBRATE_LIBS)

check_PROGRAMS += tests/test_calibrate_curve
TESTS += tests/test_calibrate_curve
tests_test_calibrate_curve_SOURCES = tests/test_calibrate_curve.c
tests_test_calibrate_curve_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_calibrate_curve_LDADD = $(TEST_CALIBRATE_LIBS)
check_PROGRAMS += tests/test_calibrate_trees
TESTS += tests/test_calibrate_trees
tests_test_calibrate_trees_SOURCES = tests/test_calibrate_trees.c
tests_test_calibrate_trees_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_calibrate_trees_LDADD = $(TEST_CALIBRATE_LIBS)

check_PROGRAMS += tests/test_calibrate_classes
TESTS += tests/test_calibrate_classes
tests_test_calibrate_classes_SOURCES = tests/test_calibrate_classes.c
tests_test_calibrate_classes_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_calibrate_classes_LDADD = $(TEST_CALIBRATE_LIBS)

check_PROGRAMS += tests/test_calibrate_beside
TESTS += tests/test_calibrate_beside
tests_test_calibrate_beside_SOURCES = tests/test_calibrate_beside.c
tests_test_calibrate_beside_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_calibrate_beside_LDADD = $(TEST_CALIBRATE_LIBS)

check_PROGRAMS += tests/test_calibrate_memory
TESTS += tests/test_calibrate_memory
tests_test_calibrate_memory_SOURCES = tests/test_calibrate_memory.c
tests_test_calibrate_memory_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_calibrate_memory_LDADD = $(TEST_CALIBRATE_LIBS)
endif

if ENABLE_FUZZ
check_PROGRAMS += tests/fuzz_device_file
tests_fuzz_device_file_SOURCES = tests/fuzz_device_file.c
tests_fuzz_device_file_LDADD = $(TEST_CALIBRATE_LIBS)
tests_fuzz_device_file_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)

check_PROGRAMS += tests/fuzz_collectives
tests_fuzz_collectives_SOURCES = tests/fuzz_collectives.c
tests_fuzz_collectives_LDADD = $(TEST_CALIBRATE_LIBS)
tests_fuzz_collectives_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)

check_PROGRAMS += tests/fuzz_nccl_log
tests_fuzz_nccl_log_SOURCES = tests/fuzz_nccl_log.c
tests_fuzz_nccl_log_LDADD = $(TEST_CALIBRATE_LIBS)
tests_fuzz_nccl_log_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
endif
TESTS += tests/test_refit.sh
EXTRA_DIST += tests/test_refit.sh

EXTRA_DIST += tests/corpus/fuzz_collectives/small.csv tests/corpus/fuzz_collectives/messages.csv \
	tests/corpus/fuzz_collectives/system.yaml \
	tests/corpus/fuzz_nccl_log/small.txt tests/nccl_log/madeup.txt

# a row of make bench
EXTRA_PROGRAMS += tests/bench_costs
tests_bench_costs_SOURCES = tests/bench_costs.c tests/bench.h
tests_bench_costs_LDADD = libcalibrate.la libworkloads.la libtopo.la libbase.la $(LIB_DEPS)
EXTRA_DIST += tests/corpus/fuzz_device_file/beside.yaml tests/corpus/fuzz_device_file/classes.yaml tests/corpus/fuzz_device_file/small.yaml tests/corpus/fuzz_device_file/trees.yaml

# what measures: the driver of the CUDA programs, and the PyTorch scripts on a CPU
TESTS += tests/test_calibrate_run.sh tests/test_torch_scripts.sh
EXTRA_DIST += tests/test_calibrate_run.sh tests/test_torch_scripts.sh

TESTS += tests/test_truth.sh
EXTRA_DIST += tests/test_truth.sh
