/* api/verbs/manifest.h - a file that says what an answer rests on, and from which it can be asked
 * again.
 *
 * Inside: the version, the verb and its options as typed; each file that they name, with its size
 * and digest; the question's settings; where the figures of GPUs, curves, links and recipes come
 * from; and the digest of the answer as JSON, whose wall-clock times are 0. */
#ifndef FR_API_VERBS_MANIFEST_H
#define FR_API_VERBS_MANIFEST_H

#include "api/verbs/verbs.h"

/* Before a verb runs: where --manifest is given alone, takes its options from the file, and refuses
 * one of another verb, one whose inputs have changed (FR_EUSAGE, with the file's name), and what is
 * no manifest (FR_EPARSE with its place). */
enum fr_status fr__manifest_take(const struct fr__verb *v, struct fr__call *s,
                                 struct fr_error *err);
/* The same of len bytes of text, with a NUL after them; name: of places, must outlive s. */
enum fr_status fr__manifest_take_text(const struct fr__verb *v, struct fr__call *s,
                                      const char *text, size_t len, const char *name,
                                      struct fr_error *err);
/* After it: writes the file, or, of options that came from it, compares the answer with what it
 * says: FR_ECHECK if that was another one. */
enum fr_status fr__manifest_end(struct fr__call *s, struct fr_shown x, struct fr_error *err);

/* ---- manifest_inputs.c ---- */

/* A file that the options name. */
struct fr__input {
    const char *path;
    uint64_t bytes, digest;
};
/* Each once, in the order of the options; those of a folder by their names. *out lives in the
 * arena. FR_EIO, FR_ENOMEM. */
enum fr_status fr__manifest_inputs(const struct fr__options *o, struct fr__arena *arena,
                                   const struct fr__input **out, size_t *n, struct fr_error *err);

/* ---- manifest_sources.c ---- */

/* Where the numbers of a question come from, as the list "sources" of the object that is open. */
enum fr_status fr__manifest_sources(struct fr__json *j, const struct fr__options *o,
                                    struct fr_error *err);
#endif
