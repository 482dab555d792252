/* tests/hostile/test_hostile.c - bad inputs by the hundred, from the tables in this folder.
 *
 * Each row runs the command in a child process of its own, without starting a program: the command
 * is linked in. A row is answered well if the exit status is the one of the table; if there is one
 * line on standard error, which holds the sentence of the table and no byte that a terminal acts
 * on; if no file was written; and if nothing was printed, but by rows of status 1, since a file
 * that cannot be written does not cost the answer. GOLDEN_UPDATE=1 writes the messages that came
 * into the tables, for people to judge.
 */
#include "config.h"

#include "cli/cli.h"
#include "tests/hostile/table.h"

#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_TEXT = 4096, MOST_CPU_s = 20, MOST_WALL_s = 30, MOST_TABLE_s = 300 };

static const char *const tables[] = {"options.txt", "topology.txt", "workload.txt",
                                     "costs.txt",   "answers.txt",  "files.txt"};
enum { N_TABLES = sizeof(tables) / sizeof(tables[0]) };

static char folder[4096]; /* of the tables; set before the tests run */
static char work[] = "/tmp/hostile-XXXXXX";

struct tally {
    unsigned n, n_wrong;
    bool is_update;
};

/* ---- files ---- */

static void make_folders(const char *path)
{
    char part[512];

    snprintf(part, sizeof(part), "%s", path);
    for (char *slash = strchr(part, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(part, 0777);
        *slash = '/';
    }
}

static void write_file(void *user, const char *path, const char *bytes, size_t n)
{
    FILE *f;

    (void)user;
    make_folders(path);
    f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fwrite(bytes, 1, n, f), n);
    ck_assert_int_eq(fclose(f), 0);
}

/* What no reader wants, under names that rows use. */
static void make_odd_files(void)
{
    static const char noise[] = "\001\002\003\177\033[2J\n\0\n";
    FILE *f;

    ck_assert_ptr_nonnull(mkdtemp(work));
    ck_assert_int_eq(chdir(work), 0);
    ck_assert_int_eq(mkdir("out", 0777) | mkdir("folder", 0777), 0);
    ck_assert_int_eq(mkfifo("fifo", 0666), 0);
    ck_assert_int_eq(symlink("loop", "loop") | symlink("nowhere", "dangling"), 0);
    ck_assert_int_eq(symlink("/dev/zero", "zero"), 0);
    write_file(NULL, "empty", "", 0);
    write_file(NULL, "noise", noise, sizeof(noise) - 1);
    write_file(NULL, "latin", "name: \377\376\200\n", 10);
    write_file(NULL, "locked", "name: a\n", 8);
    ck_assert_int_eq(chmod("locked", 0), 0);
    f = fopen("huge", "w");
    ck_assert_ptr_nonnull(f);
    ck_assert_int_eq(ftruncate(fileno(f), (off_t)5 << 30), 0);
    fclose(f);
}

/* Removes what is in a folder, two levels deep; how many things were there. */
static unsigned empty_folder(const char *path, unsigned depth)
{
    DIR *d = opendir(path);
    const struct dirent *e;
    char name[1024];
    unsigned n = 0;

    while (d && (e = readdir(d))) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        n++;
        snprintf(name, sizeof(name), "%s/%s", path, e->d_name);
        if (unlink(name) != 0 && depth < 4) {
            empty_folder(name, depth + 1);
            (void)rmdir(name);
        }
    }
    if (d)
        closedir(d);
    return n;
}

static void remove_all(void)
{
    if (chdir("/") == 0) {
        empty_folder(work, 0);
        (void)rmdir(work);
    }
}

/* ---- one command ---- */

struct outcome {
    int status; /* 128 and the number of the signal that ended it, as shells count */
    char said[MOST_TEXT];
    long long n_printed;
};

static void child(struct row *r)
{
    const struct rlimit cpu = {MOST_CPU_s, MOST_CPU_s};
    int in = open("/dev/null", O_RDONLY);
    int out = open("stdout", O_WRONLY | O_CREAT | O_TRUNC, 0666);
    int errors = open("stderr", O_WRONLY | O_CREAT | O_TRUNC, 0666);

    if (in < 0 || out < 0 || errors < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 ||
        dup2(errors, 2) < 0)
        _exit(99);
    (void)setrlimit(RLIMIT_CPU, &cpu);
    (void)alarm(MOST_WALL_s);
    r->words[r->n_words] = NULL;
    in = cli_main(r->n_words, r->words);
    fflush(NULL);
    _exit(in);
}

static void run(struct row *r, struct outcome *o)
{
    struct stat s;
    ssize_t n;
    int ended, fd;
    pid_t pid;

    fflush(NULL);
    pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0)
        child(r);
    while (waitpid(pid, &ended, 0) < 0)
        ck_assert_int_eq(errno, EINTR);
    o->status = WIFEXITED(ended) ? WEXITSTATUS(ended) : 128 + WTERMSIG(ended);
    o->n_printed = stat("stdout", &s) == 0 ? (long long)s.st_size : -1;
    fd = open("stderr", O_RDONLY);
    n = fd < 0 ? -1 : read(fd, o->said, sizeof(o->said) - 1);
    ck_assert_int_ge(n, 0);
    o->said[n] = '\0';
    close(fd);
}

/* What is wrong with the answer; NULL: nothing. */
static const char *fault_of(const struct row *r, const struct outcome *o)
{
    const char *end = strchr(o->said, '\n');

    if (strcmp(r->sentence, "ok") == 0)
        return o->status == 0 ? NULL : "a good input is refused";
    if (o->status != r->status)
        return "another exit status";
    if (strncmp(o->said, "forerun: ", 9) != 0 || !end || end[1])
        return "not one line of errors";
    for (const char *c = o->said; c < end; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            return "a control character in the message";
    /* a file that cannot be written (1) does not cost the answer */
    if (o->n_printed != 0 && r->status != 1)
        return "something on standard output";
    if (strcmp(r->sentence, "?") == 0)
        return "a message that nobody has judged yet";
    return strstr(o->said, r->sentence) ? NULL : "another message";
}

/* The message without the name of the program and the end of the line. */
static char *message_of(const struct outcome *o)
{
    char *text = strdup(strncmp(o->said, "forerun: ", 9) == 0 ? o->said + 9 : o->said);

    ck_assert_ptr_nonnull(text);
    text[strcspn(text, "\n")] = '\0';
    return text;
}

static bool try_row(void *user, const struct row *r, char **told)
{
    static char name[] = "forerun";
    struct tally *t = user;
    struct row with_name = *r;
    struct outcome o;
    const char *fault;

    memmove(with_name.words + 1, r->words, (size_t)r->n_words * sizeof(r->words[0]));
    with_name.words[0] = name;
    with_name.n_words++;
    if (r->is_first) {
        run(&with_name, &o);
        empty_folder("out", 0);
        if (o.status != 0) {
            t->n_wrong++;
            fprintf(stderr, "%s:%u: unspoilt it is refused: %s", r->table, r->line, o.said);
        }
    }
    if (r->spoilt)
        write_file(NULL, r->spoilt, r->bytes, r->n_bytes);
    run(&with_name, &o);
    fault = fault_of(r, &o);
    if (empty_folder("out", 0) > 0 && !fault && strcmp(r->sentence, "ok") != 0)
        fault = "a file was written";
    t->n++;
    if (!fault)
        return false;
    if (t->is_update && o.status == r->status) {
        *told = message_of(&o);
        return true;
    }
    t->n_wrong++;
    fprintf(stderr, "%s:%u: %s: %s (%d, expected %d)\n  expected: %s\n  said: %.600s\n", r->table,
            r->line, r->name, fault, o.status, r->status, r->sentence,
            o.said[0] ? o.said : "nothing");
    return false;
}

START_TEST(every_bad_input_gets_its_sentence_and_its_status)
{
    struct tally t = {.is_update = getenv("GOLDEN_UPDATE") != NULL};
    char path[sizeof(folder) + 64], *text = NULL;
    FILE *f;

    snprintf(path, sizeof(path), "%s/%s", folder, tables[_i]);
    make_odd_files();
    table_read(path, write_file, try_row, &t, &text);
    remove_all();
    if (t.is_update) {
        f = fopen(path, "w");
        ck_assert_ptr_nonnull(f);
        fputs(text, f);
        ck_assert_int_eq(fclose(f), 0);
    }
    free(text);
    printf("%s: %u bad inputs, %u not answered as they should be\n", tables[_i], t.n, t.n_wrong);
    ck_assert_uint_eq(t.n_wrong, 0);
}
END_TEST

int main(void)
{
    const char *srcdir = getenv("srcdir");
    char given[3000];
    Suite *s = suite_create("hostile");
    TCase *tc = tcase_create("tables");
    SRunner *sr;
    int failed;

    snprintf(given, sizeof(given), "%s/tests/hostile", srcdir ? srcdir : ".");
    if (!realpath(given, folder)) {
        fprintf(stderr, "no folder %s\n", given);
        return 1;
    }
    tcase_set_timeout(tc, MOST_TABLE_s);
    tcase_add_loop_test(tc, every_bad_input_gets_its_sentence_and_its_status, 0, N_TABLES);
    suite_add_tcase(s, tc);
    sr = srunner_create(s);
    srunner_set_fork_status(sr, CK_FORK); /* each table in a folder of its own */
    srunner_run_all(sr, CK_ENV);
    failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed > 0;
}
