# tests of strategies/
if HAVE_CHECK
check_PROGRAMS += tests/test_strategies_options tests/test_strategies_stages \
	tests/test_strategies_plans tests/test_strategies_runs tests/test_strategies_line_up \
	tests/test_strategies_memory tests/test_strategies_dpos tests/test_strategies_dpos_slots \
	tests/test_strategies_dims tests/test_strategies_os_dpos
TESTS += tests/test_strategies_options tests/test_strategies_stages tests/test_strategies_plans \
	tests/test_strategies_runs tests/test_strategies_line_up tests/test_strategies_memory \
	tests/test_strategies_dpos tests/test_strategies_dpos_slots \
	tests/test_strategies_dims tests/test_strategies_os_dpos
tests_test_strategies_options_SOURCES = tests/test_strategies_options.c
tests_test_strategies_options_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_strategies_options_LDADD = $(TEST_STRATEGIES_LIBS)
tests_test_strategies_stages_SOURCES = tests/test_strategies_stages.c
tests_test_strategies_stages_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_strategies_stages_LDADD = $(TEST_STRATEGIES_LIBS)
tests_test_strategies_plans_SOURCES = tests/test_strategies_plans.c tests/strategies_case.h \
	tests/strategies_case.c
tests_test_strategies_plans_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_strategies_plans_LDADD = $(TEST_STRATEGIES_LIBS)
tests_test_strategies_runs_SOURCES = tests/test_strategies_runs.c tests/strategies_case.h \
	tests/strategies_case.c
tests_test_strategies_runs_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_strategies_runs_LDADD = $(TEST_STRATEGIES_LIBS)
tests_test_strategies_line_up_SOURCES = tests/test_strategies_line_up.c tests/strategies_case.h \
	tests/strategies_case.c
tests_test_strategies_line_up_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_strategies_line_up_LDADD = $(TEST_STRATEGIES_LIBS)
tests_test_strategies_memory_SOURCES = tests/test_strategies_memory.c
tests_test_strategies_memory_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_strategies_memory_LDADD = $(TEST_STRATEGIES_LIBS)
check_PROGRAMS += tests/test_strategies_accumulate
TESTS += tests/test_strategies_accumulate
tests_test_strategies_accumulate_SOURCES = tests/test_strategies_accumulate.c \
	tests/strategies_case.h tests/strategies_case.c
tests_test_strategies_accumulate_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_strategies_accumulate_LDADD = $(TEST_STRATEGIES_LIBS)
check_PROGRAMS += tests/test_strategies_dag tests/test_strategies_fastt
TESTS += tests/test_strategies_dag tests/test_strategies_fastt
tests_test_strategies_fastt_SOURCES = tests/test_strategies_fastt.c \
	tests/model_case.h tests/model_case.c
tests_test_strategies_fastt_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_strategies_fastt_LDADD = $(TEST_STRATEGIES_LIBS)
tests_test_strategies_dag_SOURCES = tests/test_strategies_dag.c \
	tests/model_case.h tests/model_case.c
tests_test_strategies_dag_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_strategies_dag_LDADD = $(TEST_STRATEGIES_LIBS)
tests_test_strategies_dpos_SOURCES = tests/test_strategies_dpos.c tests/dpos_case.h tests/dpos_case.c
tests_test_strategies_dpos_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_strategies_dpos_LDADD = $(TEST_STRATEGIES_LIBS)
tests_test_strategies_dpos_slots_SOURCES = tests/test_strategies_dpos_slots.c
tests_test_strategies_dpos_slots_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_strategies_dpos_slots_LDADD = $(TEST_STRATEGIES_LIBS)
tests_test_strategies_dims_SOURCES = tests/test_strategies_dims.c \
	tests/model_case.h tests/model_case.c
tests_test_strategies_dims_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_strategies_dims_LDADD = $(TEST_STRATEGIES_LIBS)
tests_test_strategies_os_dpos_SOURCES = tests/test_strategies_os_dpos.c tests/dpos_case.h \
	tests/dpos_case.c
tests_test_strategies_os_dpos_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_strategies_os_dpos_LDADD = $(TEST_STRATEGIES_LIBS)
check_PROGRAMS += tests/test_strategies_learn_costs tests/test_strategies_learn \
	tests/test_strategies_learn_sim
TESTS += tests/test_strategies_learn_costs tests/test_strategies_learn \
	tests/test_strategies_learn_sim
tests_test_strategies_learn_sim_SOURCES = tests/test_strategies_learn_sim.c \
	tests/model_case.h tests/model_case.c
tests_test_strategies_learn_sim_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_strategies_learn_sim_LDADD = $(TEST_STRATEGIES_LIBS)
tests_test_strategies_learn_costs_SOURCES = tests/test_strategies_learn_costs.c tests/dpos_case.h \
	tests/dpos_case.c
tests_test_strategies_learn_costs_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_strategies_learn_costs_LDADD = $(TEST_STRATEGIES_LIBS)
tests_test_strategies_learn_SOURCES = tests/test_strategies_learn.c tests/learn_case.h \
	tests/learn_case.c tests/dpos_case.h tests/dpos_case.c
tests_test_strategies_learn_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_strategies_learn_LDADD = $(TEST_STRATEGIES_LIBS)
endif
# a row of make bench
EXTRA_PROGRAMS += tests/bench_dpos
tests_bench_dpos_SOURCES = tests/bench_dpos.c tests/bench.h
tests_bench_dpos_LDADD = libstrategies.la libsim.la libcalibrate.la libworkloads.la libtopo.la \
	libbase.la $(LIB_DEPS)
EXTRA_DIST += tests/torch_memory.py tests/torch/memory.csv tests/torch/README.md
