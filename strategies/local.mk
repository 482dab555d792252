noinst_LTLIBRARIES += libstrategies.la
libstrategies_la_SOURCES = \
	strategies/aliases.c strategies/dp.c strategies/fastt_rows.c strategies/list.c \
	strategies/list.h strategies/mp.c strategies/plugin.c strategies/plugin.h strategies/pp.c \
	strategies/single.c strategies/single.h strategies/spec.c strategies/strategies.h \
	strategies/fastt/dpos.c strategies/fastt/dpos.h strategies/fastt/dpos_best.c \
	strategies/fastt/dpos_bound.c strategies/fastt/dpos_inputs.c strategies/fastt/dpos_kept.c \
	strategies/fastt/dpos_links.c strategies/fastt/dpos_memory.c strategies/fastt/dpos_moves.c \
	strategies/fastt/dpos_moves.h strategies/fastt/dpos_path.c \
	strategies/fastt/dpos_rank.c strategies/fastt/dpos_state.h strategies/fastt/explain.c \
	strategies/fastt/fastt.c strategies/fastt/fastt.h strategies/fastt/options.c \
	strategies/fastt/os_dpos.c strategies/fastt/os_dpos.h strategies/fastt/os_dpos_split.c \
	strategies/fastt/os_dpos_split.h strategies/fastt/own.c strategies/fastt/referee.c \
	strategies/fastt/referee.h strategies/fastt/rules.c strategies/fastt/rules.h \
	strategies/fastt/strategy.c strategies/fastt/tell.c strategies/fastt/tell.h \
	strategies/fastt/learn/costs.c strategies/fastt/learn/costs.h strategies/fastt/learn/first.c \
	strategies/fastt/learn/learn.c strategies/fastt/learn/learn.h \
	strategies/fastt/learn/record.c strategies/fastt/learn/record.h strategies/fastt/learn/sim.c \
	strategies/fastt/learn/sim.h \
	strategies/hybrid/crossings.c strategies/hybrid/dispatch.c strategies/hybrid/explain.c \
	strategies/hybrid/graph.c strategies/hybrid/hybrid.h strategies/hybrid/message_times.c \
	strategies/hybrid/message_times.h strategies/hybrid/options.c strategies/hybrid/place.c \
	strategies/hybrid/ranks.c strategies/hybrid/strategy.c \
	strategies/lists/cpop.c strategies/lists/critical_path.c strategies/lists/dispatch.c \
	strategies/lists/dispatch.h strategies/lists/etf.c strategies/lists/exact.c \
	strategies/lists/exact_search.c strategies/lists/exact_search.h strategies/lists/fifo.c \
	strategies/lists/heft.c strategies/lists/lists.h strategies/lists/mcp.c \
	strategies/lists/random.c strategies/lists/ranks.c strategies/lists/ranks.h \
	strategies/lists/ready.c strategies/lists/ready.h strategies/lists/run.c \
	strategies/lists/timetable.c strategies/lists/timetable.h \
	strategies/pipedream/async.c strategies/pipedream/bound.c strategies/pipedream/cluster.c \
	strategies/pipedream/cluster.h strategies/pipedream/cuts.c strategies/pipedream/level.c \
	strategies/pipedream/lists.c strategies/pipedream/lists.h strategies/pipedream/options.c \
	strategies/pipedream/pipedream.h strategies/pipedream/plan.c strategies/pipedream/profile.c \
	strategies/pipedream/run.c strategies/pipedream/states.c strategies/pipedream/strategy.c \
	strategies/pipedream/tied.c strategies/pipedream/trim.c \
	strategies/placement/file.c strategies/placement/file.h strategies/placement/placement.c
EXTRA_DIST += examples/placements/tasks.csv examples/placements/two-towers.csv
EXTRA_DIST += examples/plug-ins/halves.c

# Other names of strategies.
nodist_libstrategies_la_SOURCES = strategies/alias_table.c
strategies/alias_table.c: strategies/aliases.csv base/csv_rows.awk
	@$(MKDIR_P) strategies
	$(AM_V_GEN)cd $(srcdir) && LC_ALL=C $(AWK) -v head='#include "strategies/list.h"' \
	  -v array='const struct fr_strategy_alias fr__strategy_aliases[]' -f base/csv_rows.awk \
	  strategies/aliases.csv > $(abs_builddir)/strategies/alias_table.c.new
	$(AM_V_at)mv strategies/alias_table.c.new $@
BUILT_SOURCES += strategies/alias_table.c
CLEANFILES += strategies/alias_table.c
EXTRA_DIST += strategies/aliases.csv
