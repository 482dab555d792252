/* cli/output.c - files first, standard output last. */
#include "config.h"

#include "base/error.h"
#include "cli/cli.h"

enum fr_status cli_check_files(const struct options *o, bool is_comparison, struct fr_error *err)
{
    for (size_t i = 0; i < o->n_files; i++)
        FR_TRY(fr_results_check_path(o->files[i], is_comparison, err));
    return FR_OK;
}

enum fr_status cli_write_results(struct session *s, const struct fr_results *rs,
                                 struct fr_error *err)
{
    const struct options *o = &s->options;

    for (size_t i = 0; i < o->n_files; i++)
        FR_TRY(fr_results_write(rs, o->files[i], &s->context, err));
    if (o->json)
        fr_results_print_json(stdout, rs);
    else
        fr_results_print_table(stdout, rs, o->verbose);
    return FR_OK;
}

void cli_print_row(FILE *f, const char *name, int width, const char *summary)
{
    fprintf(f, "  %-*s  %s\n", width, name, summary);
}
