/* study/interval/missed_kind.h - kinds of training steps of which published ones took longer than
 * we predict, by more than the range of their class allows.
 *
 * An interval's classes (terms.h) hold many kinds of steps. Where the rows of one kind all took
 * longer, the answer must say so, and its range must hold them. A kind is told by what its
 * plan does, not by a strategy's name.
 *
 * Source:  each kind names its rows. They are those of papers/megatron and of
 *          tests/oracles/large_rows.py, predicted by this program.
 */
#ifndef FR_STUDY_INTERVAL_MISSED_KIND_H
#define FR_STUDY_INTERVAL_MISSED_KIND_H

#include <stddef.h>
#include <stdint.h>

struct fr__missed_kind {
    const char *kind;        /* "parameters shared by more than 128 GPUs (ZeRO-3, FSDP)" */
    uint32_t most_confirmed; /* so many ranks share parameters in the largest published step of the
                                kind that its class's range holds; more of them: it is of the kind */
    double least, most;      /* measured over predicted time of the published rows */
    unsigned n_rows, n_sources;
    const char *rows, *see; /* which, and the document that says why */
};

/* The kind of a step in which so many ranks share parameters and gather them at each use; NULL: no
 * such kind. 0 and 1: none do. */
const struct fr__missed_kind *fr__missed_kind_of(uint32_t param_shards);
/* "published steps of this kind (...) took 1.4 to 4.1 times as long as predicted (...), see ..." */
void fr__missed_kind_say(const struct fr__missed_kind *c, char text[], size_t size);

#endif
