/* study/explain/explanation.h - how a strategy comes to the plan that a question asks for.
 *
 * An explanation is the strategy's record of decisions (lowering/decisions.h) with the question; of
 * a plan whose ops are split it has the run, too. results/explain.h shows it.
 */
#ifndef FORERUN_EXPLANATION_H
#define FORERUN_EXPLANATION_H

#include "study/study.h"

#ifdef __cplusplus
extern "C" {
#endif

struct fr_explanation;

/* Plans what q asks and keeps what was decided. Strings of *q belong to the caller and must live as
 * long. FR_EUSAGE: the strategy does not explain; FR_ENOROOM: it does not fit; else as
 * fr_answer. */
enum fr_status fr_explain(struct fr_explanation **out, const struct fr_question *q,
                          const struct fr_context *ctx, struct fr_error *err);
void fr_explanation_free(struct fr_explanation *e);

/* Whether ops are split over a mesh. Such a plan is explained by itself, with its run; if it is a
 * pipeline too, its schedule follows. */
bool fr_explanation_is_layout(const struct fr_explanation *e);
/* Whether it is cut into stages that a schedule runs. */
bool fr_explanation_is_pipeline(const struct fr_explanation *e);

#ifdef __cplusplus
}
#endif
#endif
