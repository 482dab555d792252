/* cli/running/mpi.h - one sweep over the processes that mpirun started.
 *
 * Rank 0 has the store, the files and the terminal, answers points itself, and hands out points to
 * the others, which send rows back. Without mpirun, or in a build without MPI, there is nothing
 * here: *out is NULL and the functions do nothing.
 */
#ifndef FR_CLI_MPI_H
#define FR_CLI_MPI_H

#include "results/results.h"

/* Whether this process is one of mpirun's, but not the first: it is to keep quiet. By the
 * environment alone, so it may be asked before anything else. */
bool cli_mpi_is_follower(void);

/* Whether a person sees what is written there. Open MPI gives its processes terminals of their own,
 * whatever becomes of what they write: these do not count. */
bool cli_is_terminal(int file);

/* FR_EUNSUPPORTED: under mpirun, but this build has no MPI, or MPI has no threads. */
enum fr_status cli_mpi_start(void **out, struct fr_error *err);

/* A follower's whole work: answers points until there are no more. st: how the sweep was made ready
 * here; a failure of it, or on the way, is told to rank 0. */
void cli_mpi_follow(void *mpi, enum fr_status st, struct fr_sweep *s, unsigned n_threads,
                    const struct fr_context *ctx, struct fr_error *err);

/* Rank 0: answers what the others ask, once; false when all have left. For fr_sweep_options. */
bool cli_mpi_serve(void *mpi);
/* Rank 0, before the run: whose points they are, and what stops them. */
void cli_mpi_lead(void *mpi, struct fr_sweep *s, const struct fr_context *ctx);

/* Everyone: lets the others leave, ends MPI. Rank 0 gets the first failure of any: st is its
 * own. */
enum fr_status cli_mpi_end(void *mpi, enum fr_status st, struct fr_error *err);
#endif
