noinst_LTLIBRARIES += libworkloads.la
libworkloads_la_SOURCES = workloads/workloads.h \
	workloads/builder.h workloads/builder.c workloads/builder_check.c workloads/graph.c \
	workloads/kinds.c workloads/names.h workloads/names.c workloads/order.c \
	workloads/totals.c
