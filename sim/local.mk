noinst_LTLIBRARIES += libsim.la
libsim_la_SOURCES = \
	sim/engine.h sim/engine.c sim/heap.h sim/heap.c sim/host.c sim/interference.c sim/names.c \
	sim/order.c sim/random.c sim/resources.c sim/sim.h sim/simulation.c sim/spread.h \
	sim/spread.c sim/story.h sim/streams.h sim/streams.c sim/transfers.c sim/turns.h \
	sim/analysis/bound.c sim/analysis/critical.c sim/analysis/deadlock.c sim/analysis/parts.h \
	sim/analysis/selfcheck.h sim/analysis/selfcheck.c sim/analysis/sensitivity.c \
	sim/analysis/totals.c \
	sim/collectives/alike.c sim/collectives/alone.c sim/collectives/chosen.h \
	sim/collectives/chosen.c sim/collectives/classes.c sim/collectives/collective.c \
	sim/collectives/internal.h sim/collectives/cost.c sim/collectives/crowd.h \
	sim/collectives/crowd.c sim/collectives/even.h sim/collectives/even.c sim/collectives/fold.c \
	sim/collectives/form.c sim/collectives/group_rings.c sim/collectives/flows.c \
	sim/collectives/load.c sim/collectives/load.h sim/collectives/loads.c sim/collectives/run.h \
	sim/collectives/run.c sim/collectives/shares.c sim/collectives/steps.c \
	sim/collectives/story.c sim/collectives/way.h sim/collectives/way.c \
	sim/memory/allocator.h sim/memory/allocator.c sim/memory/memory.c sim/memory/requests.h \
	sim/memory/requests.c \
	sim/network/alone.h sim/network/alone.c sim/network/analytic.c sim/network/channels.h \
	sim/network/channels.c sim/network/flow.c sim/network/maxmin.h sim/network/maxmin.c \
	sim/network/maxmin_fill.c sim/network/maxmin_level.c sim/network/maxmin_state.h sim/network/message.h \
	sim/network/model.h sim/network/models.c sim/network/network.c sim/network/ring_period.h \
	sim/network/ring_period.c sim/network/rings.h sim/network/rings.c sim/network/routes.h \
	sim/network/routes.c sim/network/tournament.h sim/network/tournament.c
