/* base/text.h - a text written piece by piece into memory. */
#ifndef FR_BASE_TEXT_H
#define FR_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* A stream for writing; fr__text_close() ends it and leaves the text at *text, with a NUL after
 * its *len bytes, for the caller to free. NULL: out of memory. text and len must live until
 * then. */
FILE *fr__text_open(char **text, size_t *len);
/* false: memory ran out on the way; *text is NULL then. */
bool fr__text_close(FILE *f, char **text);
#endif
