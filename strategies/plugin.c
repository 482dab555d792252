/* strategies/plugin.c - loads a strategy from a shared object and checks that it was built for this
 * library.
 *
 * The loader itself keeps the list of what is loaded, so there is no state here: an object is
 * opened, found, and closed again with RTLD_NODELETE, after which its code stays.
 */
#include "config.h"

#include "strategies/plugin.h"

#include "base/error.h"

#include <dlfcn.h>
#include <string.h>

bool fr__is_plugin(const char *name)
{
    size_t n = strlen(name);

    return strchr(name, '/') != NULL || (n > 3 && strcmp(name + n - 3, ".so") == 0);
}

bool fr__plugin_path(const char *spec, char *path, size_t n)
{
    size_t length = strcspn(spec, ":"), at = 0;

    if (length + 3 > n)
        return false;
    if (!memchr(spec, '/', length)) { /* else it is looked for among the system's libraries */
        memcpy(path, "./", 2);
        at = 2;
    }
    memcpy(path + at, spec, length);
    path[at + length] = '\0';
    return fr__is_plugin(path + at);
}

static enum fr_status check_interface(const struct fr_strategy_plugin *p, const char *path,
                                      struct fr_error *err)
{
    static const struct fr_strategy nothing = {.name = NULL};
    static const struct fr_strategy_plugin own = FR_STRATEGY_PLUGIN_VALUE(nothing);
    const struct {
        const char *name;
        size_t theirs, ours;
    } sizes[] = {
        {"fr_strategy", p->strategy_bytes, own.strategy_bytes},
        {"fr_problem", p->problem_bytes, own.problem_bytes},
        {"fr_graph", p->graph_bytes, own.graph_bytes},
        {"fr_topo", p->topo_bytes, own.topo_bytes},
        {"fr_task", p->task_bytes, own.task_bytes},
        {"fr_cost", p->cost_bytes, own.cost_bytes},
    };

    if (p->interface_version != FR_STRATEGY_INTERFACE)
        return fr__fail(err, FR_EUSAGE, (struct fr_loc){path, 0, 0},
                        "was built for interface %u of strategies, this is forerun %s with "
                        "interface %d: build it again against the installed headers",
                        p->interface_version, fr_version(), FR_STRATEGY_INTERFACE);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        if (sizes[i].theirs != sizes[i].ours)
            return fr__fail(err, FR_EUSAGE, (struct fr_loc){path, 0, 0},
                            "was built against other headers: a struct %s has %zu bytes there, %zu "
                            "in forerun %s: build it again against the installed headers",
                            sizes[i].name, sizes[i].theirs, sizes[i].ours, fr_version());
    return FR_OK;
}

static enum fr_status check_options(const struct fr_strategy *s, const char *path,
                                    struct fr_error *err)
{
    size_t n = 0;

    for (; n < FR_MAX_OPTIONS && s->options && s->options[n].name; n++)
        if (!s->options[n].fallback || !s->options[n].help ||
            (s->options[n].type == FR_OPTION_CHOICE && !s->options[n].choices))
            return fr__fail(err, FR_EUSAGE, (struct fr_loc){path, 0, 0},
                            "option '%.40s' of strategy '%.40s' lacks its default, help or choices",
                            s->options[n].name, s->name);
    if (s->options && n < FR_MAX_OPTIONS)
        return FR_OK;
    return fr__fail(err, FR_EUSAGE, (struct fr_loc){path, 0, 0},
                    "strategy '%.40s' has no list of options that ends with a NULL name", s->name);
}

enum fr_status fr__plugin_check(const struct fr_strategy_plugin *p, const char *path,
                                struct fr_error *err)
{
    const struct fr_strategy *s = p->strategy;

    FR_TRY(check_interface(p, path, err));
    if (!s || !s->name || !s->summary || !s->source || !s->plan)
        return fr__fail(
            err, FR_EUSAGE, (struct fr_loc){path, 0, 0},
            "its strategy lacks a name, a summary, a source or the function that plans");
    if (!s->name[0] || strspn(s->name, "abcdefghijklmnopqrstuvwxyz0123456789-") != strlen(s->name))
        return fr__fail(err, FR_EUSAGE, (struct fr_loc){path, 0, 0},
                        "its strategy is called '%.40s', expected a-z, 0-9 and '-'", s->name);
    return check_options(s, path, err);
}

enum fr_status fr__plugin_load(const struct fr_strategy **out, const char *name,
                               struct fr_error *err)
{
    char path[FR__PLUGIN_PATH];
    const struct fr_strategy_plugin *p;
    void *handle;

    if (!fr__plugin_path(name, path, sizeof(path)))
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "the path of a strategy's shared object is too long");
    handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!handle)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "strategy '%.200s' cannot be loaded: %.200s",
                        path, dlerror());
    p = dlsym(handle, "fr_strategy_plugin");
    dlclose(handle); /* it stays loaded */
    if (!p)
        return fr__fail(err, FR_EUSAGE, (struct fr_loc){path, 0, 0},
                        "is no strategy: it lacks FR_STRATEGY_PLUGIN(...)");
    FR_TRY(fr__plugin_check(p, path, err));
    *out = p->strategy;
    return FR_OK;
}
