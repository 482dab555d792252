/* strategies/plugin.h - strategies from shared objects: which names mean one, and loading it. */
#ifndef FR_STRATEGIES_PLUGIN_H
#define FR_STRATEGIES_PLUGIN_H

#include "strategies/strategies.h"

enum { FR__PLUGIN_PATH = 512 };

/* A name with a slash, or that ends in ".so". */
bool fr__is_plugin(const char *name);
/* The path of the shared object in "PATH:option=value", as it is opened: with a slash. false: the
 * strategy comes from none, or the path is too long. */
bool fr__plugin_path(const char *spec, char *path, size_t n);
/* Loads it, or finds it loaded. FR_EUSAGE: there is none, it is not a plug-in, or one for another
 * interface. *out is valid until the program ends. */
enum fr_status fr__plugin_load(const struct fr_strategy **out, const char *name,
                               struct fr_error *err);
/* For a strategy that a file names. Tables and answers travel between people, so they never have
 * code loaded: that needs the command line, or a program's own call. FR_EUSAGE, at loc: the
 * strategy is a shared object. Nothing is opened. */
enum fr_status fr__plugin_refuse(const char *spec, struct fr_loc loc, struct fr_error *err);
/* What is wrong with a plug-in's description; path is named in the message. For tests. */
enum fr_status fr__plugin_check(const struct fr_strategy_plugin *p, const char *path,
                                struct fr_error *err);
#endif
