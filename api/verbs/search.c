/* api/verbs/search.c - the best layout for a model, a cluster (or several) and a batch. */
#include "config.h"

#include "base/error.h"
#include "base/units.h"
#include "api/verbs/verbs.h"
#include "results/results.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The searches of a command, one a cluster. */
struct searches {
    struct fr_search_clusters *clusters;
    size_t n;
    struct fr_search **searches;       /* [n] */
    struct fr_search_results *results; /* [n] */
    struct fr_store *store;            /* of all of them; NULL: none */
};

static enum fr_status check(const struct fr__options *o, struct fr_error *err)
{
    if (o->n_strategies)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "a search chooses the strategy itself; leave out -s %s, and narrow the "
                        "space with --fix, such as --fix tp=8",
                        o->strategies[0]);
    FR_TRY(fr__check_files(o, FR_KIND_SEARCH, err));
    if (o->terms.tokens > 0 && o->terms.samples > 0)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, FR__TOKENS_AND_SAMPLES);
    if (o->terms.prices.has_energy)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "a search compares layouts, whose energy it does not count; leave out "
                        "energy= of '--price', and ask the best with simulate");
    if (o->terms.deadline_s > 0 && !(o->terms.tokens > 0 || o->terms.samples > 0))
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "option '--deadline' needs the length of the run: --tokens or --samples");
    return FR_OK;
}

static enum fr_status print_flags(FILE *f, const struct fr__options *o,
                                  const struct fr_search *search, struct fr_error *err)
{
    const struct fr_search_summary *m = fr_search_summary(search);

    if (m->n_ranked == 0)
        return fr__fail(err, FR_ENOROOM, FR_NOWHERE,
                        "no layout of the space fits, so there are no flags to print");
    fr_layout_print_flags(
        f, o->flags_of, &fr_search_row(search, m->ranked[0])->layout,
        &(struct fr_flags_job){m->global_batch, m->seq_len, m->n_layers, m->optimizer});
    return FR_OK;
}

static enum fr_status write_all(struct fr__call *s, const struct searches *x, struct fr_error *err)
{
    const struct fr__options *o = &s->options;
    const struct fr_search_answer a = {x->n == 1 ? 0 : x->n, x->results};

    s->status = FR_CALL_NO_MEMORY;
    for (size_t i = 0; i < x->n; i++)
        if (fr_search_summary(x->searches[i])->n_ranked)
            s->status = FR_CALL_DONE;
    if (o->flags_of >= FR_N_FRAMEWORKS)
        return fr__show(s, fr_shown_search(&a), err);
    FR_TRY(fr__show_files(s, fr_shown_search(&a), err));
    return print_flags(s->out, o, x->searches[0], err);
}

/* Axes of the cluster and of its layouts, in the order given. */
static enum fr_status read_axes(const struct fr__options *o, struct searches *x,
                                struct fr_search *s, struct fr_error *err)
{
    for (size_t i = 0; i < o->n_axes; i++) {
        bool is_cluster =
            strncmp(o->axes[i], "nic=", 4) == 0 || strncmp(o->axes[i], "gpus=", 5) == 0;

        if (!s)
            FR_TRY(fr_search_clusters_axis(x->clusters, o->axes[i], &is_cluster, err));
        else if (!is_cluster)
            FR_TRY(fr_search_axis(s, o->axes[i], err));
    }
    return FR_OK;
}

static enum fr_status search(struct fr__call *s, struct searches *x, size_t i, struct fr_error *err)
{
    const struct fr__options *o = &s->options;
    const struct fr_search_options how = {.n_best = o->n_best,
                                          .within_frac = o->within_frac,
                                          .is_exhaustive = o->exhaustive,
                                          .n_threads = o->n_jobs,
                                          .prices = &o->terms.prices,
                                          .store = x->store};
    struct fr_question q;
    enum fr_status st;

    x->searches[i] = fr_search_new();
    if (!x->searches[i])
        return fr__fail_nomem(err);
    x->results[i] = (struct fr_search_results){.search = x->searches[i],
                                               .n_shown = o->n_best,
                                               .terms = &o->terms,
                                               .is_exhaustive = o->exhaustive,
                                               .job = o->job,
                                               .why = o->why_layout};
    FR_TRY(read_axes(o, x, x->searches[i], err));
    FR_TRY(fr_search_clusters_question(x->clusters, i, &o->question, &q, err));
    st = fr_search_run(x->searches[i], &q, &how, &s->context, err);
    fr__end_progress(s);
    if (st == FR_ECANCELLED && o->store)
        return fr__fail(err, FR_ECANCELLED, FR_NOWHERE,
                        "interrupted; what was simulated op by op is in %s, and the same command "
                        "goes on from there",
                        o->store);
    return st;
}

static enum fr_status search_all(struct fr__call *s, struct searches *x, struct fr_error *err)
{
    FR_TRY(read_axes(&s->options, x, NULL, err));
    x->n = fr_search_clusters_count(x->clusters);
    if (x->n > 1 && s->options.flags_of < FR_N_FRAMEWORKS)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "--print-flags prints one layout; give one value of nic and of gpus");
    x->searches = calloc(x->n, sizeof(*x->searches));
    x->results = calloc(x->n, sizeof(*x->results));
    if (!x->searches || !x->results)
        return fr__fail_nomem(err);
    for (size_t i = 0; i < x->n; i++) {
        enum fr_status st = search(s, x, i, err);

        if (st == FR_ECANCELLED)
            x->n = i + 1; /* the others have not begun */
        if (st != FR_OK)
            return st;
    }
    return FR_OK;
}

/* Whether an interrupted search has something to show. */
static bool has_found(const struct searches *x)
{
    for (size_t i = 0; x->results && i < x->n; i++)
        if (x->searches[i] && (fr_search_summary(x->searches[i])->n_ranked ||
                               fr_search_summary(x->searches[i])->n_frontier))
            return true;
    return false;
}

/* Shows the best so far; the error stays that of the interruption. */
static void write_so_far(struct fr__call *s, struct searches *x)
{
    struct fr_error other;

    if (!has_found(x) || s->options.flags_of < FR_N_FRAMEWORKS)
        return;
    for (size_t i = 0; i < x->n; i++)
        x->results[i].is_interrupted = true;
    (void)write_all(s, x, &other);
    fflush(s->out);
}

static void free_searches(struct searches *x)
{
    for (size_t i = 0; x->searches && i < x->n; i++)
        fr_search_free(x->searches[i]);
    free(x->searches);
    free(x->results);
    fr_search_clusters_free(x->clusters);
}

enum fr_status fr__verb_search(struct fr__call *s, struct fr_error *err)
{
    const struct fr__options *o = &s->options;
    struct searches x = {.n = 0};
    enum fr_status st, closed = FR_OK;

    FR_TRY(check(o, err));
    FR_TRY(fr__options_ask_job(&s->options, false, err));
    FR_TRY(fr__check_measured(o, err));
    if (o->store)
        FR_TRY(fr_store_open(&x.store, o->store, err));
    x.clusters = fr_search_clusters_new();
    st = x.clusters ? search_all(s, &x, err) : fr__fail_nomem(err);
    if (x.store)
        closed = fr_store_close(x.store, st == FR_OK ? err : NULL);
    if (st == FR_OK)
        st = closed;
    if (st == FR_OK)
        st = write_all(s, &x, err);
    else if (st == FR_ECANCELLED)
        write_so_far(s, &x);
    free_searches(&x);
    return st;
}
