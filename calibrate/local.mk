noinst_LTLIBRARIES += libcalibrate.la
libcalibrate_la_SOURCES = calibrate/calibrate.h calibrate/cost.c calibrate/efficiency.c \
	calibrate/trust.c calibrate/check.c calibrate/curve.h calibrate/curve.c \
	calibrate/curve_matmul.h calibrate/curve_matmul.c calibrate/residual.h calibrate/residual.c \
	calibrate/machine.h calibrate/curve_class.h calibrate/curve_class.c \
	calibrate/data.h calibrate/data.c calibrate/data_gemm.c calibrate/data_conv.c \
	calibrate/data_kernels.c calibrate/fit.c calibrate/device_file.h \
	calibrate/device_file.c
nodist_libcalibrate_la_SOURCES = calibrate/devices.c

# The shipped device files, compiled in and installed.
device_files = calibrate/devices/a100-sxm4-80gb.yaml calibrate/devices/b200-sxm-180gb.yaml \
	calibrate/devices/h100-sxm5-80gb.yaml
calibrate/devices.c: $(device_files) calibrate/embed.sh
	@$(MKDIR_P) calibrate
	$(AM_V_GEN)cd $(srcdir) && sh calibrate/embed.sh $(device_files) \
	  > $(abs_builddir)/calibrate/devices.c.new
	$(AM_V_at)mv calibrate/devices.c.new $@
BUILT_SOURCES += calibrate/devices.c
CLEANFILES += calibrate/devices.c
EXTRA_DIST += $(device_files) calibrate/embed.sh
shippeddir = $(pkgdatadir)/devices
shipped_DATA = $(device_files)

# Fits all shipped files anew. MICROBENCH: folder of the CSV files that doc/calibration.md describes.
MICROBENCH = $(srcdir)/../shared/data/microbench
FIT = ./forerun calibrate fit -q $(MICROBENCH)/gemm.csv
refit-devices: forerun
	$(FIT) -d a100-sxm4-80gb --gpu "NVIDIA A100-SXM4-80GB" --gpu "NVIDIA A100 80GB" \
	  -o $(srcdir)/calibrate/devices/a100-sxm4-80gb.yaml
	$(FIT) -d h100-sxm5-80gb --gpu "NVIDIA H100 80GB HBM3" --gpu "NVIDIA H100" \
	  -o $(srcdir)/calibrate/devices/h100-sxm5-80gb.yaml
	$(FIT) -d b200-sxm-180gb --gpu "NVIDIA B200" -o $(srcdir)/calibrate/devices/b200-sxm-180gb.yaml
.PHONY: refit-devices
