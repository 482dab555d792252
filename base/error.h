/* base/error.h - how a function inside the library reports a failure. */
#ifndef FR_BASE_ERROR_H
#define FR_BASE_ERROR_H

#include "base/base.h"

#if defined(__GNUC__)
#define FR_PRINTF(fmt, first) __attribute__((format(printf, fmt, first)))
#else
#define FR_PRINTF(fmt, first)
#endif

/* Passes a failed status on. */
#define FR_TRY(call)                                                                               \
    do {                                                                                           \
        enum fr_status fr_try_status_ = (call);                                                    \
        if (fr_try_status_ != FR_OK)                                                               \
            return fr_try_status_;                                                                 \
    } while (0)

#define FR_NOWHERE ((struct fr_loc){NULL, 0, 0})

/* Fills *err (may be NULL) and returns code. The finished sentence is printable (base/printable.h),
 * so that no input reaches a terminal raw. */
enum fr_status fr__fail(struct fr_error *err, enum fr_status code, struct fr_loc loc,
                        const char *fmt, ...) FR_PRINTF(4, 5);

/* The start of text, for quoting input in a message: whole when it is short, else cut between two
 * characters, with "..." after it. Returns buf. */
enum { FR__EXCERPT = 64 };
const char *fr__excerpt(const char *text, char buf[FR__EXCERPT]);

/* "out of memory", FR_ENOMEM. */
enum fr_status fr__fail_nomem(struct fr_error *err);

/* The name in names[0..n) (or up to a NULL) nearest to `word` by edit distance (swapped
 * neighbours are one edit), if near enough to be a slip of the finger (at most a third of its
 * length, at least 1, and not every character another); else NULL. */
const char *fr__nearest(const char *word, const char *const names[], size_t n);

/* ", did you mean 'NAME'?" into buf, or "" when nothing is near; returns buf. Names that go on
 * where a word of three letters or more ends ("gpt2" and gpt2-small) come before the nearest, but
 * for one that lacks its last letter alone. */
const char *fr__did_you_mean(const char *word, const char *const names[], size_t n, char *buf,
                             size_t buf_size);
#endif
