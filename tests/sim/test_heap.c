/* tests/sim/test_heap.c - the event queue against sorting. */
#include "config.h"

#include "base/rng.h"
#include "sim/heap.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <stdlib.h>

enum { MOST = 3000 };

/* By time, then id, then what: the order that sim/heap.h promises, whoever was pushed first. */
struct entry {
    double t_s;
    uint32_t id, what;
};

static int compare(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;

    if (x->t_s != y->t_s)
        return x->t_s < y->t_s ? -1 : 1;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return x->what < y->what ? -1 : x->what > y->what;
}

static uint32_t below(struct fr__rng *rng, uint32_t n)
{
    return (uint32_t)fr__rng_below(rng, n);
}

/* Few times, so that many are equal. */
static struct entry draw(struct fr__rng *rng)
{
    return (struct entry){below(rng, 50) * 0.125, below(rng, 100), below(rng, 1000)};
}

static struct entry read(struct fr__event e)
{
    return (struct entry){fr__event_time(e), fr__event_id(e), fr__event_what(e)};
}

TEST(events_come_out_sorted_whatever_their_number)
{
    struct entry entries[MOST];
    struct fr__rng rng;

    for (uint32_t n = 0; n < 200; n++) {
        struct fr__heap h = {NULL, 0, 0};
        uint32_t total = n < 199 ? n : MOST;

        fr__rng_init(&rng, n, 0);
        for (uint32_t i = 0; i < total; i++) {
            entries[i] = draw(&rng);
            ck_assert(fr__heap_push(&h, entries[i].t_s, entries[i].id, entries[i].what));
        }
        qsort(entries, total, sizeof(*entries), compare);
        for (uint32_t i = 0; i < total; i++) {
            struct entry top = read(fr__heap_top(&h)), popped = read(fr__heap_pop(&h));

            if (compare(&top, &entries[i]) || compare(&popped, &entries[i]))
                ck_abort_msg("%u of %u comes out wrong", i, total);
        }
        ck_assert_uint_eq(h.n, 0);
        fr__heap_fini(&h);
    }
}

/* A queue in use: pops, pushes and both at once in turn, against the least of a plain list. */
TEST(the_first_event_is_the_least_at_any_time)
{
    struct fr__heap h = {NULL, 0, 0};
    struct entry list[64];
    struct fr__rng rng;
    uint32_t n = 0;

    fr__rng_init(&rng, 1, 0);
    for (uint32_t step = 0; step < 20000; step++) {
        struct entry e = draw(&rng), out;
        uint32_t what = below(&rng, 3), least = 0;

        for (uint32_t i = 1; i < n; i++)
            if (compare(&list[i], &list[least]) < 0)
                least = i;
        if (n < 64 && (n == 0 || what == 0)) {
            ck_assert(fr__heap_push(&h, e.t_s, e.id, e.what));
            list[n++] = e;
            continue;
        }
        out = read(fr__heap_pop(&h));
        if (what == 1)
            ck_assert(fr__heap_push(&h, e.t_s, e.id, e.what));
        if (compare(&out, &list[least]))
            ck_abort_msg("step %u gives not the least", step);
        list[least] = what == 1 ? e : list[--n];
    }
    fr__heap_fini(&h);
}

int main(void)
{
    TCase *c = tcase_create("heap");

    add_tests(c);
    return run_case(c, "sim/heap");
}
