/* cli/calibrate_system.c - fit, check and show the collectives of a system. */
#include "config.h"

#include "base/error.h"
#include "base/json.h"
#include "calibrate/system.h"
#include "cli/cli.h"

#include <inttypes.h>
#include <string.h>

static void print_misses(const struct fr_misses *m)
{
    if (m->n == 0)
        printf(" %8s %8s %8s %8s\n", "-", "-", "-", "-");
    else
        printf(" %6.1f %% %6.1f %% %6.1f %% %+6.1f %%\n", 100 * m->median, 100 * m->p90,
               100 * m->worst, 100 * m->bias);
}

static void print_system(const struct fr_system *s)
{
    const struct fr_system_info *info = fr_system_info(s);

    printf("%s: misses on rows that were held out, from %s\n\n", info->name, info->source);
    printf("  %-16s %8s %8s %8s %8s %8s\n", "class", "held out", "median", "p90", "worst", "bias");
    for (unsigned op = 0; op < FR_N_SYSTEM_OPS; op++) {
        printf("  %-16s %8" PRIu64, fr_system_op_name((enum fr_system_op)op), info->held_out[op].n);
        print_misses(&info->held_out[op]);
    }
}

enum fr_status cli_system_fit(const struct options *o, struct fr_error *err)
{
    struct fr_system *s;
    enum fr_status st;

    if (o->device || o->n_gpus > 0 || o->n_files != 1)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "'forerun calibrate fit --system' takes one -o FILE.yaml, neither -d nor "
                        "--gpu");
    FR_TRY(fr_system_fit(&s, o->system, o->arguments, o->n_arguments, err));
    st = fr_system_write(s, o->files[0], err);
    if (st == FR_OK && !o->quiet)
        print_system(s);
    fr_system_free(s);
    return st;
}

/* ---- check ---- */

static void write_checks(const struct fr_system_check checks[])
{
    struct fr__json j;

    fr__json_init(&j, stdout);
    fr__json_open(&j, NULL, '[', false);
    for (unsigned op = 0; op < FR_N_SYSTEM_OPS; op++) {
        const struct fr_misses *m = &checks[op].misses;

        if (m->n == 0)
            continue;
        fr__json_open(&j, NULL, '{', true);
        fr__json_string(&j, "class", fr_system_op_name((enum fr_system_op)op));
        fr__json_string(&j, "dtype", "any");
        fr__json_count(&j, "n", m->n);
        fr__json_number(&j, "median", m->median);
        fr__json_number(&j, "p90", m->p90);
        fr__json_number(&j, "worst", m->worst);
        fr__json_number(&j, "bias", m->bias);
        fr__json_close(&j, '}');
    }
    fr__json_close(&j, ']');
}

static void print_checks(const struct fr_system *s, const struct fr_system_check checks[],
                         bool is_all)
{
    printf("%s, %s\n\n  %-16s %8s %8s %8s %8s %8s %8s\n", fr_system_info(s)->name,
           is_all ? "all rows, also those that a fit may have seen"
                  : "only rows that no fit sees (--all: the others too)",
           "class", "rows", "left out", "median", "p90", "worst", "bias");
    for (unsigned op = 0; op < FR_N_SYSTEM_OPS; op++) {
        printf("  %-16s %8" PRIu64 " %8" PRIu64, fr_system_op_name((enum fr_system_op)op),
               checks[op].misses.n, checks[op].n_left_out);
        print_misses(&checks[op].misses);
    }
    puts("\n  worst rows");
    for (unsigned op = 0; op < FR_N_SYSTEM_OPS; op++) {
        const struct fr_system_row *r = &checks[op].worst;

        if (checks[op].misses.n)
            printf("    %s:%u: %s of %.0f bytes on %u GPUs: %.4g us measured, %.4g us predicted\n",
                   r->file, r->line, fr_system_op_name((enum fr_system_op)op), r->call.bytes,
                   r->call.n_gpus, 1e6 * r->measured_s, 1e6 * r->predicted_s);
    }
}

static enum fr_status require_rows(const struct fr_system_check checks[], struct fr_error *err)
{
    uint64_t n = 0, n_left_out = 0;

    for (unsigned op = 0; op < FR_N_SYSTEM_OPS; op++) {
        n += checks[op].misses.n;
        n_left_out += checks[op].n_left_out;
    }
    if (n > 0)
        return FR_OK;
    return fr__fail(err, FR_ENOENT, FR_NOWHERE,
                    "the data have no row to judge (%" PRIu64
                    " left out); --rows-of names another system in the data, --all takes every row",
                    n_left_out);
}

enum fr_status cli_system_check(const struct options *o, struct fr_error *err)
{
    struct fr_system_check checks[FR_N_SYSTEM_OPS];
    struct fr_system *s;
    enum fr_status st;

    if (o->device || o->n_gpus > 0 || o->from)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "'forerun calibrate check --system' takes neither -d, --gpu nor --from");
    FR_TRY(fr_system_load(&s, o->system, err));
    st = fr_system_check(s, o->rows_of, o->arguments, o->n_arguments, (double)o->min_bytes, o->all,
                         checks, err);
    if (st == FR_OK)
        st = require_rows(checks, err);
    if (st == FR_OK && o->json)
        write_checks(checks);
    else if (st == FR_OK)
        print_checks(s, checks, o->all);
    fr_system_free(s);
    return st;
}

/* ---- show ---- */

void cli_system_list(void)
{
    for (size_t i = 0; fr_system_shipped(i); i++)
        printf("%-18s collectives inside a machine\n", fr_system_shipped(i));
}

bool cli_is_system(const char *name)
{
    for (size_t i = 0; fr_system_shipped(i); i++)
        if (strcmp(fr_system_shipped(i), name) == 0)
            return true;
    return false;
}

enum fr_status cli_system_show(const char *name, struct fr_error *err)
{
    struct fr_system *s;

    FR_TRY(fr_system_load(&s, name, err));
    print_system(s);
    printf("\n  %-24s %10s\n", "nvls", fr_system_info(s)->has_nvls ? "yes" : "no");
    for (size_t i = 0; fr_system_parameter_name(i); i++)
        if (fr_system_info(s)->parameters[i] > 0)
            printf("  %-24s %10.4g\n", fr_system_parameter_name(i),
                   fr_system_info(s)->parameters[i]);
    fr_system_free(s);
    return FR_OK;
}
