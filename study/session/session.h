/* study/session/session.h - what many questions share: topologies, graphs, costs and answers, each
 * made once.
 *
 * Sweeps, validation, advice, comparisons, learning and the papers' experiments ask through a
 * session. Any number of threads may ask the same session. Everything that a session lends
 * (settings, records) must be given back before the session is freed. Input files are read once, so
 * a session does not notice when files change.
 */
#ifndef FORERUN_SESSION_H
#define FORERUN_SESSION_H

#include "study/study.h"

#ifdef __cplusplus
extern "C" {
#endif

struct fr_session_options {
    size_t answer_bytes; /* approximate memory for answers that are kept; 0: none are kept */
};

/* o: NULL for 64 MiB of answers. NULL: out of memory. */
struct fr_session *fr_session_new(const struct fr_session_options *o);
void fr_session_free(struct fr_session *s); /* NULL is fine */

/* The setting of q: what it names, loaded or found. fr_setting_fini gives it back. Errors as
 * fr_setting_load; on failure *out is empty. */
enum fr_status fr_session_setting(struct fr_session *s, const struct fr_question *q,
                                  struct fr_setting *out, struct fr_error *err);

/* As fr_answer. An equal question that was asked before may get the same record again, which is
 * read-only; fr_record_free gives it back. Questions with tables of their own in `run` (cost_s,
 * slowness, ...) are always answered anew. */
enum fr_status fr_session_ask(struct fr_session *s, const struct fr_question *q,
                              const struct fr_context *ctx, struct fr_record **out,
                              struct fr_error *err);

struct fr_session_stats {
    size_t n_asked, n_found; /* questions; of these the ones whose answer was kept */
    size_t n_kept;           /* answers now */
};
struct fr_session_stats fr_session_stats(struct fr_session *s);

#ifdef __cplusplus
}
#endif
#endif
