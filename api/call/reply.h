/* api/call/reply.h - what a reply holds. */
#ifndef FR_API_CALL_REPLY_H
#define FR_API_CALL_REPLY_H

#include "api/forerun.h"
#include "base/arena.h"
#include "base/base.h"

#include <stdio.h>

struct fr__columns; /* columns.c */

struct fr_reply {
    char *text, *notes; /* heap; NULL: none */
    size_t length;      /* of the text */
    bool is_json;       /* the text is */
    bool has_failed;
    struct fr_error err;
    char sentence[sizeof(((struct fr_error *)0)->text) + 288]; /* with its file */
    struct fr__columns *columns;                               /* NULL: not read yet */
    bool has_read;
};

void fr__columns_free(struct fr__columns *c);

/* All verbs with their options, as JSON. */
void fr__list_verbs(FILE *f);
#endif
