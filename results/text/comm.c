/* results/text/comm.c - a collective over a range of sizes in nccl-tests' own layout (common.cu:
 * size, count, type, redop, root, time, algbw, busbw), with what was chosen beside it. */
#include "config.h"

#include "results/comm_table.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const char *source_name(enum fr_comm_source s)
{
    static const char *const NAMES[] = {"fitted", "steps", "formula"};

    return NAMES[s];
}

static void print_row(FILE *f, const struct fr_comm_table *t, const struct fr_comm_row *r)
{
    bool is_sum = t->kind == FR_ALL_REDUCE || t->kind == FR_REDUCE_SCATTER || t->kind == FR_REDUCE;
    char nccl[32] = "-", channels[16] = "-";

    if (!isnan(r->nccl_s))
        snprintf(nccl, sizeof(nccl), "%.1f", r->nccl_s * 1e6);
    if (r->channels > 0)
        snprintf(channels, sizeof(channels), "%u", r->channels);
    fprintf(f,
            "%12" PRIu64 "  %12" PRIu64
            "  %8s  %6s  %6s  %9.2f  %7.2f  %7.2f  %-14s %-8s %8s  %-7s %9s\n",
            r->bytes, r->bytes / 4, "float", is_sum ? "sum" : "none", "-1", r->time_s * 1e6,
            r->time_s > 0 ? (double)r->bytes / r->time_s / 1e9 : 0, r->bus_Bps / 1e9,
            r->algorithm ? r->algorithm : "-", r->protocol ? r->protocol : "-", channels,
            source_name(r->source), nccl);
}

void fr_comm_print(FILE *f, const struct fr_comm_table *t)
{
    double sum = 0;

    fprintf(f, "# %s on %zu GPUs of %zu machine%s of %s\n", fr_collective_kind_name(t->kind),
            t->n_gpus, t->n_machines, t->n_machines == 1 ? "" : "s", t->topology);
    fprintf(f, "#%11s  %12s  %8s  %6s  %6s  %9s  %7s  %7s  %-14s %-8s %8s  %-7s %9s\n", "size",
            "count", "type", "redop", "root", "time", "algbw", "busbw", "algorithm", "protocol",
            "channels", "by", "NCCL says");
    fprintf(f, "#%11s  %12s  %8s  %6s  %6s  %9s  %7s  %7s  %-14s %-8s %8s  %-7s %9s\n", "(B)",
            "(elements)", "", "", "", "(us)", "(GB/s)", "(GB/s)", "", "", "", "", "(us)");
    for (size_t i = 0; i < t->n_rows; i++) {
        print_row(f, t, &t->rows[i]);
        sum += t->rows[i].bus_Bps / 1e9;
    }
    if (t->n_rows > 0)
        fprintf(f, "# Avg bus bandwidth    : %g\n", sum / (double)t->n_rows);
    fputs(
        "# by: fitted to such machines; simulated step by step; by the closed form of the steps.\n",
        f);
    if (t->nccl_why)
        fprintf(f, "# NCCL's tuner has no model of these GPUs: %s; rings instead\n", t->nccl_why);
    else
        fputs("# NCCL says: its tuner's own estimate, by its constants.\n", f);
}
