/* results/parts/program.c - runs another program without a shell.
 *
 * It is separate because gnuplot, graphviz and rsvg-convert are run in the same way. The program
 * is not trusted: it may hang, ignore signals, or end well without a picture, so it is watched
 * while it runs and what came is looked at.
 */
#include "config.h"

#include "base/error.h"
#include "results/parts/program.h"
#include "results/parts/output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
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

/* The environment, and a time for what is dated: so the same is drawn each time, unless the user
 * has set one, which stands before it. NULL: out of memory. */
static char **make_environment(char *epoch)
{
    size_t n = 0;
    char **all;

    while (environ[n])
        n++;
    all = malloc((n + 2) * sizeof(*all));
    if (all) {
        memcpy(all, environ, n * sizeof(*all));
        all[n] = epoch;
        all[n + 1] = NULL;
    }
    return all;
}

static enum fr_status spawn(char *const argv[], const int files[3], const char *instead, pid_t *pid,
                            struct fr_error *err)
{
    static const int ends[3] = {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t own_group;
    char epoch[] = "SOURCE_DATE_EPOCH=0";
    char **environment = make_environment(epoch);
    int failure = environment ? posix_spawn_file_actions_init(&actions) : ENOMEM;

    if (failure == 0) {
        failure = posix_spawnattr_init(&own_group);
        if (failure != 0)
            posix_spawn_file_actions_destroy(&actions);
    }
    if (failure != 0) {
        free(environment);
        return fr__fail(err, FR_EIO, FR_NOWHERE, "cannot start %s: %s", argv[0], strerror(failure));
    }
    failure = posix_spawnattr_setflags(&own_group, POSIX_SPAWN_SETPGROUP);
    for (unsigned i = 0; i < 3 && failure == 0; i++)
        failure = posix_spawn_file_actions_adddup2(&actions, files[i], ends[i]);
    if (failure == 0)
        failure = posix_spawnp(pid, argv[0], &actions, &own_group, argv, environment);
    posix_spawnattr_destroy(&own_group);
    posix_spawn_file_actions_destroy(&actions);
    free(environment);
    if (failure == ENOENT)
        return fail_missing(argv[0], instead, err);
    if (failure != 0)
        return fr__fail(err, FR_EIO, FR_NOWHERE, "cannot start %s: %s", argv[0], strerror(failure));
    return FR_OK;
}

enum { LINE = 160 };

/* The first line of what it said that says something. */
static const char *find_said(FILE *messages, char line[LINE])
{
    snprintf(line, LINE, "no reason given");
    rewind(messages);
    while (fgets(line, LINE, messages)) {
        line[strcspn(line, "\n")] = '\0';
        if (strspn(line, " \t^") < strlen(line))
            break;
    }
    return line;
}

/* A program that was started, and how it is ended when it does not end by itself. */
struct running {
    pid_t pid; /* leads a group of its own, so that what it starts ends with it */
    const char *name;
    const struct fr_context *ctx;
    struct timespec heard; /* when it last wrote something */
    struct timespec asked; /* when it was asked to end */
    double most_silent_s;
    bool is_asked, is_killed, is_silent, has_ended;
};

/* Seconds: a picture takes a few, also on a busy machine; a program that is asked to end gets time
 * to remove its own files, but a user who presses Ctrl-C does not wait for it. */
static const double MOST_SILENT_S = 60, MOST_ENDING_S = 0.5;

static double seconds_since(const struct timespec *then)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - then->tv_sec) + 1e-9 * (double)(now.tv_nsec - then->tv_nsec);
}

static void ask_to_end(struct running *r)
{
    if (r->is_asked)
        return;
    r->is_asked = true;
    (void)clock_gettime(CLOCK_MONOTONIC, &r->asked);
    (void)kill(-r->pid, SIGTERM);
}

/* Looks whether it has ended, without collecting it, and ends it when it is time to. */
static void look_after(struct running *r)
{
    siginfo_t info = {.si_pid = 0};

    if (waitid(P_PID, (id_t)r->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        info.si_pid == r->pid) {
        r->has_ended = true;
        (void)kill(-r->pid, SIGKILL); /* what it has started and left behind ends too */
    }
    if (!r->is_asked && !r->has_ended && seconds_since(&r->heard) > r->most_silent_s)
        r->is_silent = true;
    if (r->is_silent || fr__check_cancel(r->ctx, NULL) != FR_OK)
        ask_to_end(r);
    if (r->is_asked && !r->is_killed && seconds_since(&r->asked) > MOST_ENDING_S) {
        r->is_killed = true; /* no program can ignore that */
        (void)kill(-r->pid, SIGKILL);
    }
}

/* Waits for its end and collects it. */
static enum fr_status wait_for(struct running *r, int *status, struct fr_error *err)
{
    for (long pause_ns = 1000000; !r->has_ended; look_after(r)) {
        (void)nanosleep(&(struct timespec){0, pause_ns}, NULL);
        pause_ns = pause_ns < 32000000 ? 2 * pause_ns : pause_ns;
    }
    while (waitpid(r->pid, status, 0) < 0)
        if (errno != EINTR)
            return fr__fail(err, FR_EIO, FR_NOWHERE, "lost %s: %s", r->name, strerror(errno));
    return FR_OK;
}

static enum fr_status judge_end(const struct running *r, int status, const char *instead,
                                FILE *messages, struct fr_error *err)
{
    char line[LINE];

    FR_TRY(fr__check_cancel(r->ctx, err));
    if (r->is_silent)
        return fr__fail(err, FR_EIO, FR_NOWHERE,
                        "%s did not end: it wrote nothing for %.3g s and was stopped", r->name,
                        r->most_silent_s);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
        return fail_missing(r->name, instead, err);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return fr__fail(err, FR_EIO, FR_NOWHERE, "%s failed: %s", r->name,
                        find_said(messages, line));
    return FR_OK;
}

/* ---- what came ---- */

/* The first and the last bytes of what the program wrote. */
struct came {
    char first[256], last[64];
    size_t n_first, n_last;
};

static void keep_ends(struct came *c, const char *block, size_t n)
{
    size_t room = sizeof(c->first) - c->n_first, taken = n < room ? n : room, kept;

    memcpy(c->first + c->n_first, block, taken);
    c->n_first += taken;
    if (n >= sizeof(c->last)) {
        memcpy(c->last, block + n - sizeof(c->last), sizeof(c->last));
        c->n_last = sizeof(c->last);
        return;
    }
    kept = c->n_last + n > sizeof(c->last) ? sizeof(c->last) - n : c->n_last;
    memmove(c->last, c->last + c->n_last - kept, kept);
    memcpy(c->last + kept, block, n);
    c->n_last = kept + n;
}

static bool ends_with(const struct came *c, const char *text, size_t n)
{
    size_t last = c->n_last;

    while (last > 0 && strchr(" \t\r\n", c->last[last - 1]) && c->last[last - 1] != '\0')
        last--;
    return last >= n && memcmp(c->last + last - n, text, n) == 0;
}

static bool begins_with(const struct came *c, const char *text, size_t n)
{
    return c->n_first >= n && memcmp(c->first, text, n) == 0;
}

/* Whether it is a whole picture of that format: PNG (W3C, second edition, 5.2 and 11.2.5) begins
 * with its signature and ends with an empty IEND chunk, PDF (ISO 32000-1, 7.5) with %PDF- and
 * %%EOF, SVG is an XML document whose element is svg. */
static bool is_whole(const struct came *c, enum fr__picture picture)
{
    static const char png[] = "\x89PNG\r\n\x1a\n", png_end[] = "IEND\xae\x42\x60\x82";

    switch (picture) {
    case FR__PICTURE_PNG:
        return begins_with(c, png, sizeof(png) - 1) && c->n_last >= sizeof(png_end) - 1 &&
               memcmp(c->last + c->n_last - (sizeof(png_end) - 1), png_end, sizeof(png_end) - 1) ==
                   0;
    case FR__PICTURE_PDF:
        return begins_with(c, "%PDF-", 5) && ends_with(c, "%%EOF", 5);
    case FR__PICTURE_SVG:
        return (begins_with(c, "<?xml", 5) || begins_with(c, "<svg", 4)) &&
               ends_with(c, "</svg>", 6);
    case FR__PICTURE_PLAIN:
        return begins_with(c, "graph ", 6) && ends_with(c, "stop", 4);
    case FR__N_PICTURES:
        break;
    }
    return false;
}

static enum fr_status judge_picture(const struct came *c, enum fr__picture picture,
                                    const char *name, FILE *messages, struct fr_error *err)
{
    static const char *const words[FR__N_PICTURES] = {[FR__PICTURE_PNG] = "PNG",
                                                      [FR__PICTURE_SVG] = "SVG",
                                                      [FR__PICTURE_PDF] = "PDF",
                                                      [FR__PICTURE_PLAIN] = "layout"};
    char line[LINE];

    if (is_whole(c, picture))
        return FR_OK;
    if (c->n_first == 0)
        return fr__fail(err, FR_EIO, FR_NOWHERE, "%s ended well but drew nothing: %s", name,
                        find_said(messages, line));
    return fr__fail(err, FR_EIO, FR_NOWHERE, "%s ended well, but what it drew is no whole %s: %s",
                    name, words[picture], find_said(messages, line));
}

/* Copies what the program writes, since neither gnuplot nor graphviz says when a disk was full.
 * Ends when the program closes its end, or has ended and nothing is left. false: it could not be
 * written, errno says why. */
static bool copy_output(struct running *r, int from, FILE *output, struct came *came)
{
    enum { LOOK_MS = 50 };
    char block[1 << 14];

    for (;;) {
        struct pollfd ready = {.fd = from, .events = POLLIN};
        int n_ready = poll(&ready, 1, r->has_ended ? 0 : LOOK_MS);
        ssize_t n;

        if (n_ready == 0 && r->has_ended)
            return fflush(output) == 0;
        look_after(r);
        if (n_ready <= 0)
            continue;
        n = read(from, block, sizeof(block));
        if (n == 0)
            return fflush(output) == 0;
        if (n < 0 && errno != EINTR && errno != EAGAIN)
            return false;
        if (n <= 0)
            continue;
        (void)clock_gettime(CLOCK_MONOTONIC, &r->heard);
        keep_ends(came, block, (size_t)n);
        if (fwrite(block, 1, (size_t)n, output) < (size_t)n)
            return false;
    }
}

static enum fr_status run_piped(const struct fr__program *p, FILE *input, FILE *output,
                                FILE *messages, const struct fr_context *ctx, struct fr_error *err)
{
    struct running r = {.name = p->argv[0],
                        .ctx = ctx,
                        .most_silent_s = p->most_silent_s > 0 ? p->most_silent_s : MOST_SILENT_S};
    struct came came = {.n_first = 0};
    int ends[2], failure = 0, status = 0;
    enum fr_status st;

    if (pipe(ends) != 0)
        return fr__fail(err, FR_EIO, FR_NOWHERE, "cannot start %s: %s", r.name, strerror(errno));
    for (unsigned i = 0; i < 2; i++)
        (void)fcntl(ends[i], F_SETFD, FD_CLOEXEC);
    (void)clock_gettime(CLOCK_MONOTONIC, &r.heard);
    st = spawn(p->argv, (int[]){fileno(input), ends[1], fileno(messages)}, p->instead, &r.pid, err);
    close(ends[1]);
    if (st == FR_OK && !copy_output(&r, ends[0], output, &came))
        failure = errno;
    close(ends[0]); /* a program that still writes ends now */
    if (st != FR_OK)
        return st;
    if (failure)
        ask_to_end(&r);
    FR_TRY(wait_for(&r, &status, err));
    if (failure && fr__check_cancel(ctx, NULL) == FR_OK)
        return fr__fail(err, FR_EIO, FR_NOWHERE, "cannot write what %s draws: %s", r.name,
                        strerror(failure));
    FR_TRY(judge_end(&r, status, p->instead, messages, err));
    return judge_picture(&came, p->picture, r.name, messages, err);
}

enum fr_status fr__program_run(const struct fr__program *p, FILE *input, FILE *output,
                               const struct fr_context *ctx, struct fr_error *err)
{
    FILE *messages;
    enum fr_status st;

    if (fflush(input) != 0 || ferror(input) || fseek(input, 0, SEEK_SET) != 0 ||
        fflush(output) != 0)
        return fr__fail(err, FR_EIO, FR_NOWHERE, "cannot write the input of %s: %s", p->argv[0],
                        strerror(errno));
    FR_TRY(fr__program_file(&messages, err));
    st = run_piped(p, input, output, messages, ctx, err);
    fclose(messages);
    return st;
}
