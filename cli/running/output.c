/* cli/running/output.c - files first, standard output last. */
#include "config.h"

#include "base/error.h"
#include "cli/cli.h"
#include "cli/running/mpi.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
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

enum fr_status cli_check_files(const struct options *o, bool is_comparison, struct fr_error *err)
{
    for (size_t i = 0; i < o->n_files; i++)
        FR_TRY(fr_results_check_path(o->files[i], is_comparison, err));
    return FR_OK;
}

enum fr_status cli_check_measured(const struct options *o, struct fr_error *err)
{
    const char *text = o->question.measured;

    if (!fr_measured_is_implicit(text))
        return FR_OK;
    return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                    "option '--measured' is \"%.40s\", which does not say by which strategy: "
                    "%.40s:dp",
                    text, text);
}

enum fr_status cli_check_terms(const struct options *o, struct fr_error *err)
{
    const struct fr_sweep_terms *t = &o->terms;

    if (t->tokens > 0 && t->samples > 0)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, FR__TOKENS_AND_SAMPLES);
    if (t->prices.n > 0 && !(t->tokens > 0 || t->samples > 0))
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "option '--price' needs the length of the run: --tokens or --samples");
    return FR_OK;
}

/* Says what a trace leaves out: the later micro-batches of a long pipeline. */
static enum fr_status note_trace(const struct options *o, const struct fr_results *rs,
                                 const char *path, struct fr_error *err)
{
    static const char ending[] = ".trace.json";
    size_t n = strlen(path), m = sizeof(ending) - 1;
    uint32_t shown, of;

    if (o->quiet || o->trace.micro_batches > 0 || n <= m || strcmp(path + n - m, ending) != 0)
        return FR_OK;
    FR_TRY(fr_trace_extent(rs->records[0], &o->trace, &shown, &of, err));
    if (shown < of)
        fprintf(stderr,
                "forerun: note: %s shows the first %u of %u micro-batches; --trace-micro-batches N "
                "shows more, --trace-ranks fewer GPUs\n",
                path, (unsigned)shown, (unsigned)of);
    return FR_OK;
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

enum fr_status cli_file_done(struct session *s, enum fr_status st, struct fr_error *err)
{
    if (st != FR_EIO)
        return st;
    cli_progress_end(s->context.progress_user);
    cli_say_error(err);
    s->lacks_file = true;
    return FR_OK;
}

enum fr_status cli_write_results(struct session *s, const struct fr_results *rs,
                                 struct fr_error *err)
{
    const struct options *o = &s->options;
    struct cli_page page;
    enum fr_status st;

    FR_TRY(fr_prices_check_topo(&o->terms.prices, fr_plan_view(rs->records[0]->plan)->topo, err));
    for (size_t i = 0; i < o->n_files; i++)
        FR_TRY(cli_file_done(s, fr_results_write(rs, o->files[i], &s->context, err), err));
    for (size_t i = 0; i < o->n_files; i++)
        FR_TRY(note_trace(o, rs, o->files[i], err));
    if (o->json) {
        fr_results_print_json(stdout, rs);
        return FR_OK;
    }
    st = fr_results_print_table(cli_page_open(&page), rs, err);
    return cli_page_close(&page, st, err);
}

void cli_print_row(FILE *f, const char *name, int width, const char *summary)
{
    fprintf(f, "  %-*s  %s\n", width, name, summary);
}
