/* tests/support/hand_case.h - a plan made by hand, run and recorded. For tests of results/.
 *
 * Two GPUs joined by links of 1 GB/s without latency. On each: forward 2 ms, backward 3 ms, an
 * all-reduce of 1 MB, update 1 ms; beside the backward pass GPU 0 sends 1 MB to GPU 1 (1 ms). A
 * ring all-reduce over two ranks moves 2 (n-1)/n = 1 times its bytes over each link: 1 ms. So:
 *   forward [0, 2], copy [2, 3], backward [2, 5], all-reduce [5, 6], update [6, 7] ms;
 *   compute 6 ms, exposed communication 1 ms, no bubble;
 *   GPU 0 -> GPU 1 carries 2 MB in 7 ms, 2/7 of what it could; the other direction 1 MB.
 */
#ifndef FR_TESTS_SUPPORT_HAND_CASE_H
#define FR_TESTS_SUPPORT_HAND_CASE_H

#include "results/results.h"

enum { KIB = 1024, MIB = 1024 * 1024 };

struct hand {
    struct fr_setting setting;
    struct fr_graph graph;
    struct fr_question question;
    uint32_t devices[2];
    struct fr_record *record;
};

/* mem_bytes: of each GPU. Release it with free_hand(). */
void make_hand(struct hand *h, uint64_t mem_bytes);
void free_hand(struct hand *h);
#endif
