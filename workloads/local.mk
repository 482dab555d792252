noinst_LTLIBRARIES += libworkloads.la
libworkloads_la_SOURCES = workloads/workloads.h
