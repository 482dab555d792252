/* study/advice/adviser.h - a search for changes that fit, between the files of this folder. */
#ifndef FR_STUDY_ADVICE_ADVISER_H
#define FR_STUDY_ADVICE_ADVISER_H

#include "base/arena.h"
#include "study/study.h"

struct adviser {
    const struct fr_setting *setting;
    struct fr_question question; /* the question, without what only costs time here */
    struct fr_context context;
    struct fr_record *record;
    struct fr__arena *arena;
    struct fr_error *err;
    uint64_t events; /* simulated so far */
    struct fr_record_advice list[FR_RECORD_MAX_ADVICE];
    size_t n;
    uint32_t n_tried;
    bool is_cut_short;
};

/* Result of a trial; fits is also false if the question cannot be answered. */
struct trial {
    bool fits, is_answered;
    bool is_overfull; /* answered without a run: what stays for the whole iteration is too much */
    double samples_per_s;
    uint64_t peak_bytes;
};

/* Tries a question; returns only failures that end the whole search. */
enum fr_status fr__advice_try(struct adviser *a, const struct fr_setting *s,
                              const struct fr_question *q, struct trial *out);
/* Adds what fits while there is room. FR_ENOMEM. */
enum fr_status fr__advice_add(struct adviser *a, const struct trial *t, const char *change,
                              const char *options, bool changes_training);

/* Tries the options of the strategy that have an advice (enum fr_option_advice), one by one and
 * two together, on top of a spec of it, and adds the fastest that fit. is_asked: the spec is the
 * user's; else the advice is to take another strategy. Fails as fr__advice_try. */
enum fr_status fr__advise_options(struct adviser *a, const struct fr_strategy *strategy,
                                  const char *spec, bool is_asked);

/* Tries the question, and where it does not fit `advise`, on more machines of the kind, then on
 * presets with more memory a GPU, and names the cluster in what it adds. Ends with the first
 * cluster of each kind on which something fits. Fails as fr__advice_try. */
enum fr_status fr__advise_machines(struct adviser *a, enum fr_status (*advise)(struct adviser *a));
#endif
