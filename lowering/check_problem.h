/* lowering/check_problem.h - what every strategy asks of a problem before it plans. */
#ifndef FR_LOWERING_CHECK_PROBLEM_H
#define FR_LOWERING_CHECK_PROBLEM_H

#include "lowering/lowering.h"

/* FR_EUSAGE unless there is a device and a sample. */
enum fr_status fr__check_problem(const struct fr_problem *in, struct fr_error *err);
#endif
