noinst_LTLIBRARIES += libstrategies.la
libstrategies_la_SOURCES = \
	strategies/aliases.c strategies/decisions.h strategies/dp.c strategies/fastt_rows.c strategies/learning.h \
	strategies/list.h strategies/list.c strategies/mp.c strategies/plugin.h strategies/plugin.c \
	strategies/pp.c strategies/single.h strategies/single.c strategies/spec.c \
	strategies/stage_plan.h strategies/strategies.h \
	strategies/exchange/copies.c strategies/exchange/exchange.h strategies/exchange/exchange.c \
	strategies/exchange/gather.c strategies/exchange/late.c strategies/exchange/parts.h \
	strategies/exchange/reduce.c strategies/exchange/servers.c strategies/exchange/stages.c \
	strategies/fastt/dag.h strategies/fastt/dag.c strategies/fastt/dag_dims.h \
	strategies/fastt/dag_dims.c strategies/fastt/dag_graph.h strategies/fastt/dag_graph.c \
	strategies/fastt/dag_lines.h strategies/fastt/dag_lines.c strategies/fastt/dag_links.c \
	strategies/fastt/dag_machines.c strategies/fastt/dag_names.c \
	strategies/fastt/dag_order.h strategies/fastt/dag_order.c strategies/fastt/dag_plan.h \
	strategies/fastt/dag_plan.c strategies/fastt/dag_price.c strategies/fastt/dpos.h \
	strategies/fastt/dpos.c strategies/fastt/dpos_best.c strategies/fastt/dpos_bound.c \
	strategies/fastt/dpos_inputs.c strategies/fastt/dpos_kept.c strategies/fastt/dpos_links.c \
	strategies/fastt/dpos_memory.c strategies/fastt/dpos_path.c strategies/fastt/dpos_rank.c \
	strategies/fastt/dpos_slots.h strategies/fastt/dpos_slots.c strategies/fastt/dpos_state.h \
	strategies/fastt/explain.c strategies/fastt/fastt.h strategies/fastt/fastt.c \
	strategies/fastt/options.c strategies/fastt/os_dpos.h strategies/fastt/os_dpos.c \
	strategies/fastt/os_dpos_split.h strategies/fastt/os_dpos_split.c strategies/fastt/own.c \
	strategies/fastt/referee.h strategies/fastt/referee.c strategies/fastt/rules.h \
	strategies/fastt/rules.c strategies/fastt/shared_links.h strategies/fastt/shared_links.c \
	strategies/fastt/strategy.c strategies/fastt/tell.h strategies/fastt/tell.c \
	strategies/fastt/learn/costs.h strategies/fastt/learn/costs.c strategies/fastt/learn/first.c \
	strategies/fastt/learn/learn.h strategies/fastt/learn/learn.c strategies/fastt/learn/record.h \
	strategies/fastt/learn/record.c strategies/fastt/learn/sim.h strategies/fastt/learn/sim.c \
	strategies/hybrid/crossings.c strategies/hybrid/dispatch.c strategies/hybrid/explain.c \
	strategies/hybrid/graph.c strategies/hybrid/hybrid.h strategies/hybrid/message_times.h \
	strategies/hybrid/message_times.c strategies/hybrid/options.c strategies/hybrid/place.c \
	strategies/hybrid/ranks.c strategies/hybrid/strategy.c \
	strategies/lists/cpop.c strategies/lists/critical_path.c strategies/lists/dispatch.h \
	strategies/lists/dispatch.c strategies/lists/etf.c strategies/lists/exact.c \
	strategies/lists/exact_search.h strategies/lists/exact_search.c strategies/lists/fifo.c \
	strategies/lists/heft.c strategies/lists/lists.h strategies/lists/mcp.c \
	strategies/lists/random.c strategies/lists/ranks.h strategies/lists/ranks.c \
	strategies/lists/ready.h strategies/lists/ready.c strategies/lists/run.c \
	strategies/lists/timetable.h strategies/lists/timetable.c \
	strategies/lower/decisions.h strategies/lower/decisions.c strategies/lower/learning.h \
	strategies/lower/learning.c strategies/lower/log.h strategies/lower/log.c \
	strategies/lower/mesh.h strategies/lower/mesh.c strategies/lower/params.h \
	strategies/lower/params.c strategies/lower/placer.h strategies/lower/placer.c \
	strategies/lower/price.h strategies/lower/price.c strategies/lower/problem.h \
	strategies/lower/problem.c strategies/lower/recipe.h strategies/lower/recipe.c \
	strategies/lower/stage_plan.c strategies/lower/values.h strategies/lower/values.c \
	strategies/partition/balance.h strategies/partition/balance.c strategies/partition/best.h \
	strategies/partition/best.c strategies/partition/chain.h strategies/partition/chain.c \
	strategies/partition/choose.h strategies/partition/choose.c strategies/partition/timed.h \
	strategies/partition/timed.c strategies/partition/tries.h strategies/partition/tries.c \
	strategies/partition/ranks.h strategies/partition/ranks.c \
	strategies/partition/ranks_search.h strategies/partition/ranks_search.c \
	strategies/pipedream/async.c strategies/pipedream/bound.c strategies/pipedream/cluster.h \
	strategies/pipedream/cluster.c strategies/pipedream/cuts.c strategies/pipedream/level.c \
	strategies/pipedream/lists.h strategies/pipedream/lists.c strategies/pipedream/options.c \
	strategies/pipedream/pipedream.h strategies/pipedream/plan.c strategies/pipedream/profile.c \
	strategies/pipedream/run.c strategies/pipedream/states.c strategies/pipedream/strategy.c \
	strategies/pipedream/tied.c strategies/pipedream/trim.c \
	strategies/pipeline/async.h strategies/pipeline/async.c strategies/pipeline/ends.c \
	strategies/pipeline/pipeline.h strategies/pipeline/pipeline.c strategies/pipeline/place.c \
	strategies/pipeline/stages.h strategies/pipeline/stages.c strategies/pipeline/stages_cut.c \
	strategies/pipeline/stages_given.h strategies/pipeline/stages_given.c \
	strategies/pipeline/stages_memory.h strategies/pipeline/stages_memory.c \
	strategies/pipeline/stages_price.h strategies/pipeline/stages_price.c \
	strategies/pipeline/moments.h strategies/pipeline/moments.c \
	strategies/pipeline/sums.h strategies/pipeline/sums.c \
	strategies/pipeline/times.h strategies/pipeline/times.c \
	strategies/placement/file.h strategies/placement/file.c strategies/placement/placement.c \
	strategies/replica/group_ops.h strategies/replica/group_ops.c strategies/replica/line_up.h \
	strategies/replica/line_up.c strategies/replica/parts.h strategies/replica/passes.c \
	strategies/replica/rank_groups.h strategies/replica/replica.h strategies/replica/replica.c \
	strategies/replica/tail.c strategies/replica/tensors.c \
	strategies/schedules/action.h strategies/schedules/action.c strategies/schedules/asynchronous.c \
	strategies/schedules/chimera.c strategies/schedules/chimera_released.c \
	strategies/schedules/comms.c strategies/schedules/dualpipe.c \
	strategies/schedules/eager.c strategies/schedules/gpipe.c strategies/schedules/interleaved.c \
	strategies/schedules/looped_bfs.c strategies/schedules/maker.h strategies/schedules/maker.c \
	strategies/schedules/one_f_one_b.c strategies/schedules/passes.h strategies/schedules/passes.c \
	strategies/schedules/read.c strategies/schedules/replay.c strategies/schedules/schedule.h \
	strategies/schedules/table.c strategies/schedules/v_pattern.c strategies/schedules/zb_h2.h \
	strategies/schedules/zb_h2.c strategies/schedules/zb_v.h strategies/schedules/zb_v.c \
	strategies/schedules/zb_v_auto.c strategies/schedules/zero_bubble.c
EXTRA_DIST += examples/schedules/late-backward.csv
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
