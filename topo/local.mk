noinst_LTLIBRARIES += libtopo.la
libtopo_la_SOURCES = topo/topo.h
