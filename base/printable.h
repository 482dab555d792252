/* base/printable.h - text from anywhere, as a terminal may show it.
 *
 * A terminal acts on control characters, and bidirectional marks make a line read otherwise than it
 * is. They are written as what they are: \x0d, \u202e. All that reaches a terminal goes through
 * here: messages (fr__fail), cells of tables, and what the command prints (cli/start.c); strings of
 * JSON, pictures and reports too, since people read these (a report has ? for what is no text).
 */
#ifndef FR_BASE_PRINTABLE_H
#define FR_BASE_PRINTABLE_H

#include <stddef.h>

enum { FR__PRINTABLE = 8 }; /* bytes of one character, "\u202e" and a NUL among them */

/* The first character of s, of which n > 0 bytes are there, as it may be shown: itself; \xNN of an
 * ASCII control character and of a byte that is no UTF-8; \uNNNN of U+0080 to U+009F (ECMA-48's C1
 * controls), of marks, embeddings, overrides and isolates of Unicode Standard Annex 9, and of
 * U+2028 and U+2029, which end lines, and of U+FFFE and U+FFFF, which XML forbids. Sets *used to
 * the bytes of s that this is; returns the length of out. */
size_t fr__printable(const char *s, size_t n, char out[FR__PRINTABLE], size_t *used);

#endif
