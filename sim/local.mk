noinst_LTLIBRARIES += libsim.la
libsim_la_SOURCES = sim/sim.h
