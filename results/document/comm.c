/* results/document/comm.c - a collective over a range of sizes in nccl-tests' own layout
 * (common.cu: size, count, type, redop, root, then time, algbw, busbw, #wrong out of place and in
 * place), with what was chosen beside it; or by each of our models. */
#include "config.h"

#include "results/document/builders.h"

#include "base/units.h"
#include "results/results.h"
#include "results/parts/nics.h"
#include "results/parts/number.h"
#include "results/parts/table.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static bool is_sum(enum fr_collective_kind kind)
{
    return kind == FR_ALL_REDUCE || kind == FR_REDUCE_SCATTER || kind == FR_REDUCE;
}

/* Elements as nccl-tests counts them: of a rank's part where ranks have parts. */
static uint64_t count_of(const struct fr_comm_table *t, uint64_t bytes)
{
    bool has_parts =
        t->kind == FR_ALL_GATHER || t->kind == FR_REDUCE_SCATTER || t->kind == FR_ALL_TO_ALL;

    return bytes / t->type->bytes / (has_parts && t->n_gpus > 0 ? t->n_gpus : 1);
}

/* Seven characters, as nccl-tests' getFloatStr makes them. */
static const char *us_text(double s, char *buf, size_t n)
{
    double us = s * 1e6;

    snprintf(buf, n, "%7.*f", us < 9999.995 ? 2 : us < 99999.95 ? 1 : 0, us);
    return buf;
}

static void print_place(struct fr__document *doc, const struct fr_comm_row *r)
{
    char time[32];

    fr__say(doc, "  %7s  %6.2f  %6.2f  %6s", us_text(r->time_s, time, sizeof(time)),
            r->time_s > 0 ? (double)r->bytes / r->time_s / 1e9 : 0, r->bus_Bps / 1e9, "N/A");
}

static void print_row(struct fr__document *doc, const struct fr_comm_table *t,
                      const struct fr_comm_row *r, bool has_links)
{
    bool has_root = t->kind == FR_BROADCAST || t->kind == FR_REDUCE;
    char nccl[32] = "-", channels[16] = "-", used[16] = "-";

    if (!isnan(r->nccl_s))
        snprintf(nccl, sizeof(nccl), "%.1f", r->nccl_s * 1e6);
    if (r->channels > 0)
        snprintf(channels, sizeof(channels), "%u", r->channels);
    fr__say(doc, "%12" PRIu64 "  %12" PRIu64 "  %8s  %6s  %6s", r->bytes, count_of(t, r->bytes),
            t->type->name, is_sum(t->kind) ? t->op : "none", has_root ? "0" : "-1");
    print_place(doc, r);
    print_place(doc, r);
    fr__say(doc, "  %-16s %-8s %8s  %-11s %9s", r->algorithm ? r->algorithm : "-",
            r->protocol ? r->protocol : "-", channels, fr_comm_source_name(r->source), nccl);
    if (has_links) {
        if (r->busiest != FR_NONE)
            snprintf(used, sizeof(used), "%.0f %%", 100 * r->busiest_frac);
        fr__say(doc, "  %6s  %s", used, r->busiest != FR_NONE ? t->links[r->busiest] : "-");
    }
    fr__say(doc, "\n");
}

static void print_head(struct fr__document *doc, const struct fr_comm_table *t, bool has_links)
{
    static const char PLACE[] = "     time   algbw   busbw  #wrong";
    static const char UNITS[] = "     (us)  (GB/s)  (GB/s)        ";
    char nics[FR__NICS_TEXT];

    fr__say(doc, "# %s on %zu GPUs of %zu machine%s of %s%s%s\n", fr_collective_kind_name(t->kind),
            t->n_gpus, t->n_machines, t->n_machines == 1 ? "" : "s", t->topology,
            t->way ? ", by " : "", t->way ? t->way : "");
    if (t->n_nics > 0)
        fr__say(doc, "# NICs of a machine: %s\n", fr__nics_text(t->nics, t->n_nics, nics));
    fr__say(doc, "#%76s%32s\n", "out-of-place", "in-place");
    fr__say(doc, "#%11s  %12s  %8s  %6s  %6s%s%s  %-16s %-8s %8s  %-11s %9s%s\n", "size", "count",
            "type", "redop", "root", PLACE, PLACE, "algorithm", "protocol", "channels", "by",
            "NCCL says", has_links ? "  in use  busiest link" : "");
    fr__say(doc, "#%11s  %12s  %8s  %6s  %6s%s%s  %-16s %-8s %8s  %-11s %9s\n", "(B)", "(elements)",
            "", "", "", UNITS, UNITS, "", "", "", "", "(us)");
}

/* What the words in the column `by` mean, those that were used. */
static void print_sources(struct fr__document *doc, const struct fr_comm_table *t)
{
    bool is_used[FR_COMM_CLOSED + 1] = {false};
    double worst = 0;

    for (size_t i = 0; i < t->n_rows; i++) {
        is_used[t->rows[i].source] = true;
        if (t->rows[i].source == FR_COMM_TRANSFERRED && t->rows[i].error_frac > worst)
            worst = t->rows[i].error_frac;
    }
    if (is_used[FR_COMM_FITTED])
        fr__say(doc, "# fitted: a time fitted to measurements of such machines.\n");
    if (is_used[FR_COMM_TRANSFERRED])
        fr__say(doc, "# transferred: %s; true times within %.0f %% two times in three.\n",
                t->why_transferred ? t->why_transferred : "fitted to other machines", 100 * worst);
    if (is_used[FR_COMM_STEPS])
        fr__say(doc, "# steps: simulated message by message over the links.\n");
    if (is_used[FR_COMM_CLOSED])
        fr__say(doc, "# formula: the closed form of the steps.\n");
}

static void print_table(struct fr__document *doc, const struct fr_comm_table *t, bool has_links)
{
    double sum = 0;

    print_head(doc, t, has_links);
    for (size_t i = 0; i < t->n_rows; i++) {
        print_row(doc, t, &t->rows[i], has_links);
        sum += t->rows[i].bus_Bps / 1e9;
    }
    if (t->n_rows > 0)
        fr__say(doc, "# Avg bus bandwidth    : %g\n", sum / (double)t->n_rows);
    print_sources(doc, t);
}

/* ---- by each model: columns compare three of the same collective ---- */

/* How it goes; sim/collectives/closed_form.c. */
static const char *algorithm_of(enum fr_collective_kind kind)
{
    switch (kind) {
    case FR_ALL_REDUCE:
        return "rings: 2 (n - 1) rounds of S / n bytes";
    case FR_ALL_TO_ALL:
        return "shifts: n - 1 rounds of S / n bytes, to another rank in each";
    case FR_BROADCAST:
        return "chains: pieces of at most 512 KiB, passed on over n - 1 hops";
    case FR_REDUCE:
        return "chains: pieces of at most 512 KiB, summed over n - 1 hops";
    default:
        return "rings: n - 1 rounds of S / n bytes";
    }
}

static void time_cell(char *cell, double s)
{
    if (isnan(s))
        memcpy(cell, "-", 2);
    else
        fr__format_time(s, cell, FR__TABLE_CELL);
}

static void bus_cell(char *cell, double Bps)
{
    if (isnan(Bps))
        memcpy(cell, "-", 2);
    else
        fr__format_rate(Bps, cell, FR__TABLE_CELL);
}

static void fill_models(const void *user, size_t i, struct fr__table_row *row)
{
    const struct fr_comm_table *t = user;
    const struct fr_comm_times *r = &t->times[i];

    fr__format_bytes((double)t->rows[i].bytes, row->cell[0], FR__TABLE_CELL);
    time_cell(row->cell[1], r->expanded_s);
    time_cell(row->cell[2], r->closed_s);
    time_cell(row->cell[3], r->fitted_s);
    bus_cell(row->cell[4], fr_comm_bus_Bps(t, i, r->expanded_s));
    bus_cell(row->cell[5], fr_comm_bus_Bps(t, i, r->fitted_s));
}

static void print_fit(struct fr__document *doc, const struct fr_comm_table *t)
{
    char text[FR__TABLE_CELL], number[32];

    if (!t->system) {
        fr__table_text(text, t->system_why);
        fr__say(doc, "fitted: none, %s\n", text);
        return;
    }
    fr__table_text(text, t->system);
    fr__say(doc, "fitted: as %s", text);
    if (t->n_rows > 0 && t->times[0].fitted_error > 0)
        fr__say(doc, ", true times within %s %% of it two times in three",
                fr__fixed(100 * (exp(t->times[0].fitted_error) - 1), 1, number, sizeof(number)));
    fr__say(doc, "%s",
            t->n_rows > 0 && t->times[0].is_extrapolated
                ? "; on more machines or another GPU count than measured\n"
                : "\n");
}

static void print_models(struct fr__document *doc, const struct fr_comm_table *t)
{
    static const struct fr__table_column columns[] = {
        {"bytes", true},  {"expanded", true},     {"closed", true},
        {"fitted", true}, {"expanded bus", true}, {"fitted bus", true},
    };
    const struct fr__table table = {.columns = columns,
                                    .n_columns = sizeof(columns) / sizeof(columns[0]),
                                    .n_rows = t->n_rows,
                                    .fill = fill_models,
                                    .user = t};
    char name[FR__TABLE_CELL];

    fr__table_text(name, t->topology);
    fr__say(doc, "%s of S bytes on n = %zu of %zu GPUs of %s, %zu machine%s\n\n",
            fr_collective_kind_name(t->kind), t->n_gpus, t->n_gpus_total, name, t->n_machines,
            t->n_machines == 1 ? "" : "s");
    fr__say_table(doc, &table, 0);
    fr__say(doc,
            "\nexpanded: message by message, which share links; %s\n"
            "closed: by formula, the slowest link alone\n",
            algorithm_of(t->kind));
    for (size_t i = 0; i < t->n_rows; i++)
        if (isnan(t->times[i].expanded_s)) {
            fr__say(doc, "-: more than five million messages\n");
            break;
        }
    print_fit(doc, t);
}

enum fr_status fr__document_of_curves(struct fr__document *doc, const void *what,
                                      struct fr_error *err)
{
    const struct fr_curves_answer *a = what;
    struct fr_comm_table *const *t = a->tables;

    if (a->n > 0 && t[0]->times) {
        print_models(doc, t[0]);
        return fr__document_check(doc, err);
    }
    fr__say_drawn(doc);
    for (size_t i = 0; i < a->n; i++) {
        print_table(doc, t[i], a->has_links);
        if (i + 1 < a->n)
            fr__say(doc, "\n");
    }
    if (a->n == 0)
        return fr__document_check(doc, err);
    fr__say(
        doc,
        "# In place and out of place are one: the model has no difference. Nothing is computed.\n");
    if (t[0]->nccl_why)
        fr__say(doc, "# NCCL's tuner has no model of these GPUs: %s; rings instead\n",
                t[0]->nccl_why);
    else
        fr__say(doc, "# NCCL says: its tuner's own estimate, by its constants.\n");
    fr__say_picture(doc, FR__PICTURE_CHART, a, 0);
    return fr__document_check(doc, err);
}
