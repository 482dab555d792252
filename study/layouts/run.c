/* study/layouts/run.c - from all layouts of a space to the best ones: what cannot fit goes first,
 * then what a bound excludes; what is left is evaluated coarsely, the most promising first.
 *
 * Work is cut into rounds of a fixed size, and what is excluded changes between rounds only, so the
 * answer is the same for any number of threads.
 */
#include "config.h"

#include "study/layouts/state.h"

#include "base/crew.h"
#include "base/error.h"
#include "study/answer/record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROUND = 64 }; /* layouts that are evaluated before the limit is looked at again */

struct running {
    struct fr_search *s;
    const struct fr_search_options *o;
    const struct fr_context *ctx;
    struct fr__prices *p;
    size_t *order; /* [n_order] rows by their bound */
    size_t n_order, first;
    double *best_s; /* [n_best] the shortest times so far, shortest first */
    size_t n_best;
};

static void show(const struct running *r, const char *what, size_t done, size_t total)
{
    if (r->ctx->progress)
        r->ctx->progress(r->ctx->progress_user, what, done, total);
}

/* ---- what must fit ---- */

static void check_kept(struct running *r)
{
    for (size_t i = 0; i < r->s->n_rows; i++) {
        struct fr_search_row *row = &r->s->rows[i];
        double over;

        if (row->fate != FR_LAYOUT_PENDING)
            continue;
        over = fr__kept_at_least(&r->s->job, &row->layout) - r->s->job.capacity_bytes;
        if (over > 0) {
            row->fate = FR_LAYOUT_KEPT;
            row->over_bytes = over;
        }
    }
}

/* The block that stands for a layout's memory: of one sample a micro-batch. */
static struct fr_search_layout sample_key(const struct fr_search_layout *l)
{
    struct fr_search_layout key = fr__block_key(l);

    key.micro = 1;
    return key;
}

static enum fr_status price(struct running *r, struct fr_error *err)
{
    return fr__prices_run(r->p, &r->s->job, r->o->n_threads, r->ctx, err);
}

static bool want(struct running *r, enum fr__probe_kind kind, struct fr_search_layout key)
{
    return fr__prices_want(r->p, kind, &key);
}

/* A price of a row; a failure becomes the row's fate. NULL: failed. */
static const struct fr__probe *priced(struct running *r, struct fr_search_row *row,
                                      enum fr__probe_kind kind, struct fr_search_layout key)
{
    const struct fr__probe *p = fr__prices_find(r->p, kind, &key);

    if (p && p->status == FR_OK)
        return p;
    row->fate = FR_LAYOUT_REFUSED;
    row->why = p ? p->why : "";
    return NULL;
}

static enum fr_status each_pending(struct running *r, bool is_pipelined,
                                   enum fr_status (*work)(struct running *r, size_t row,
                                                          struct fr_error *err),
                                   struct fr_error *err)
{
    for (size_t i = 0; i < r->s->n_rows; i++)
        if (r->s->rows[i].fate == FR_LAYOUT_PENDING &&
            (r->s->rows[i].layout.pp > 1) == is_pipelined)
            FR_TRY(work(r, i, err));
    return FR_OK;
}

static enum fr_status want_memory(struct running *r, size_t i, struct fr_error *err)
{
    struct fr_search_row *row = &r->s->rows[i];

    if (row->layout.pp > 1 && row->layout.zero > 1) {
        row->fate = FR_LAYOUT_REFUSED;
        row->why = "zero=2 and zero=3 are searched with pp=1";
        return FR_OK;
    }
    if (!want(r, FR__PROBE_BLOCK, sample_key(&row->layout)) ||
        (row->layout.pp > 1 && !want(r, FR__PROBE_MESH, fr__mesh_key(&row->layout))))
        return fr__fail_nomem(err);
    return FR_OK;
}

/* Coarse bytes are those of the tensors, an allocator's own come on top: over 120 random layouts
 * with all schedules they lie 0 to 11 % below the run op by op, never above. The margin is for
 * layouts that these had none of. */
static const double MARGIN = 0.01;

static void say_overfull(struct running *r, struct fr_search_row *row, double bytes, uint32_t rank)
{
    double capacity = r->s->job.capacity_bytes, over = bytes - capacity;

    row->coarse_bytes = bytes;
    if (over <= MARGIN * capacity)
        return;
    row->fate = FR_LAYOUT_MEMORY;
    row->over_bytes = over;
    row->device = rank;
}

static enum fr_status check_pipeline(struct running *r, size_t i, struct fr_error *err)
{
    struct fr_search_row *row = &r->s->rows[i];
    const struct fr__probe *block = priced(r, row, FR__PROBE_BLOCK, sample_key(&row->layout));
    const struct fr__probe *mesh =
        block ? priced(r, row, FR__PROBE_MESH, fr__mesh_key(&row->layout)) : NULL;
    double bytes = 0;
    uint32_t rank = 0;
    enum fr_status st;

    if (!mesh)
        return FR_OK;
    st = fr__coarse_bytes(
        &(struct fr__coarse){&row->layout, &block->block, &mesh->mesh, row->layout.micro}, &bytes,
        &rank, err);
    if (st == FR_EUSAGE) {
        row->fate = FR_LAYOUT_SCHEDULE;
        return FR_OK;
    }
    if (st == FR_OK)
        say_overfull(r, row, bytes, rank);
    return st;
}

/* One stage keeps all activations of a micro-batch. */
static enum fr_status check_one_stage(struct running *r, size_t i, struct fr_error *err)
{
    struct fr_search_row *row = &r->s->rows[i];
    const struct fr__probe *block = priced(r, row, FR__PROBE_BLOCK, sample_key(&row->layout));
    double bytes;

    (void)err;
    if (!block)
        return FR_OK;
    bytes = fr__kept_at_least(&r->s->job, &row->layout);
    for (size_t k = 0; k < block->block.n_items; k++)
        bytes += block->block.kept_bytes[k] * row->layout.micro;
    say_overfull(r, row, bytes, 0);
    return FR_OK;
}

static enum fr_status check_memory(struct running *r, struct fr_error *err)
{
    check_kept(r);
    FR_TRY(each_pending(r, true, want_memory, err));
    FR_TRY(each_pending(r, false, want_memory, err));
    FR_TRY(price(r, err));
    FR_TRY(each_pending(r, true, check_pipeline, err));
    return each_pending(r, false, check_one_stage, err);
}

/* ---- pipelines ---- */

static enum fr_status want_block(struct running *r, size_t i, struct fr_error *err)
{
    return want(r, FR__PROBE_BLOCK, fr__block_key(&r->s->rows[i].layout)) ? FR_OK
                                                                          : fr__fail_nomem(err);
}

/* false: a price failed, which the row says. */
static bool coarse_of(struct running *r, struct fr_search_row *row, struct fr__coarse *out)
{
    const struct fr__probe *block = priced(r, row, FR__PROBE_BLOCK, fr__block_key(&row->layout));
    const struct fr__probe *mesh =
        block ? priced(r, row, FR__PROBE_MESH, fr__mesh_key(&row->layout)) : NULL;

    if (mesh)
        *out = (struct fr__coarse){&row->layout, &block->block, &mesh->mesh, 1};
    return mesh != NULL;
}

static enum fr_status bound_pipeline(struct running *r, size_t i, struct fr_error *err)
{
    struct fr_search_row *row = &r->s->rows[i];
    struct fr__coarse c;

    if (!coarse_of(r, row, &c))
        return FR_OK;
    FR_TRY(fr__coarse_bound(&c, &row->bound_s, err));
    r->order[r->n_order++] = i;
    return FR_OK;
}

/* Micro-batches run one after another, each with the messages of its own tensor group that its ops
 * wait for; only what follows the last op may be hidden by the next micro-batch. */
static enum fr_status bound_one_stage(struct running *r, size_t i, struct fr_error *err)
{
    struct fr_search_row *row = &r->s->rows[i];
    const struct fr__probe *block = priced(r, row, FR__PROBE_BLOCK, fr__block_key(&row->layout));

    (void)err;
    if (!block)
        return FR_OK;
    row->bound_s = row->layout.n_micros * block->block.path_s;
    r->order[r->n_order++] = i;
    return FR_OK;
}

static int by_bound(const void *a, const void *b, const struct fr_search_row *rows)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;

    if (rows[x].bound_s != rows[y].bound_s)
        return rows[x].bound_s < rows[y].bound_s ? -1 : 1;
    return (x > y) - (x < y);
}

/* Merge sort: qsort takes no user's pointer. scratch: [n]. */
static void sort_order(size_t order[], size_t n, size_t scratch[], const struct fr_search_row *rows)
{
    size_t half = n / 2, a = 0, b = half;

    if (n < 2)
        return;
    sort_order(order, half, scratch, rows);
    sort_order(order + half, n - half, scratch, rows);
    for (size_t i = 0; i < n; i++) {
        bool left = b == n || (a < half && by_bound(&order[a], &order[b], rows) <= 0);

        scratch[i] = left ? order[a++] : order[b++];
    }
    memcpy(order, scratch, n * sizeof(*order));
}

static enum fr_status replay_row(void *user, unsigned thread, size_t job, struct fr_error *err)
{
    struct running *r = user;
    struct fr_search_row *row = &r->s->rows[r->order[r->first + job]];
    struct fr__coarse c;
    enum fr_status st;

    (void)thread;
    if (row->layout.pp == 1 || !coarse_of(r, row, &c))
        return FR_OK;
    st = fr__coarse_time(&c, &row->coarse_s, err);
    if (st != FR_EUSAGE)
        return st;
    row->fate = FR_LAYOUT_SCHEDULE;
    return FR_OK;
}

/* A whole layout in few micro-batches, and the same again for each further one. */
static void read_direct(struct running *r, struct fr_search_row *row)
{
    const struct fr__probe *p = priced(r, row, FR__PROBE_DIRECT, fr__direct_key(&row->layout));
    const struct fr__direct *d;
    uint32_t n = row->layout.n_micros;

    if (!p)
        return;
    d = &p->direct;
    row->coarse_s = d->time_s[0];
    if (n > 2)
        row->coarse_s = d->time_s[1] + (n - 3) * (d->time_s[1] - d->time_s[0]);
    say_overfull(r, row, d->bytes, 0);
}

/* A time that is longer is of no interest: neither among the best, nor close to them. */
static double limit_s(const struct running *r)
{
    if (r->n_best < r->o->n_best)
        return INFINITY;
    return fmax(r->best_s[r->n_best - 1], r->best_s[0] * (1 + r->o->within_frac));
}

static void note_time(struct running *r, double s)
{
    size_t at = r->n_best;

    if (at < r->o->n_best)
        r->n_best++;
    else if (r->best_s[--at] <= s)
        return;
    while (at > 0 && r->best_s[at - 1] > s) {
        r->best_s[at] = r->best_s[at - 1];
        at--;
    }
    r->best_s[at] = s;
}

static void take_round(struct running *r, size_t n)
{
    for (size_t i = r->first; i < r->first + n; i++) {
        struct fr_search_row *row = &r->s->rows[r->order[i]];

        if (row->layout.pp == 1)
            read_direct(r, row);
        if (row->fate != FR_LAYOUT_PENDING)
            continue;
        row->fate = FR_LAYOUT_COARSE;
        r->s->summary.n_replayed++;
        note_time(r, row->coarse_s);
    }
}

static enum fr_status run_round(struct running *r, size_t n, struct fr_error *err)
{
    struct fr__crew crew = {.n_jobs = n, .user = r, .work = replay_row, .cancel = r->ctx->cancel};

    for (size_t i = r->first; i < r->first + n; i++) {
        const struct fr_search_layout *l = &r->s->rows[r->order[i]].layout;

        if (l->pp == 1 && !want(r, FR__PROBE_DIRECT, fr__direct_key(l)))
            return fr__fail_nomem(err);
    }
    FR_TRY(price(r, err));
    crew.n_threads = fr__crew_size(r->o->n_threads, n);
    FR_TRY(fr__crew_run(&crew, err));
    take_round(r, n);
    show(r, "layouts", r->first + n, r->n_order);
    return FR_OK;
}

/* The rows in order, round by round, until the bounds of all that are left are above the limit. */
static enum fr_status evaluate(struct running *r, struct fr_error *err)
{
    while (r->first < r->n_order) {
        size_t n = r->n_order - r->first < ROUND ? r->n_order - r->first : ROUND;

        while (n > 0 && !r->o->is_exhaustive &&
               r->s->rows[r->order[r->first + n - 1]].bound_s > limit_s(r))
            n--;
        if (n == 0)
            break;
        FR_TRY(run_round(r, n, err));
        r->first += n;
    }
    for (size_t i = r->first; i < r->n_order; i++)
        if (r->s->rows[r->order[i]].fate == FR_LAYOUT_PENDING)
            r->s->rows[r->order[i]].fate = FR_LAYOUT_BOUNDED;
    return FR_OK;
}

static enum fr_status search_kind(struct running *r, bool is_pipelined, struct fr_error *err)
{
    size_t *scratch;

    r->n_order = r->first = 0;
    FR_TRY(each_pending(r, is_pipelined, want_block, err));
    FR_TRY(price(r, err));
    FR_TRY(each_pending(r, is_pipelined, is_pipelined ? bound_pipeline : bound_one_stage, err));
    scratch = malloc((r->n_order + 1) * sizeof(*scratch));
    if (!scratch)
        return fr__fail_nomem(err);
    sort_order(r->order, r->n_order, scratch, r->s->rows);
    free(scratch);
    return evaluate(r, err);
}

static void sum_up(struct running *r)
{
    struct fr_search *s = r->s;
    struct fr_search_summary *m = &s->summary;

    m->workload = s->job.setting.graph->name;
    m->topology = s->job.setting.topo->name;
    m->global_batch = s->job.global_batch;
    m->seq_len = s->job.setting.graph->seq_len;
    m->n_gpus = s->job.n_gpus;
    m->n_layers = s->job.n_units;
    m->optimizer = s->job.q.optimizer;
    m->capacity_bytes = s->job.capacity_bytes;
    m->n_rows = s->n_rows;
    m->n_priced = r->p->n;
    for (size_t i = 0; i < s->n_rows; i++)
        m->n[s->rows[i].fate]++;
}

static size_t count(const struct fr_search *s, enum fr_layout_fate fate)
{
    size_t n = 0;

    for (size_t i = 0; i < s->n_rows; i++)
        n += s->rows[i].fate == fate;
    return n;
}

/* The best times are those of layouts that fit, as far as is known; what was bounded away by others
 * is looked at again. */
static void reopen(struct running *r)
{
    r->n_best = 0;
    for (size_t i = 0; i < r->s->n_rows; i++) {
        struct fr_search_row *row = &r->s->rows[i];

        if (row->fate == FR_LAYOUT_COARSE || row->fate == FR_LAYOUT_EXACT)
            note_time(r, row->coarse_s);
        else if (row->fate == FR_LAYOUT_BOUNDED)
            row->fate = FR_LAYOUT_PENDING;
    }
}

/* Again while layouts that seemed good turn out not to fit. */
static enum fr_status find_best(struct running *r, struct fr_error *err)
{
    size_t n_oom;

    do {
        n_oom = count(r->s, FR_LAYOUT_OOM);
        reopen(r);
        FR_TRY(search_kind(r, true, err));
        FR_TRY(search_kind(r, false, err));
        FR_TRY(fr__referee(r->s, r->o, r->ctx, err));
    } while (count(r->s, FR_LAYOUT_OOM) > n_oom);
    return FR_OK;
}

/* A search that is interrupted sums up what it has. */
static enum fr_status search(struct running *r, struct fr_error *err)
{
    enum fr_status st, ranked;

    FR_TRY(fr__space_list(r->s, err));
    if (r->s->n_rows == 0)
        return fr__space_fail_empty(r->s, err);
    r->order = malloc((r->s->n_rows + 1) * sizeof(*r->order));
    if (!r->order)
        return fr__fail_nomem(err);
    st = check_memory(r, err);
    if (st == FR_OK)
        st = find_best(r, err);
    if (st != FR_OK && st != FR_ECANCELLED)
        return st;
    sum_up(r);
    ranked = fr__search_rank(r->s, st == FR_OK ? err : NULL);
    return st == FR_OK ? ranked : st;
}

/* ---- the object ---- */

struct fr_search *fr_search_new(void)
{
    struct fr_search *s = calloc(1, sizeof(*s));

    if (!s)
        return NULL;
    s->arena = fr__arena_new();
    s->prices = calloc(1, sizeof(*s->prices));
    if (s->arena && s->prices)
        return s;
    fr_search_free(s);
    return NULL;
}

void fr_search_free(struct fr_search *s)
{
    if (!s)
        return;
    fr__prices_free(s->prices);
    fr_setting_fini(&s->job.setting);
    fr_session_free(s->job.session);
    fr__arena_free(s->arena);
    free(s->rows);
    free(s);
}

enum fr_status fr_search_run(struct fr_search *s, const struct fr_question *q,
                             const struct fr_search_options *o, const struct fr_context *ctx,
                             struct fr_error *err)
{
    const struct fr_context nothing = {0};
    struct running r = {.s = s, .o = o, .ctx = ctx ? ctx : &nothing};
    enum fr_status st;

    r.p = s->prices;
    r.best_s = fr__arena_alloc(s->arena, o->n_best + 1, sizeof(*r.best_s));
    if (!r.best_s)
        return fr__fail_nomem(err);
    FR_TRY(fr__job_make(s, q, err));
    if (o->prices)
        FR_TRY(fr_prices_check_topo(o->prices, s->job.setting.topo, err));
    if (s->job.n_units == 0)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "'%s' has no layers that repeat, so its layouts cannot be searched; "
                        "compare strategies with 'forerun compare'",
                        s->job.setting.graph->name);
    st = search(&r, err);
    free(r.order);
    return st;
}

const struct fr_search_row *fr_search_row(const struct fr_search *s, size_t i)
{
    return i < s->n_rows ? &s->rows[i] : NULL;
}

const struct fr_search_summary *fr_search_summary(const struct fr_search *s)
{
    return &s->summary;
}
