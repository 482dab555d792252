noinst_LTLIBRARIES += libcalibrate.la libcalibrate_but_shipped.la
libcalibrate_la_SOURCES = calibrate/files/shipped.h calibrate/files/shipped.c
nodist_libcalibrate_la_SOURCES = calibrate/files/devices.c calibrate/files/systems.c \
	calibrate/files/data_version.c
libcalibrate_la_LIBADD = libcalibrate_but_shipped.la
# All but the tables, which are made with its readers.
libcalibrate_but_shipped_la_SOURCES = \
	calibrate/calibrate.h calibrate/trust.c \
	calibrate/cost/attention.c calibrate/cost/attention_kernels.h \
	calibrate/cost/attention_kernels.c calibrate/cost/borrowed.h calibrate/cost/borrowed.c \
	calibrate/cost/channelwise.h calibrate/cost/channelwise.c calibrate/cost/collective.c \
	calibrate/cost/convolution.c calibrate/cost/cost.c calibrate/cost/efficiency.h \
	calibrate/cost/efficiency.c \
	calibrate/cost/kernel.h calibrate/cost/kernel.c calibrate/cost/memo.h \
	calibrate/cost/memo.c calibrate/cost/model.h calibrate/cost/devices.c \
	calibrate/cost/model.c calibrate/cost/move.c \
	calibrate/cost/op.c calibrate/cost/per_image.h calibrate/cost/per_image.c \
	calibrate/cost/plausible.h calibrate/cost/plausible.c calibrate/cost/relatives.h \
	calibrate/cost/relatives.c calibrate/cost/rule.h calibrate/cost/rule.c \
	calibrate/cost/samples.h calibrate/cost/samples.c \
	calibrate/curves/attention.h calibrate/curves/attention.c \
	calibrate/curves/class.h calibrate/curves/class.c \
	calibrate/curves/conv.h calibrate/curves/conv.c calibrate/curves/curve.h \
	calibrate/curves/curve.c calibrate/curves/machine.h calibrate/curves/matmul.h \
	calibrate/curves/matmul.c calibrate/curves/memory.h calibrate/curves/memory.c \
	calibrate/curves/residual.h calibrate/curves/residual.c calibrate/curves/rows.h \
	calibrate/curves/rows.c calibrate/curves/trees.h calibrate/curves/trees.c \
	calibrate/power/clocks.h calibrate/power/clocks.c calibrate/power/power.h \
	calibrate/power/power.c \
	calibrate/files/data_version.h calibrate/files/device_file.h \
	calibrate/files/device_file.c calibrate/files/fields.h calibrate/files/fields.c \
	calibrate/files/system_file.c \
	calibrate/fit/beside.h calibrate/fit/beside.c calibrate/fit/check.c \
	calibrate/fit/collective_fit.c calibrate/fit/correction_fit.c calibrate/fit/fit.c \
	calibrate/fit/fitting.h calibrate/fit/fitting.c calibrate/fit/launches.h \
	calibrate/fit/launches.c calibrate/fit/link_fit.c calibrate/fit/nodes_fit.c \
	calibrate/fit/plausible_rows.h calibrate/fit/plausible_rows.c \
	calibrate/fit/system_fit.h calibrate/fit/system_fit.c \
	calibrate/fit/read/beside.c calibrate/fit/read/collective_data.h \
	calibrate/fit/read/collective_data.c calibrate/fit/read/collectives.c \
	calibrate/fit/read/conv.c calibrate/fit/read/data.h calibrate/fit/read/data.c \
	calibrate/fit/read/gemm.c calibrate/fit/read/kernels.c calibrate/fit/read/layouts.c \
	calibrate/fit/read/message_data.c calibrate/fit/read/nccl_log.h \
	calibrate/fit/read/nccl_log.c calibrate/fit/read/row_hash.h calibrate/fit/read/row_hash.c \
	calibrate/messages/model.h calibrate/messages/nodes.h calibrate/messages/nodes.c \
	calibrate/messages/system.h calibrate/messages/system.c
nodist_libcalibrate_but_shipped_la_SOURCES = $(cost_tables)

noinst_PROGRAMS += calibrate/files/compile
calibrate_files_compile_SOURCES = calibrate/files/compile.c
calibrate_files_compile_LDADD = libcalibrate_but_shipped.la libtopo.la libbase.la $(LIB_DEPS)

# The shipped device files, compiled in as tables and installed.
device_files = calibrate/devices/a100-pcie-40gb.yaml \
	calibrate/devices/a100-pcie-80gb.yaml \
	calibrate/devices/a100-sxm4-80gb.yaml \
	calibrate/devices/a40.yaml \
	calibrate/devices/b200-sxm-180gb.yaml \
	calibrate/devices/gb200-186gb.yaml \
	calibrate/devices/h100-sxm5-80gb.yaml \
	calibrate/devices/h200-sxm-141gb.yaml \
	calibrate/devices/l4.yaml \
	calibrate/devices/l40s.yaml \
	calibrate/devices/p100-pcie-16gb.yaml \
	calibrate/devices/p4.yaml \
	calibrate/devices/t4.yaml \
	calibrate/devices/v100-pcie-32gb.yaml \
	calibrate/devices/v100-sxm2-16gb.yaml
calibrate/files/devices.c: $(device_files) calibrate/files/compile$(EXEEXT)
	$(AM_V_GEN)(cd $(srcdir) && LC_ALL=C $(abs_builddir)/calibrate/files/compile$(EXEEXT) devices \
	  $(device_files)) > $@.new && mv $@.new $@
CLEANFILES += calibrate/files/devices.c
EXTRA_DIST += $(device_files)
shippeddir = $(pkgdatadir)/devices
shipped_DATA = $(device_files)

# The shipped systems, likewise.
system_files = calibrate/systems/a100-dgx.yaml \
	calibrate/systems/a100-nvswitch.yaml \
	calibrate/systems/a100-pairs.yaml \
	calibrate/systems/a40-pairs.yaml \
	calibrate/systems/b200-infiniband.yaml \
	calibrate/systems/b200-nvswitch.yaml \
	calibrate/systems/dgx1-p100.yaml \
	calibrate/systems/gb200-nvswitch.yaml \
	calibrate/systems/gh200-slingshot.yaml \
	calibrate/systems/h100-nvswitch.yaml \
	calibrate/systems/p100-edr.yaml
calibrate/files/systems.c: $(system_files) calibrate/files/compile$(EXEEXT)
	$(AM_V_GEN)(cd $(srcdir) && LC_ALL=C $(abs_builddir)/calibrate/files/compile$(EXEEXT) systems \
	  $(system_files)) > $@.new && mv $@.new $@
CLEANFILES += calibrate/files/systems.c
EXTRA_DIST += $(system_files)
systemsdir = $(pkgdatadir)/systems
systems_DATA = $(system_files)

# Tells one set of measured costs from the next.
calibrate/files/data_version.c: $(device_files) $(system_files)
	@$(MKDIR_P) calibrate/files
	$(AM_V_GEN)sum=`cd $(srcdir) && cat $(device_files) $(system_files) | cksum` && \
	  printf '#include "calibrate/files/data_version.h"\nconst char fr__data_version[] = "%s";\n' "$$sum" \
	  > calibrate/files/data_version.c.new
	$(AM_V_at)mv calibrate/files/data_version.c.new $@
BUILT_SOURCES += calibrate/files/data_version.c
CLEANFILES += calibrate/files/data_version.c

# Chips, and what ops reach of a data sheet's peaks.
chip_facts = calibrate/cost/chip.schema.yaml calibrate/cost/chips.yaml
efficiency_facts = calibrate/cost/efficiency.schema.yaml calibrate/cost/efficiencies.yaml
calibrate/cost/chip_table.c: $(chip_facts) base/facts/compile$(EXEEXT)
	$(AM_V_GEN)facts='$(chip_facts)'; $(make_table)
calibrate/cost/efficiency_table.c: $(efficiency_facts) base/facts/compile$(EXEEXT)
	$(AM_V_GEN)facts='$(efficiency_facts)'; $(make_table)
power_facts = calibrate/power/power.schema.yaml calibrate/power/powers.yaml
calibrate/power/power_table.c: $(power_facts) base/facts/compile$(EXEEXT)
	@$(MKDIR_P) calibrate/power
	$(AM_V_GEN)facts='$(power_facts)'; $(make_table)
cost_tables = calibrate/cost/chip_table.c calibrate/cost/efficiency_table.c \
	calibrate/power/power_table.c
BUILT_SOURCES += $(cost_tables)
CLEANFILES += $(cost_tables)
EXTRA_DIST += $(chip_facts) $(efficiency_facts) $(power_facts)
facts_DATA += calibrate/cost/chips.yaml calibrate/cost/efficiencies.yaml \
	calibrate/power/powers.yaml

# Fits all shipped files anew. MICROBENCH: folder of the CSV files that doc/calibration.md
# describes.
MICROBENCH = $(srcdir)/../shared/data/microbench
refit-devices: forerun
	sh $(srcdir)/calibrate/fit/refit.sh ./forerun $(MICROBENCH) $(srcdir)/calibrate/devices
# Makes the tables of doc/evidence/kernels.md anew and, where MICROBENCH is, its pictures.
truth-fits: forerun
	sh $(srcdir)/calibrate/fit/truth.sh ./forerun $(srcdir)/doc/evidence/kernels.md '$(MICROBENCH)' \
	  $(srcdir)/doc/pictures
.PHONY: refit-devices truth-fits
EXTRA_DIST += calibrate/fit/refit.sh calibrate/fit/truth.sh
