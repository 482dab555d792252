/* results/document/fit.c - one screen about a job: whether it fits and why not, its time, the
 * layouts near it that take less, and their arguments. */
#include "config.h"

#include "results/document/builders.h"
#include "results/document/record.h"

#include "base/text.h"
#include "base/units.h"
#include "results/parts/cells.h"
#include "results/parts/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER = 40 };

static void say_verdict(struct fr__document *doc, const struct fr_record *r)
{
    char bytes[NUMBER], capacity[NUMBER];

    if (r->oom)
        fr__say(doc, "does not fit: %s lacks %s of its %s%s%s\n", r->oom_why.device,
                fr__format_bytes((double)r->oom_why.over_bytes, bytes, sizeof(bytes)),
                fr__format_bytes((double)r->oom_why.capacity_bytes, capacity, sizeof(capacity)),
                r->oom_why.phase ? "; it is full first in a pass: " : "",
                r->oom_why.phase ? r->oom_why.phase : "");
    else
        fr__say(doc, "fits: the fullest GPU, %s, takes %s of its %s\n",
                r->peak_device ? r->peak_device : "none",
                fr__format_bytes((double)r->peak_bytes, bytes, sizeof(bytes)),
                fr__format_bytes((double)r->peak_capacity_bytes, capacity, sizeof(capacity)));
}

/* ---- memory ---- */

struct memory {
    const struct fr_record *record;
    enum fr_buffer_kind kinds[FR_N_BUFFER_KINDS]; /* [n] that it holds */
    size_t n;
    double capacity_bytes;
};

static void fill_memory(const void *user, size_t i, struct fr__table_row *row)
{
    const struct memory *m = user;
    double bytes = (double)m->record->peak.memory_bytes[m->kinds[i]];

    fr__table_text(row->cell[0], fr_buffer_kind_name(m->kinds[i]));
    fr__format_bytes(bytes, row->cell[1], NUMBER);
    if (m->capacity_bytes > 0)
        fr__percent(bytes / m->capacity_bytes, row->cell[2], NUMBER);
}

static void say_memory(struct fr__document *doc, const struct fr_record *r)
{
    static const struct fr__table_column columns[] = {
        {"held there", false}, {"memory", true}, {"of the GPU", true}};
    struct memory m = {.record = r,
                       .capacity_bytes =
                           (double)(r->oom ? r->oom_why.capacity_bytes : r->peak_capacity_bytes)};

    for (int k = 0; k < FR_N_BUFFER_KINDS; k++)
        if (r->peak.memory_bytes[k] > 0)
            m.kinds[m.n++] = (enum fr_buffer_kind)k;
    fr__say(doc, "\n");
    fr__say_table(doc, &(struct fr__table){columns, 3, m.n, fill_memory, &m}, 0);
}

/* ---- time ---- */

static void say_time(struct fr__document *doc, const struct fr_record *r)
{
    char time[NUMBER], range[FR__TABLE_CELL], rate[FR__TABLE_CELL], each[FR__TABLE_CELL];

    fr__say(doc, "\na step takes %s", fr__format_time(r->iteration_s, time, sizeof(time)));
    if (r->oom)
        fr__say(doc, ", if only it fitted");
    else if (r->interval.is_known) {
        fr__range_cell(range, r->interval.low_s, r->interval.high_s);
        fr__say(doc, "; 90 %% of measured steps like it: %s", range);
    }
    fr__rate_cell(rate, r->tokens_per_sample ? r->tokens_per_s : r->samples_per_s);
    fr__rate_cell(each,
                  (r->tokens_per_sample ? r->tokens_per_s : r->samples_per_s) / (double)r->n_gpus);
    fr__say(doc, "\n%s %s a second, %s a GPU", rate, r->tokens_per_sample ? "tokens" : "samples",
            each);
    if (r->mfu > 0)
        fr__say(doc, "; MFU %s", fr__percent(r->mfu, time, sizeof(time)));
    fr__say(doc, "\n");
}

/* ---- layouts near it ---- */

static const struct fr_search_row *near_row(const struct fr_fit_answer *a, size_t i)
{
    return fr_search_row(a->near->search, fr_search_summary(a->near->search)->ranked[i]);
}

static size_t count_near(const struct fr_fit_answer *a)
{
    size_t n = fr_search_summary(a->near->search)->n_ranked;

    return n < a->near->n_shown ? n : a->near->n_shown;
}

static void fill_near(const void *user, size_t i, struct fr__table_row *row)
{
    const struct fr_fit_answer *a = user;
    const struct fr_search_row *x = near_row(a, i);
    char text[FR_LAYOUT_TEXT];
    size_t k = 1;

    fr__format_time(x->exact_s, row->cell[0], FR__TABLE_CELL);
    if (!a->refused)
        fr__change_cell(row->cell[k++], x->exact_s / a->results->records[0]->iteration_s - 1);
    fr__format_bytes(x->exact_bytes, row->cell[k], FR__TABLE_CELL);
    fr__table_text(row->cell[k + 1], fr_layout_text(&x->layout, text));
}

/* The arguments of the first, as the framework has them. */
static void say_flags(struct fr__document *doc, const struct fr_fit_answer *a)
{
    const struct fr_search_summary *m = fr_search_summary(a->near->search);
    const struct fr_flags_job job = {m->global_batch, m->seq_len, m->n_layers, m->optimizer};
    char *text = NULL;
    size_t len;
    FILE *f;

    if (a->flags_of >= FR_N_FRAMEWORKS || !(f = fr__text_open(&text, &len)))
        return;
    fr_layout_print_flags(f, a->flags_of, &near_row(a, 0)->layout, &job);
    if (!fr__text_close(f, &text))
        return;
    fr__say(doc, "\nthe first of them, to paste:\n");
    fr__say_drawn(doc);
    fr__say(doc, "%s", text);
    fr__say_plain(doc);
    free(text);
}

static void say_near(struct fr__document *doc, const struct fr_fit_answer *a)
{
    static const struct fr__table_column columns[] = {
        {"time", true}, {"than the job", true}, {"memory", true}, {"layout", false}};
    static const struct fr__table_column alone[] = {
        {"time", true}, {"memory", true}, {"layout", false}};
    size_t n = count_near(a);

    if (n == 0) {
        fr__say(doc, "\nno layout near it fits; 'forerun search --job' looks among all\n");
        return;
    }
    fr__say(doc, "\nlayouts near it, each degree at most twice or half of the job's:\n");
    if (a->is_narrow)
        fr__say(doc,
                "(the plan is large: only degrees that take less memory, and half the micro-batch; "
                "'forerun search --job' looks among all)\n");
    if (a->refused)
        fr__say_table(doc, &(struct fr__table){alone, 3, n, fill_near, a}, 0);
    else
        fr__say_table(doc, &(struct fr__table){columns, 4, n, fill_near, a}, 0);
    say_flags(doc, a);
}

/* The job's own layout cannot be planned. */
static void say_refused(struct fr__document *doc, const struct fr_fit_answer *a)
{
    const struct fr_search_summary *m = fr_search_summary(a->near->search);

    fr__say(doc, "%s on %zu GPUs of %s, global batch %u\n\n", m->workload, m->n_gpus, m->topology,
            m->global_batch);
    fr__say(doc, "cannot be planned in the job's layout: %s\n", a->refused);
}

enum fr_status fr__document_of_fit(struct fr__document *doc, const void *what, struct fr_error *err)
{
    const struct fr_fit_answer *a = what;
    const struct fr_record *r = a->refused ? NULL : a->results->records[0];

    fr__put_job(doc, a->results->job);
    if (!r) {
        say_refused(doc, a);
        say_near(doc, a);
        return fr__document_check(doc, err);
    }
    fr__record_put_question(doc, r, true);
    say_verdict(doc, r);
    say_memory(doc, r);
    say_time(doc, r);
    fr__record_put_run(doc, r, a->results->terms);
    say_near(doc, a);
    return fr__document_check(doc, err);
}
