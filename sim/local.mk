noinst_LTLIBRARIES += libsim.la
libsim_la_SOURCES = sim/sim.h sim/plan.h sim/plan.c sim/plan_check.c sim/names.c sim/unroll.c
libsim_la_SOURCES += sim/maxmin.h sim/maxmin.c
