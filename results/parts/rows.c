/* results/parts/rows.c - in what the answers of a comparison differ besides their strategies.
 *
 * It is separate because tables, reports and pictures must name their rows alike.
 */
#include "config.h"

#include "results/parts/rows.h"

#include <stdio.h>
#include <string.h>

const char *fr__row_part_text(const struct fr_record *r, enum fr__row_part part,
                              char buf[FR__ROW_NAME])
{
    switch (part) {
    case FR__ROW_WORKLOAD:
        return r->workload;
    case FR__ROW_TOPOLOGY:
        return r->topology;
    case FR__ROW_GPUS:
        snprintf(buf, FR__ROW_NAME, "%zu", r->n_gpus);
        return buf;
    case FR__ROW_BATCH:
        snprintf(buf, FR__ROW_NAME, "%u", (unsigned)r->global_batch);
        return buf;
    case FR__ROW_PRECISION:
        return r->dtype;
    case FR__ROW_OPTIMIZER:
        return r->optimizer;
    case FR__N_ROW_PARTS:
        break;
    }
    return "";
}

/* Whether two records have the same of it. */
static bool is_same(const struct fr_record *a, const struct fr_record *b, enum fr__row_part part)
{
    char text_a[FR__ROW_NAME], text_b[FR__ROW_NAME];

    return strcmp(fr__row_part_text(a, part, text_a), fr__row_part_text(b, part, text_b)) == 0;
}

bool fr__rows_differ(const struct fr_results *rs, enum fr__row_part part)
{
    for (size_t i = 1; i < rs->n; i++)
        if (!is_same(rs->records[0], rs->records[i], part))
            return true;
    return false;
}

const char *fr__row_name(const struct fr_results *rs, size_t i, char buf[FR__ROW_NAME])
{
    const struct fr_record *r = rs->records[i];
    size_t used = (size_t)snprintf(buf, FR__ROW_NAME, "%s", r->strategy);
    char text[FR__ROW_NAME];

    for (int k = 0; k < FR__N_ROW_PARTS && used < FR__ROW_NAME; k++) {
        enum fr__row_part part = (enum fr__row_part)k;
        const char *unit = part == FR__ROW_GPUS ? " GPUs" : part == FR__ROW_BATCH ? " samples" : "";

        if (fr__rows_differ(rs, part))
            used += (size_t)snprintf(buf + used, FR__ROW_NAME - used, ", %s%s",
                                     fr__row_part_text(r, part, text), unit);
    }
    return buf;
}

bool fr__row_is_known(const struct fr_results *rs, size_t i)
{
    for (size_t k = 0; k < i; k++) {
        bool is_alike = true;

        for (int part = 0; part < FR__N_ROW_PARTS && is_alike; part++)
            is_alike = is_same(rs->records[i], rs->records[k], (enum fr__row_part)part);
        if (is_alike)
            return true;
    }
    return false;
}

size_t fr__row_base(const struct fr_results *rs)
{
    for (size_t i = 0; i < rs->n; i++)
        if (fr_strategy_is_baseline(rs->records[i]->strategy))
            return i;
    return 0;
}

double fr__row_speed_up(const struct fr_results *rs, size_t i)
{
    const struct fr_record *base = rs->records[fr__row_base(rs)], *r = rs->records[i];

    if (fr__rows_differ(rs, FR__ROW_WORKLOAD) || !(r->iteration_s > 0))
        return 0;
    if (fr__rows_differ(rs, FR__ROW_BATCH))
        return base->samples_per_s > 0 ? r->samples_per_s / base->samples_per_s : 0;
    return base->iteration_s / r->iteration_s;
}

/* How many different values of it there are. */
static size_t count(const struct fr_results *rs, enum fr__row_part part)
{
    size_t n = 0;

    for (size_t i = 0; i < rs->n; i++) {
        bool is_new = true;

        for (size_t k = 0; k < i && is_new; k++)
            is_new = !is_same(rs->records[i], rs->records[k], part);
        n += is_new;
    }
    return n;
}

const char *fr__rows_subject(const struct fr_results *rs, char buf[FR__ROW_NAME])
{
    const struct fr_record *r = rs->records[0];
    size_t n_workloads = count(rs, FR__ROW_WORKLOAD), n_clusters = count(rs, FR__ROW_TOPOLOGY);
    int used = n_workloads > 1 ? snprintf(buf, FR__ROW_NAME, "%zu workloads on ", n_workloads)
                               : snprintf(buf, FR__ROW_NAME, "%.200s on ", r->workload);
    size_t at = (size_t)used, room = FR__ROW_NAME - at;

    if (n_clusters > 1)
        snprintf(buf + at, room, "%zu clusters", n_clusters);
    else if (r->is_plain && r->n_gpus == r->n_gpus_total)
        snprintf(buf + at, room, "%.200s", r->topology);
    else if (fr__rows_differ(rs, FR__ROW_GPUS))
        snprintf(buf + at, room, "GPUs of %.200s", r->topology);
    else if (r->n_gpus == 1 && r->n_gpus_total == 1)
        snprintf(buf + at, room, "the GPU of %.200s", r->topology);
    else if (r->n_gpus == r->n_gpus_total)
        snprintf(buf + at, room, "all %zu GPUs of %.200s", r->n_gpus, r->topology);
    else
        snprintf(buf + at, room, "%zu of %zu GPUs of %.200s", r->n_gpus, r->n_gpus_total,
                 r->topology);
    return buf;
}

const char *fr__rows_manner(const struct fr_results *rs, char buf[FR__ROW_NAME])
{
    const struct fr_record *r = rs->records[0];
    char batch[64];

    if (r->is_plain) { /* tasks have no batch, number format or optimizer */
        snprintf(buf, FR__ROW_NAME, "order %s, network %s", r->order, r->network);
        return buf;
    }
    snprintf(batch, sizeof(batch), "%u", (unsigned)r->global_batch);
    snprintf(buf, FR__ROW_NAME, "global batch %s, %s, %s",
             fr__rows_differ(rs, FR__ROW_BATCH) ? "as named" : batch,
             fr__rows_differ(rs, FR__ROW_PRECISION) ? "precision as named" : r->dtype,
             fr__rows_differ(rs, FR__ROW_OPTIMIZER) ? "optimizer as named" : r->optimizer);
    return buf;
}
