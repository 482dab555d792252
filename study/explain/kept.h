/* study/explain/kept.h - an explanation from inside, for those who show it. */
#ifndef FR_STUDY_EXPLAIN_KEPT_H
#define FR_STUDY_EXPLAIN_KEPT_H

#include "study/explain/explanation.h"

struct fr_explanation {
    struct fr_setting setting;
    struct fr_question question;
    struct fr_option_values values;
    uint32_t *devices;        /* [problem.n_devices] */
    struct fr_clocks *clocks; /* the problem's; NULL: none are known */
    struct fr_problem problem;
    struct fr_decisions *decisions;
    struct fr_record *record; /* of a plan whose ops are split; else NULL */
};
#endif
