/* papers/fastt/learn.c - pre-training for FastT's experiments: costs learned round by round on the
 * simulated cluster. */
#include "config.h"

#include "papers/runner/asks.h"

#include "base/error.h"
#include "study/answer/learn.h"

#include <math.h>

enum fr_status fr__ask_learn(const struct fr__ask *a, const struct fr__field **out,
                             struct fr_error *err)
{
    static const char *const others[] = {"rounds", NULL};
    struct fr_context quiet = a->ctx ? *a->ctx : (struct fr_context){0};
    struct fr__field fields[] = {{"iteration_s", {.number = INFINITY}},
                                 {"n_rounds", {.number = 0}},
                                 {"n_splits", {.number = 0}},
                                 {"is_first", {.number = 1}},
                                 {"has_converged", {.number = 0}}};
    struct fr_learn_options o;
    struct fr_learning *l;
    struct fr_question q;
    enum fr_status st;

    quiet.progress = NULL; /* the experiments' own is shown */
    fr_learn_options_init(&o);
    FR_TRY(fr__ask_count(a, "rounds", 1000, &o.rounds, err));
    FR_TRY(fr__ask_settings(a, others, &q, err));
    st = fr_learn(&l, &q, &o, &quiet, err);
    if (st == FR_OK) {
        fields[0].value.number = l->in_use_s;
        fields[1].value.number = (double)(l->n_rounds - 1);
        fields[2].value.number = (double)l->n_splits;
        fields[3].value.number = l->n_rounds == 0 || l->rounds[l->n_rounds - 1].in_use == 0;
        fields[4].value.number = l->has_converged;
        fr_learning_free(l);
    }
    return st == FR_OK || st == FR_ENOROOM
               ? fr__ask_answer(a, fields, sizeof(fields) / sizeof(fields[0]), out, err)
               : st;
}
