/* results/parts/program.c - runs another program without a shell.
 *
 * It is separate because gnuplot and graphviz are run in the same way.
 */
#include "config.h"

#include "base/error.h"
#include "results/parts/program.h"
#include "results/parts/output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ; /* POSIX.1-2008, no header declares it */

enum fr_status fr__program_file(FILE **out, struct fr_error *err)
{
    *out = tmpfile();
    if (!*out)
        return fr__fail(err, FR_EIO, FR_NOWHERE, "cannot make a temporary file: %s",
                        strerror(errno));
    return FR_OK;
}

static enum fr_status fail_missing(const char *name, const char *instead, struct fr_error *err)
{
    return fr__fail(err, FR_EIO, FR_NOWHERE, "%s is not installed; %s", name, instead);
}

static enum fr_status spawn(char *const argv[], const int files[3], const char *instead, pid_t *pid,
                            struct fr_error *err)
{
    static const int ends[3] = {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO};
    posix_spawn_file_actions_t actions;
    int failure;

    failure = posix_spawn_file_actions_init(&actions);
    if (failure != 0)
        return fr__fail(err, FR_EIO, FR_NOWHERE, "cannot start %s: %s", argv[0], strerror(failure));
    for (unsigned i = 0; i < 3 && failure == 0; i++)
        failure = posix_spawn_file_actions_adddup2(&actions, files[i], ends[i]);
    if (failure == 0)
        failure = posix_spawnp(pid, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failure == ENOENT)
        return fail_missing(argv[0], instead, err);
    if (failure != 0)
        return fr__fail(err, FR_EIO, FR_NOWHERE, "cannot start %s: %s", argv[0], strerror(failure));
    return FR_OK;
}

/* The first line of what it said that says something. */
static enum fr_status fail_said(const char *name, FILE *messages, struct fr_error *err)
{
    char line[256] = "no reason given";

    rewind(messages);
    while (fgets(line, sizeof(line), messages)) {
        line[strcspn(line, "\n")] = '\0';
        if (strspn(line, " \t^") < strlen(line))
            break;
    }
    return fr__fail(err, FR_EIO, FR_NOWHERE, "%s failed: %s", name, line);
}

static enum fr_status wait_for(pid_t pid, const char *name, const char *instead, FILE *messages,
                               const struct fr_context *ctx, struct fr_error *err)
{
    int status;

    while (waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR)
            return fr__fail(err, FR_EIO, FR_NOWHERE, "lost %s: %s", name, strerror(errno));
        if (fr__check_cancel(ctx, NULL) != FR_OK)
            kill(pid, SIGTERM); /* the next round collects it */
    }
    FR_TRY(fr__check_cancel(ctx, err));
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
        return fail_missing(name, instead, err);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return fail_said(name, messages, err);
    return FR_OK;
}

/* Copies what the program writes, since neither gnuplot nor graphviz says when a disk was full.
 * false: it could not be written, errno says why. */
static bool copy_output(int from, FILE *output, const struct fr_context *ctx)
{
    char block[1 << 14];

    for (;;) {
        ssize_t n = read(from, block, sizeof(block));

        if (n == 0)
            return fflush(output) == 0;
        if (n < 0 && (errno != EINTR || fr__check_cancel(ctx, NULL) != FR_OK))
            return errno == EINTR; /* whoever waits for the program sees the cancellation */
        if (n > 0 && fwrite(block, 1, (size_t)n, output) < (size_t)n)
            return false;
    }
}

static enum fr_status run_piped(char *const argv[], FILE *input, FILE *output, FILE *messages,
                                const char *instead, const struct fr_context *ctx,
                                struct fr_error *err)
{
    int ends[2], failure = 0;
    enum fr_status st;
    pid_t pid;

    if (pipe(ends) != 0)
        return fr__fail(err, FR_EIO, FR_NOWHERE, "cannot start %s: %s", argv[0], strerror(errno));
    for (unsigned i = 0; i < 2; i++)
        (void)fcntl(ends[i], F_SETFD, FD_CLOEXEC);
    st = spawn(argv, (int[]){fileno(input), ends[1], fileno(messages)}, instead, &pid, err);
    close(ends[1]);
    if (st == FR_OK && !copy_output(ends[0], output, ctx))
        failure = errno;
    close(ends[0]); /* a program that still writes ends now */
    if (st != FR_OK)
        return st;
    if (failure || fr__check_cancel(ctx, NULL) != FR_OK)
        kill(pid, SIGTERM);
    st = wait_for(pid, argv[0], instead, messages, ctx, err);
    if (failure && st != FR_ECANCELLED)
        return fr__fail(err, FR_EIO, FR_NOWHERE, "cannot write what %s draws: %s", argv[0],
                        strerror(failure));
    return st;
}

enum fr_status fr__program_run(char *const argv[], FILE *input, FILE *output, const char *instead,
                               const struct fr_context *ctx, struct fr_error *err)
{
    FILE *messages;
    enum fr_status st;

    if (fflush(input) != 0 || ferror(input) || fseek(input, 0, SEEK_SET) != 0 ||
        fflush(output) != 0)
        return fr__fail(err, FR_EIO, FR_NOWHERE, "cannot write the input of %s: %s", argv[0],
                        strerror(errno));
    FR_TRY(fr__program_file(&messages, err));
    st = run_piped(argv, input, output, messages, instead, ctx, err);
    fclose(messages);
    return st;
}
