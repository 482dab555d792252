/* tests/hostile/table.h - a table of bad inputs, read line by line.
 *
 * A table is text. What a line begins with says what it is:
 *
 *   # ...                    a comment
 *   %command WORDS           the command of the rows that follow; starts a section: forgets all
 *                            below. 'quoted' words hold blanks
 *   %file PATH               the lines up to "%end" are this file
 *   %spoil PATH              the rows that follow change this file
 *   %refused                 the files are refused unspoilt too, for another reason: too few rows
 *                            to fit. Otherwise they have to be good
 *   %options                 the rows that follow add words to the command
 *   %needs WORD              xml, sqlite, full (/dev/full) or user (one who is not root)
 *   %status N                the exit status of the rows that follow; 2 where nothing is said
 *   NAME | CHANGE | SENTENCE a row: a part of the message, or "ok" if the input is good
 *
 * A change of a file is one of
 *
 *   OLD => NEW               the first OLD in the file becomes NEW; either may be empty text when
 *                            OLD is "^" (the start) or "$" (the end)
 *   all OLD => NEW           every OLD
 *   => TEXT                  TEXT is the whole file
 *   cut N                    the first N bytes are left
 *
 * In changes and in added words \n \t \r \0 \s (a blank) \p (a bar) \\ and \xHH stand for bytes,
 * and \{N:TEXT} for N times TEXT.
 */
#ifndef TESTS_HOSTILE_TABLE_H
#define TESTS_HOSTILE_TABLE_H

#include <stdbool.h>
#include <stddef.h>

enum { MOST_WORDS = 64, MOST_FILES = 12 };

/* A row with all that it needs. Texts are valid during the call. */
struct row {
    const char *table;
    unsigned line;
    const char *name, *sentence;
    int status;
    char *words[MOST_WORDS + 1]; /* the last is NULL */
    int n_words;
    const char *spoilt; /* the path of the file that is changed; NULL: none */
    const char *bytes;  /* what it holds then */
    size_t n_bytes;
    bool
        is_first; /* of those with this command and these files: they are to be accepted unspoilt */
};

/* Files of the section that begins, before its first row. */
typedef void (*file_fn)(void *user, const char *path, const char *bytes, size_t n);
/* A row; true: *sentence_out is to stand in the table from now on (the caller frees it). */
typedef bool (*row_fn)(void *user, const struct row *r, char **sentence_out);

/* Reads the table and calls for each file and row. `rewritten`, if not NULL, gets the table's text
 * with new sentences, which the caller frees. Aborts the test on a table that is wrong itself. */
void table_read(const char *path, file_fn file, row_fn row, void *user, char **rewritten);
/* Whether this build and this user have what a section needs. */
bool table_has(const char *need);
#endif
