/* base/machine.h - the machine that we run on. */
#ifndef FR_BASE_MACHINE_H
#define FR_BASE_MACHINE_H

/* Bytes that this process may still take before the system would have to end a process: the least
 * of what the machine has available, what the process's control group leaves and what its resource
 * limits leave. INFINITY: not known. */
double fr__machine_free_bytes(void);

/* Makes allocations fail, rather than the system end the process, once it holds so many bytes more
 * than now. Only ever lowers the limit; does nothing where the system has no such limit. Programs
 * that are started later inherit it. */
void fr__machine_limit(double more_bytes);
#endif
