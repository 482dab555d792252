noinst_LTLIBRARIES += libtopo.la
libtopo_la_SOURCES = topo/topo.h topo/internal.h topo/builder.c topo/check.c topo/compose.c \
	topo/device_types.c topo/network.c topo/preset.h topo/preset.c topo/preset_cube_mesh.c \
	topo/preset_dgx2.c topo/preset_gb200_nvl72.c topo/preset_gh200_quad.c topo/preset_hgx.c topo/preset_p2_16xlarge.c \
	topo/presets.c topo/rings.c topo/router.h topo/route.c \
	topo/route_search.h topo/route_search.c topo/topo.c topo/yaml.c
