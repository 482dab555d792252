/* results/data/fit.c - whether a job fits, and the layouts near it, as JSON. */
#include "config.h"

#include "base/text.h"
#include "results/data/data.h"

#include <stdlib.h>

/* The arguments of the best layout near the job's; null: there are none. */
static void write_flags(struct fr__json *j, const struct fr_fit_answer *a)
{
    const struct fr_search_summary *m = fr_search_summary(a->near->search);
    const struct fr_flags_job job = {m->global_batch, m->seq_len, m->n_layers, m->optimizer};
    char *text = NULL;
    size_t len;
    FILE *f;

    if (a->flags_of >= FR_N_FRAMEWORKS || m->n_ranked == 0) {
        fr__json_null(j, "flags");
        return;
    }
    f = fr__text_open(&text, &len);
    if (f)
        fr_layout_print_flags(f, a->flags_of, &fr_search_row(a->near->search, m->ranked[0])->layout,
                              &job);
    if (f && fr__text_close(f, &text))
        fr__json_string(j, "flags", text);
    free(text);
}

void fr__fit_json(FILE *f, const void *what)
{
    const struct fr_fit_answer *a = what;
    const struct fr_record *r = a->refused ? NULL : a->results->records[0];
    struct fr__json j;

    fr__json_init(&j, f);
    fr__json_open(&j, NULL, '{', false);
    fr__json_bool(&j, "fits", r && !r->oom);
    if (r) {
        fr__record_write_json(&j, "answer", r, a->results->terms);
    } else {
        fr__json_string(&j, "refused", a->refused);
        fr__json_null(&j, "answer");
    }
    fr__search_write_ranked(&j, "near", a->near);
    write_flags(&j, a);
    fr__job_write_json(&j, a->results->job);
    fr__json_close(&j, '}');
    putc('\n', f);
}
