noinst_LTLIBRARIES += libtopo.la
libtopo_la_SOURCES = \
	topo/builder.c topo/check.c topo/compose.c topo/device_types.c topo/internal.h topo/network.c \
	topo/rings.c topo/route.c topo/route_search.h topo/route_search.c topo/router.h topo/topo.h \
	topo/topo.c topo/yaml.c \
	topo/presets/cube_mesh.c topo/presets/dgx2.c topo/presets/gb200_nvl72.c \
	topo/presets/gh200_quad.c topo/presets/hgx.c topo/presets/list.c topo/presets/p2_16xlarge.c \
	topo/presets/parts.h topo/presets/parts.c
