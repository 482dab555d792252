noinst_LTLIBRARIES += libstrategies.la
libstrategies_la_SOURCES = strategies/strategies.h
