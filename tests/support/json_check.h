/* tests/support/json_check.h - is this text one JSON value (RFC 8259)? For tests of writers. */
#ifndef FR_TESTS_SUPPORT_JSON_CHECK_H
#define FR_TESTS_SUPPORT_JSON_CHECK_H

#include <stdbool.h>
#include <stddef.h>

/* text ends with a NUL; blanks around the value are fine. */
bool is_json(const char *text);
/* How often needle occurs. */
size_t count_of(const char *text, const char *needle);

/* ---- values inside a text that is JSON ---- */

/* The value of that key of an object, the i-th item of an array; NULL: value is NULL, or none.
 * Cost: O(the value's length). */
const char *json_member(const char *value, const char *key);
const char *json_item(const char *value, size_t i);
/* The item after this one of the same array; NULL: the last. */
const char *json_next_item(const char *item);
/* Whether the value is that string. Escapes of bytes above 127 do not match. */
bool json_is_string(const char *value, const char *want);
/* Whether the value is that word: true, false or null. */
bool json_is_word(const char *value, const char *want);
/* The value as a number; NaN for anything else. */
double json_number(const char *value);
#endif
