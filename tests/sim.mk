# tests of sim/

if HAVE_CHECK
SIM_TESTS = tests/test_sim_plan tests/test_sim_pattern tests/test_sim_engine tests/test_sim_collective \
	tests/test_sim_selfcheck tests/test_sim_simgrid \
	tests/test_sim_random tests/test_sim_heap tests/test_sim_network tests/test_sim_account \
	tests/test_sim_sensitivity tests/test_sim_allocator tests/test_sim_memory tests/test_sim_order
check_PROGRAMS += $(SIM_TESTS)
TESTS += $(SIM_TESTS)
SIM_FIXTURE = tests/sim_fixture.h tests/sim_fixture.c
tests_test_sim_plan_SOURCES = tests/test_sim_plan.c $(SIM_FIXTURE)
tests_test_sim_plan_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_sim_plan_LDADD = $(TEST_SIM_LIBS)
tests_test_sim_pattern_SOURCES = tests/test_sim_pattern.c $(SIM_FIXTURE)
tests_test_sim_pattern_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_sim_pattern_LDADD = $(TEST_SIM_LIBS)
tests_test_sim_collective_SOURCES = tests/test_sim_collective.c $(SIM_FIXTURE)
tests_test_sim_collective_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_sim_collective_LDADD = $(TEST_SIM_LIBS)
tests_test_sim_engine_SOURCES = tests/test_sim_engine.c $(SIM_FIXTURE)
tests_test_sim_engine_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_sim_engine_LDADD = $(TEST_SIM_LIBS)
tests_test_sim_selfcheck_SOURCES = tests/test_sim_selfcheck.c $(SIM_FIXTURE)
tests_test_sim_selfcheck_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_sim_selfcheck_LDADD = $(TEST_SIM_LIBS)
tests_test_sim_simgrid_SOURCES = tests/test_sim_simgrid.c $(SIM_FIXTURE)
tests_test_sim_simgrid_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_sim_simgrid_LDADD = $(TEST_SIM_LIBS)
tests_test_sim_heap_SOURCES = tests/test_sim_heap.c
tests_test_sim_heap_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_sim_heap_LDADD = $(TEST_SIM_LIBS)
tests_test_sim_allocator_SOURCES = tests/test_sim_allocator.c
tests_test_sim_allocator_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_sim_allocator_LDADD = $(TEST_SIM_LIBS)
tests_test_sim_memory_SOURCES = tests/test_sim_memory.c $(SIM_FIXTURE)
tests_test_sim_memory_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_sim_memory_LDADD = $(TEST_SIM_LIBS)
tests_test_sim_account_SOURCES = tests/test_sim_account.c $(SIM_FIXTURE)
tests_test_sim_account_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_sim_account_LDADD = $(TEST_SIM_LIBS)
tests_test_sim_network_SOURCES = tests/test_sim_network.c $(SIM_FIXTURE)
tests_test_sim_network_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_sim_network_LDADD = $(TEST_SIM_LIBS)
tests_test_sim_sensitivity_SOURCES = tests/test_sim_sensitivity.c $(SIM_FIXTURE)
tests_test_sim_sensitivity_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_sim_sensitivity_LDADD = $(TEST_SIM_LIBS)
tests_test_sim_order_SOURCES = tests/test_sim_order.c $(SIM_FIXTURE)
tests_test_sim_order_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_sim_order_LDADD = $(TEST_SIM_LIBS)
tests_test_sim_random_SOURCES = tests/test_sim_random.c $(SIM_FIXTURE)
tests_test_sim_random_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_sim_random_LDADD = $(TEST_SIM_LIBS)
endif

EXTRA_PROGRAMS += tests/bench_engine
tests_bench_engine_SOURCES = tests/bench_engine.c tests/bench.h tests/sim_fixture.h \
	tests/sim_fixture.c
tests_bench_engine_LDADD = libsim.la libcalibrate.la libworkloads.la libtopo.la libbase.la $(LIB_DEPS)

# the max-min solver
if HAVE_CHECK
check_PROGRAMS += tests/test_sim_maxmin tests/test_sim_tournament tests/test_sim_turns
TESTS += tests/test_sim_maxmin tests/test_sim_tournament tests/test_sim_turns
tests_test_sim_tournament_SOURCES = tests/test_sim_tournament.c
tests_test_sim_tournament_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_sim_tournament_LDADD = $(TEST_SIM_LIBS)
tests_test_sim_turns_SOURCES = tests/test_sim_turns.c
tests_test_sim_turns_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_sim_turns_LDADD = $(TEST_SIM_LIBS)
tests_test_sim_maxmin_SOURCES = tests/test_sim_maxmin.c
tests_test_sim_maxmin_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_sim_maxmin_LDADD = $(TEST_SIM_LIBS)
endif
EXTRA_PROGRAMS += tests/bench_flows
tests_bench_flows_SOURCES = tests/bench_flows.c tests/bench.h
tests_bench_flows_LDADD = libsim.la libcalibrate.la libworkloads.la libtopo.la libbase.la $(LIB_DEPS)
if HAVE_SIMGRID
EXTRA_PROGRAMS += tests/simgrid_flows tests/simgrid_dag tests/simgrid_ring
tests_simgrid_flows_SOURCES = tests/simgrid_flows.cpp tests/simgrid_common.h tests/bench.h
tests_simgrid_flows_LDADD = -lsimgrid
tests_simgrid_dag_SOURCES = tests/simgrid_dag.cpp tests/simgrid_common.h tests/bench.h
tests_simgrid_dag_LDADD = -lsimgrid
tests_simgrid_ring_SOURCES = tests/simgrid_ring.cpp tests/simgrid_common.h tests/bench.h
tests_simgrid_ring_LDADD = -lsimgrid
endif
EXTRA_DIST += tests/gen_simgrid.py tests/bench_simgrid.sh \
	tests/golden/simgrid/README.md \
	tests/golden/simgrid/dag_n200_g8.tasks.csv tests/golden/simgrid/dag_n200_g8.edges.csv \
	tests/golden/simgrid/dag_n200_g8.finish.csv \
	tests/golden/simgrid/dag_n200_g64.tasks.csv tests/golden/simgrid/dag_n200_g64.edges.csv \
	tests/golden/simgrid/dag_n200_g64.finish.csv \
	tests/golden/simgrid/flows_f60.flows.csv tests/golden/simgrid/flows_f60.finish.csv

bench_tools = tests/bench_engine tests/bench_sweep tests/bench_costs tests/bench_dpos
if HAVE_SIMGRID
bench_tools += tests/simgrid_flows tests/simgrid_dag tests/simgrid_ring
endif
.PHONY: bench bench-all
bench: $(bench_tools)
	sh $(srcdir)/tests/bench.sh '$(abs_builddir)' '$(srcdir)'
bench-all: $(bench_tools)
	sh $(srcdir)/tests/bench.sh '$(abs_builddir)' '$(srcdir)' all
EXTRA_DIST += tests/bench.sh

# Does some test notice every single mistake made on purpose? A few minutes; not part of check.
EXTRA_DIST += tests/mutate.py
.PHONY: mutate
mutate:
	python3 $(srcdir)/tests/mutate.py
