noinst_LTLIBRARIES += libtopo.la
libtopo_la_SOURCES = \
	topo/check.c topo/internal.h topo/nics.c topo/plausible.h topo/plausible.c topo/rows.h \
	topo/topo.h topo/topo.c \
	topo/builder/builder.h topo/builder/builder.c topo/builder/degrade.c \
	topo/builder/number.c topo/builder/repeat.c \
	topo/cables/cables.h topo/cables/cables.c topo/devices/device_types.c \
	topo/export/simgrid.c topo/export/yaml.c \
	topo/gpus/gpus.h topo/gpus/gpus.c topo/hosts/hosts.h topo/hosts/hosts.c \
	topo/import/astra.c topo/import/common.c topo/import/hwloc.c topo/import/import.h topo/import/import.c \
	topo/import/nccl.c topo/import/nccl_xml.h topo/import/nccl_xml.c topo/import/nvidia_smi.c \
	topo/import/simgrid.h topo/import/simgrid.c topo/import/simgrid_cluster.c \
	topo/import/simgrid_graph.h topo/import/simgrid_graph.c topo/import/simgrid_parts.c \
	topo/import/sketch.h topo/import/sketch.c topo/import/smi_matrix.h \
	topo/import/smi_matrix.c topo/import/taccl.c \
	topo/load/box.h topo/load/box.c topo/load/compose.c topo/load/less.c topo/load/fabric.h \
	topo/load/fabric.c \
	topo/load/fabric_build.c topo/load/file.h topo/load/file.c topo/load/file_machines.c \
	topo/load/file_place.c topo/load/file_types.c topo/load/file_values.c topo/load/foreign.c \
	topo/load/like.c topo/load/load.h topo/load/network.c topo/load/refuse.c \
	topo/load/shapes.c topo/load/toy.c topo/load/unknown.c \
	topo/machines/aliases.c topo/machines/rented.c topo/machines/list.c topo/machines/machines.h \
	topo/machines/wiring.c \
	topo/routes/adjacency.h topo/routes/adjacency.c topo/routes/alike.h topo/routes/alike.c \
	topo/routes/heap.h topo/routes/heap.c topo/routes/rings.c topo/routes/route.c \
	topo/routes/router.h topo/routes/search.h topo/routes/search.c topo/routes/thin.h \
	topo/routes/thin.c \
	topo/select/named.c topo/select/pattern.h topo/select/pattern.c topo/select/select.c
nodist_libtopo_la_SOURCES = $(topo_tables) topo/alias_table.c topo/rented_table.c

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
	topo/devices/h100-sxm5-96gb.yaml \
	topo/devices/h100-pcie-80gb.yaml \
	topo/devices/h100-nvl-94gb.yaml \
	topo/devices/h800-sxm5-80gb.yaml \
	topo/devices/h20-sxm-96gb.yaml \
	topo/devices/h200-sxm-141gb.yaml \
	topo/devices/gh200-96gb.yaml \
	topo/devices/b200-sxm-180gb.yaml \
	topo/devices/gb200-186gb.yaml \
	topo/devices/b300-sxm-288gb.yaml \
	topo/devices/gb300-288gb.yaml \
	topo/devices/l4.yaml \
	topo/devices/l40s.yaml \
	topo/devices/rtx6000ada.yaml \
	topo/devices/rtx4090.yaml \
	topo/devices/mi300x-192gb.yaml \
	topo/devices/mi325x-256gb.yaml \
	topo/devices/mi355x-288gb.yaml \
	topo/devices/2x-xeon-e5-2686v4.yaml \
	topo/devices/2x-xeon-e5-2698v4.yaml \
	topo/devices/2x-xeon-8168.yaml \
	topo/devices/2x-epyc-7742.yaml \
	topo/devices/2x-xeon-8480c.yaml \
	topo/devices/2x-xeon-8570.yaml \
	topo/devices/2x-grace.yaml \
	topo/devices/4x-grace.yaml
# AMD's, which importers know.
amd_type_files = topo/gpus/amd/mi50-16gb.yaml \
	topo/gpus/amd/mi100.yaml \
	topo/gpus/amd/mi250x-die.yaml \
	topo/gpus/amd/mi210.yaml \
	topo/gpus/amd/mi300a.yaml
# The machines that we know, in the order of lists.
machine_files = topo/machines/dgx1-p100.yaml \
	topo/machines/dgx1-v100.yaml \
	topo/machines/dgx1-v100-32g.yaml \
	topo/machines/p2.16xlarge.yaml \
	topo/machines/p3.16xlarge.yaml \
	topo/machines/8x-v100-own-x16.yaml \
	topo/machines/dgx2.yaml \
	topo/machines/dgx-a100-40g.yaml \
	topo/machines/dgx-a100-80g.yaml \
	topo/machines/hgx-h100.yaml \
	topo/machines/hgx-h100-96g.yaml \
	topo/machines/hgx-h800.yaml \
	topo/machines/hgx-h20.yaml \
	topo/machines/hgx-h200.yaml \
	topo/machines/gh200-quad.yaml \
	topo/machines/hgx-b200.yaml \
	topo/machines/gb200-nvl72.yaml \
	topo/machines/hgx-b300.yaml \
	topo/machines/gb300-nvl72.yaml \
	topo/machines/8x-mi300x.yaml \
	topo/machines/8x-mi325x.yaml \
	topo/machines/8x-mi355x.yaml
# A table is made of its schema and files; it may name rows of the tables before it.
types_facts = topo/devices/type.schema.yaml $(device_type_files)
amd_facts = topo/gpus/amd.schema.yaml $(amd_type_files)
cables_facts = topo/cables/cable.schema.yaml topo/cables/cables.yaml
hosts_facts = topo/hosts/host.schema.yaml topo/hosts/hosts.yaml
gpus_facts = topo/gpus/gpu.schema.yaml topo/gpus/gpus.yaml
machines_facts = topo/machines/machine.schema.yaml $(machine_files)
topo/devices/table.c: $(types_facts) base/facts/compile$(EXEEXT)
	$(AM_V_GEN)facts='$(types_facts)'; $(make_table)
topo/gpus/amd_table.c: $(amd_facts) topo/devices/type.schema.yaml base/facts/compile$(EXEEXT)
	$(AM_V_GEN)facts='$(amd_facts)'; $(make_table)
topo/cables/table.c: $(cables_facts) base/facts/compile$(EXEEXT)
	$(AM_V_GEN)facts='$(cables_facts)'; $(make_table)
topo/hosts/table.c: $(hosts_facts) base/facts/compile$(EXEEXT)
	$(AM_V_GEN)facts='$(hosts_facts)'; $(make_table)
topo/gpus/table.c: $(cables_facts) $(hosts_facts) $(gpus_facts) base/facts/compile$(EXEEXT)
	$(AM_V_GEN)facts='$(cables_facts) $(hosts_facts) $(gpus_facts)'; $(make_table)
topo/machines/table.c: $(cables_facts) $(hosts_facts) $(machines_facts) base/facts/compile$(EXEEXT)
	$(AM_V_GEN)facts='$(cables_facts) $(hosts_facts) $(machines_facts)'; $(make_table)
topo_tables = topo/devices/table.c topo/gpus/amd_table.c topo/cables/table.c topo/hosts/table.c \
	topo/gpus/table.c topo/machines/table.c
BUILT_SOURCES += $(topo_tables)
CLEANFILES += $(topo_tables)
EXTRA_DIST += $(types_facts) $(amd_facts) $(cables_facts) $(hosts_facts) $(gpus_facts) \
	$(machines_facts)
device_typesdir = $(pkgdatadir)/device-types
device_types_DATA = $(device_type_files)
machinesdir = $(pkgdatadir)/machines
machines_DATA = $(machine_files)
facts_DATA += topo/cables/cables.yaml topo/hosts/hosts.yaml topo/gpus/gpus.yaml
EXTRA_DIST += examples/machines/own-gpu.yaml examples/machines/nccl-topo.xml examples/machines/smi-topo.txt \
	examples/machines/titan-x.yaml

# Other names of machines.
topo/alias_table.c: topo/machines/aliases.csv base/csv_rows.awk topo/local.mk
	@$(MKDIR_P) topo
	$(AM_V_GEN)cd $(srcdir) && LC_ALL=C $(AWK) -v head='#include "topo/machines/machines.h"' \
	  -v array='const struct fr_topo_alias fr__topo_aliases[]' -f base/csv_rows.awk \
	  topo/machines/aliases.csv > $(abs_builddir)/topo/alias_table.c.new
	$(AM_V_at)mv topo/alias_table.c.new $@
BUILT_SOURCES += topo/alias_table.c
CLEANFILES += topo/alias_table.c
EXTRA_DIST += topo/machines/aliases.csv base/csv_rows.awk

topo/rented_table.c: topo/machines/rented.csv base/csv_rows.awk topo/local.mk
	$(AM_V_at)$(MKDIR_P) topo
	$(AM_V_GEN)cd $(srcdir) && LC_ALL=C $(AWK) -v head='#include "topo/machines/machines.h"' \
	  -v array='const struct fr__rented fr__topo_rented[]' -f base/csv_rows.awk \
	  topo/machines/rented.csv > $(abs_builddir)/topo/rented_table.c.new
	$(AM_V_at)mv topo/rented_table.c.new $@
BUILT_SOURCES += topo/rented_table.c
CLEANFILES += topo/rented_table.c
EXTRA_DIST += topo/machines/rented.csv
