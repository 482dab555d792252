/* base/json.h - writes JSON (RFC 8259), two spaces an indent, numbers that read back exactly. */
#ifndef FR_BASE_JSON_H
#define FR_BASE_JSON_H

#include "base/base.h"

#include <stdio.h>

enum { FR__JSON_DEPTH = 32 };

struct fr__json {
    FILE *f;
    unsigned depth;
    bool has_item[FR__JSON_DEPTH];
    bool is_compact[FR__JSON_DEPTH]; /* on one line */
};

/* Whether the stream took everything shows in ferror(f), or fr__out_commit(). A newline follows
 * each top value, so that several in compact form are JSON lines. */
void fr__json_init(struct fr__json *j, FILE *f);
/* key NULL inside arrays and for the top. compact: the whole thing on one line. */
void fr__json_open(struct fr__json *j, const char *key, char bracket, bool is_compact); /* { or [ */
void fr__json_close(struct fr__json *j, char bracket);                                  /* } or ] */
void fr__json_string(struct fr__json *j, const char *key, const char *text); /* NULL: null */
void fr__json_number(struct fr__json *j, const char *key, double x);         /* not finite: null */
void fr__json_count(struct fr__json *j, const char *key, uint64_t x);
void fr__json_bool(struct fr__json *j, const char *key, bool x);
void fr__json_null(struct fr__json *j, const char *key);
/* The members of an object that is JSON already ("{...}"), into the object that is open. */
void fr__json_splice(struct fr__json *j, const char *object);
/* A string with quotes and escapes, for writers that do their own layout; bytes that are not UTF-8
 * become U+FFFD. */
void fr__json_write_string(FILE *f, const char *text);
#endif
