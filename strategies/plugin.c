/* strategies/plugin.c - loads a strategy from a shared object and checks that it was built for this
 * library.
 *
 * The loader itself keeps the list of what is loaded, so there is no state here: an object is
 * opened, found, and closed again with RTLD_NODELETE, after which its code stays.
 */
#include "config.h"

#include "strategies/plugin.h"

#include "base/error.h"
#include "base/file.h"
#include "lowering/values.h"

#include <dlfcn.h>
#ifdef __linux__
#include <link.h>
#endif
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

enum fr_status fr__plugin_refuse(const char *spec, struct fr_loc loc, struct fr_error *err)
{
    struct fr__word name;
    const char *at = spec;

    /* the same reading as in spec.c; what is too long for it is not loaded either */
    if (fr__word_read(&at, ":", "a strategy's name", FR__MAX_WORD, &name, NULL) != FR_OK ||
        !fr__is_plugin(name.text))
        return FR_OK;
    return fr__fail(err, FR_EUSAGE, loc,
                    "strategy '%.100s' is a shared object, and code is loaded only where the "
                    "command line names it",
                    name.text);
}

#ifdef __linux__
/* Whether [offset, offset + n * size) lies within the file. */
static bool is_within(uint64_t offset, uint64_t n, uint64_t size, uint64_t file_bytes)
{
    return offset <= file_bytes && (size == 0 || n <= (file_bytes - offset) / size);
}

static bool are_segments_there(FILE *f, const ElfW(Ehdr) * head, uint64_t file_bytes)
{
    ElfW(Phdr) segment;

    if (!is_within(head->e_phoff, head->e_phnum, sizeof(segment), file_bytes) ||
        fseeko(f, (off_t)head->e_phoff, SEEK_SET) != 0)
        return false;
    for (unsigned i = 0; i < head->e_phnum; i++)
        if (fread(&segment, sizeof(segment), 1, f) != 1 ||
            !is_within(segment.p_offset, 1, segment.p_filesz, file_bytes))
            return false;
    return true;
}

/* Whether the file holds all that its header speaks of. The loader maps segments without looking at
 * the file's length, and to touch what is behind its end is a bus error. A file of another kind is
 * left to the loader, which refuses it. */
static bool is_whole(FILE *f, uint64_t file_bytes)
{
    static const unsigned char magic[SELFMAG + 1] = ELFMAG;
    ElfW(Ehdr) head;
    size_t n = fread(&head, 1, sizeof(head), f);

    if (n < SELFMAG || memcmp(head.e_ident, magic, SELFMAG) != 0)
        return true;
    if (n < sizeof(head))
        return false;
    if (head.e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) ||
        head.e_phentsize != sizeof(ElfW(Phdr)))
        return true;
    return are_segments_there(f, &head, file_bytes) &&
           is_within(head.e_shoff, head.e_shnum, head.e_shentsize, file_bytes);
}
#else
static bool is_whole(FILE *f, uint64_t file_bytes)
{
    (void)f;
    return file_bytes > 0;
}
#endif

/* Looks at the file before the loader does: it must be a regular file (the loader would wait for a
 * pipe), and all of it. */
static enum fr_status check_file(const char *path, struct fr_error *err)
{
    uint64_t file_bytes = 0;
    struct fr_error why;
    bool is_all;
    FILE *f;

    if (fr__file_open(path, &f, &file_bytes, &why) != FR_OK)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "strategy '%.200s' cannot be loaded: %s", path,
                        why.text);
    is_all = is_whole(f, file_bytes);
    fclose(f);
    return is_all ? FR_OK
                  : fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                             "strategy '%.200s' cannot be loaded: the file is cut short", path);
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
    FR_TRY(check_file(path, err));
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
