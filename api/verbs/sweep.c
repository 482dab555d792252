/* api/verbs/sweep.c - a grid of questions: answered, stored, summed up. */
#include "config.h"

#include "base/error.h"
#include "base/file.h"
#include "base/units.h"
#include "api/verbs/verbs.h"

/* Only JSON shows what the rows' columns do not. */
static bool wants_records(const struct fr__options *o)
{
    for (size_t i = 0; i < o->n_files; i++)
        if (fr__ends_in(o->files[i], ".json"))
            return true;
    return o->json;
}

/* "96 points: 2 workload x 2 topology x 4 gpus x 3 batch-per-gpu x 2 strategy" */
static void print_size(FILE *f, const struct fr_sweep *s)
{
    size_t n_all = fr_sweep_n_points(s), n_mine = 0, n;
    const char *separator = ": ";

    for (size_t i = 0; i < n_all; i++)
        n_mine += fr_sweep_is_mine(s, i);
    fprintf(f, "%zu point%s", n_all, n_all == 1 ? "" : "s");
    for (size_t i = 0; fr_question_setting(i); i++) {
        (void)fr_sweep_axis(s, i, &n);
        if (n <= 1)
            continue;
        fprintf(f, "%s%zu %s", separator, n, fr_question_setting(i));
        separator = " x ";
    }
    putc('\n', f);
    if (n_mine < n_all)
        fprintf(f, "%zu in this shard\n", n_mine);
}

/* Says how far it came and how to go on. */
static enum fr_status fail_interrupted(const struct fr__options *o, struct fr_error *err)
{
    size_t n_rows = 0, n_mine = 0;

    for (size_t i = 0; i < fr_sweep_n_points(o->sweep); i++) {
        n_rows += fr_sweep_row(o->sweep, i) != NULL;
        n_mine += fr_sweep_is_mine(o->sweep, i);
    }
    if (o->store)
        return fr__fail(err, FR_ECANCELLED, FR_NOWHERE,
                        "interrupted after %zu of %zu points; they are in %s, and the same command "
                        "goes on from there",
                        n_rows, n_mine, o->store);
    return fr__fail(err, FR_ECANCELLED, FR_NOWHERE,
                    "interrupted after %zu of %zu points; with --store FILE it could go on from "
                    "there",
                    n_rows, n_mine);
}

/* mpirun was told how many processes to start: each is one thread, unless told otherwise. */
static unsigned choose_jobs(const struct fr__options *o, const void *others)
{
    return others && !o->n_jobs ? 1 : o->n_jobs;
}

static enum fr_status run(struct fr__call *s, void *others, struct fr_store *store,
                          struct fr_error *err)
{
    const struct fr__options *o = &s->options;
    const struct fr_sweep_options how = {.n_threads = choose_jobs(o, others),
                                         .with_records = wants_records(o),
                                         .print_record = fr_record_print_json,
                                         .store = store,
                                         .serve = others ? s->others->serve : NULL,
                                         .serve_user = others};
    enum fr_status st;

    s->has_time_left = true;
    if (others)
        s->others->lead(others, o->sweep, &s->context);
    st = fr_sweep_run(o->sweep, &how, &s->context, err);
    fr__end_progress(s);
    return st == FR_ECANCELLED ? fail_interrupted(o, err) : st;
}

static enum fr_status run_with_store(struct fr__call *s, void *others, struct fr_error *err)
{
    const struct fr__options *o = &s->options;
    struct fr_store *store;
    enum fr_status st;

    if (!o->store)
        return run(s, others, NULL, err);
    FR_TRY(fr_store_open(&store, o->store, err));
    st = run(s, others, store, err);
    if (st == FR_OK)
        return fr_store_close(store, err);
    (void)fr_store_close(store, NULL);
    return st;
}

static enum fr_call_status status_of(const struct fr_sweep_summary *m)
{
    if (m->n[FR_FAILED] > 0)
        return FR_CALL_FAILED;
    if (m->n[FR_FITS] > 0)
        return FR_CALL_DONE;
    return m->n[FR_OOM] > 0 ? FR_CALL_NO_MEMORY : FR_CALL_USAGE;
}

static enum fr_status write_all(struct fr__call *s, const struct fr_sweep_summary *m,
                                struct fr_error *err)
{
    const struct fr__options *o = &s->options;
    struct fr_sweep_table table = o->table;
    const struct fr_sweep_answer a = {o->sweep, m, &table, fr_sweep_ask};

    table.all_rows = o->all;
    FR_TRY(fr__show(s, fr_shown_sweep(&a), err));
    if (!o->quiet && o->store && fr_sweep_n_found(o->sweep) > 0)
        fr__note(s, "%zu points were in %s already", fr_sweep_n_found(o->sweep), o->store);
    return FR_OK;
}

/* ---- advice where nothing fits ---- */

/* The point that lacks least memory; n_points: none ran out of it. */
static size_t nearest_point(const struct fr_sweep *sweep)
{
    size_t n = fr_sweep_n_points(sweep), best = n;

    for (size_t i = 0; i < n; i++) {
        const struct fr_sweep_row *row = fr_sweep_row(sweep, i);

        if (row && row->outcome == FR_OOM &&
            (best == n || row->over_bytes < fr_sweep_row(sweep, best)->over_bytes))
            best = i;
    }
    return best;
}

static void print_advice(FILE *f, const struct fr_record *r)
{
    char text[32], name[80];

    fprintf(f,
            "\nnothing fits; strategy %s on %zu GPUs, batch %u, lacks least. What would fit:\n\n",
            r->strategy, r->n_gpus, r->global_batch);
    for (size_t i = 0; i < r->n_advice; i++) {
        snprintf(name, sizeof(name), "%s samples/s",
                 fr__format_count(r->advice[i].samples_per_s, text, sizeof(text)));
        fprintf(f, "  %-18s %-40s %s\n", name, r->advice[i].options, r->advice[i].change);
    }
    if (r->n_advice == 0)
        fprintf(f, "  none of %u changes, to larger machines either\n", r->advice_tried);
}

/* What 'forerun simulate' would say of the point that lacks least. A sweep's answer stands without
 * it, so nothing is said where it cannot be found. */
static void advise(struct fr__call *s)
{
    const struct fr__options *o = &s->options;
    size_t point = nearest_point(o->sweep);
    struct fr_question q;
    struct fr_record *r = NULL;

    if (point == fr_sweep_n_points(o->sweep))
        return;
    fr_sweep_question(o->sweep, point, &q);
    q.with_advice = true;
    if (fr_answer(&q, &s->context, &r, NULL) != FR_OK)
        return;
    fr__end_progress(s);
    if (r->has_advice)
        print_advice(s->out, r);
    fr_record_free(r);
}

static enum fr_status prepare(const struct fr__options *o, struct fr_error *err)
{
    if (o->terms.tokens > 0 && o->terms.samples > 0)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, FR__TOKENS_AND_SAMPLES);
    if (o->terms.deadline_s > 0 && !(o->terms.tokens > 0 || o->terms.samples > 0))
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "option '--deadline' needs the length of the run: --tokens or --samples");
    if (o->question.allow_implausible)
        fr_sweep_allow_implausible(o->sweep);
    FR_TRY(fr_sweep_finish(o->sweep, err));
    return fr_prices_check(&o->terms.prices, o->sweep, err);
}

/* Answers the points, with the other processes where there are some. */
static enum fr_status answer(struct fr__call *s, void *others, struct fr_error *err)
{
    const struct fr__options *o = &s->options;
    enum fr_status st = fr__check_files(o, FR_KIND_SWEEP, err);

    if (st == FR_OK)
        st = prepare(o, err);
    if (st == FR_OK && !o->dry_run)
        st = run_with_store(s, others, err);
    return others ? s->others->end(others, st, err) : st;
}

static enum fr_status follow(struct fr__call *s, void *others, struct fr_error *err)
{
    const struct fr__options *o = &s->options;
    enum fr_status st = prepare(o, err);

    s->others->follow(others, st, o->sweep, choose_jobs(o, others), &s->context, err);
    return s->others->end(others, FR_OK, err);
}

enum fr_status fr__verb_sweep(struct fr__call *s, struct fr_error *err)
{
    const struct fr__options *o = &s->options;
    struct fr_sweep_summary *m;
    void *others = NULL;
    enum fr_status st;

    FR_TRY(fr__check_measured(&s->options, err));
    if (s->others)
        FR_TRY(s->others->start(&others, err));
    if (others && s->others->is_follower())
        return follow(s, others, err);
    FR_TRY(answer(s, others, err));
    if (o->dry_run) {
        print_size(s->out, o->sweep);
        return FR_OK;
    }
    FR_TRY(fr_sweep_summarise(o->sweep, &o->terms, &m, err));
    st = write_all(s, m, err);
    s->status = status_of(m);
    if (st == FR_OK && m->n[FR_FITS] == 0 && m->n[FR_OOM] > 0 && !o->json && !o->quiet &&
        !o->no_advice)
        advise(s);
    fr_sweep_summary_free(m);
    return st;
}

enum fr_status fr__verb_sweep_merge(struct fr__call *s, struct fr_error *err)
{
    const struct fr__options *o = &s->options;

    return fr_stores_merge(o->arguments[0], o->arguments + 1, o->n_arguments - 1, err);
}
