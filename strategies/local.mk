noinst_LTLIBRARIES += libstrategies.la
libstrategies_la_SOURCES = strategies/strategies.h strategies/list.h strategies/list.c \
	strategies/log.h strategies/log.c strategies/params.h strategies/params.c \
	strategies/placer.h strategies/placer.c strategies/replica.h strategies/replica.c \
	strategies/buckets.h strategies/buckets.c strategies/parameter_server.h \
	strategies/parameter_server.c strategies/single.h strategies/single.c strategies/dp.c \
	strategies/stages.h strategies/stages.c strategies/stages_cut.c strategies/mp.c \
	strategies/line_up.h strategies/line_up.c \
	strategies/schedule.h strategies/schedule.c strategies/pp.c strategies/dag.h strategies/dag.c strategies/dag_dims.h strategies/dag_dims.c strategies/dpos.h \
	strategies/dpos_state.h strategies/dpos_slots.h strategies/dpos_slots.c strategies/dpos.c \
	strategies/dpos_rank.c strategies/dpos_path.c strategies/dpos_kept.c strategies/dpos_bound.c \
	strategies/os_dpos.h strategies/os_dpos_split.h strategies/os_dpos_split.c strategies/os_dpos.c \
	strategies/dag_plan.h strategies/dag_plan.c strategies/fastt.h strategies/fastt.c \
	strategies/planned.c strategies/learn_costs.h strategies/learn_costs.c strategies/learn.h \
	strategies/learn.c strategies/learn_first.c strategies/learn_sim.h strategies/learn_sim.c \
	strategies/explain.h strategies/explain.c
