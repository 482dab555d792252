/* workloads/random/random_tasks.h - random task graphs, as CSV that -w reads back. */
#ifndef FORERUN_RANDOM_TASKS_H
#define FORERUN_RANDOM_TASKS_H

#include "base/base.h"

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Writes a random task graph with the columns task,time,after to f.
 *   spec   KIND[:key=value,...]
 *     layered      layers of 1 to 2*width-1 tasks; each task follows at least one of the layer
 *                  before, and each other one there with `density`
 *     fork-join    `width` tasks side by side, then one that joins them, again and again
 *     erdos-renyi  each pair in order is an edge with `density`
 *   tasks     how many (100)
 *   width     (10)
 *   density   0 to 1 (0.3)
 *   time      the mean of a task's time, uniform from 0 to twice that (1s)
 *   ccr       the mean time of a message over that of a task, likewise (1); 0: nothing moves
 *   bandwidth for which ccr holds (1GB/s)
 *   seed      (0)
 * The same spec gives the same bytes on every machine. FR_EUSAGE with the nearest known word;
 * whether f took all shows in ferror(f).
 *
 * Sources: layered and erdos-renyi as "layrpred" and "sameprob" of T. Tobita, H. Kasahara, Journal
 *          of Scheduling 5(5), 2002; times and ccr as H. Topcuoglu et al., IEEE TPDS 13(3), 2002,
 *          section 5.2; P. Erdos, A. Renyi, Publicationes Mathematicae 6, 1959. */
enum fr_status fr_random_tasks(FILE *f, const char *spec, struct fr_error *err);

#ifdef __cplusplus
}
#endif
#endif
