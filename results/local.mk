noinst_LTLIBRARIES += libresults.la
libresults_la_SOURCES = results/results.h
