/* api/call/request.h - a request in JSON as the words of a command. */
#ifndef FR_API_CALL_REQUEST_H
#define FR_API_CALL_REQUEST_H

#include "api/verbs/verbs.h"
#include "base/arena.h"

/* What a call of a verb gives a command line: what options point into, and reports show. */
struct fr__words {
    char **words; /* in the arena; [0]: the program */
    size_t n;
};

/* Puts a request (fr_call; NULL: none) into the options of v, which are new. allows_code:
 * strategies may be shared objects. Errors have the sentence of the command line, and the line and
 * column of the request. FR_EPARSE: it is no JSON. */
enum fr_status fr__request_read(struct fr__arena *a, const char *request, const struct fr__verb *v,
                                bool allows_code, struct fr__options *o, struct fr__words *words,
                                struct fr_error *err);
#endif
