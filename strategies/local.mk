noinst_LTLIBRARIES += libstrategies.la
libstrategies_la_SOURCES = \
	strategies/decisions.h strategies/dp.c strategies/fastt_rows.c strategies/learning.h \
	strategies/list.h strategies/list.c strategies/mp.c strategies/pp.c strategies/single.h \
	strategies/single.c strategies/spec.c strategies/strategies.h \
	strategies/fastt/dag.h strategies/fastt/dag.c strategies/fastt/dag_dims.h \
	strategies/fastt/dag_dims.c strategies/fastt/dag_graph.h strategies/fastt/dag_graph.c \
	strategies/fastt/dag_plan.h strategies/fastt/dag_plan.c strategies/fastt/dag_price.c \
	strategies/fastt/dpos.h strategies/fastt/dpos.c strategies/fastt/dpos_bound.c \
	strategies/fastt/dpos_kept.c strategies/fastt/dpos_path.c strategies/fastt/dpos_rank.c \
	strategies/fastt/dpos_slots.h strategies/fastt/dpos_slots.c strategies/fastt/dpos_state.h \
	strategies/fastt/explain.c strategies/fastt/fastt.h strategies/fastt/fastt.c \
	strategies/fastt/options.c strategies/fastt/os_dpos.h strategies/fastt/os_dpos.c \
	strategies/fastt/os_dpos_split.h strategies/fastt/os_dpos_split.c strategies/fastt/tell.h \
	strategies/fastt/tell.c \
	strategies/fastt/learn/costs.h strategies/fastt/learn/costs.c strategies/fastt/learn/first.c \
	strategies/fastt/learn/learn.h strategies/fastt/learn/learn.c strategies/fastt/learn/record.h \
	strategies/fastt/learn/record.c strategies/fastt/learn/sim.h strategies/fastt/learn/sim.c \
	strategies/lower/decisions.h strategies/lower/decisions.c strategies/lower/exchange.h \
	strategies/lower/exchange.c strategies/lower/learning.h strategies/lower/learning.c \
	strategies/lower/line_up.h strategies/lower/line_up.c strategies/lower/log.h \
	strategies/lower/log.c strategies/lower/mesh.h strategies/lower/mesh.c \
	strategies/lower/params.h strategies/lower/params.c strategies/lower/placer.h \
	strategies/lower/placer.c strategies/lower/price.h strategies/lower/price.c \
	strategies/lower/problem.h strategies/lower/problem.c strategies/lower/recipe.h \
	strategies/lower/recipe.c strategies/lower/replica.h strategies/lower/replica.c \
	strategies/lower/replica_parts.h strategies/lower/replica_tail.c \
	strategies/lower/replica_tensors.c strategies/lower/schedule.h strategies/lower/schedule.c \
	strategies/lower/stages.h strategies/lower/stages.c strategies/lower/stages_cut.c
