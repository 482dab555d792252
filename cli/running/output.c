/* cli/running/output.c - the standard streams: how wide a line is, and how an error is told. */
#include "config.h"

#include "cli/cli.h"
#include "cli/running/mpi.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { LEAST_WIDTH = 40 };

size_t cli_width(void)
{
    const char *text = getenv("COLUMNS");
    unsigned long n = 0;

    errno = 0;
    if (text && *text)
        n = strtoul(text, NULL, 10);
#ifdef TIOCGWINSZ
    if (n == 0 || errno != 0) {
        struct winsize w = {.ws_col = 0};

        n = cli_is_terminal(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0 ? w.ws_col
                                                                                        : 0;
    }
#endif
    return n >= LEAST_WIDTH && n < 10000 ? (size_t)n : 0;
}

void cli_say_error(const struct fr_error *err)
{
    char text[sizeof(err->file) + sizeof(err->text) + 32];

    if (cli_has_colour(STDERR_FILENO))
        (void)cli_terminal_raw(stderr, STDERR_FILENO, "\033[1;31mforerun:\033[0m ", NULL);
    else
        fputs("forerun: ", stderr);
    fprintf(stderr, "%s\n", fr_error_string(err, text, sizeof(text)));
}
