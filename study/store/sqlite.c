/* study/store/sqlite.c - a store that is a SQLite database.
 *
 * Tables: `points` (the columns of rows, key first), `inputs` (name, digest), `meta` (name, value).
 * Each row is a transaction of its own in the write-ahead log. If a process is killed, the store
 * has all rows that were put, and none in part; after a power cut the last rows may be missing
 * (sqlite.org/pragma.html#pragma_synchronous, NORMAL). The lock is exclusive, so that two sweeps
 * never fill one store, and the log needs no shared memory. A closed store is one file.
 */
#include "config.h"

#ifdef HAVE_SQLITE
#include "base/error.h"
#include "base/text.h"
#include "study/store/digest.h"
#include "study/store/store.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

enum { APPLICATION_ID = 0x666f7265 }; /* "fore"; marks the file as ours */
/* After the row's columns stand two checksums, and in SELECT the row's number: place after them. */
enum { CHECKSUM, RECORD_CHECKSUM, N_CHECKSUMS, ROW_NUMBER = N_CHECKSUMS };

struct database {
    char *path;
    sqlite3 *db;
    sqlite3_stmt *put, *find;
    struct fr__row_columns columns; /* of its table */
};

static enum fr_status fail(const struct database *d, struct fr_error *err)
{
    int code = sqlite3_errcode(d->db);
    const struct fr_loc whole = {d->path, 0, 0};

    switch (code & 0xff) {
    case SQLITE_NOMEM:
        return fr__fail_nomem(err);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return fr__store_fail_busy(d->path, err);
    case SQLITE_NOTADB:
        return fr__fail(err, FR_EPARSE, whole, "this file is no store of sweeps: %s",
                        sqlite3_errmsg(d->db));
    case SQLITE_CORRUPT:
        return fr__fail(err, FR_EPARSE, whole, "the store is damaged: %s", sqlite3_errmsg(d->db));
    default:
        return fr__fail(err, FR_EIO, whole, "SQLite: %s", sqlite3_errmsg(d->db));
    }
}

static enum fr_status run(const struct database *d, const char *sql, struct fr_error *err)
{
    return sqlite3_exec(d->db, sql, NULL, NULL, NULL) == SQLITE_OK ? FR_OK : fail(d, err);
}

static enum fr_status prepare(const struct database *d, const char *sql, sqlite3_stmt **out,
                              struct fr_error *err)
{
    return sqlite3_prepare_v2(d->db, sql, -1, out, NULL) == SQLITE_OK ? FR_OK : fail(d, err);
}

/* The first value of the first row; 0 where there is none. */
static enum fr_status ask_number(const struct database *d, const char *sql, int *out,
                                 struct fr_error *err)
{
    sqlite3_stmt *s;
    int code;

    FR_TRY(prepare(d, sql, &s, err));
    code = sqlite3_step(s);
    *out = code == SQLITE_ROW ? sqlite3_column_int(s, 0) : 0;
    sqlite3_finalize(s);
    return code == SQLITE_ROW || code == SQLITE_DONE ? FR_OK : fail(d, err);
}

/* ---- statements made from the columns ---- */

static const char *sql_type(enum fr_figure_kind kind)
{
    return kind == FR_FIGURE_COUNT ? "INTEGER" : kind == FR_FIGURE_NUMBER ? "REAL" : "TEXT";
}

/* "CREATE TABLE", "INSERT" or "SELECT" with every column; the caller frees; NULL: out of memory. */
static char *table_sql(const struct fr__row_columns *c)
{
    char *text = NULL;
    size_t length;
    FILE *f = fr__text_open(&text, &length);

    if (!f)
        return NULL;
    fputs("CREATE TABLE points (", f);
    for (size_t i = 0; i < c->n; i++)
        fprintf(f, "%s%s %s%s", i ? ", " : "", c->figures[i]->key, sql_type(c->figures[i]->kind),
                i ? "" : " PRIMARY KEY NOT NULL");
    fputs(", checksum TEXT NOT NULL, record_checksum TEXT NOT NULL)", f);
    (void)fr__text_close(f, &text);
    return text;
}

static char *insert_sql(const struct fr__row_columns *c)
{
    char *text = NULL;
    size_t length;
    FILE *f = fr__text_open(&text, &length);

    if (!f)
        return NULL;
    fputs("INSERT OR IGNORE INTO points (", f);
    fr__row_write_names(f, c);
    fputs(",checksum,record_checksum) VALUES (", f);
    for (size_t i = 0; i < c->n + N_CHECKSUMS; i++)
        fputs(i ? ",?" : "?", f);
    fputs(")", f);
    (void)fr__text_close(f, &text);
    return text;
}

static char *select_sql(const struct fr__row_columns *c, bool with_records, const char *rest)
{
    char *text = NULL;
    size_t length;
    FILE *f = fr__text_open(&text, &length);

    if (!f)
        return NULL;
    fputs("SELECT ", f);
    for (size_t i = 0; i < c->n; i++)
        fprintf(f, "%s%s", i ? "," : "",
                strcmp(c->figures[i]->key, "record") != 0 || with_records ? c->figures[i]->key
                                                                          : "''");
    fprintf(f, ",checksum,record_checksum,rowid FROM points %s", rest);
    (void)fr__text_close(f, &text);
    return text;
}

static enum fr_status prepare_owned(const struct database *d, char *sql, sqlite3_stmt **out,
                                    struct fr_error *err)
{
    enum fr_status st = sql ? prepare(d, sql, out, err) : fr__fail_nomem(err);

    free(sql);
    return st;
}

/* ---- rows ---- */

static int bind_cell(sqlite3_stmt *s, int at, const struct fr_sweep_row *row,
                     const struct fr_figure *f)
{
    struct fr_value v;

    fr__figure_value(f, row, &v);
    if (f->kind == FR_FIGURE_TEXT)
        return sqlite3_bind_text(s, at, v.kind == FR_FIGURE_END ? "" : v.text, -1,
                                 SQLITE_TRANSIENT);
    if (v.kind == FR_FIGURE_END)
        return sqlite3_bind_null(s, at);
    if (f->kind == FR_FIGURE_NUMBER)
        return sqlite3_bind_double(s, at, v.number);
    /* SQLite's integers are signed: a seed may wrap, and comes back whole */
    return sqlite3_bind_int64(s, at, (sqlite3_int64)v.count);
}

static bool bind_digest(sqlite3_stmt *s, int column, uint64_t digest)
{
    char hex[FR__DIGEST_HEX];

    return sqlite3_bind_text(s, column + 1, fr__digest_hex(digest, hex), -1, SQLITE_TRANSIENT) ==
           SQLITE_OK;
}

static const char *column_text(sqlite3_stmt *s, int at)
{
    const unsigned char *text = sqlite3_column_text(s, at);

    return text ? (const char *)text : "";
}

static enum fr_status fail_row(const struct database *d, sqlite3_stmt *s, struct fr_error *err)
{
    long long number = (long long)sqlite3_column_int64(s, (int)d->columns.n + ROW_NUMBER);

    return fr__fail(err, FR_EPARSE, (struct fr_loc){d->path, 0, 0},
                    "the store is damaged: row %lld does not match its checksum; without the row "
                    "(sqlite3 STORE 'DELETE FROM points WHERE rowid = %lld') the next sweep "
                    "computes it again",
                    number, number);
}

static bool has_digest(sqlite3_stmt *s, int at, uint64_t digest)
{
    char hex[FR__DIGEST_HEX];

    return strcmp(column_text(s, at), fr__digest_hex(digest, hex)) == 0;
}

static enum fr_status read_row(const struct database *d, sqlite3_stmt *s, bool with_record,
                               struct fr_sweep_row *row, struct fr_error *err)
{
    int n = (int)d->columns.n;

    fr__row_init(row);
    for (int i = 0; i < n; i++) {
        const struct fr_figure *f = d->columns.figures[i];
        struct fr_value v = {.kind = f->kind};

        if (f->of && (row->outcome = fr__outcome_parse(column_text(s, i))) == FR_N_OUTCOMES)
            return fail_row(d, s, err);
        if (f->of)
            continue;
        if (f->kind == FR_FIGURE_TEXT)
            v.text = column_text(s, i);
        else if (sqlite3_column_type(s, i) == SQLITE_NULL)
            v.kind = FR_FIGURE_END;
        else if (f->kind == FR_FIGURE_COUNT)
            v.count = (uint64_t)sqlite3_column_int64(s, i);
        else
            v.number = sqlite3_column_double(s, i);
        fr__figure_set(f, row, &v);
    }
    if (!has_digest(s, n + CHECKSUM, fr__row_digest(row, &d->columns)) ||
        (with_record &&
         !has_digest(s, n + RECORD_CHECKSUM, fr__digest_text(FR__FNV_START, row->record))))
        return fail_row(d, s, err);
    return FR_OK;
}

static enum fr_status sqlite_each(void *store, bool with_records, fr__take_row take, void *user,
                                  struct fr_error *err)
{
    const struct database *d = store;
    struct fr_sweep_row row;
    sqlite3_stmt *s;
    enum fr_status st;
    int code = SQLITE_DONE;

    FR_TRY(prepare_owned(d, select_sql(&d->columns, with_records, "ORDER BY key"), &s, err));
    st = FR_OK;
    while (st == FR_OK && (code = sqlite3_step(s)) == SQLITE_ROW) {
        st = read_row(d, s, with_records, &row, err);
        if (st == FR_OK)
            st = take(user, &row, err);
    }
    if (st == FR_OK && code != SQLITE_DONE)
        st = fail(d, err);
    sqlite3_finalize(s);
    return st;
}

static uint64_t input_digest(const char *name, const char *digest)
{
    return fr__digest_text(fr__digest_text(FR__FNV_START, name), digest);
}

static enum fr_status sqlite_inputs(void *store,
                                    enum fr_status (*take)(void *user, const char *name,
                                                           const char *digest,
                                                           struct fr_error *err),
                                    void *user, struct fr_error *err)
{
    const struct database *d = store;
    sqlite3_stmt *s;
    enum fr_status st;
    int code = SQLITE_DONE;

    FR_TRY(prepare(d, "SELECT name, digest, checksum FROM inputs ORDER BY name", &s, err));
    st = FR_OK;
    while (st == FR_OK && (code = sqlite3_step(s)) == SQLITE_ROW)
        st = has_digest(s, 2, input_digest(column_text(s, 0), column_text(s, 1)))
                 ? take(user, column_text(s, 0), column_text(s, 1), err)
                 : fr__fail(err, FR_EPARSE, (struct fr_loc){d->path, 0, 0},
                            "the store is damaged: an input does not match its checksum");
    if (st == FR_OK && code != SQLITE_DONE)
        st = fail(d, err);
    sqlite3_finalize(s);
    return st;
}

/* ---- opening ---- */

static enum fr_status begin(const struct database *d, struct fr_error *err)
{
    char sql[256], *points = table_sql(&d->columns);
    enum fr_status st;

    if (!points)
        return fr__fail_nomem(err);
    snprintf(sql, sizeof(sql), "PRAGMA application_id = %d; PRAGMA user_version = %d",
             APPLICATION_ID, FR_STORE_FORMAT);
    st = run(d, sql, err);
    if (st == FR_OK)
        st = run(d, points, err);
    free(points);
    FR_TRY(st);
    FR_TRY(run(d,
               "CREATE TABLE inputs (name TEXT PRIMARY KEY NOT NULL, digest TEXT NOT NULL, "
               "checksum TEXT NOT NULL)",
               err));
    FR_TRY(run(d, "CREATE TABLE meta (name TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL)", err));
    snprintf(sql, sizeof(sql), "INSERT INTO meta VALUES ('forerun', '%s')", fr_version());
    return run(d, sql, err);
}

static enum fr_status check_version(const struct database *d, struct fr_error *err)
{
    sqlite3_stmt *s;
    enum fr_status st = FR_OK;
    int format;

    FR_TRY(ask_number(d, "PRAGMA user_version", &format, err));
    FR_TRY(prepare(d, "SELECT value FROM meta WHERE name = 'forerun'", &s, err));
    if (sqlite3_step(s) != SQLITE_ROW)
        st = fr__store_fail_version(d->path, format, "of no known version", err);
    else if (format != FR_STORE_FORMAT || strcmp(column_text(s, 0), fr_version()) != 0)
        st = fr__store_fail_version(d->path, format, column_text(s, 0), err);
    sqlite3_finalize(s);
    return st;
}

/* The figures that the store was begun with. */
static enum fr_status read_columns(struct database *d, struct fr_error *err)
{
    enum fr_status st = FR_OK;
    sqlite3_stmt *s;

    FR_TRY(prepare(d, "SELECT * FROM points LIMIT 0", &s, err));
    d->columns.n = 0;
    for (int i = 0; i < sqlite3_column_count(s) - N_CHECKSUMS && st == FR_OK; i++)
        st = fr__row_columns_add(&d->columns, d->path, sqlite3_column_name(s, i), err);
    sqlite3_finalize(s);
    return st;
}

static enum fr_status take_nothing(void *user, const struct fr_sweep_row *row, struct fr_error *err)
{
    (void)user;
    (void)row;
    (void)err;
    return FR_OK;
}

static enum fr_status input_nothing(void *user, const char *name, const char *digest,
                                    struct fr_error *err)
{
    (void)user;
    (void)name;
    (void)digest;
    (void)err;
    return FR_OK;
}

/* Everything is looked at before anything is written: a damaged store stays as it is. */
static enum fr_status check_all(struct database *d, struct fr_error *err)
{
    sqlite3_stmt *s;
    enum fr_status st = FR_OK;

    FR_TRY(prepare(d, "PRAGMA integrity_check(1)", &s, err));
    if (sqlite3_step(s) != SQLITE_ROW)
        st = fail(d, err);
    else if (strcmp(column_text(s, 0), "ok") != 0)
        st = fr__fail(err, FR_EPARSE, (struct fr_loc){d->path, 0, 0}, "the store is damaged: %s",
                      column_text(s, 0));
    sqlite3_finalize(s);
    FR_TRY(st);
    FR_TRY(check_version(d, err));
    FR_TRY(read_columns(d, err));
    FR_TRY(sqlite_inputs(d, input_nothing, NULL, err));
    return sqlite_each(d, true, take_nothing, NULL, err);
}

/* The transaction takes the lock, and keeps it (locking_mode), before anything is decided. */
static enum fr_status take_over(struct database *d, struct fr_error *err)
{
    int n_tables, id;

    FR_TRY(run(d, "PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE", err));
    FR_TRY(ask_number(d, "SELECT count(*) FROM sqlite_master", &n_tables, err));
    FR_TRY(ask_number(d, "PRAGMA application_id", &id, err));
    fr__row_columns_init(&d->columns);
    if (n_tables == 0)
        FR_TRY(begin(d, err));
    else if (id != APPLICATION_ID)
        return fr__fail(err, FR_EPARSE, (struct fr_loc){d->path, 0, 0},
                        "this database is no store of sweeps");
    else
        FR_TRY(check_all(d, err));
    return run(d, "COMMIT; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL", err);
}

static void database_free(struct database *d)
{
    sqlite3_finalize(d->put);
    sqlite3_finalize(d->find);
    sqlite3_close(d->db);
    free(d->path);
    free(d);
}

static enum fr_status sqlite_open(void **out, const char *path, struct fr_error *err)
{
    struct database *d = calloc(1, sizeof(*d));
    enum fr_status st = FR_OK;

    if (!d)
        return fr__fail_nomem(err);
    d->path = strdup(path);
    if (!d->path) {
        free(d);
        return fr__fail_nomem(err);
    }
    /* no URI, no shared cache; one thread at a time is the caller's promise */
    if (sqlite3_open_v2(path, &d->db,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
                        NULL) != SQLITE_OK)
        st = d->db ? fail(d, err) : fr__fail_nomem(err);
    if (st == FR_OK)
        st = take_over(d, err);
    if (st == FR_OK)
        st = prepare_owned(d, insert_sql(&d->columns), &d->put, err);
    if (st == FR_OK)
        st = prepare_owned(d, select_sql(&d->columns, true, "WHERE key = ?"), &d->find, err);
    if (st == FR_OK)
        *out = d;
    else
        database_free(d);
    return st;
}

/* ---- the kind ---- */

static enum fr_status compare_with_stored(const struct database *d, const struct fr_sweep_row *row,
                                          struct fr_error *err)
{
    struct fr_sweep_row old;
    enum fr_status st = FR_OK;

    if (sqlite3_bind_text(d->find, 1, row->key, -1, SQLITE_TRANSIENT) != SQLITE_OK ||
        sqlite3_step(d->find) != SQLITE_ROW)
        st = fail(d, err);
    if (st == FR_OK)
        st = read_row(d, d->find, true, &old, err);
    if (st == FR_OK && !fr__rows_equal(&old, row, &d->columns))
        st = fr__store_fail_conflict(d->path, row->key, err);
    sqlite3_reset(d->find);
    return st;
}

static enum fr_status sqlite_put(void *store, const struct fr_sweep_row *row, struct fr_error *err)
{
    const struct database *d = store;
    enum fr_status st = FR_OK;
    bool is_new = false;
    int n = (int)d->columns.n;

    for (int i = 0; i < n && st == FR_OK; i++)
        if (bind_cell(d->put, i + 1, row, d->columns.figures[i]) != SQLITE_OK)
            st = fail(d, err);
    if (st == FR_OK &&
        (!bind_digest(d->put, n + CHECKSUM, fr__row_digest(row, &d->columns)) ||
         !bind_digest(d->put, n + RECORD_CHECKSUM, fr__digest_text(FR__FNV_START, row->record))))
        st = fail(d, err);
    if (st == FR_OK && sqlite3_step(d->put) != SQLITE_DONE)
        st = fail(d, err);
    else if (st == FR_OK)
        is_new = sqlite3_changes(d->db) > 0;
    sqlite3_reset(d->put);
    sqlite3_clear_bindings(d->put);
    return st == FR_OK && !is_new ? compare_with_stored(d, row, err) : st;
}

static enum fr_status sqlite_input(void *store, const char *name, const char *digest,
                                   struct fr_error *err)
{
    const struct database *d = store;
    enum fr_status st = FR_OK;
    sqlite3_stmt *s;

    FR_TRY(prepare(d, "INSERT OR IGNORE INTO inputs VALUES (?, ?, ?)", &s, err));
    if (sqlite3_bind_text(s, 1, name, -1, SQLITE_TRANSIENT) != SQLITE_OK ||
        sqlite3_bind_text(s, 2, digest, -1, SQLITE_TRANSIENT) != SQLITE_OK ||
        !bind_digest(s, 2, input_digest(name, digest)) || sqlite3_step(s) != SQLITE_DONE)
        st = fail(d, err);
    sqlite3_finalize(s);
    FR_TRY(st);
    FR_TRY(prepare(d, "SELECT digest FROM inputs WHERE name = ?", &s, err));
    if (sqlite3_bind_text(s, 1, name, -1, SQLITE_TRANSIENT) != SQLITE_OK ||
        sqlite3_step(s) != SQLITE_ROW)
        st = fail(d, err);
    else if (strcmp(column_text(s, 0), digest) != 0)
        st = fr__store_fail_input(d->path, name, err);
    sqlite3_finalize(s);
    return st;
}

static enum fr_status sqlite_close(void *store, struct fr_error *err)
{
    struct database *d = store;
    enum fr_status st;

    sqlite3_finalize(d->put);
    sqlite3_finalize(d->find);
    d->put = d->find = NULL;
    st = run(d, "PRAGMA journal_mode = DELETE", err); /* one file again */
    database_free(d);
    return st;
}

static enum fr_status sqlite_begin(void *store, struct fr_error *err)
{
    return run(store, "BEGIN", err);
}

static enum fr_status sqlite_end(void *store, bool keep, struct fr_error *err)
{
    const struct database *d = store;

    if (!keep && sqlite3_get_autocommit(d->db))
        return FR_OK; /* a full disk may have rolled it back already */
    return run(d, keep ? "COMMIT" : "ROLLBACK", err);
}

const struct fr__store_kind fr__store_sqlite = {
    .open = sqlite_open,
    .put = sqlite_put,
    .each = sqlite_each,
    .input = sqlite_input,
    .inputs = sqlite_inputs,
    .close = sqlite_close,
    .begin = sqlite_begin,
    .end = sqlite_end,
};
#else
typedef int fr__no_sqlite; /* ISO C wants a declaration */
#endif
