/* study/session/kept.h - how a session lends tools to those who answer its questions, and keeps
 * answers. */
#ifndef FR_STUDY_SESSION_KEPT_H
#define FR_STUDY_SESSION_KEPT_H

#include "study/session/inputs.h"
#include "study/session/session.h"

/* Tools (study/session/inputs.h) for a question on the setting, of its session if it has one, and
 * their release. */
enum fr_status fr__tools_take(const struct fr_setting *s, struct fr__tools **out,
                              struct fr_error *err);
void fr__tools_give(const struct fr_setting *s, struct fr__tools *t); /* NULL is fine */
/* A session gets back what it lent. */
void fr__session_take_back(struct fr_session *s, const struct fr_setting *setting);

bool fr__session_keeps_answers(const struct fr_session *s);
/* Returns the answer that is kept under the key, with one more owner; NULL: there is none. A NULL
 * key has no answer. */
struct fr_record *fr__session_find(struct fr_session *s, const char *key);
/* Keeps r under the key, and takes over the key. An answer that is too large, or for which there is
 * no memory, is not kept. */
void fr__session_keep(struct fr_session *s, char *key, struct fr_record *r);
#endif
