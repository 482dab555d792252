noinst_LTLIBRARIES += libplan.la
libplan_la_SOURCES = \
	plan/build.c plan/check.c plan/copy.c plan/group.c plan/index.c plan/internal.h plan/names.c \
	plan/pattern.h plan/pattern.c plan/plan.h plan/rewrite.c plan/room.c plan/sound.c plan/unroll.c plan/view.c \
	plan/orders/control.c plan/orders/gate.c plan/orders/order.h plan/orders/order.c \
	plan/orders/partition.c plan/orders/receives.c plan/orders/tictac.c
