/* study/difference/difference.h - where the time of an answer goes, piece by piece, and why another
 * answer takes longer.
 *
 * On each GPU in use every moment of the iteration goes to one part:
 *   compute        an op computes; ops that compute at the same time share the moment equally
 *   communication  nothing computes and a message or a collective moves (exposed); those that move
 *                  at the same time share the moment equally
 *   launches       nothing runs; the next task has all that it waited for, but its launch by the
 *                  host is not over
 *   bubble         nothing runs; the next task still waits for another task's end
 * The parts of an answer are means over the GPUs in use, and they add up to its iteration time. So
 * the differences of the parts of two answers add up to the difference of their times.
 */
#ifndef FORERUN_DIFFERENCE_H
#define FORERUN_DIFFERENCE_H

#include "study/study.h"

#ifdef __cplusplus
extern "C" {
#endif

enum fr_time_part { FR_PART_COMPUTE, FR_PART_EXPOSED, FR_PART_BUBBLE, FR_PART_LAUNCH, FR_N_PARTS };
/* "compute", "exposed communication", "bubble", "launches" */
const char *fr_part_name(enum fr_time_part p);

/* Lists of pieces. The pieces of the lists in the same part add up to it. OPS, TRANSFERS, WAITS and
 * LAUNCHES are those of the parts in the order of enum fr_time_part. PLACES is the communication
 * part once more: between which devices a message moves, over how many GPUs a collective goes. */
enum fr_pieces {
    FR_PIECES_OPS,       /* "conv1_1": an op of the user's graph, on all devices */
    FR_PIECES_TRANSFERS, /* "all-reduce bucket 2", "send fc6" */
    FR_PIECES_WAITS,     /* "before conv1_1", "after the last task" */
    FR_PIECES_LAUNCHES,  /* "before conv1_1" */
    FR_PIECES_PLACES,    /* "n0.gpu0>n0.gpu1", "all-reduce over 4 GPUs" */
    FR_N_PIECES
};

struct fr_piece {
    const char *name;
    double s; /* of the iteration */
};

struct fr_parts {
    double iteration_s; /* of the run; of several seeds the first one's */
    double from_s;      /* when it begins in the run */
    double part_s[FR_N_PARTS];
    size_t n[FR_N_PIECES];
    const struct fr_piece *pieces[FR_N_PIECES]; /* [n], by name, each name once */
    void *priv;
};
/* The parts of an answer that keeps its plan and its run, with the times of tasks. The caller frees
 * *out. FR_EUSAGE: it does not keep them; FR_ENOMEM. Cost: O(tasks log tasks), times as many as run
 * at once on one device. */
enum fr_status fr_parts_new(struct fr_parts **out, const struct fr_record *r, struct fr_error *err);
void fr_parts_free(struct fr_parts *p);

/* A piece of two answers; a name that one of them lacks has 0 there. */
struct fr_difference_row {
    const char *name;
    double a_s, b_s;
};

/* A setting in which two questions differ. */
struct fr_difference_setting {
    const char *name, *a, *b;
};

struct fr_difference {
    const struct fr_record *a, *b; /* borrowed */
    struct fr_parts *parts_a, *parts_b;
    size_t n_settings;
    const struct fr_difference_setting *settings; /* in the order of fr_question_setting */
    size_t n[FR_N_PIECES];
    /* [n], the largest change first, equal ones by name */
    const struct fr_difference_row *rows[FR_N_PIECES];
    size_t n_links;
    const struct fr_difference_row *links; /* busy time: utilisation times the iteration */
    void *priv;
};
/* Why b takes longer or shorter than a. Both must outlive *out, which the caller frees. Errors of
 * fr_parts_new. */
enum fr_status fr_difference_new(struct fr_difference **out, const struct fr_record *a,
                                 const struct fr_record *b, struct fr_error *err);
void fr_difference_free(struct fr_difference *d);

/* A question as an answer's JSON keeps it. */
struct fr_asked {
    struct fr_question question;
    double iteration_s; /* that the file says; below 0: it does not say */
    void *priv;
};
/* Reads the "question" of a file that --json or -o FILE.json wrote. PATH#2 is the second of a file
 * with several results. Files that the question names are looked for from the current folder, as
 * when it was asked. The caller frees *out. FR_EIO; FR_EPARSE with line and column; FR_EUSAGE: no
 * such result, a setting that cannot be read; FR_ENOMEM. */
enum fr_status fr_asked_load(struct fr_asked **out, const char *path, struct fr_error *err);
void fr_asked_free(struct fr_asked *a);

#ifdef __cplusplus
}
#endif
#endif
