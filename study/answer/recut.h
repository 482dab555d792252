/* study/answer/recut.h - a model that was cut where memory allows is cut again if a run shows that
 * more is held than was believed. */
#ifndef FR_STUDY_ANSWER_RECUT_H
#define FR_STUDY_ANSWER_RECUT_H

#include "study/answer/record.h"

/* What of a question is made once a cut. */
struct fr__made_cut {
    struct fr_plan *plan, *unordered;
    struct fr_run *run;
    struct fr_decisions *decisions;
    size_t n_ordered;
    struct fr_cut_choice cut;
    char note[sizeof(((struct fr_cut_memory *)NULL)->note)];
};

/* What m has made goes over to *k, and back; who has it frees it. m is ready for another plan
 * then. */
void fr__made_cut_take(struct fr__made_cut *k, struct fr__making *m);
void fr__made_cut_give(struct fr__making *m, struct fr__made_cut *k);
void fr__made_cut_drop(struct fr__made_cut *k);

struct fr__recut {
    struct fr__making *m;
    double *more_bytes;       /* [n_devices] what was measured so far, at most */
    struct fr__made_cut best; /* of those before, that which is over by least; none: plan NULL */
    double best_over_bytes;
    unsigned n_times;
    char first[128]; /* what the first cut held, "" */
};

/* Room for what is believed, in m, which keeps it, and for what is measured. fini may follow a
 * failure. FR_ENOMEM. */
enum fr_status fr__recut_init(struct fr__recut *r, struct fr__making *m, struct fr_error *err);
void fr__recut_fini(struct fr__recut *r);
/* After a run of m: whether its plan was believed to fit, did not, and shall be made again. Then m
 * has neither plan nor run. At the end m has the plan that fits, or that is over by least. */
bool fr__recut_again(struct fr__recut *r);

#endif
