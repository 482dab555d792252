# make bench: one table of how fast the parts are.
bench_tools = tests/bench/bench_engine tests/bench/bench_sweep tests/bench/bench_costs \
	tests/bench/bench_dpos tests/bench/bench_load tests/bench/bench_pipedream \
	tests/bench/bench_schedules tests/bench/bench_hybrid tests/bench/bench_collectives \
	tests/bench/bench_optimum
EXTRA_PROGRAMS += $(bench_tools) tests/bench/bench_flows
tests_bench_bench_engine_SOURCES = tests/bench/bench_engine.c tests/bench/bench.h
if HAVE_SIMGRID
simgrid_tools = tests/bench/simgrid_flows tests/bench/simgrid_dag tests/bench/simgrid_ring
EXTRA_PROGRAMS += $(simgrid_tools)
bench_tools += $(simgrid_tools)
tests_bench_simgrid_flows_SOURCES = tests/bench/simgrid_flows.cpp tests/bench/simgrid_common.h
tests_bench_simgrid_flows_LDADD = -lsimgrid
tests_bench_simgrid_dag_SOURCES = tests/bench/simgrid_dag.cpp
tests_bench_simgrid_dag_LDADD = -lsimgrid
tests_bench_simgrid_ring_SOURCES = tests/bench/simgrid_ring.cpp
tests_bench_simgrid_ring_LDADD = -lsimgrid
endif
.PHONY: bench bench-all
bench: $(bench_tools)
	sh $(srcdir)/tests/bench/bench.sh '$(abs_builddir)' '$(srcdir)'
bench-all: $(bench_tools)
	sh $(srcdir)/tests/bench/bench.sh '$(abs_builddir)' '$(srcdir)' all
EXTRA_DIST += tests/bench/bench.sh tests/bench/bench_simgrid.sh
