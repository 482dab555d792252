/* study/question/refuse_code.c - what a question that stands in a file may not ask for.
 *
 * It is separate because every reader of questions needs it: rows of a table, answers whose
 * question is asked again, manifests.
 */
#include "config.h"

#include "base/error.h"
#include "strategies/plugin.h"
#include "study/interval/measured.h"

enum fr_status fr_question_refuse_code(const struct fr_question *q, struct fr_loc loc,
                                       struct fr_error *err)
{
    const char *const strategies[] = {q->strategy, q->measured_strategy,
                                      fr__measured_strategy(q->measured)};

    for (size_t i = 0; i < sizeof(strategies) / sizeof(strategies[0]); i++)
        if (strategies[i])
            FR_TRY(fr__plugin_refuse(strategies[i], loc, err));
    return FR_OK;
}
