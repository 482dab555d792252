noinst_LTLIBRARIES += libcalibrate.la
libcalibrate_la_SOURCES = calibrate/calibrate.h calibrate/cost.c calibrate/efficiency.c \
	calibrate/trust.c
