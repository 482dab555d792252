noinst_LTLIBRARIES += libtopo.la
libtopo_la_SOURCES = topo/topo.h topo/internal.h topo/builder.c topo/device_types.c \
	topo/route.c topo/topo.c
