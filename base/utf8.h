/* base/utf8.h - what is UTF-8 and what is not. */
#ifndef FR_BASE_UTF8_H
#define FR_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Length (1 to 4) of the valid UTF-8 sequence (RFC 3629) that starts at s, of which n bytes are
 * there; 0 when there is none. A NUL is a valid sequence of length 1. */
size_t fr__utf8_length(const char *s, size_t n);

/* True when s[0..n) is no valid sequence yet but further bytes may make it one. */
bool fr__utf8_is_cut(const char *s, size_t n);

/* How many bytes of s[0..n) from its start are text: whole valid sequences, none of which is a
 * control character other than tab, line feed and carriage return. Readers of files ask it, so that
 * no name in a file moves the cursor of a terminal. */
size_t fr__utf8_text_length(const char *s, size_t n);
/* What is to be said of the byte at s, where the text ended before its n bytes. */
const char *fr__utf8_fault(const char *s, size_t n);
#endif
