/* results/document/record_details.c - tables below a record: devices, links, path, sensitivities.
 *
 * It is separate because the tables of one record and of several both show them.
 */
#include "config.h"

#include "base/units.h"
#include "results/parts/number.h"
#include "results/parts/cells.h"
#include "results/parts/colours.h"
#include "results/document/record.h"
#include "study/answer/figures.h"

#include <math.h>

enum { NUMBER = 32, MOST_DEVICES = 64 /* of a page */ };

/* ---- details of one result ---- */

struct devices {
    const struct fr_record *record;
    unsigned kinds[FR_N_BUFFER_KINDS]; /* [n] a bit each kind of memory that a column adds up */
    size_t n;
};

static void fill_device(const void *user, size_t i, struct fr__table_row *row)
{
    const struct devices *t = user;
    const struct fr_record *r = t->record;
    const struct fr_record_device *d = &r->devices[i];

    fr__table_text(row->cell[0], d->name);
    fr__record_time(r, d->compute_s, row->cell[1], NUMBER);
    fr__record_time(r, d->exposed_comm_s, row->cell[2], NUMBER);
    fr__record_time(r, d->idle_s, row->cell[3], NUMBER);
    fr__record_time(r, d->critical_s, row->cell[4], NUMBER);
    fr__format_bytes((double)d->peak_bytes, row->cell[5], NUMBER);
    for (size_t k = 0; k < t->n; k++) {
        uint64_t bytes = 0;

        for (unsigned kind = 0; kind < FR_N_BUFFER_KINDS; kind++)
            bytes += t->kinds[k] & 1u << kind ? d->memory_bytes[kind] : 0;
        fr__format_bytes((double)bytes, row->cell[6 + k], NUMBER);
    }
}

/* A column each kind of memory that any device holds. */
static void choose_kinds(struct devices *t, struct fr__table_column columns[], size_t n_devices)
{
    for (unsigned kind = 0; kind < FR_N_BUFFER_KINDS; kind++) {
        size_t i = 0;

        while (i < n_devices && t->record->devices[i].memory_bytes[kind] == 0)
            i++;
        if (i == n_devices)
            continue;
        columns[t->n] =
            (struct fr__table_column){fr_buffer_kind_name((enum fr_buffer_kind)kind), true};
        t->kinds[t->n++] = 1u << kind;
    }
}

/* On a page the first devices with all that they hold. */
static void put_devices(struct fr__document *doc, const struct fr_record *r)
{
    enum { N_TIMES = 5, N_FIRST = 6 }; /* of the columns; the others are of memory */
    struct fr__table_column columns[N_FIRST + FR_N_BUFFER_KINDS] = {
        {"device", false},   {"compute", true},     {"exposed", true},    {"bubble", true},
        {"critical", true},  {"peak", true},        {"parameters", true}, {"gradients", true},
        {"optimizer", true}, {"activations", true}, {"other", true},
    };
    struct devices of = {.record = r,
                         .kinds = {1u << FR_BUFFER_PARAMETER, 1u << FR_BUFFER_GRADIENT,
                                   1u << FR_BUFFER_OPTIMIZER, 1u << FR_BUFFER_ACTIVATION,
                                   1u << FR_BUFFER_WORKSPACE | 1u << FR_BUFFER_COMMUNICATION |
                                       1u << FR_BUFFER_WEIGHT_VERSION},
                         .n = 5};
    size_t n = r->n_devices;

    fr__say(doc, "\n");
    if (fr__is_page(doc)) {
        n = n < MOST_DEVICES ? n : MOST_DEVICES;
        of.n = 0;
        choose_kinds(&of, columns + N_FIRST, n);
        fr__say(doc, "devices:\n");
    }
    fr__say_table(
        doc,
        &(struct fr__table){columns, r->is_plain ? N_TIMES : N_FIRST + of.n, n, fill_device, &of},
        1);
    if (fr__is_page(doc))
        fr__say(doc, "critical: computing on the critical path%s\n",
                r->is_plain ? "" : "; kinds of memory: at the peak");
    if (n < r->n_devices)
        fr__say(doc, "  and %zu more devices\n", r->n_devices - n);
}

static void fill_link(const void *user, size_t i, struct fr__table_row *row)
{
    const struct fr_record_link *l = &((const struct fr_record *)user)->links[i];

    fr__table_text(row->cell[0], l->name);
    fr__format_bytes(l->bytes, row->cell[1], NUMBER);
    fr__percent(l->utilisation_frac, row->cell[2], NUMBER);
    snprintf(row->cell[3], NUMBER, "%u", l->count);
}

static void fill_critical(const void *user, size_t i, struct fr__table_row *row)
{
    const struct fr_record *r = user;

    if (r->critical_start_s) {
        fr__record_time(r, r->critical_start_s[i], row->cell[0], NUMBER);
        fr__record_time(r, r->critical_end_s[i] - r->critical_start_s[i], row->cell[1], NUMBER);
    }
    fr__table_text(row->cell[2], r->critical_path[i]);
}

static void put_critical(struct fr__document *doc, const struct fr_record *r)
{
    static const struct fr__table_column columns[] = {
        {"start", true}, {"takes", true}, {"task", false}};

    fr__say(doc, "\ncritical path (%zu tasks):\n", r->critical_total);
    fr__say_table(doc, &(struct fr__table){columns, 3, r->n_critical, fill_critical, r}, 2);
    if (r->critical_total > r->n_critical)
        fr__say(doc, "  and %zu more\n", r->critical_total - r->n_critical);
}

void fr__record_put_details(struct fr__document *doc, const struct fr_record *r)
{
    bool is_folded = r->n_links > 0 && r->plan && fr_plan_view(r->plan)->device_counts;
    static const struct fr__table_column links[] = {
        {"link", false}, {"bytes", true}, {"busy", true}, {"alike", true}};
    static const char *const bar[] = {FR__COLOUR_COPY};

    put_devices(doc, r);
    if (r->n_links > 0) {
        fr__say(doc, fr__is_page(doc) ? "\nlinks:\n" : "\n");
        fr__say_table(doc, &(struct fr__table){links, is_folded ? 4 : 3, r->n_links, fill_link, r},
                      1);
        fr__say_bars(doc, 2, 1, bar);
        if (r->links_total > r->n_links)
            fr__say(doc, "  and %zu more links\n", r->links_total - r->n_links);
    }
    if (fr__is_page(doc) && r->plan && r->run && r->run->makespan_s > 0)
        fr__record_put_path(doc, r);
    else
        put_critical(doc, r);
}

/* ---- what changes the time ---- */

static void fill_sensitivity(const void *user, size_t i, struct fr__table_row *row)
{
    const struct fr_record *r = user;
    const struct fr_record_sensitivity *s = &r->sensitivities[i];

    fr__table_text(row->cell[0], s->resource);
    fr__percent(r->iteration_s > 0 ? s->part_s / r->iteration_s : 0, row->cell[1], NUMBER);
    fr__change_cell(row->cell[2], fr__faster_change(s));
    fr__change_cell(row->cell[3], s->faster_frac);
    if (r->has_reruns)
        fr__change_cell(row->cell[4], s->rerun_faster_frac);
}

/* Prints the sensitivities that are not 0 when rounded to tenths of a percent. */
void fr__record_put_sensitivities(struct fr__document *doc, const struct fr_record *r)
{
    const struct fr__table_column columns[] = {{"resource", false},
                                               {"of the time", true},
                                               {"change", true},
                                               {r->is_plain ? "makespan" : "iteration time", true},
                                               {"run again", true}};
    static const char *const bar[] = {FR__COLOUR_OTHER};
    size_t n = 0;

    while (n < r->n_sensitivities && fabs(r->sensitivities[n].part_s) >= 0.0005 * r->iteration_s)
        n++;
    if (n == 0)
        return;
    fr__say(doc, "\nsensitivities:\n");
    fr__say_table(doc, &(struct fr__table){columns, r->has_reruns ? 5 : 4, n, fill_sensitivity, r},
                  0);
    fr__say_bars(doc, r->has_reruns ? 4 : 3, 1, bar);
    if (r->is_rough)
        fr__say(doc, "  rough: messages share links so that small changes have large effects\n");
    if (fr__is_page(doc))
        fr__say(doc,
                "From the run itself: the part of the %s that a resource accounts for shrinks by a "
                "fifth when it is a quarter faster. Something else may become the bottleneck "
                "before that%s.\n",
                fr__record_time_title(r),
                r->has_reruns ? "; running again sees it"
                              : "; --sensitivity-rerun runs again and sees it");
}

static void fill_error_share(const void *user, size_t i, struct fr__table_row *row)
{
    const struct fr_record *r = user;
    const struct fr_record_error_share *d = &r->error_shares[i];

    fr__table_text(row->cell[0], fr_record_error_share_name(d));
    fr__table_text(row->cell[1], fr_trust_name(d->trust));
    fr__percent(d->error_frac, row->cell[2], NUMBER);
    fr__percent(r->iteration_s > 0 ? fabs(d->effect_s) / r->iteration_s : 0, row->cell[3], NUMBER);
    fr__percent(d->share, row->cell[4], NUMBER);
}

/* Prints what many seeds have in common: one line of the mean, one of the spread. */
void fr__record_put_seeds(struct fr__document *doc, const struct fr_record *r)
{
    const struct fr_record_seeds *s = &r->seeds;
    char a[NUMBER], b[NUMBER], c[NUMBER];

    if (s->n == 0)
        return;
    fr__say(doc, "\nseeds %llu to %llu: mean %s, standard error %s", (unsigned long long)s->first,
            (unsigned long long)(s->first + s->n - 1), fr__record_time(r, s->mean_s, a, sizeof(a)),
            fr__record_time(r, s->standard_error_s, b, sizeof(b)));
    if (s->is_all_alike) {
        fr__say(doc, "; nothing in this question is random\n");
        return;
    }
    fr__say(doc, "\n  P50 %s, P95 %s, P99 %s", fr__record_time(r, s->p50_s, a, sizeof(a)),
            fr__record_time(r, s->p95_s, b, sizeof(b)), fr__record_time(r, s->p99_s, c, sizeof(c)));
    fr__say(doc, "; from %s to %s; parts of the iteration are of seed %llu\n",
            fr__record_time(r, s->min_s, a, sizeof(a)), fr__record_time(r, s->max_s, b, sizeof(b)),
            (unsigned long long)s->first);
}

/* "one GPU took 412 ms for 32 samples, predicted 368 ms, and 2 more steps" */
static void put_steps(struct fr__document *doc, const struct fr_record_correction *c)
{
    char measured[NUMBER], predicted[NUMBER];

    if (c->n_gpus == 1)
        fr__say(doc, "one GPU");
    else
        fr__say(doc, "%u GPUs", (unsigned)c->n_gpus);
    fr__say(doc, " took %s for %u sample%s, predicted %s",
            fr__format_time(c->measured_s, measured, sizeof(measured)), (unsigned)c->batch,
            c->batch == 1 ? "" : "s",
            fr__format_time(c->predicted_s, predicted, sizeof(predicted)));
    if (c->n_steps > 1)
        fr__say(doc, ", and %zu more step%s", c->n_steps - 1, c->n_steps == 2 ? "" : "s");
}

/* "measured: one GPU took 412 ms for 32 samples, predicted 368 ms; so compute takes ..." */
static void put_correction(struct fr__document *doc, const struct fr_record_correction *c)
{
    char a[NUMBER], b[NUMBER], exchange[NUMBER], copies[NUMBER], step[NUMBER];

    if (!c->is_asked)
        return;
    if (c->n_steps + c->n_recipe_steps == 0) {
        fr__say(
            doc,
            "measured: no step of this model, GPU type and precision, so nothing is corrected\n");
        return;
    }
    fr__say(doc, "measured: ");
    if (c->n_recipe_steps > 0)
        fr__say(doc, "%zu step%s that the recipe was fitted to%s", c->n_recipe_steps,
                c->n_recipe_steps == 1 ? "" : "s", c->n_steps > 0 ? "; " : "");
    if (c->n_steps > 0)
        put_steps(doc, c);
    fr__say(doc,
            "; so compute takes %s times as long here, host time an op %s times, exchange %s times "
            "and %s more by its bytes, and software %s more a step\n",
            fr__fixed(c->compute_factor, 3, a, sizeof(a)),
            fr__fixed(c->host_factor, 3, b, sizeof(b)),
            fr__fixed(c->exchange_factor, 2, exchange, sizeof(exchange)),
            fr__format_time(c->copies_s, copies, sizeof(copies)),
            fr__format_time(c->step_s, step, sizeof(step)));
    if (c->measured_bytes > 0)
        fr__say(doc, "measured memory: %s, predicted %s on a GPU; memory is not corrected\n",
                fr__format_bytes(c->measured_bytes, a, sizeof(a)),
                fr__format_bytes(c->predicted_bytes, b, sizeof(b)));
}

void fr__record_put_interval(struct fr__document *doc, const struct fr_record *r)
{
    put_correction(doc, &r->correction);
    if (r->interval.is_known && !r->oom)
        fr__say(doc, "%s %s\n",
                r->interval.is_guess ? "that range is a guess:"
                                     : "90 % of measured steps in that range, from",
                r->interval.of);
}

/* Prints the groups that cause at least half a percent of it. */
void fr__record_put_uncertainty(struct fr__document *doc, const struct fr_record *r)
{
    static const struct fr__table_column columns[] = {{"ops", false},
                                                      {"costs", false},
                                                      {"their error", true},
                                                      {"of the time", true},
                                                      {"share", true}};
    char low[NUMBER], high[NUMBER];
    size_t n = 0;

    if (!r->has_interval)
        return;
    fr__record_time(r, r->iteration_low_s, low, sizeof(low));
    fr__record_time(r, r->iteration_high_s, high, sizeof(high));
    fr__say(
        doc,
        "\nuncertainty: with op costs drawn from their errors, 90 %% of iterations take %s to %s\n",
        low, high);
    while (n < r->n_error_shares && r->error_shares[n].share >= 0.005)
        n++;
    if (n > 0)
        fr__say_table(doc, &(struct fr__table){columns, 5, n, fill_error_share, r}, 0);
}
