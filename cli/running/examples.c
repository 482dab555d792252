/* cli/running/examples.c - finds the examples that came with the program.
 *
 * It is separate because no other file knows where the program was installed. The documents name
 * files as examples/tasks/heft.csv: in a clone they are in the folder in which people stand, after
 * an installation in the folder of its data.
 */
#include "config.h"

#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char prefix[] = "examples/";

/* Where a word names an example: its start, or behind a '='. NULL: nowhere. */
static const char *find_name(const char *word)
{
    const char *equals = strchr(word, '=');

    if (strncmp(word, prefix, sizeof(prefix) - 1) == 0)
        return word;
    while (equals && strncmp(equals + 1, prefix, sizeof(prefix) - 1) != 0)
        equals = strchr(equals + 1, '=');
    return equals ? equals + 1 : NULL;
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

/* The word with the installed file's name; NULL: it is to stay as it is, or there is no memory. */
static char *installed(const char *word)
{
    const char *folder = data_folder(), *name = find_name(word);
    size_t length = name ? strcspn(name, ",") : 0, size;
    char *text;

    if (length == 0 || length > 1024 || is_there(".", name, length) ||
        !is_there(folder, name, length))
        return NULL;
    size = strlen(word) + strlen(folder) + 2;
    text = malloc(size);
    if (text)
        snprintf(text, size, "%.*s%s/%s", (int)(name - word), word, folder, name);
    return text;
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
