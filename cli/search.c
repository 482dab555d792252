/* cli/search.c - the best layout for a model, a cluster and a batch. */
#include "config.h"

#include "base/error.h"
#include "base/units.h"
#include "cli/cli.h"
#include "results/search_answer.h"

#include <stdio.h>
#include <string.h>

static enum fr_status read_axes(const struct options *o, struct fr_search *s, struct fr_error *err)
{
    for (size_t i = 0; i < o->n_axes; i++)
        FR_TRY(fr_search_axis(s, o->axes[i], err));
    return FR_OK;
}

static enum fr_status check(const struct options *o, struct fr_error *err)
{
    if (o->n_strategies)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "a search chooses the strategy itself; leave out -s %s, and narrow the "
                        "space with --fix, such as --fix tp=8",
                        o->strategies[0]);
    for (size_t i = 0; i < o->n_files; i++)
        FR_TRY(fr_search_check_path(o->files[i], err));
    return FR_OK;
}

static enum fr_status write_all(struct session *s, const struct fr_search *search,
                                struct fr_error *err)
{
    const struct options *o = &s->options;
    const struct fr_search_summary *m = fr_search_summary(search);
    struct cli_page page;
    const struct fr_search_results r = {.search = search,
                                        .n_shown = o->n_best,
                                        .terms = &o->terms,
                                        .is_exhaustive = o->exhaustive,
                                        .width = cli_width()};

    for (size_t i = 0; i < o->n_files; i++)
        FR_TRY(fr_search_write(o->files[i], &r, &s->context, err));
    s->status = m->n_ranked ? CLI_DONE : CLI_NO_MEMORY;
    if (o->flags_of < FR_N_FRAMEWORKS && m->n_ranked == 0)
        return fr__fail(err, FR_ENOROOM, FR_NOWHERE,
                        "no layout of the space fits, so there are no flags to print");
    if (o->flags_of < FR_N_FRAMEWORKS)
        fr_layout_print_flags(stdout, o->flags_of, &fr_search_row(search, m->ranked[0])->layout,
                              m->global_batch, m->seq_len);
    else if (o->json)
        fr_search_print_json(stdout, &r);
    if (o->json || o->flags_of < FR_N_FRAMEWORKS)
        return FR_OK;
    fr_search_print(cli_page_open(&page), &r);
    return cli_page_close(&page, err);
}

static enum fr_status search(struct session *s, struct fr_search *search, struct fr_store *store,
                             struct fr_error *err)
{
    const struct options *o = &s->options;
    const struct fr_search_options how = {.n_best = o->n_best,
                                          .within_frac = o->within_frac,
                                          .is_exhaustive = o->exhaustive,
                                          .n_threads = o->n_jobs,
                                          .store = store};
    enum fr_status st;

    FR_TRY(read_axes(o, search, err));
    st = fr_search_run(search, &o->question, &how, &s->context, err);
    cli_progress_end(s->context.progress_user);
    if (st == FR_ECANCELLED && o->store)
        return fr__fail(err, FR_ECANCELLED, FR_NOWHERE,
                        "interrupted; what was simulated op by op is in %s, and the same command "
                        "goes on from there",
                        o->store);
    return st;
}

enum fr_status cli_search(struct session *s, struct fr_error *err)
{
    const struct options *o = &s->options;
    struct fr_search *found = NULL;
    struct fr_store *store = NULL;
    enum fr_status st, closed = FR_OK;

    FR_TRY(check(o, err));
    if (o->store)
        FR_TRY(fr_store_open(&store, o->store, err));
    found = fr_search_new();
    st = found ? search(s, found, store, err) : fr__fail_nomem(err);
    if (store)
        closed = fr_store_close(store, st == FR_OK ? err : NULL);
    if (st == FR_OK)
        st = closed;
    if (st == FR_OK)
        st = write_all(s, found, err);
    fr_search_free(found);
    return st;
}
