noinst_LTLIBRARIES += libcalibrate.la
libcalibrate_la_SOURCES = calibrate/calibrate.h
