/* calibrate/fit/system_fit.c - fits all that a system's rows tell, and judges systems. */
#include "config.h"

#include "calibrate/fit/system_fit.h"

#include "base/error.h"
#include "calibrate/fit/read/data.h"
#include "calibrate/fit/read/row_hash.h"
#include "calibrate/messages/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- rows ---- */

static enum fr_status read_all(struct fr__collective_data *d, const char *system,
                               const char *const paths[], size_t n_paths, struct fr_error *err)
{
    for (size_t i = 0; i < n_paths; i++)
        FR_TRY(fr__collective_data_read(d, paths[i], (uint32_t)i, system, err));
    return FR_OK;
}

static uint32_t choose_source(const struct fr__collective_data *d)
{
    uint32_t best = 0;
    size_t most = 0;

    for (uint32_t s = 0; s < d->n_sources; s++) {
        size_t n = 0;

        for (size_t k = 0; k < d->n_rows; k++)
            n += d->rows[k].source == s;
        if (n > 0 && n >= most) {
            best = s;
            most = n;
        }
    }
    return best;
}

static uint64_t hash_rows(const struct fr__collective_data *d, uint32_t source)
{
    uint64_t h = FR__FNV_START;

    for (size_t k = 0; k < d->n_rows; k++)
        if (d->rows[k].source == source)
            h = fr__hash_row(h, d->rows[k].hash, d->rows[k].time_s);
    return h;
}

/* The source with most messages over the link; of equals the last. */
static uint32_t choose_link_source(const struct fr__collective_data *d, uint32_t link)
{
    uint32_t best = 0;
    size_t most = 0;

    for (uint32_t s = 0; s < d->n_sources; s++) {
        size_t n = 0;

        for (size_t k = 0; k < d->n_messages; k++)
            n += d->messages[k].source == s && d->messages[k].link == link;
        if (n > 0 && n >= most) {
            best = s;
            most = n;
        }
    }
    return best;
}

/* ---- judging ---- */

struct judge {
    const struct fr_system *s;
    const struct fr__collective_data *d;
    const char *const *paths;
    bool is_own; /* rows of the sources of the system's own fit alone */
    bool is_all; /* those that a fit may have seen too */
    double min_bytes;
    double *errors; /* [n] signed; room for all rows */
    size_t n;
    struct fr_system_check *check; /* at hand */

    fr_system_row_fn *fn; /* takes the rows in place of judging them, if not NULL */
    void *user;
    size_t i; /* the class at hand */
    enum fr_status status;
    struct fr_error *err;
};

static double miss_of(const struct fr_system_row *r)
{
    return fabs(r->predicted_s / r->measured_s - 1);
}

static void judge_row(struct judge *j, struct fr_system_row *row, uint64_t hash, uint32_t file)
{
    row->is_held_out = fr__is_held_out(hash);
    if (j->fn) {
        if (j->status == FR_OK)
            j->status = j->fn(j->user, j->i, row, j->err);
        return;
    }
    if (!j->is_all && !row->is_held_out) {
        j->check->n_left_out++;
        return;
    }
    j->errors[j->n++] = row->predicted_s / row->measured_s - 1;
    if (j->n == 1 || miss_of(row) > miss_of(&j->check->worst)) {
        snprintf(row->file, sizeof(row->file), "%s", j->paths[file]);
        j->check->worst = *row;
    }
}

static bool is_of(const struct judge *j, uint32_t source, const char *own)
{
    return !j->is_own || strcmp(j->d->sources[source], own) == 0;
}

/* Rows that no way of the system can price are passed over. */
static void judge_collectives(struct judge *j, enum fr_system_op op, bool is_over_nodes)
{
    for (size_t k = 0; k < j->d->n_rows; k++) {
        const struct fr__collective_row *m = &j->d->rows[k];
        struct fr_system_row row = {.line = m->line, .call = m->call, .measured_s = m->time_s};

        if (m->call.op != op || m->call.bytes < j->min_bytes ||
            (m->call.n_nodes > 1) != is_over_nodes || !is_of(j, m->source, j->s->info.source))
            continue;
        row.predicted_s = fr_system_time_s(j->s, &m->call);
        if (row.predicted_s > 0)
            judge_row(j, &row, m->hash, m->file);
    }
}

static void judge_messages(struct judge *j, size_t which)
{
    const struct fr_system_link *link = &j->s->info.links[which];

    for (size_t k = 0; k < j->d->n_messages; k++) {
        const struct fr__message_row *m = &j->d->messages[k];
        struct fr_system_row row = {
            .line = m->line, .call.bytes = m->bytes, .measured_s = m->time_s};

        if (strcmp(j->d->links[m->link], link->name) != 0 || m->bytes < j->min_bytes ||
            !is_of(j, m->source, link->source))
            continue;
        row.predicted_s = fr_system_send_s(j->s, which, m->bytes);
        judge_row(j, &row, m->hash, m->file);
    }
}

static void judge_class(struct judge *j, size_t i, struct fr_system_check *check)
{
    *check = (struct fr_system_check){.n_left_out = 0};
    j->check = check;
    j->i = i;
    j->n = 0;
    if (i < 2 * FR_N_SYSTEM_OPS)
        judge_collectives(j, (enum fr_system_op)(i % FR_N_SYSTEM_OPS), i >= FR_N_SYSTEM_OPS);
    else if (i - 2 * FR_N_SYSTEM_OPS < j->s->info.n_links)
        judge_messages(j, i - 2 * FR_N_SYSTEM_OPS);
    check->misses = fr__misses_of(j->errors, j->n);
}

static enum fr_status judge_all(struct judge *j, struct fr_system_check checks[],
                                struct fr_error *err)
{
    j->errors = calloc(j->d->n_rows + j->d->n_messages + 1, sizeof(*j->errors));
    if (!j->errors)
        return fr__fail_nomem(err);
    for (size_t i = 0; i < FR_SYSTEM_CLASSES; i++)
        judge_class(j, i, &checks[i]);
    free(j->errors);
    return FR_OK;
}

enum fr_status fr_system_check(const struct fr_system *s, const char *system,
                               const char *const paths[], size_t n_paths, double min_bytes,
                               bool is_all, struct fr_system_check checks[FR_SYSTEM_CLASSES],
                               struct fr_error *err)
{
    struct fr__collective_data d = {0};
    struct judge j = {.s = s,
                      .d = &d,
                      .paths = paths,
                      .is_own = !system,
                      .is_all = is_all,
                      .min_bytes = min_bytes};
    enum fr_status st = read_all(&d, system ? system : s->info.name, paths, n_paths, err);

    if (st == FR_OK)
        st = judge_all(&j, checks, err);
    fr__collective_data_fini(&d);
    return st;
}

enum fr_status fr_system_visit(const struct fr_system *s, const char *system,
                               const char *const paths[], size_t n_paths, double min_bytes,
                               fr_system_row_fn *fn, void *user, struct fr_error *err)
{
    struct fr__collective_data d = {0};
    struct judge j = {.s = s,
                      .d = &d,
                      .is_own = !system,
                      .min_bytes = min_bytes,
                      .fn = fn,
                      .user = user,
                      .err = err};
    enum fr_status st = read_all(&d, system ? system : s->info.name, paths, n_paths, err);
    struct fr_system_check none;

    for (size_t i = 0; st == FR_OK && i < FR_SYSTEM_CLASSES; i++) {
        judge_class(&j, i, &none);
        st = j.status;
    }
    fr__collective_data_fini(&d);
    return st;
}

/* ---- fitting ---- */

struct fit {
    struct fr_system *s;
    const struct fr__collective_data *d;
    uint32_t source;                         /* of the collectives */
    const struct fr__collective_row **rows;  /* [n_rows] room for some */
    const struct fr__message_row **messages; /* [n_messages] likewise */
    size_t most[5];                          /* rows that each fit found, for the message */
};

static size_t take_rows(struct fit *f, bool is_over_nodes, bool is_all_to_all)
{
    size_t n = 0;

    for (size_t k = 0; k < f->d->n_rows; k++) {
        const struct fr__collective_row *m = &f->d->rows[k];

        if (m->source == f->source && !fr__is_held_out(m->hash) &&
            (m->call.n_nodes > 1) == is_over_nodes &&
            (m->call.op == FR_SYSTEM_ALL_TO_ALL) == is_all_to_all)
            f->rows[n++] = m;
    }
    return n;
}

static enum fr_status fit_inside(struct fit *f, struct fr_error *err)
{
    struct fr_system_info *info = &f->s->info;
    size_t n = f->most[0] = take_rows(f, false, false);

    if (n >= FR__MIN_ROWS) {
        FR_TRY(fr__fit_rings(info, f->rows, n, err));
        fr__fit_corrections(f->s, f->rows, n);
        info->n_fitted += n;
    }
    n = f->most[1] = take_rows(f, false, true);
    if (n >= FR__MIN_ALL_TO_ALL) {
        FR_TRY(fr__fit_all_to_all(info, f->rows, n, err));
        fr__fit_corrections(f->s, f->rows, n);
        info->n_fitted += n;
    }
    return FR_OK;
}

static enum fr_status fit_nodes(struct fit *f, struct fr_error *err)
{
    struct fr_system_nodes *nodes = &f->s->info.nodes;
    size_t n = f->most[2] = take_rows(f, true, false);

    if (n >= FR__MIN_ROWS) {
        FR_TRY(fr__fit_nodes(nodes, f->rows, n, err));
        nodes->n_fitted += n;
    }
    n = f->most[3] = take_rows(f, true, true);
    if (n >= FR__MIN_ALL_TO_ALL) {
        FR_TRY(fr__fit_nodes_all_to_all(nodes, f->rows, n, err));
        nodes->n_fitted += n;
    }
    return FR_OK;
}

static enum fr_status fit_link(struct fit *f, uint32_t which, struct fr_error *err)
{
    struct fr_system_info *info = &f->s->info;
    struct fr_system_link link = {.data_hash = FR__FNV_START};
    uint32_t source = choose_link_source(f->d, which);

    for (size_t k = 0; k < f->d->n_messages; k++) {
        const struct fr__message_row *m = &f->d->messages[k];

        if (m->link != which || m->source != source)
            continue;
        link.data_hash = fr__hash_row(link.data_hash, m->hash, m->time_s);
        if (!fr__is_held_out(m->hash))
            f->messages[link.n_fitted++] = m;
    }
    f->most[4] = link.n_fitted > f->most[4] ? link.n_fitted : f->most[4];
    if (link.n_fitted < FR__MIN_MESSAGES || info->n_links == FR_SYSTEM_LINKS)
        return FR_OK;
    snprintf(link.name, sizeof(link.name), "%s", f->d->links[which]);
    snprintf(link.source, sizeof(link.source), "%s", f->d->sources[source]);
    FR_TRY(fr__fit_link(&link, f->messages, link.n_fitted, err));
    info->links[info->n_links++] = link;
    return FR_OK;
}

static void describe_rows(struct fit *f)
{
    struct fr_system_info *info = &f->s->info;

    snprintf(info->source, sizeof(info->source), "%s", f->d->sources[f->source]);
    info->data_hash = hash_rows(f->d, f->source);
    for (size_t k = 0; k < f->d->n_rows; k++) {
        const struct fr__collective_row *m = &f->d->rows[k];
        unsigned *most = m->call.n_nodes > 1 ? &info->nodes.most_gpus : &info->most_gpus;

        if (m->source != f->source)
            continue;
        *most = m->call.n_gpus > *most ? m->call.n_gpus : *most;
        if (m->call.n_nodes <= 1 && m->call.n_gpus >= 1 && m->call.n_gpus <= 64)
            info->gpu_counts |= UINT64_C(1) << (m->call.n_gpus - 1);
        if (m->call.n_nodes > 1 && m->call.n_nodes > info->nodes.most_nodes)
            info->nodes.most_nodes = m->call.n_nodes;
    }
}

static enum fr_status fit_all(struct fit *f, struct fr_error *err)
{
    struct fr_system_info *info = &f->s->info;

    if (f->d->n_rows > 0) {
        f->source = choose_source(f->d);
        FR_TRY(fit_inside(f, err));
        FR_TRY(fit_nodes(f, err));
    }
    for (uint32_t link = 0; link < f->d->n_links; link++)
        FR_TRY(fit_link(f, link, err));
    if (info->n_fitted + info->nodes.n_fitted > 0)
        describe_rows(f);
    else if (info->n_links == 0)
        return fr__fail(err, FR_ENOENT, FR_NOWHERE,
                        "too few rows of '%s' to fit: inside a node %zu of all-to-alls (%d are "
                        "needed) and %zu of other collectives (%d), over nodes %zu and %zu, over "
                        "one link at most %zu (%d)",
                        info->name, f->most[1], FR__MIN_ALL_TO_ALL, f->most[0], FR__MIN_ROWS,
                        f->most[3], f->most[2], f->most[4], FR__MIN_MESSAGES);
    return FR_OK;
}

/* What the file says of itself. */
static enum fr_status judge_held_out(struct fr_system *s, const struct fr__collective_data *d,
                                     const char *const paths[], struct fr_error *err)
{
    struct judge j = {.s = s, .d = d, .paths = paths, .is_own = true};
    struct fr_system_check *checks = calloc(FR_SYSTEM_CLASSES, sizeof(*checks));
    enum fr_status st = checks ? judge_all(&j, checks, err) : fr__fail_nomem(err);

    for (size_t i = 0; st == FR_OK && i < FR_SYSTEM_CLASSES; i++) {
        fr__round_misses(&checks[i].misses);
        if (i < FR_N_SYSTEM_OPS)
            s->info.held_out[i] = checks[i].misses;
        else if (i < 2 * FR_N_SYSTEM_OPS)
            s->info.nodes.held_out[i - FR_N_SYSTEM_OPS] = checks[i].misses;
        else
            s->info.links[i - 2 * FR_N_SYSTEM_OPS].held_out = checks[i].misses;
    }
    free(checks);
    return st;
}

static enum fr_status fit_system(struct fr_system *s, const struct fr__collective_data *d,
                                 const char *const paths[], struct fr_error *err)
{
    struct fit f = {.s = s,
                    .d = d,
                    .rows = calloc(d->n_rows + 1, sizeof(*f.rows)),
                    .messages = calloc(d->n_messages + 1, sizeof(*f.messages))};
    enum fr_status st = f.rows && f.messages ? fit_all(&f, err) : fr__fail_nomem(err);

    free(f.messages);
    free(f.rows);
    FR_TRY(st);
    return judge_held_out(s, d, paths, err);
}

enum fr_status fr_system_fit(struct fr_system **out, const char *system, const char *const paths[],
                             size_t n_paths, struct fr_error *err)
{
    struct fr_system *s = calloc(1, sizeof(*s));
    struct fr__collective_data d = {0};
    enum fr_status st;

    if (!s)
        return fr__fail_nomem(err);
    if (strlen(system) >= sizeof(s->info.name))
        st = fr__fail(err, FR_ERANGE, FR_NOWHERE, "the system's name is longer than %zu bytes",
                      sizeof(s->info.name) - 1);
    else
        st = read_all(&d, system, paths, n_paths, err);
    if (st == FR_OK) {
        strcpy(s->info.name, system);
        st = fit_system(s, &d, paths, err);
    }
    fr__collective_data_fini(&d);
    if (st == FR_OK)
        *out = s;
    else
        fr_system_free(s);
    return st;
}
