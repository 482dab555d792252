/* results/comm_table.h - a collective over a range of sizes, for people and for programs. */
#ifndef FORERUN_COMM_TABLE_H
#define FORERUN_COMM_TABLE_H

#include "study/comm.h"

#include <stdio.h>

void fr_comm_print(FILE *f, const struct fr_comm_table *t);
void fr_comm_print_json(FILE *f, const struct fr_comm_table *t);

#endif
