/* papers/parts/build.h - for those who run a paper's experiments: tables that grow row by row. */
#ifndef FR_PAPERS_BUILD_H
#define FR_PAPERS_BUILD_H

#include "base/arena.h"
#include "base/error.h"
#include "papers/papers.h"

struct fr__repro;

/* title as in struct fr_reproduction. NULL: out of memory. */
struct fr__repro *fr__repro_new(const char *paper, const char *source, const char *setting,
                                const struct fr_context *ctx);
/* The same three, where they are read later; they stay. */
void fr__repro_head(struct fr__repro *b, const char *paper, const char *source,
                    const char *setting);
/* What is made of it lives as long as the reproduction. */
struct fr__arena *fr__repro_arena(struct fr__repro *b);
struct fr_session *fr__repro_session(struct fr__repro *b); /* keeps no answers */
const struct fr_context *fr__repro_context(const struct fr__repro *b);
/* So many rows will come: progress says how far it is. */
void fr__repro_expect(struct fr__repro *b, size_t n_rows);
/* Rows that follow belong to it; columns: [n], static. */
enum fr_status fr__repro_begin(struct fr__repro *b, const char *name, const char *title,
                               const char *published, const struct fr_repro_column columns[],
                               size_t n, struct fr_error *err);
enum fr_status fr__repro_row(struct fr__repro *b, const struct fr_repro_cell cells[],
                             struct fr_error *err);
/* The present table can be drawn, over that column. */
void fr__repro_draws_over(struct fr__repro *b, const char *column);
/* What came out, in a sentence, which stays. */
void fr__repro_found(struct fr__repro *b, const char *text);

/* Hands over what was built; b is gone. st: how it went; what is left is freed on a failure. */
enum fr_status fr__repro_finish(struct fr__repro *b, enum fr_status st,
                                struct fr_reproduction **out);

#endif
