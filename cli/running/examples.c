/* cli/running/examples.c - finds the examples that came with the program.
 *
 * It is separate because no other file knows where the program was installed. The documents name
 * files as examples/tasks/heft.csv: in a clone they are in the folder in which people stand, after
 * an installation in the folder of its data.
 */
#include "config.h"

#include "base/text.h"
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char prefix[] = "examples/";

/* Where the word names an example next: its start, or behind a sign that may stand before a path,
 * "file:examples/x" or "ring,file:examples/x". NULL: nowhere. */
static const char *find_name(const char *word, const char *from)
{
    for (const char *at = from; *at; at++)
        if ((at == word || strchr("=:,", at[-1])) && strncmp(at, prefix, sizeof(prefix) - 1) == 0)
            return at;
    return NULL;
}

/* Where the program's data are: the variable moves them with a program that was moved. */
static const char *data_folder(void)
{
    const char *folder = getenv("FORERUN_DATADIR");

    return folder && *folder ? folder : PKGDATADIR;
}

static bool is_there(const char *folder, const char *name, size_t length)
{
    char path[4096];
    int n = snprintf(path, sizeof(path), "%s/%.*s", folder, (int)length, name);

    return n > 0 && (size_t)n < sizeof(path) && access(path, R_OK) == 0;
}

/* The word with the names of installed files; NULL: it stays as it is, or there is no memory. */
static char *installed(const char *word)
{
    const char *folder = data_folder(), *from = word, *name;
    char *text = NULL;
    bool is_changed = false;
    size_t size;
    FILE *f;

    if (!find_name(word, word))
        return NULL;
    f = fr__text_open(&text, &size);
    if (!f)
        return NULL;
    while ((name = find_name(word, from)) != NULL) {
        size_t length = strcspn(name, ",");
        bool is_installed =
            length <= 1024 && !is_there(".", name, length) && is_there(folder, name, length);

        fprintf(f, "%.*s%s%s%.*s", (int)(name - from), from, is_installed ? folder : "",
                is_installed ? "/" : "", (int)length, name);
        is_changed = is_changed || is_installed;
        from = name + length;
    }
    fputs(from, f);
    if (fr__text_close(f, &text) && is_changed)
        return text;
    free(text);
    return NULL;
}

/* Whether the next word, or this one, is a file to write. */
static bool is_output(const char *word)
{
    return strncmp(word, "-o", 2) == 0 || strncmp(word, "--output", 8) == 0;
}

char **cli_find_examples(int argc, char *const argv[])
{
    char **words = calloc((size_t)argc + 1, sizeof(*words));

    for (int i = 0; words && i < argc; i++) {
        bool stays = i == 0 || is_output(argv[i]) || is_output(argv[i - 1]);

        words[i] = stays ? NULL : installed(argv[i]);
        if (!words[i])
            words[i] = strdup(argv[i]);
        if (!words[i]) {
            cli_free_words(words);
            return NULL;
        }
    }
    return words;
}

void cli_free_words(char **words)
{
    for (size_t i = 0; words && words[i]; i++)
        free(words[i]);
    free(words);
}
