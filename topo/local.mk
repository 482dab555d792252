noinst_LTLIBRARIES += libtopo.la
libtopo_la_SOURCES = topo/topo.h topo/internal.h topo/builder.c topo/check.c topo/compose.c \
	topo/device_types.c topo/network.c topo/preset_dgx1_v100.c topo/preset_dgx_a100_80g.c \
	topo/presets.c topo/rings.c topo/router.h topo/route.c \
	topo/route_search.h topo/route_search.c topo/topo.c topo/yaml.c
