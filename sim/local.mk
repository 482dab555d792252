noinst_LTLIBRARIES += libsim.la
libsim_la_SOURCES = \
	sim/engine.h sim/engine.c sim/heap.h sim/heap.c sim/host.c sim/interference.c sim/names.c \
	sim/order.c sim/random.c sim/resources.c sim/sim.h sim/simulation.c sim/spread.h sim/spread.c \
	sim/story.h sim/streams.h sim/streams.c sim/turns.h \
	sim/analysis/bound.c sim/analysis/critical.c sim/analysis/deadlock.c sim/analysis/parts.h \
	sim/analysis/selfcheck.h sim/analysis/selfcheck.c sim/analysis/sensitivity.c \
	sim/analysis/totals.c \
	sim/collectives/alike.c sim/collectives/alone.c sim/collectives/chosen.h \
	sim/collectives/chosen.c sim/collectives/classes.c sim/collectives/collective.c \
	sim/collectives/collectives.h \
	sim/collectives/cost.c sim/collectives/crowd.h sim/collectives/crowd.c sim/collectives/even.h \
	sim/collectives/even.c sim/collectives/fold.c sim/collectives/form.c \
	sim/collectives/grid.h sim/collectives/grid.c \
	sim/collectives/group_rings.c sim/collectives/flows.c sim/collectives/load.c \
	sim/collectives/load.h sim/collectives/loads.c sim/collectives/nccl_model.c \
	sim/collectives/run.h sim/collectives/run.c sim/collectives/shares.c sim/collectives/steps.c \
	sim/collectives/story.c sim/collectives/way.h sim/collectives/way.c \
	sim/collectives/algorithms/binomial.c sim/collectives/algorithms/bruck.c \
	sim/collectives/algorithms/bucket.c sim/collectives/algorithms/chain.c \
	sim/collectives/algorithms/custom.h sim/collectives/algorithms/custom.c \
	sim/collectives/algorithms/custom_file.h sim/collectives/algorithms/custom_file.c \
	sim/collectives/algorithms/direct.c sim/collectives/algorithms/halving.c \
	sim/collectives/algorithms/hierarchical.c sim/collectives/algorithms/in_switch.c \
	sim/collectives/algorithms/list.c sim/collectives/algorithms/neighbour.c \
	sim/collectives/algorithms/pairwise.c sim/collectives/algorithms/pairwise_nodes.c \
	sim/collectives/algorithms/pat.c sim/collectives/algorithms/ring.c \
	sim/collectives/algorithms/schedule.h sim/collectives/algorithms/schedule.c \
	sim/collectives/algorithms/schedule_check.c sim/collectives/algorithms/tree.c \
	sim/collectives/nccl/choice.c sim/collectives/nccl/comm.h sim/collectives/nccl/constants.h \
	sim/collectives/nccl/constants.c sim/collectives/nccl/from_topo.h \
	sim/collectives/nccl/from_topo.c sim/collectives/nccl/from_xml.h \
	sim/collectives/nccl/from_xml.c sim/collectives/nccl/levels.c sim/collectives/nccl/measured.h \
	sim/collectives/nccl/measured.c sim/collectives/nccl/nets.c sim/collectives/nccl/paths.c \
	sim/collectives/nccl/search.c sim/collectives/nccl/system.h sim/collectives/nccl/system.c \
	sim/collectives/nccl/trees.h sim/collectives/nccl/trees.c sim/collectives/nccl/try.h \
	sim/collectives/nccl/tuner.h sim/collectives/nccl/tuner.c \
	sim/memory/allocator.h sim/memory/allocator.c sim/memory/memory.c sim/memory/requests.h \
	sim/memory/requests.c \
	sim/network/alone.h sim/network/alone.c sim/network/analytic.c sim/network/channels.h \
	sim/network/channels.c sim/network/flow.c sim/network/maxmin.h sim/network/maxmin.c \
	sim/network/maxmin_fill.c sim/network/maxmin_level.c sim/network/maxmin_state.h \
	sim/network/model.h sim/network/models.c sim/network/network.c sim/network/ring_period.h \
	sim/network/ring_period.c sim/network/rings.h sim/network/rings.c sim/network/routes.h \
	sim/network/routes.c sim/network/tournament.h sim/network/tournament.c
