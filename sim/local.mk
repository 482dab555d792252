noinst_LTLIBRARIES += libsim.la
libsim_la_SOURCES = sim/sim.h sim/names.c \
	sim/plan.h sim/plan.c sim/pattern.h sim/pattern.c sim/plan_check.c sim/plan_copy.c sim/plan_group.c sim/unroll.c \
	sim/order.h sim/order.c sim/order_control.c sim/order_receives.c sim/order_partition.c \
	sim/order_tictac.c sim/order_gate.c \
	sim/engine.h sim/engine.c sim/heap.h sim/heap.c \
	sim/maxmin.h sim/maxmin_state.h sim/maxmin.c sim/maxmin_fill.c sim/tournament.h sim/tournament.c \
	sim/turns.h sim/network.c sim/message.c sim/collective.c sim/collective_form.c sim/collective_steps.c \
	sim/memory.c sim/requests.h sim/requests.c sim/allocator.h sim/allocator.c sim/interference.c sim/random.c \
	sim/sensitivity.c sim/deadlock.c sim/selfcheck.h sim/selfcheck.c sim/bound.c sim/critical.c sim/totals.c
