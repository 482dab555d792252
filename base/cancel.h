/* base/cancel.h - reads the flag that ends long work (struct fr_context). */
#ifndef FR_BASE_CANCEL_H
#define FR_BASE_CANCEL_H

#include <stdbool.h>

/* Whether another thread, or a handler of a signal, has set it; NULL: nobody can. */
static inline bool fr__flag_is_set(const volatile int *flag)
{
    return flag && __atomic_load_n(flag, __ATOMIC_RELAXED) != 0;
}
#endif
