/* cli/main.c - the command: finds the verb, runs it, turns its status into an exit status. The
 * program's main function is in start.c, so that a test can call the command as a function. */
#include "config.h"

#include "base/error.h"
#include "base/machine.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/running/mpi.h"

#include <errno.h>
#ifdef HAVE_MALLOC_H
#include <malloc.h>
#endif
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_group(const char *name)
{
    size_t n;
    const struct fr__verb *verbs = fr__verbs(&n);

    for (size_t i = 0; i < n; i++)
        if (verbs[i].group && strcmp(verbs[i].group, name) == 0)
            return true;
    return false;
}

static bool is_help(const char *word)
{
    return strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0 || strcmp(word, "help") == 0;
}

/* "help", "help simulate --all", "help topo show", "help --man topo", "help hybrid": words behind
 * "help". */
static enum fr_status help_on(int n, char *const words[], struct fr_error *err)
{
    bool is_whole = cli_wants_whole_help(n, words);
    size_t n_verbs;
    const struct fr__verb *v, *verbs = fr__verbs(&n_verbs);

    n -= is_whole && strcmp(words[n - 1], "--all") == 0;
    v = n > 1 ? fr__verb_find(words[0], words[1]) : NULL;

    if (n > 1 && strcmp(words[0], "--man") == 0)
        return cli_print_man(stdout, verbs, n_verbs, words[1])
                   ? FR_OK
                   : fr__verb_unknown(NULL, words[1], err);
    if (!v && n > 0)
        v = fr__verb_find(NULL, words[0]);
    if (v)
        cli_print_verb_help(stdout, v, is_whole);
    else if (n == 0)
        cli_print_help(stdout, verbs, n_verbs);
    else if (!is_group(words[0]))
        return cli_print_word_help(stdout, words[0]) ? FR_OK
                                                     : fr__verb_unknown(NULL, words[0], err);
    else if (n > 1)
        return fr__verb_unknown(words[0], words[1], err);
    else
        cli_print_group_help(stdout, verbs, n_verbs, words[0]);
    return FR_OK;
}

/* A question that needs more memory than the machine has is refused, by its plan's size if that is
 * known, and otherwise when an allocation fails: the system never has to end the process. */
static void limit_memory(struct fr__call *s)
{
    double bytes = s->options.memory_bytes > 0 ? s->options.memory_bytes : fr__machine_free_bytes();

    if (!isfinite(bytes))
        return;
    s->context.memory_bytes = bytes;
    fr__machine_limit(bytes);
}

/* What the command does for a verb that runs. */
struct user {
    struct progress progress;
    struct cli_page page;
};

static void end_progress(void *user)
{
    cli_progress_end(&((struct user *)user)->progress);
}

static void say_error(void *user, const struct fr_error *err)
{
    (void)user;
    cli_say_error(err);
}

static FILE *open_page(void *user)
{
    return cli_page_open(&((struct user *)user)->page);
}

static enum fr_status close_page(void *user, enum fr_status st, struct fr_error *err)
{
    return cli_page_close(&((struct user *)user)->page, st, err);
}

static const struct fr__others others = {.is_follower = cli_mpi_is_follower,
                                         .start = cli_mpi_start,
                                         .lead = cli_mpi_lead,
                                         .serve = cli_mpi_serve,
                                         .follow = cli_mpi_follow,
                                         .end = cli_mpi_end};

/* One point's memory is the next one's: glibc gives large arrays and the tops of its heaps back
 * to the system each time, and to fault them in again took a seventh of a sweep's time. */
static void keep_freed_memory(void)
{
#if defined(M_ARENA_MAX) && defined(M_MMAP_MAX) && defined(M_TRIM_THRESHOLD) && defined(M_TOP_PAD)
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_TRIM_THRESHOLD, -1);
    mallopt(M_TOP_PAD, 1 << 24);
    mallopt(M_ARENA_MAX, 1); /* the heaps of other arenas are given back all the same */
#endif
}

static enum fr_status call_verb(const struct fr__verb *v, struct fr__call *s, struct fr_error *err)
{
    struct user user = {.progress.call = s};
    const struct fr__caller caller = {.user = &user,
                                      .end_progress = end_progress,
                                      .say_error = say_error,
                                      .open_page = open_page,
                                      .close_page = close_page};
    enum fr_status st;

    cli_catch_signals();
    cli_progress_init(&user.progress, s->options.quiet);
    s->context = (struct fr_context){.seed = s->options.question.run.seed,
                                     .cancel = cli_cancel_flag(),
                                     .progress = cli_progress,
                                     .progress_user = &user.progress,
                                     .is_grey = s->options.grey};
    s->out = stdout;
    s->notes = stderr;
    s->width = cli_width();
    s->caller = &caller;
    s->others = &others;
    limit_memory(s);
    if (v->options & OPTIONS_SWEEP)
        keep_freed_memory();
    st = fr__verb_run(v, s, err);
    cli_progress_end(&user.progress);
    return st;
}

static enum fr_status run_verb(const struct fr__verb *v, struct fr__call *s, int argc,
                               char *const argv[], struct fr_error *err)
{
    FR_TRY(fr__options_init(&s->options, v->options, err));
    s->options.question.command = s->command;
    for (int i = 0; i < argc && cli_wants_whole_help(argc, argv); i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            cli_print_verb_help(stdout, v, true);
            return FR_OK;
        }
    FR_TRY(fr__verb_parse(v, &s->options, argc, argv, err));
    if (s->options.help) {
        cli_print_verb_help(stdout, v, false);
        return FR_OK;
    }
    if (s->options.version) {
        printf("forerun %s\n", fr_version());
        return FR_OK;
    }
    FR_TRY(fr__verb_check_arguments(v, &s->options, err));
    FR_TRY(fr__check_overwrite(&s->options, argc, argv, err));
    return call_verb(v, s, err);
}

static enum fr_status dispatch(struct fr__call *s, int argc, char *const argv[],
                               struct fr_error *err)
{
    size_t n_verbs;
    const struct fr__verb *v, *verbs = fr__verbs(&n_verbs);

    if (argc < 2)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "no command given, try 'forerun --help'");
    if (is_help(argv[1]))
        return help_on(argc - 2, argv + 2, err);
    if (argc > 2 && strcmp(argv[1], "completion") == 0 && strcmp(argv[2], "words") == 0) {
        cli_complete(verbs, n_verbs, argc - 3, argv + 3);
        return FR_OK;
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
        printf("forerun %s\n", fr_version());
        return FR_OK;
    }
    v = argc > 2 ? fr__verb_find(argv[1], argv[2]) : NULL;
    if (v)
        return run_verb(v, s, argc - 3, argv + 3, err);
    v = fr__verb_find(NULL, argv[1]);
    if (v)
        return run_verb(v, s, argc - 2, argv + 2, err);
    if (!is_group(argv[1]))
        return fr__verb_unknown(NULL, argv[1], err);
    if (argc < 3)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "'forerun %s' needs a command, try 'forerun %s --help'", argv[1], argv[1]);
    if (is_help(argv[2])) {
        cli_print_group_help(stdout, verbs, n_verbs, argv[1]);
        return FR_OK;
    }
    return fr__verb_unknown(argv[1], argv[2], err);
}

static int run_command(struct fr__call *s, int argc, char *argv[])
{
    bool is_silent;
    struct fr_error err = {.code = FR_OK};
    enum fr_status st;
    char *command, **words;

    fr_init();
    command = fr__command_line(argc, argv);
    words = cli_find_examples(argc, argv);
    s->command = command;
    st = command && words ? dispatch(s, argc, words, &err) : fr__fail_nomem(&err);
    free(command);
    is_silent = s->options.sweep && cli_mpi_is_follower(); /* the first of them has said it */
    fr__options_fini(&s->options);
    cli_free_words(words);
    /* a full disk shows only when the last bytes leave */
    if (st == FR_OK && (fflush(stdout) != 0 || ferror(stdout)))
        st = fr__fail(&err, FR_EIO, FR_NOWHERE, "cannot write to standard output: %s",
                      strerror(errno));
    if (st == FR_OK)
        return s->status == FR_CALL_DONE && s->lacks_file ? FR_CALL_FAILED : (int)s->status;
    if (is_silent) /* mpirun would end the first before it has said it */
        return FR_CALL_DONE;
    fr__call_explain_memory(s, &err);
    cli_say_error(&err);
    if (st == FR_ECANCELLED)
        return cli_signal_caught() ? 128 + cli_signal_caught() : FR_CALL_FAILED;
    return (int)fr__call_status(st);
}

int cli_main(int argc, char *argv[])
{
    struct fr__call *s = calloc(1, sizeof(*s)); /* too large for a small stack */
    int status;

    if (!s) {
        fputs("forerun: out of memory\n", stderr);
        return FR_CALL_FAILED;
    }
    status = run_command(s, argc, argv);
    free(s);
    return status;
}
