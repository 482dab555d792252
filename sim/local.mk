noinst_LTLIBRARIES += libsim.la
libsim_la_SOURCES = \
	sim/engine.h sim/engine.c sim/event_queue.h sim/heap.h sim/heap.c sim/host.c \
	sim/interference.c sim/look.c sim/names.c sim/order.c sim/random.c sim/resources.c sim/sim.h \
	sim/simulation.c sim/spread.h sim/spread.c sim/streams.h sim/streams.c sim/transfers.c \
	sim/analysis/bound.c sim/analysis/critical.c sim/analysis/deadlock.c sim/analysis/parts.h \
	sim/analysis/selfcheck.h sim/analysis/selfcheck.c sim/analysis/sensitivity.c \
	sim/analysis/totals.c \
	sim/collectives/closed_form.c sim/collectives/collective.c sim/collectives/equal_groups.h \
	sim/collectives/equal_groups.c sim/collectives/flows.c sim/collectives/group_rings.c \
	sim/collectives/internal.h sim/collectives/known_time.c sim/collectives/link_classes.c \
	sim/collectives/link_load.h sim/collectives/link_load.c sim/collectives/nccl_choice.h \
	sim/collectives/nccl_choice.c sim/collectives/repeats.c sim/collectives/resource_parts.c \
	sim/collectives/ring_fold.c sim/collectives/ring_run.c sim/collectives/schedule_bytes.c \
	sim/collectives/schedule_choice.h sim/collectives/schedule_choice.c \
	sim/collectives/schedule_limit.c \
	sim/collectives/schedule_run.h sim/collectives/schedule_run.c sim/collectives/schedule_time.c \
	sim/collectives/symmetry.h sim/collectives/symmetry.c \
	sim/memory/allocator.h sim/memory/allocator.c sim/memory/memory.c sim/memory/requests.h \
	sim/memory/requests.c \
	sim/network/alone.h sim/network/alone.c sim/network/analytic.c sim/network/channels.h \
	sim/network/channels.c sim/network/flow.c sim/network/maxmin.h sim/network/maxmin.c \
	sim/network/maxmin_fill.c sim/network/maxmin_level.c sim/network/maxmin_room.c \
	sim/network/maxmin_state.h \
	sim/network/message.h \
	sim/network/model.h sim/network/models.c sim/network/network.c sim/network/ring_period.h \
	sim/network/ring_period.c sim/network/rings.h sim/network/rings.c sim/network/routes.h \
	sim/network/routes.c sim/network/tournament.h sim/network/tournament.c
