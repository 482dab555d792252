/* results/kinds.h - what a kind of answer is for whoever writes it: its document and its files.
 *
 * How results/ calls: its root (the tables of kinds in kinds.c and records.c, and what chooses
 * among pictures) calls the rooms. A builder in document/ makes a document, render/ writes any;
 * data/, pictures/ and drawings/ write one kind each, html/ the frame of pages and their pictures,
 * which render/html.c asks for. Rooms call parts/ and document.h, and else neither each other nor
 * the root.
 */
#ifndef FR_RESULTS_KINDS_H
#define FR_RESULTS_KINDS_H

#include "results/document/builders.h"
#include "results/render/render.h"

#include <stdio.h>

/* A file format of a kind, in one of four ways. */
struct fr__ending {
    const char *ending;  /* ".json"; of several that fit a path the longest is chosen */
    const char *summary; /* a line of help, or NULL */
    bool is_of_one;      /* not of several records */
    bool is_page;        /* the document with its pictures, as HTML */
    void (*render)(FILE *f, const struct fr__document *d);
    void (*print)(FILE *f, const void *what); /* its failures show as ferror(f) */
    /* ctx may be NULL */
    enum fr_status (*draw)(FILE *f, const void *what, const char *ending,
                           const struct fr_context *ctx, struct fr_error *err);
};

/* The rows of formats that any document has. */
#define FR__MARKDOWN                                                                               \
    {                                                                                              \
        .ending = ".md", .summary = "what a terminal shows, as Markdown",                          \
        .render = fr__markdown_render                                                              \
    }
#define FR__PAGE(words)                                                                            \
    {                                                                                              \
        .ending = ".html", .summary = words, .is_page = true                                       \
    }
#define FR__PAGE_OF_TEXT FR__PAGE("what a terminal shows, on a page")

struct fr__kind {
    const char *of;                /* "sweeps" */
    const char *hint;              /* what else is said when no ending fits, or NULL */
    fr__build_fn *build;           /* its document, for rows that render one */
    const struct fr__ending *rows; /* [n] */
    size_t n;
};

/* The i-th ending and its summary; NULL behind the last. */
const char *fr__kind_format(const struct fr__kind *k, size_t i, const char **summary);

/* The ending that fits the path; NULL: none does. */
const struct fr__ending *fr__kind_find(const struct fr__kind *k, const char *path);
/* Whether path has one of the endings and can be made. FR_EUSAGE: none of them, all are named;
 * FR_EIO. */
enum fr_status fr__kind_check(const struct fr__kind *k, const char *path, struct fr_error *err);

/* Writes the file whole or not at all. Errors of fr__kind_check, of the builder and of the writer;
 * FR_ECANCELLED, FR_EIO. */
enum fr_status fr__kind_write(const struct fr__kind *k, const void *what, const char *path,
                              const struct fr_context *ctx, struct fr_error *err);

/* The document of *what on lines of `width` characters (0: any). Errors of the builder. */
enum fr_status fr__answer_print(FILE *f, fr__build_fn *build, const void *what, size_t width,
                                struct fr_error *err);
#endif
