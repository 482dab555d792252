/* tests/torture/torture.c - runs the command once for each allocation that can fail.
 *
 * torture FORERUN SHIM LIST MOST: each line of LIST is the arguments of a command that leaves its
 * files in the folder "out". The command first runs undisturbed; then its n-th allocation fails,
 * and then all from the n-th on, for at most MOST numbers n spread over all that there are (0:
 * every n; "sites": the first n of each place in the program that allocates). Each time the answer
 * must be the undisturbed one, or exit status 1, one sentence about memory and no file but whole
 * ones that the undisturbed run writes too. A line that begins with "+" goes on with the same
 * files, so that a store can be tried: what is left in it must not change what the next undisturbed
 * run answers. Runs in an empty folder; failing_malloc.c is the shim.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { MOST_WORDS = 64, MOST_FILES = 16, LONGEST_LINE = 1024, LONGEST_FILE = 1 << 22 };

struct command {
    char line[LONGEST_LINE];
    char *argv[MOST_WORDS + 2];
    bool keeps_files; /* "+": the store is there to go on from */
    bool may_leak;    /* "~": a library loses memory when it has too little (GSL's minimisers) */
};

/* What one run left behind. */
struct outcome {
    int status; /* as waitpid() gives it */
    unsigned long n_asked, n_live;
    uint64_t text;              /* hash of standard output */
    uint64_t files[MOST_FILES]; /* hashes of the names and contents */
    size_t n_files;
    char message[1024];
};

/* nftw() passes no argument of the caller's. */
static struct outcome *seen;

static char contents[LONGEST_FILE];

static void die(const char *what)
{
    fprintf(stderr, "torture: %s: %s\n", what, strerror(errno));
    exit(2);
}

/* FNV-1a (G. Fowler, L. C. Noll, K.-P. Vo). */
static uint64_t hash(const char *s, size_t n)
{
    uint64_t h = UINT64_C(14695981039346656037);

    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)s[i]) * UINT64_C(1099511628211);
    return h;
}

/* The lines that say how long the program itself took are another each time. */
static uint64_t hash_text(const char *s, size_t n)
{
    uint64_t h = 0;

    for (const char *end = s + n; s < end;) {
        const char *newline = memchr(s, '\n', (size_t)(end - s));
        size_t len = newline ? (size_t)(newline - s) + 1 : (size_t)(end - s);

        if (strncmp(s, "  \"wall_s\"", 10) != 0 && strncmp(s, "  \"plan_cpu_s\"", 14) != 0)
            h = h * 31 + hash(s, len);
        s += len;
    }
    return h;
}

static size_t read_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    size_t n;

    if (!f)
        return 0;
    n = fread(contents, 1, sizeof(contents) - 1, f);
    contents[n] = '\0';
    fclose(f);
    return n;
}

static int see(const char *path, const struct stat *sb, int type, struct FTW *where)
{
    uint64_t h = hash(path, strlen(path)) * 3;

    (void)sb;
    if (where->level == 0 || seen->n_files == MOST_FILES)
        return 0;
    if (type == FTW_F)
        h += hash(contents, read_file(path));
    seen->files[seen->n_files++] = h;
    return 0;
}

static int discard(const char *path, const struct stat *sb, int type, struct FTW *where)
{
    (void)sb;
    (void)type;
    (void)where;
    return remove(path);
}

static void empty_folder(void)
{
    nftw("out", discard, 16, FTW_DEPTH | FTW_PHYS);
    if (mkdir("out", 0777) != 0)
        die("out");
}

/* fails: "", or TORTURE_FAIL's value */
static void run(const struct command *c, const char *shim, const char *fails, struct outcome *o)
{
    posix_spawn_file_actions_t actions;
    pid_t pid;

    setenv("TORTURE_FAIL", fails, 1);
    setenv("LD_PRELOAD", shim, 1);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, "stdout", O_WRONLY | O_CREAT | O_TRUNC, 0666);
    posix_spawn_file_actions_addopen(&actions, 2, "stderr", O_WRONLY | O_CREAT | O_TRUNC, 0666);
    remove("report");
    if (posix_spawn(&pid, c->argv[0], &actions, NULL, c->argv, environ) != 0)
        die(c->argv[0]);
    unsetenv("LD_PRELOAD");
    posix_spawn_file_actions_destroy(&actions);
    if (waitpid(pid, &o->status, 0) != pid)
        die("waitpid");
    o->n_asked = o->n_live = 0;
    if (read_file("report") > 0 && sscanf(contents, "%lu %lu", &o->n_asked, &o->n_live) != 2)
        die("report");
    o->text = hash_text(contents, read_file("stdout"));
    snprintf(o->message, sizeof(o->message), "%.*s", (int)read_file("stderr"), contents);
    seen = o;
    o->n_files = 0;
    nftw("out", see, 16, FTW_PHYS);
}

static bool is_one_line(const char *text)
{
    const char *end = strchr(text, '\n');

    return end && !end[1];
}

/* Whether every file is one of the undisturbed run's, whole. */
static bool are_among(const struct outcome *o, const struct outcome *well)
{
    for (size_t i = 0; i < o->n_files; i++) {
        size_t k = 0;

        while (k < well->n_files && well->files[k] != o->files[i])
            k++;
        if (k == well->n_files)
            return false;
    }
    return true;
}

/* NULL, or what is wrong. */
static const char *judge(const struct command *c, const struct outcome *well,
                         const struct outcome *o)
{
    if (WIFSIGNALED(o->status))
        return "killed by a signal";
    if (WEXITSTATUS(o->status) == WEXITSTATUS(well->status)) {
        if (o->text != well->text || strcmp(o->message, well->message) != 0)
            return "another answer, as if nothing had happened";
        if (!c->keeps_files && (o->n_files != well->n_files || !are_among(o, well)))
            return "other files, as if nothing had happened";
    } else if (WEXITSTATUS(o->status) != 1) {
        return "wrong exit status";
    } else if (!is_one_line(o->message) || !strstr(o->message, "memory")) {
        return "not one sentence about memory";
    } else if (!c->keeps_files && !are_among(o, well)) {
        return "left part of a file";
    }
    return !c->may_leak && o->n_live > well->n_live ? "lost memory" : NULL;
}

/* Once with the n-th failing, or all from it on. */
static bool stands(const struct command *c, const char *shim, unsigned long n, bool onward,
                   const struct outcome *well)
{
    struct outcome o, next;
    const char *fault;
    char fails[32];

    snprintf(fails, sizeof(fails), "%lu%s", n, onward ? "+" : "");
    empty_folder();
    run(c, shim, fails, &o);
    fault = judge(c, well, &o);
    if (!fault && c->keeps_files && WEXITSTATUS(o.status) == 1) {
        run(c, shim, "", &next);
        if (next.status != well->status || next.text != well->text)
            fault = "the next run answers otherwise";
    }
    if (!fault)
        return true;
    printf("FAIL %s: %s (status %#x, %lu blocks left, %lu before)\n  forerun %s\n  %s\n", fails,
           fault, (unsigned)o.status, o.n_live, well->n_live, c->line, o.message);
    return false;
}

static void split(struct command *c, char *forerun)
{
    static char words[LONGEST_LINE];
    size_t n = 0;

    snprintf(words, sizeof(words), "%s", c->line);
    c->argv[n++] = forerun;
    for (char *w = strtok(words, " \n"); w && n < MOST_WORDS; w = strtok(NULL, " \n"))
        c->argv[n++] = w;
    c->argv[n] = NULL;
}

/* The numbers n to try, ascending or not, on the heap. */
static unsigned long *choose(const struct command *c, const char *shim, const char *most,
                             unsigned long n_asked, size_t *n_chosen)
{
    unsigned long *chosen = calloc(n_asked, sizeof(*chosen)), wanted = strtoul(most, NULL, 10);
    unsigned long step = wanted && n_asked > wanted ? n_asked / wanted : 1;
    struct outcome o;
    const char *line;

    if (!chosen)
        die("memory");
    *n_chosen = 0;
    if (strcmp(most, "sites") != 0) {
        for (unsigned long n = 1; n <= n_asked; n += step)
            chosen[(*n_chosen)++] = n;
        return chosen;
    }
    setenv("TORTURE_SITES", "1", 1);
    empty_folder();
    run(c, shim, "", &o);
    unsetenv("TORTURE_SITES");
    read_file("report");
    for (line = strchr(contents, '\n'); line && line[1] && *n_chosen < n_asked;
         line = strchr(line + 1, '\n'))
        chosen[(*n_chosen)++] = strtoul(line + 1, NULL, 10);
    return chosen;
}

static size_t torture(const struct command *c, const char *shim, const char *most)
{
    struct outcome well, again;
    unsigned long *chosen;
    size_t n_faults = 0, n_chosen;

    empty_folder();
    run(c, shim, "", &well);
    if (!WIFEXITED(well.status) || WEXITSTATUS(well.status) != 0 || well.n_asked == 0) {
        printf("FAIL forerun %s\n  undisturbed: status %#x %s\n", c->line, (unsigned)well.status,
               well.message);
        return 1;
    }
    empty_folder();
    run(c, shim, "", &again);
    if (judge(c, &well, &again) != NULL) {
        printf("FAIL forerun %s\n  two undisturbed runs are not the same\n", c->line);
        return 1;
    }
    chosen = choose(c, shim, most, well.n_asked, &n_chosen);
    for (size_t i = 0; i < n_chosen; i++) {
        n_faults += !stands(c, shim, chosen[i], false, &well);
        n_faults += !stands(c, shim, chosen[i], true, &well);
        fflush(stdout);
    }
    printf("%6lu allocations, %6zu runs, %4zu wrong: forerun %s\n", well.n_asked, 2 * n_chosen,
           n_faults, c->line);
    fflush(stdout);
    free(chosen);
    return n_faults;
}

int main(int argc, char *argv[])
{
    const struct rlimit no_core = {0, 0};
    char line[LONGEST_LINE];
    size_t n_faults = 0;
    struct command c;
    FILE *list;

    if (argc != 5) {
        fputs("usage: torture FORERUN SHIM LIST MOST\n", stderr);
        return 2;
    }
    setrlimit(RLIMIT_CORE, &no_core);
    setenv("TORTURE_REPORT", "report", 1);
    list = fopen(argv[3], "r");
    if (!list)
        die(argv[3]);
    while (fgets(line, sizeof(line), list)) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '#' || line[0] == '\0')
            continue;
        c.keeps_files = line[0] == '+';
        c.may_leak = line[0] == '~';
        snprintf(c.line, sizeof(c.line), "%s", line + (c.keeps_files || c.may_leak));
        split(&c, argv[1]);
        n_faults += torture(&c, argv[2], argv[4]);
    }
    fclose(list);
    return n_faults > 0;
}
