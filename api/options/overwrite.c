/* api/options/overwrite.c - no output may be a file that the same command reads, nor another
 * output.
 *
 * It is separate because it holds for every command: an output is looked for among all other words
 * of the command line, also behind "=", ":" and ",", by the identity of the file, so that links and
 * other ways to write a name are seen. Of folders the files of a workload are looked at, of YAML
 * files, tables and answers those that they name. Outputs are compared by where they will stand, so
 * that it does not matter whether they are there yet.
 */
#include "config.h"

#include "base/error.h"
#include "base/file.h"
#include "api/options/options.h"

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

/* Whether the n letters at `at`, in the file, name it from the file's own folder or from here. */
static bool is_path_to(const struct search *s, const char *file, const char *at, size_t n)
{
    const char *slash = strrchr(file, '/');
    int folder = slash && *at != '/' ? (int)(slash - file) + 1 : 0;
    char path[PATH_MAX];

    return n < 1024 &&
           ((snprintf(path, sizeof(path), "%.*s%.*s", folder, file, (int)n, at) <
                 (int)sizeof(path) &&
             is_it(s, path)) ||
            (folder > 0 && snprintf(path, sizeof(path), "%.*s", (int)n, at) < (int)sizeof(path) &&
             is_it(s, path)));
}

/* Whether a word of the text names it, or what stands in a word behind "=" or ":". */
static bool is_named(const struct search *s, const char *file, const char *text)
{
    static const char between[] = " \t\r\n\"',[]{}";

    for (const char *at = text; *at; at += strspn(at, between)) {
        size_t n = strcspn(at, between);

        for (size_t i = 0; i < n && memchr(at, '.', n); i++)
            if ((i == 0 || at[i - 1] == '=' || at[i - 1] == ':') &&
                is_path_to(s, file, at + i, n - i))
                return true;
        at += n;
    }
    return false;
}

/* Whether a file of that name may name others. */
static bool names_files(const char *path)
{
    static const char *const endings[] = {".yaml", ".yml", ".csv", ".json"};
    size_t n = strlen(path);

    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
        if (n > strlen(endings[i]) && strcmp(path + n - strlen(endings[i]), endings[i]) == 0)
            return true;
    return false;
}

static bool is_named_in(const struct search *s, const char *path)
{
    enum { MOST_BYTES = 1 << 20 };
    size_t len;
    char *text;
    bool is_there;

    if (!names_files(path) || fr__read_file(path, MOST_BYTES, &text, &len, NULL) != FR_OK)
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
static bool is_output(const struct fr__options *o, const char *word)
{
    for (const char *at = word; *at; at++) {
        if (at == o->store || at == o->manifest)
            return true;
        for (size_t i = 0; i < o->n_files; i++)
            if (at == o->files[i])
                return true;
    }
    return false;
}

static enum fr_status check_inputs(const struct fr__options *o, const char *output, int argc,
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
    return FR_OK;
}

/* What may be written twice: pipes and devices, such as /dev/null, and folders, also one that is
 * still to be made, whose name has no ending. */
static bool is_no_file(const char *path)
{
    const char *slash = strrchr(path, '/');
    struct stat sb;

    if (stat(path, &sb) == 0)
        return !S_ISREG(sb.st_mode);
    return !strchr(slash ? slash : path, '.');
}

/* The output against the store and the outputs before it. */
static enum fr_status check_outputs(const struct fr__options *o, size_t at, struct fr_error *err)
{
    const char *output = o->files[at];

    if (is_no_file(output))
        return FR_OK;
    if (o->store && fr__is_same_file(output, o->store))
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "'%s' is the store, so it cannot be another output as well", output);
    for (size_t i = 0; i < at; i++)
        if (fr__is_same_file(output, o->files[i]))
            return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "'%s' is the same file as the output '%s'",
                            output, o->files[i]);
    return FR_OK;
}

enum fr_status fr__check_overwrite(const struct fr__options *o, int argc, char *const argv[],
                                   struct fr_error *err)
{
    for (size_t i = 0; i < o->n_files; i++) {
        FR_TRY(check_inputs(o, o->files[i], argc, argv, err));
        FR_TRY(check_outputs(o, i, err));
    }
    if (o->manifest)
        FR_TRY(check_inputs(o, o->manifest, argc, argv, err));
    return o->store ? check_inputs(o, o->store, argc, argv, err) : FR_OK;
}
