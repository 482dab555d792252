/* results/gnuplot.c - runs gnuplot on a script of ours, without a shell. */
#include "config.h"

#include "base/error.h"
#include "results/format.h"
#include "results/gnuplot.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ; /* POSIX.1-2008, no header declares it */

static enum fr_status fail_temporary(struct fr_error *err)
{
    return fr__fail(err, FR_EIO, FR_NOWHERE, "cannot make a temporary file: %s", strerror(errno));
}

enum fr_status fr__gnuplot_script(FILE **out, struct fr_error *err)
{
    *out = tmpfile();
    return *out ? FR_OK : fail_temporary(err);
}

void fr__gnuplot_string(FILE *script, const char *text, size_t max)
{
    size_t n = 0;

    putc('\'', script);
    for (const char *s = text; *s; s++) {
        unsigned char c = (unsigned char)*s;

        if ((c & 0xc0) != 0x80 && n++ == max) {
            fputs("...", script);
            break;
        }
        if (c < 0x20 || c == 0x7f)
            putc('?', script);
        else if (c == '\'')
            fputs("''", script); /* the only escape inside single quotes */
        else
            putc(c, script);
    }
    putc('\'', script);
}

static enum fr_status fail_missing(struct fr_error *err)
{
    return fr__fail(err, FR_EIO, FR_NOWHERE,
                    "gnuplot is not installed; write .csv or .trace.json instead");
}

static enum fr_status spawn(FILE *script, FILE *picture, FILE *messages, pid_t *pid,
                            struct fr_error *err)
{
    /* -d: no start-up files of the user's */
    char name[] = "gnuplot", no_files[] = "-d";
    char *const argv[] = {name, no_files, NULL};
    posix_spawn_file_actions_t actions;
    int failure;

    failure = posix_spawn_file_actions_init(&actions);
    if (failure != 0)
        return fr__fail(err, FR_EIO, FR_NOWHERE, "cannot start gnuplot: %s", strerror(failure));
    failure = posix_spawn_file_actions_adddup2(&actions, fileno(script), STDIN_FILENO);
    if (failure == 0)
        failure = posix_spawn_file_actions_adddup2(&actions, fileno(picture), STDOUT_FILENO);
    if (failure == 0)
        failure = posix_spawn_file_actions_adddup2(&actions, fileno(messages), STDERR_FILENO);
    if (failure == 0)
        failure = posix_spawnp(pid, "gnuplot", &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failure == ENOENT)
        return fail_missing(err);
    if (failure != 0)
        return fr__fail(err, FR_EIO, FR_NOWHERE, "cannot start gnuplot: %s", strerror(failure));
    return FR_OK;
}

/* The first line of what it said that says something. */
static enum fr_status fail_said(FILE *messages, struct fr_error *err)
{
    char line[256] = "no reason given";

    rewind(messages);
    while (fgets(line, sizeof(line), messages)) {
        line[strcspn(line, "\n")] = '\0';
        if (strspn(line, " \t^") < strlen(line))
            break;
    }
    return fr__fail(err, FR_EIO, FR_NOWHERE, "gnuplot failed: %s", line);
}

static enum fr_status wait_for(pid_t pid, FILE *messages, const struct fr_context *ctx,
                               struct fr_error *err)
{
    int status;

    while (waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR)
            return fr__fail(err, FR_EIO, FR_NOWHERE, "lost gnuplot: %s", strerror(errno));
        if (fr__check_cancel(ctx, NULL) != FR_OK)
            kill(pid, SIGTERM); /* the next round collects it */
    }
    FR_TRY(fr__check_cancel(ctx, err));
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
        return fail_missing(err);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return fail_said(messages, err);
    return FR_OK;
}

enum fr_status fr__gnuplot_run(FILE *script, FILE *picture, const struct fr_context *ctx,
                               struct fr_error *err)
{
    FILE *messages;
    enum fr_status st;
    pid_t pid;

    if (fflush(script) != 0 || ferror(script) || fseek(script, 0, SEEK_SET) != 0 ||
        fflush(picture) != 0)
        return fr__fail(err, FR_EIO, FR_NOWHERE, "cannot write gnuplot's script: %s",
                        strerror(errno));
    messages = tmpfile();
    if (!messages)
        return fail_temporary(err);
    st = spawn(script, picture, messages, &pid, err);
    if (st == FR_OK)
        st = wait_for(pid, messages, ctx, err);
    fclose(messages);
    return st;
}
