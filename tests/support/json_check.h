/* tests/support/json_check.h - is this text one JSON value (RFC 8259)? For tests of writers. */
#ifndef FR_TESTS_JSON_CHECK_H
#define FR_TESTS_JSON_CHECK_H

#include <stdbool.h>
#include <stddef.h>

/* text ends with a NUL; blanks around the value are fine. */
bool is_json(const char *text);
/* How often needle occurs. */
size_t count_of(const char *text, const char *needle);
#endif
