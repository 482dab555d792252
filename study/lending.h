/* study/lending.h - what a session lends to those who answer its questions, and the answers that
 * it keeps. */
#ifndef FR_STUDY_LENDING_H
#define FR_STUDY_LENDING_H

#include "study/inputs.h"
#include "study/session.h"

/* Tools (study/inputs.h) for a question on the setting, of its session if it has one, and their
 * release. */
enum fr_status fr__tools_take(const struct fr_setting *s, struct fr__tools **out,
                              struct fr_error *err);
void fr__tools_give(const struct fr_setting *s, struct fr__tools *t); /* NULL is fine */
/* A session gets back what it lent. */
void fr__session_take_back(struct fr_session *s, const struct fr_setting *setting);

bool fr__session_keeps_answers(const struct fr_session *s);
/* One more owner of the answer that is kept by that key; NULL: none is. A NULL key is no
 * answer's. */
struct fr_record *fr__session_find(struct fr_session *s, const char *key);
/* Keeps r under the key, which goes over. One that is too large, or for which there is no
 * memory, is not kept. */
void fr__session_keep(struct fr_session *s, char *key, struct fr_record *r);
#endif
