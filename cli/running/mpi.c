/* cli/running/mpi.c - rank 0 hands out points, the others send rows. */
#include "config.h"

#include "base/cancel.h"
#include "base/error.h"
#include "cli/running/mpi.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What Open MPI, and what MPICH and Slurm, tell their processes. */
static long environment_number(const char *const names[])
{
    for (size_t i = 0; names[i]; i++) {
        const char *text = getenv(names[i]);

        if (text && text[0])
            return strtol(text, NULL, 10);
    }
    return 0;
}

bool cli_mpi_is_follower(void)
{
    static const char *const ranks[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", NULL};

    return environment_number(ranks) > 0;
}

static long n_processes(void)
{
    static const char *const sizes[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", NULL};

    return environment_number(sizes);
}

bool cli_is_terminal(int file)
{
    return n_processes() == 0 && isatty(file);
}

#ifdef HAVE_MPI
#include <mpi.h>

/* A follower sends: "the next, please"; a row, after its point's number; the last word. */
enum { TAG_NEXT = 1, TAG_ROW, TAG_LEAVE, TAG_POINT };

struct cli_mpi {
    int rank, n_left; /* followers that have left */
    int size;
    struct fr_sweep *sweep; /* NULL: there is nothing to hand out */
    const struct fr_context *context;
    enum fr_status status; /* the first failure elsewhere, or of keeping a row */
    struct fr_error err;
};

/* How a follower ended. */
struct last_word {
    int status;
    struct fr_error err;
};

enum fr_status cli_mpi_start(void **out, struct fr_error *err)
{
    struct cli_mpi *m;
    int provided;

    *out = NULL;
    if (n_processes() <= 1)
        return FR_OK;
    m = calloc(1, sizeof(*m));
    if (!m)
        return fr__fail_nomem(err);
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided) != MPI_SUCCESS ||
        provided < MPI_THREAD_SERIALIZED) {
        free(m);
        return fr__fail(err, FR_EUNSUPPORTED, FR_NOWHERE, "this MPI cannot be used by threads");
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &m->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &m->size);
    *out = m;
    return FR_OK;
}

/* ---- rank 0 ---- */

void cli_mpi_lead(void *mpi, struct fr_sweep *s, const struct fr_context *ctx)
{
    struct cli_mpi *m = mpi;

    m->sweep = s;
    m->context = ctx;
}

static void fail(struct cli_mpi *m, enum fr_status st, const struct fr_error *err)
{
    if (m->status != FR_OK)
        return;
    m->status = st;
    m->err = *err;
}

static void send_point(struct cli_mpi *m, int to)
{
    uint64_t number = UINT64_MAX;
    size_t point = SIZE_MAX;
    bool is_over = !m->sweep || m->status != FR_OK || fr__flag_is_set(m->context->cancel);

    if (!is_over && fr_sweep_next(m->sweep, &point, NULL) == FR_OK && point != SIZE_MAX)
        number = point;
    MPI_Send(&number, 1, MPI_UINT64_T, to, TAG_POINT, MPI_COMM_WORLD);
}

struct arrived {
    struct fr_sweep *sweep;
    size_t point;
};

static enum fr_status keep_row(void *user, const struct fr_sweep_row *row, struct fr_error *err)
{
    const struct arrived *a = user;

    return fr_sweep_done(a->sweep, a->point, row, err);
}

static void take_row(struct cli_mpi *m, char *message, int length)
{
    struct arrived a = {.sweep = m->sweep};
    struct fr_error err = {.code = FR_OK};
    enum fr_status st;
    uint64_t number;

    if (!m->sweep || (size_t)length < sizeof(number) || m->status != FR_OK)
        return;
    memcpy(&number, message, sizeof(number));
    a.point = (size_t)number;
    st = fr_sweep_row_parse(message + sizeof(number), keep_row, &a, &err);
    if (st != FR_OK)
        fail(m, st, &err);
}

static void take_message(struct cli_mpi *m, const MPI_Status *from)
{
    struct last_word word;
    char *message;
    int length;

    MPI_Get_count(from, MPI_BYTE, &length);
    message = malloc((size_t)length + 1);
    if (!message) /* nobody would ever answer the others */
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Recv(message, length, MPI_BYTE, from->MPI_SOURCE, from->MPI_TAG, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    message[length] = '\0';
    if (from->MPI_TAG == TAG_NEXT) {
        send_point(m, from->MPI_SOURCE);
    } else if (from->MPI_TAG == TAG_ROW) {
        take_row(m, message, length);
    } else {
        memcpy(&word, message, sizeof(word));
        if (word.status != FR_OK)
            fail(m, (enum fr_status)word.status, &word.err);
        m->n_left++;
    }
    free(message);
}

bool cli_mpi_serve(void *mpi)
{
    struct cli_mpi *m = mpi;
    MPI_Status from;
    int is_there = 1;

    while (m->n_left + 1 < m->size) {
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &is_there, &from);
        if (!is_there)
            return true;
        take_message(m, &from);
    }
    return false;
}

/* ---- followers ---- */

static enum fr_status ask_for_point(void *user, size_t *point, struct fr_error *err)
{
    uint64_t number;

    (void)user;
    (void)err;
    MPI_Send(NULL, 0, MPI_BYTE, 0, TAG_NEXT, MPI_COMM_WORLD);
    MPI_Recv(&number, 1, MPI_UINT64_T, 0, TAG_POINT, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    *point = number == UINT64_MAX ? SIZE_MAX : (size_t)number;
    return FR_OK;
}

static enum fr_status send_row(void *user, size_t point, const struct fr_sweep_row *row,
                               struct fr_error *err)
{
    char *text = fr_sweep_row_text(row), *message;
    uint64_t number = point;
    size_t length;

    (void)user;
    if (!text)
        return fr__fail_nomem(err);
    length = strlen(text);
    message = malloc(sizeof(number) + length);
    if (!message) {
        free(text);
        return fr__fail_nomem(err);
    }
    memcpy(message, &number, sizeof(number));
    memcpy(message + sizeof(number), text, length);
    MPI_Send(message, (int)(sizeof(number) + length), MPI_BYTE, 0, TAG_ROW, MPI_COMM_WORLD);
    free(message);
    free(text);
    return FR_OK;
}

void cli_mpi_follow(void *mpi, enum fr_status st, struct fr_sweep *s, unsigned n_threads,
                    const struct fr_context *ctx, struct fr_error *err)
{
    const struct fr_sweep_elsewhere elsewhere = {ask_for_point, send_row, mpi};
    const struct fr_sweep_options how = {
        .n_threads = n_threads, .print_record = fr_record_print_json, .elsewhere = &elsewhere};
    struct last_word word;

    if (st == FR_OK)
        st = fr_sweep_run(s, &how, ctx, err);
    memset(&word, 0, sizeof(word));
    word.status = (int)st;
    if (st != FR_OK)
        word.err = *err;
    MPI_Send(&word, (int)sizeof(word), MPI_BYTE, 0, TAG_LEAVE, MPI_COMM_WORLD);
}

enum fr_status cli_mpi_end(void *mpi, enum fr_status st, struct fr_error *err)
{
    struct cli_mpi *m = mpi;
    MPI_Status from;

    if (!m)
        return st;
    m->sweep = NULL; /* who still asks is told that there is nothing more */
    while (m->rank == 0 && m->n_left + 1 < m->size) {
        MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &from);
        take_message(m, &from);
    }
    if (st == FR_OK && m->status != FR_OK) {
        st = m->status;
        *err = m->err;
    }
    MPI_Finalize();
    free(m);
    return st;
}

#else /* no MPI */

enum fr_status cli_mpi_start(void **out, struct fr_error *err)
{
    *out = NULL;
    if (n_processes() > 1)
        return fr__fail(err, FR_EUNSUPPORTED, FR_NOWHERE,
                        "this build has no MPI (configure --with-mpi); without it, --shard I/N "
                        "and 'forerun sweep merge' spread a sweep");
    return FR_OK;
}

void cli_mpi_follow(void *mpi, enum fr_status st, struct fr_sweep *s, unsigned n_threads,
                    const struct fr_context *ctx, struct fr_error *err)
{
    (void)mpi;
    (void)st;
    (void)s;
    (void)n_threads;
    (void)ctx;
    (void)err;
}

bool cli_mpi_serve(void *mpi)
{
    (void)mpi;
    return false;
}

void cli_mpi_lead(void *mpi, struct fr_sweep *s, const struct fr_context *ctx)
{
    (void)mpi;
    (void)s;
    (void)ctx;
}

enum fr_status cli_mpi_end(void *mpi, enum fr_status st, struct fr_error *err)
{
    (void)mpi;
    (void)err;
    return st;
}
#endif
