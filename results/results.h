/* results/results.h - what a run says: records, tables, files. */
#ifndef FORERUN_RESULTS_H
#define FORERUN_RESULTS_H
#include "sim/sim.h"
#endif
