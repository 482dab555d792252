/* study/owned_record.h - a record with what it was made of: plan, run, decisions, memory, and the
 * inputs or the session that must live as long.
 *
 * Sessions keep records and give them to several askers, so a record counts its owners. It is
 * separate from what fills records in (study/answer/), because sessions only keep and release them.
 */
#ifndef FR_STUDY_OWNED_RECORD_H
#define FR_STUDY_OWNED_RECORD_H

#include "study/study.h"

#include <stdatomic.h>

struct fr__arena;

/* The record comes first, so that its priv leads back here. */
struct fr__owned_record {
    struct fr_record record;
    struct fr__arena *arena;
    struct fr_plan *plan;
    struct fr_run *run;
    struct fr_decisions *decisions;
    struct fr_setting setting; /* released if there is how */
    void (*release_setting)(struct fr_setting *s);
    struct fr_session *session;
    void (*release_session)(struct fr_session *s);
    atomic_uint n_owners;
};

/* An empty record with one owner, which is to own plan and run; the caller fills it in. NULL: out
 * of memory. */
struct fr__owned_record *fr__owned_record_new(struct fr_plan *plan, struct fr_run *run);
/* Releases a record that could not be filled in; plan and run stay the caller's. */
void fr__owned_record_drop(struct fr__owned_record *o);

/* Lives as long as the record. */
struct fr__arena *fr__record_arena(struct fr_record *r);
/* The record releases the setting when it is freed. */
void fr__record_own(struct fr_record *r, const struct fr_setting *s,
                    void (*release)(struct fr_setting *s));
/* The record frees the session after that. */
void fr__record_own_session(struct fr_record *r, struct fr_session *s,
                            void (*release)(struct fr_session *s));
/* One more owner of the record, who frees it as well. Any thread. Returns r. */
struct fr_record *fr__record_share(struct fr_record *r);
/* About how much memory it holds with its plan and run. */
size_t fr__record_bytes(const struct fr_record *r);
#endif
