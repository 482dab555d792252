/* cli/running/overwrite.c - no output may be a file that the same command reads.
 *
 * It is separate because it holds for every command: an output is looked for among all other words
 * of the command line, also behind "=", ":" and ",", by the identity of the file, so that links and
 * other ways to write a name are seen. Of folders the files of a workload are looked at, of YAML
 * files those that they name.
 */
#include "config.h"

#include "base/error.h"
#include "base/file.h"
#include "cli/cli.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Looks for one output among the inputs. */
struct search {
    const char *output;
    struct stat sb;
};

static bool is_it(const struct search *s, const char *path)
{
    struct stat sb;

    return stat(path, &sb) == 0 && S_ISREG(sb.st_mode) && sb.st_dev == s->sb.st_dev &&
           sb.st_ino == s->sb.st_ino;
}

static bool is_in_folder(const struct search *s, const char *folder)
{
    static const char *const parts[] = {"workload.yaml", "ops.csv",   "edges.csv",
                                        "times.csv",     "graph.txt", "config.json"};
    char path[PATH_MAX];

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (snprintf(path, sizeof(path), "%s/%s", folder, parts[i]) < (int)sizeof(path) &&
            is_it(s, path))
            return true;
    return false;
}

/* Whether a word of the text names it, from the text's own folder or from here. */
static bool is_named(const struct search *s, const char *file, const char *text)
{
    static const char between[] = " \t\r\n\"',[]{}";
    const char *slash = strrchr(file, '/');
    char path[PATH_MAX];

    for (const char *at = text; *at; at += strspn(at, between)) {
        size_t n = strcspn(at, between);
        int folder = slash ? (int)(slash - file) + 1 : 0;

        if (n > 0 && n < 1024 && memchr(at, '.', n) &&
            snprintf(path, sizeof(path), "%.*s%.*s", *at == '/' ? 0 : folder, file, (int)n, at) <
                (int)sizeof(path) &&
            is_it(s, path))
            return true;
        at += n;
    }
    return false;
}

static bool is_named_in(const struct search *s, const char *path)
{
    enum { MOST_BYTES = 1 << 20 };
    size_t len, n = strlen(path);
    char *text;
    bool is_there;

    if (n < 5 || strcmp(path + n - 5, ".yaml") != 0 ||
        fr__read_file(path, MOST_BYTES, &text, &len, NULL) != FR_OK)
        return false;
    is_there = is_named(s, path, text);
    free(text);
    return is_there;
}

/* The word, and what is in it behind each sign that may come before a path. */
static bool is_read_by(const struct search *s, const char *word)
{
    for (const char *at = word; *at; at++) {
        char path[PATH_MAX];

        if (at > word && !strchr("=:,", at[-1]))
            continue;
        for (unsigned whole = 0; whole < 2; whole++) {
            size_t n = whole ? strlen(at) : strcspn(at, ",");

            if (n == 0 || n >= sizeof(path))
                continue;
            memcpy(path, at, n);
            path[n] = '\0';
            if (is_it(s, path) ||
                (fr__is_folder(path) ? is_in_folder(s, path) : is_named_in(s, path)))
                return true;
        }
    }
    return false;
}

/* Whether the word, or its end ("-oFILE", "--out=FILE"), is where an output stands. */
static bool is_output(const struct options *o, const char *word)
{
    for (const char *at = word; *at; at++) {
        if (at == o->store)
            return true;
        for (size_t i = 0; i < o->n_files; i++)
            if (at == o->files[i])
                return true;
    }
    return false;
}

static enum fr_status check_one(const struct options *o, const char *output, int argc,
                                char *const argv[], struct fr_error *err)
{
    struct search s = {.output = output};

    if (stat(output, &s.sb) != 0 || !S_ISREG(s.sb.st_mode))
        return FR_OK;
    for (int i = 0; i < argc; i++)
        if (!is_output(o, argv[i]) && is_read_by(&s, argv[i]))
            return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                            "'%s' is an input of this command, so it cannot be its output as well",
                            output);
    if (o->store && output != o->store && is_it(&s, o->store))
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "'%s' is the store, so it cannot be another output as well", output);
    return FR_OK;
}

enum fr_status cli_check_overwrite(const struct options *o, int argc, char *const argv[],
                                   struct fr_error *err)
{
    for (size_t i = 0; i < o->n_files; i++)
        FR_TRY(check_one(o, o->files[i], argc, argv, err));
    return o->store ? check_one(o, o->store, argc, argv, err) : FR_OK;
}
