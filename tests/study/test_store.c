/* Stores of both kinds: what was put comes back, wherever the process was killed; what does not
 * belong together is refused. */
#include "config.h"

#include "base/text.h"
#include "results/results.h"
#include "study/store/digest.h"
#include "study/store/row.h"
#include "study/sweep/state.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <math.h>
#ifdef HAVE_SQLITE
#include <sqlite3.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct fr_error err;
static char folder[64], path[128], other[128];

/* Loop tests: 0 is a journal of CSV, 1 is SQLite. */
static int n_kinds(void)
{
    return fr_has_sqlite() ? 2 : 1;
}

static void name_files(int kind)
{
    const char *ending = kind ? "sqlite" : "csv";

    snprintf(path, sizeof(path), "%s/a.%s", folder, ending);
    snprintf(other, sizeof(other), "%s/b.%s", folder, ending);
}

static void make_folder(void)
{
    snprintf(folder, sizeof(folder), "/dev/shm/forerun-store-XXXXXX"); /* syncs at once */
    if (mkdtemp(folder))
        return;
    snprintf(folder, sizeof(folder), "/tmp/forerun-store-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void remove_folder(void)
{
    char command[128];

    snprintf(command, sizeof(command), "rm -rf '%s'", folder);
    ck_assert_int_eq(system(command), 0);
}

/* Row number i: every column has a value, some awkward. */
static struct fr_sweep_row row_at(unsigned i, char key[32])
{
    struct fr_sweep_row row = {.key = key,
                               .outcome = (enum fr_outcome)(i % FR_N_OUTCOMES),
                               .reason = "he said \"no\", twice",
                               .workload = "a,b",
                               .topology = " blanks ",
                               .strategy = "pp:stages=2",
                               .precision = "fp32",
                               .optimizer = "sgd",
                               .zero_grad = "none",
                               .order = "fifo",
                               .network = "flow",
                               .channels = "inf",
                               .collectives = "expanded",
                               .alloc = "dispatch",
                               .memory = "device",
                               .devices = "n0.gpu0,n0.gpu4",
                               .costs = "calibrated",
                               .profile_device = "none",
                               .gpu_types = "v100-sxm2-16gb:8",
                               .machines = "",
                               .record = "{\"a\": [1, 2, \"x,y\"]}",
                               .gpus = 8,
                               .seed = UINT64_MAX - i,
                               .iteration_s = i ? 0.1 * i : NAN,
                               .samples_per_s = 1e-300,
                               .bubble_s = -1e-17,
                               .peak_bytes = UINT64_C(1) << 53,
                               .tasks = i};

    snprintf(key, 32, "workload=%02u", 97 * (i + 1) % 100); /* not in order */
    return row;
}

static struct fr_store *open_store(const char *name)
{
    struct fr_store *s = NULL;
    enum fr_status st = fr_store_open(&s, name, &err);
    ck_assert_msg(st == FR_OK, "%s", err.text);
    return s;
}

static void close_store(struct fr_store *s)
{
    ck_assert_msg(fr_store_close(s, &err) == FR_OK, "%s", err.text);
}

static void put(struct fr_store *s, unsigned i)
{
    char key[32];
    struct fr_sweep_row row = row_at(i, key);
    ck_assert_msg(fr_store_put(s, &row, &err) == FR_OK, "%s", err.text);
}

struct seen {
    size_t n, n_whole;                     /* rows; rows as row_at makes them */
    size_t n_known;                        /* rows whose figure `hfu` is known */
    const struct fr__row_columns *columns; /* compared; NULL: all */
    char last_key[64];
    bool is_sorted;
};

static enum fr_status see(void *user, const struct fr_sweep_row *row, struct fr_error *e)
{
    struct seen *seen = user;
    struct fr__row_columns all;
    char key[32];

    (void)e;
    fr__row_columns_init(&all);
    seen->n++;
    seen->n_known += isnan(row->hfu) ? 0 : 1;
    for (unsigned i = 0; i < 99; i++) {
        struct fr_sweep_row expected = row_at(i, key);
        if (strcmp(expected.key, row->key) == 0)
            seen->n_whole += fr__rows_equal(&expected, row, seen->columns ? seen->columns : &all);
    }
    seen->is_sorted = seen->is_sorted && strcmp(seen->last_key, row->key) < 0;
    snprintf(seen->last_key, sizeof(seen->last_key), "%s", row->key);
    return FR_OK;
}

static struct seen look(struct fr_store *s, bool with_records)
{
    struct seen seen = {.is_sorted = true};
    ck_assert_msg(fr_store_each(s, with_records, see, &seen, &err) == FR_OK, "%s", err.text);
    return seen;
}

static void fill(const char *name, unsigned from, unsigned to)
{
    struct fr_store *s = open_store(name);
    for (unsigned i = from; i < to; i++)
        put(s, i);
    close_store(s);
}

LOOP_TEST(rows_come_back_whole_and_by_key, 0, n_kinds())
{
    name_files(_i);
    fill(path, 0, 20);
    struct fr_store *s = open_store(path);
    struct seen seen = look(s, true);
    ck_assert_uint_eq(seen.n, 20);
    ck_assert_uint_eq(seen.n_whole, 20);
    ck_assert(seen.is_sorted);
    seen = look(s, false);
    ck_assert_uint_eq(seen.n, 20);
    ck_assert_uint_eq(seen.n_whole, 0); /* the record is missing */
    close_store(s);
}

LOOP_TEST(a_row_counts_once_and_another_answer_is_refused, 0, n_kinds())
{
    char key[32];
    name_files(_i);
    fill(path, 0, 3);
    fill(path, 0, 3);
    struct fr_store *s = open_store(path);
    ck_assert_uint_eq(look(s, true).n, 3);
    struct fr_sweep_row row = row_at(1, key);
    row.iteration_s = 7;
    ck_assert_int_eq(fr_store_put(s, &row, &err), FR_EUSAGE);
    ck_assert_ptr_nonnull(strstr(err.text, "another answer"));
    ck_assert_uint_eq(look(s, true).n_whole, 3);
    close_store(s);
}

/* Kills a child with SIGKILL after it has put some rows and told so. */
LOOP_TEST(what_was_put_before_a_kill_is_there, 0, n_kinds())
{
    int told[2];
    char byte;
    name_files(_i);
    ck_assert_int_eq(pipe(told), 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct fr_store *s = open_store(path);
        for (unsigned i = 0; i < 10; i++)
            put(s, i);
        (void)!write(told[1], "x", 1);
        pause();
        _exit(0);
    }
    ck_assert_int_eq(read(told[0], &byte, 1), 1);
    struct fr_store *busy = NULL;
    ck_assert_int_eq(fr_store_open(&busy, path, &err), FR_EUSAGE);
    ck_assert_ptr_nonnull(strstr(err.text, "another process"));
    kill(pid, SIGKILL);
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
    struct fr_store *s = open_store(path);
    ck_assert_uint_eq(look(s, true).n_whole, 10);
    put(s, 10);
    close_store(s);
    s = open_store(path);
    ck_assert_uint_eq(look(s, true).n_whole, 11);
    close_store(s);
    close(told[0]);
    close(told[1]);
}

static char *read_file(const char *name, size_t *length)
{
    FILE *f = fopen(name, "rb");
    char *text = malloc(1 << 20);
    ck_assert(f && text);
    *length = fread(text, 1, 1 << 20, f);
    fclose(f);
    return text;
}

static void write_file(const char *name, const char *text, size_t length)
{
    FILE *f = fopen(name, "wb");
    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fwrite(text, 1, length, f), length);
    fclose(f);
}

TEST(a_journal_cut_anywhere_keeps_its_whole_lines)
{
    size_t length;
    name_files(0);
    fill(path, 0, 3);
    char *text = read_file(path, &length);
    for (size_t cut = 0; cut < length; cut++) {
        size_t n_lines = 0;
        for (size_t i = 0; i < cut; i++)
            n_lines += text[i] == '\n';
        write_file(path, text, cut);
        struct fr_store *s = open_store(path);
        ck_assert_uint_eq(look(s, true).n_whole, n_lines > 2 ? n_lines - 2 : 0);
        for (unsigned i = 0; i < 3; i++) /* and goes on */
            put(s, i);
        close_store(s);
        size_t n;
        char *again = read_file(path, &n);
        ck_assert_uint_eq(n, length);
        ck_assert_mem_eq(again, text, n);
        free(again);
    }
    free(text);
}

/* How far apart the bits are that are changed, of n: so that about so many are tried, or with
 * FORERUN_TESTS_WHOLE every seventh, which are all bits of a byte in turn. */
static size_t bits_apart(size_t n, size_t tried)
{
    return getenv("FORERUN_TESTS_WHOLE") ? 7 : n / tried | 1;
}

TEST(a_journal_changed_anywhere_is_refused)
{
    size_t length;
    name_files(0);
    fill(path, 0, 3);
    char *text = read_file(path, &length);
    size_t apart = bits_apart(8 * length, 400);
    for (size_t i = 0; i < 8 * (length - 1);
         i += apart) { /* without its end the last line is torn */
        struct fr_store *s = NULL;
        size_t at = i / 8;
        char bit = (char)(1 << i % 8);
        text[at] ^= bit;
        write_file(path, text, length);
        if (text[at] == '\0' && !memchr(text + at, '\n', length - at - 1)) {
            s = open_store(path); /* torn as well: a file system that lost the bytes */
            ck_assert_uint_eq(look(s, true).n_whole, 2);
            close_store(s);
            text[at] ^= bit;
            continue;
        }
        ck_assert_msg(fr_store_open(&s, path, &err) != FR_OK, "byte %zu", at);
        ck_assert_msg(err.text[0] != '\0', "byte %zu", at);
        size_t n;
        char *after = read_file(path, &n);
        ck_assert_uint_eq(n, length);
        ck_assert_mem_eq(after, text, n);
        free(after);
        text[at] ^= bit;
    }
    free(text);
}

/* A bit of a database may be one that nobody reads. Otherwise the store is refused, and stays as it
 * is; or the row is not there, and is put anew. */
START_TEST(a_database_changed_anywhere_never_gives_another_row)
{
    enum { N_ROWS = 60 };
    size_t length, n_refused = 0;
    name_files(1);
    fill(path, 0, N_ROWS);
    char *text = read_file(path, &length);
    size_t apart = bits_apart(8 * length, 100);
    for (size_t i = 0; i < 8 * length; i += apart) {
        struct fr_store *s = NULL;
        size_t at = i / 8;
        char bit = (char)(1 << i % 8);
        text[at] ^= bit;
        write_file(path, text, length);
        if (fr_store_open(&s, path, &err) == FR_OK) {
            struct seen seen = look(s, true);
            ck_assert_msg(seen.n == seen.n_whole && seen.n <= N_ROWS, "byte %zu", at);
            for (unsigned k = 0; seen.n < N_ROWS && k < N_ROWS; k++)
                put(s, k);
            ck_assert_uint_eq(look(s, true).n_whole, N_ROWS);
            close_store(s);
        } else {
            size_t n;
            char *after = read_file(path, &n);
            ck_assert_uint_eq(n, length);
            ck_assert_msg(memcmp(after, text, n) == 0, "byte %zu was written to", at);
            free(after);
            ck_assert(err.code != FR_EUSAGE || strstr(err.text, "is a store of"));
            n_refused++;
        }
        text[at] ^= bit;
    }
    ck_assert_uint_gt(n_refused, 30);
    printf("%zu bits changed, one in %zu: %zu times refused\n", 8 * length / apart, apart,
           n_refused);
    free(text);
}
END_TEST

LOOP_TEST(a_file_of_something_else_is_refused_and_left_alone, 0, n_kinds())
{
    const char text[] = "id,name\n1,one\n";
    struct fr_store *s = NULL;
    size_t length;
    name_files(_i);
    write_file(path, text, sizeof(text) - 1);
    ck_assert_int_eq(fr_store_open(&s, path, &err), FR_EPARSE);
    char *after = read_file(path, &length);
    ck_assert_uint_eq(length, sizeof(text) - 1);
    ck_assert_mem_eq(after, text, length);
    free(after);
}

LOOP_TEST(a_pipe_and_a_folder_are_no_stores, 0, n_kinds())
{
    struct fr_store *s = NULL;
    name_files(_i);
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    ck_assert_int_eq(fr_store_open(&s, path, &err), FR_EPARSE);
    ck_assert_ptr_nonnull(strstr(err.text, "is a pipe or a device"));
    ck_assert_int_eq(mkdir(other, 0700), 0);
    ck_assert_int_eq(fr_store_open(&s, other, &err), FR_EPARSE);
    ck_assert_ptr_nonnull(strstr(err.text, "is a folder"));
}

TEST(a_store_of_another_version_is_refused)
{
    const char text[] = "# forerun sweep store, format 1, forerun 0.0.1\nchecksum\n";
    struct fr_store *s = NULL;
    name_files(0);
    write_file(path, text, sizeof(text) - 1);
    ck_assert_int_eq(fr_store_open(&s, path, &err), FR_EUSAGE);
    ck_assert_ptr_nonnull(strstr(err.text, "of forerun 0.0.1"));
}

LOOP_TEST(a_changed_input_is_refused, 0, n_kinds())
{
    name_files(_i);
    struct fr_store *s = open_store(path);
    ck_assert_int_eq(fr_store_input(s, "mine, \"and\" yours.yaml", "0123456789abcdef", &err),
                     FR_OK);
    close_store(s);
    s = open_store(path);
    ck_assert_int_eq(fr_store_input(s, "mine, \"and\" yours.yaml", "0123456789abcdef", &err),
                     FR_OK);
    ck_assert_int_eq(fr_store_input(s, "mine, \"and\" yours.yaml", "0123456789abcdee", &err),
                     FR_EUSAGE);
    ck_assert_ptr_nonnull(strstr(err.text, "has changed"));
    ck_assert_int_eq(fr_store_input(s, "another.yaml", "0123456789abcdee", &err), FR_OK);
    close_store(s);
}

/* The columns of a store from before there was a figure `hfu`. */
static void columns_without_hfu(struct fr__row_columns *c)
{
    size_t n = 0;

    fr__row_columns_init(c);
    for (size_t i = 0; i < c->n; i++)
        if (strcmp(c->figures[i]->key, "hfu") != 0)
            c->figures[n++] = c->figures[i];
    ck_assert_uint_eq(n + 1, c->n);
    c->n = n;
}

/* A journal with row 1, as such a Forerun leaves it. */
static void write_old_journal(const struct fr__row_columns *c)
{
    char key[32], hex[FR__DIGEST_HEX], *cells = NULL;
    struct fr_sweep_row row = row_at(1, key);
    FILE *f = fopen(path, "w"), *line;
    size_t n;

    ck_assert_ptr_nonnull(f);
    fprintf(f, "# forerun sweep store, format %d, forerun %s\nchecksum,", FR_STORE_FORMAT,
            fr_version());
    fr__row_write_names(f, c);
    line = fr__text_open(&cells, &n);
    ck_assert_ptr_nonnull(line);
    fr__row_write_cells(line, c, &row);
    ck_assert(fr__text_close(line, &cells));
    fprintf(f, "\n%s,%s\n", fr__digest_hex(fr__fnv(FR__FNV_START, cells, n), hex), cells);
    free(cells);
    ck_assert_int_eq(fclose(f), 0);
}

#ifdef HAVE_SQLITE
/* The same as a database. */
static void write_old_database(const struct fr__row_columns *c)
{
    char key[32], hex[FR__DIGEST_HEX], sql[160];
    struct fr_sweep_row row = row_at(1, key);
    sqlite3 *db;

    fill(path, 1, 2);
    snprintf(sql, sizeof(sql),
             "ALTER TABLE points DROP COLUMN hfu; UPDATE points SET checksum = '%s'",
             fr__digest_hex(fr__row_digest(&row, c), hex));
    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    ck_assert_int_eq(sqlite3_close(db), SQLITE_OK);
}
#endif

/* A store keeps figures by key: those that it was begun with. */
LOOP_TEST(a_store_that_is_older_than_a_figure_is_read_and_filled, 0, n_kinds())
{
    struct fr__row_columns old;
    struct seen seen = {.columns = &old};
    struct fr_store *s;
    char key[32];

    name_files(_i);
    columns_without_hfu(&old);
#ifdef HAVE_SQLITE
    if (_i == 1)
        write_old_database(&old);
#endif
    if (_i == 0)
        write_old_journal(&old);
    for (size_t round = 0; round < 2; round++) {
        struct fr_sweep_row row = row_at(2, key);

        row.hfu = 0.5; /* the store has no place for it */
        s = open_store(path);
        ck_assert_msg(fr_store_put(s, &row, &err) == FR_OK, "%s", err.text); /* twice is once */
        close_store(s);
    }
    s = open_store(path);
    ck_assert_int_eq(fr_store_each(s, true, see, &seen, &err), FR_OK);
    ck_assert_uint_eq(seen.n, 2);
    ck_assert_uint_eq(seen.n_whole, 2);
    ck_assert_uint_eq(seen.n_known, 0);
    close_store(s);
}

LOOP_TEST(merged_stores_hold_the_rows_of_all, 0, n_kinds())
{
    char whole[128];
    name_files(_i);
    snprintf(whole, sizeof(whole), "%s/whole.csv", folder); /* kinds mix */
    fill(path, 0, 6);
    fill(other, 4, 11); /* two are in both */
    const char *const in[] = {path, other};
    ck_assert_msg(fr_stores_merge(whole, in, 2, &err) == FR_OK, "%s", err.text);
    struct fr_store *s = open_store(whole);
    ck_assert_uint_eq(look(s, true).n, 11);
    ck_assert_uint_eq(look(s, true).n_whole, 11);
    close_store(s);
}

LOOP_TEST(merging_refuses_what_contradicts_and_what_is_not_there, 0, n_kinds())
{
    char key[32];
    name_files(_i);
    fill(path, 0, 3);
    struct fr_store *s = open_store(other);
    struct fr_sweep_row row = row_at(2, key);
    row.peak_bytes++;
    ck_assert_int_eq(fr_store_put(s, &row, &err), FR_OK);
    close_store(s);
    const char *in[] = {other};
    ck_assert_int_eq(fr_stores_merge(path, in, 1, &err), FR_EUSAGE);
    in[0] = path;
    ck_assert_int_eq(fr_stores_merge(path, in, 1, &err), FR_EUSAGE);
    in[0] = "/nonexistent.csv";
    ck_assert_int_eq(fr_stores_merge(path, in, 1, &err), FR_ENOENT);
}

LOOP_TEST(a_merge_that_fails_leaves_the_store_as_it_was, 0, n_kinds())
{
    char key[32], fresh[128];
    name_files(_i);
    fill(path, 0, 3);
    struct fr_store *s = open_store(other);
    struct fr_sweep_row row = row_at(1, key);
    put(s, 7);
    row.iteration_s *= 2; /* contradicts row 1 of path */
    ck_assert_int_eq(fr_store_put(s, &row, &err), FR_OK);
    close_store(s);
    const char *in[] = {other, path};
    ck_assert_int_eq(fr_stores_merge(path, in, 1, &err), FR_EUSAGE);
    s = open_store(path);
    ck_assert_uint_eq(look(s, true).n, 3);
    close_store(s);
    snprintf(fresh, sizeof(fresh), "%s/fresh%s", folder, strrchr(path, '.'));
    ck_assert_int_eq(fr_stores_merge(fresh, in, 2, &err), FR_EUSAGE);
    ck_assert_int_ne(access(fresh, F_OK), 0); /* a new one is not left at all */
}

/* The whole way: a sweep is cut short, another goes on with its store. */
LOOP_TEST(a_sweep_answers_only_what_its_store_lacks, 0, n_kinds())
{
    const struct fr_sweep_options how = {.n_threads = 2, .print_record = fr_record_print_json};
    size_t n_strategies = 0;
    for (size_t i = 0; fr_strategy_at(i); i++)
        n_strategies += !fr_strategy_at(i)->is_by_name_only;
    name_files(_i);
    for (unsigned round = 0; round < 3; round++) {
        struct fr_sweep_options o = how;
        struct fr_sweep *s = fr_sweep_new();
        ck_assert_int_eq(fr_sweep_add(s, "workload", "lenet", &err), FR_OK);
        ck_assert_int_eq(fr_sweep_add(s, "topology", "dgx1-v100", &err), FR_OK);
        /* round 0: half of the points; round 1: all; round 2: nothing is left to do */
        ck_assert_int_eq(fr_sweep_add(s, "batch", round == 0 ? "8,32" : "8,16,32,64", &err), FR_OK);
        ck_assert_int_eq(fr_sweep_finish(s, &err), FR_OK);
        o.store = open_store(path);
        ck_assert_msg(fr_sweep_run(s, &o, NULL, &err) == FR_OK, "%s", err.text);
        ck_assert_uint_eq(fr_sweep_n_found(s), 2 * n_strategies * round);
        close_store(o.store);
        for (size_t i = 0; i < fr_sweep_n_points(s); i++)
            ck_assert_str_eq(fr_sweep_row(s, i)->workload, "lenet");
        fr_sweep_free(s);
    }
}

int main(void)
{
    fr_init();
    TCase *tc = tcase_create("store");
    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, make_folder, remove_folder);
    add_tests(tc);
    if (fr_has_sqlite())
        tcase_add_test(tc, a_database_changed_anywhere_never_gives_another_row);
    return run_case(tc, "store");
}
