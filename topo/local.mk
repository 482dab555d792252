noinst_LTLIBRARIES += libtopo.la
libtopo_la_SOURCES = \
	topo/check.c topo/internal.h topo/nics.c topo/plausible.h topo/plausible.c topo/rows.h \
	topo/topo.h topo/topo.c \
	topo/builder/builder.h topo/builder/builder.c topo/builder/degrade.c \
	topo/builder/number.c topo/builder/repeat.c \
	topo/devices/device_types.c \
	topo/export/simgrid.c topo/export/yaml.c \
	topo/import/amd.c topo/import/astra.c topo/import/common.c topo/import/defaults.h \
	topo/import/defaults.c topo/import/hwloc.c topo/import/import.h topo/import/import.c \
	topo/import/nccl.c topo/import/nccl_xml.h topo/import/nccl_xml.c topo/import/nvidia_smi.c \
	topo/import/simgrid.h topo/import/simgrid.c topo/import/simgrid_cluster.c \
	topo/import/simgrid_graph.h topo/import/simgrid_graph.c topo/import/simgrid_parts.c \
	topo/import/sketch.h topo/import/sketch.c topo/import/smi_matrix.h \
	topo/import/smi_matrix.c topo/import/taccl.c \
	topo/load/box.h topo/load/box.c topo/load/compose.c topo/load/fabric.h topo/load/fabric.c \
	topo/load/fabric_build.c topo/load/file.h topo/load/file.c topo/load/file_machines.c \
	topo/load/file_place.c topo/load/file_types.c topo/load/file_values.c topo/load/foreign.c \
	topo/load/like.c topo/load/load.h topo/load/network.c topo/load/refuse.c \
	topo/load/shapes.c topo/load/toy.c topo/load/unknown.c \
	topo/presets/aliases.c topo/presets/cube_mesh.c topo/presets/dgx2.c \
	topo/presets/gb200_nvl72.c topo/presets/gh200_quad.c topo/presets/hgx.c \
	topo/presets/hosts.c topo/presets/list.c topo/presets/p2_16xlarge.c topo/presets/parts.h \
	topo/presets/parts.c topo/presets/presets.h \
	topo/routes/adjacency.h topo/routes/adjacency.c topo/routes/alike.h topo/routes/alike.c \
	topo/routes/heap.h topo/routes/heap.c topo/routes/rings.c topo/routes/route.c \
	topo/routes/router.h topo/routes/search.h topo/routes/search.c topo/routes/thin.h \
	topo/routes/thin.c \
	topo/select/named.c topo/select/pattern.h topo/select/pattern.c topo/select/select.c
nodist_libtopo_la_SOURCES = topo/device_table.c topo/alias_table.c

# The built-in device types, in the order of lists; compiled into a table and installed.
device_type_files = topo/devices/k80-die.yaml \
	topo/devices/p100-sxm2-16gb.yaml \
	topo/devices/p100-pcie-16gb.yaml \
	topo/devices/p4.yaml \
	topo/devices/v100-sxm2-16gb.yaml \
	topo/devices/v100-sxm2-32gb.yaml \
	topo/devices/v100-sxm3-32gb.yaml \
	topo/devices/v100-pcie-16gb.yaml \
	topo/devices/v100-pcie-32gb.yaml \
	topo/devices/t4.yaml \
	topo/devices/rtx2080ti.yaml \
	topo/devices/a100-pcie-40gb.yaml \
	topo/devices/a100-pcie-80gb.yaml \
	topo/devices/a100-sxm4-40gb.yaml \
	topo/devices/a100-sxm4-80gb.yaml \
	topo/devices/a40.yaml \
	topo/devices/a30.yaml \
	topo/devices/a10.yaml \
	topo/devices/a10g.yaml \
	topo/devices/a6000.yaml \
	topo/devices/rtx3090.yaml \
	topo/devices/h100-sxm5-80gb.yaml \
	topo/devices/h100-pcie-80gb.yaml \
	topo/devices/h100-nvl-94gb.yaml \
	topo/devices/h20-sxm-96gb.yaml \
	topo/devices/h200-sxm-141gb.yaml \
	topo/devices/gh200-96gb.yaml \
	topo/devices/b200-sxm-180gb.yaml \
	topo/devices/gb200-186gb.yaml \
	topo/devices/l4.yaml \
	topo/devices/l40s.yaml \
	topo/devices/rtx6000ada.yaml \
	topo/devices/rtx4090.yaml \
	topo/devices/2x-xeon-e5-2686v4.yaml \
	topo/devices/2x-xeon-e5-2698v4.yaml \
	topo/devices/2x-xeon-8168.yaml \
	topo/devices/2x-epyc-7742.yaml \
	topo/devices/2x-xeon-8480c.yaml \
	topo/devices/2x-xeon-8570.yaml \
	topo/devices/2x-grace.yaml \
	topo/devices/4x-grace.yaml
topo/device_table.c: $(device_type_files) topo/devices/table.awk
	@$(MKDIR_P) topo
	$(AM_V_GEN)cd $(srcdir) && LC_ALL=C $(AWK) -f topo/devices/table.awk $(device_type_files) \
	  > $(abs_builddir)/topo/device_table.c.new
	$(AM_V_at)mv topo/device_table.c.new $@
BUILT_SOURCES += topo/device_table.c
CLEANFILES += topo/device_table.c
EXTRA_DIST += $(device_type_files) topo/devices/table.awk
device_typesdir = $(pkgdatadir)/device-types
device_types_DATA = $(device_type_files)
EXTRA_DIST += examples/machines/own-gpu.yaml examples/machines/nccl-topo.xml examples/machines/smi-topo.txt \
	examples/machines/titan-x.yaml

# Other names of machines.
topo/alias_table.c: topo/presets/aliases.csv base/csv_rows.awk
	@$(MKDIR_P) topo
	$(AM_V_GEN)cd $(srcdir) && LC_ALL=C $(AWK) -v head='#include "topo/presets/presets.h"' \
	  -v array='const struct fr_topo_alias fr__topo_aliases[]' -f base/csv_rows.awk \
	  topo/presets/aliases.csv > $(abs_builddir)/topo/alias_table.c.new
	$(AM_V_at)mv topo/alias_table.c.new $@
BUILT_SOURCES += topo/alias_table.c
CLEANFILES += topo/alias_table.c
EXTRA_DIST += topo/presets/aliases.csv base/csv_rows.awk
