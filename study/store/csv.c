/* study/store/csv.c - a store that is a journal of CSV.
 *
 *   # forerun sweep store, format 1, forerun 0.1.0
 *   checksum,key,outcome,...
 *   0123456789abcdef,workload=vgg19|...,fits,...
 *   0123456789abcdef,input,mine.yaml,fedcba9876543210
 *
 * The names are those of the figures when the store was begun; rows are read and added by them
 * (struct fr__row_columns). A line is appended by one write(2) and begins with the digest of what
 * follows the first comma. So a process that is killed leaves whole lines and perhaps a torn last
 * one, which the next to open the store cuts off. Anything else that does not add up is damage, and
 * refused.
 */
#include "config.h"

#include "base/csv.h"
#include "base/error.h"
#include "base/text.h"
#include "study/store/digest.h"
#include "study/store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHECKSUM = FR__DIGEST_HEX - 1 };
static const uint64_t MAX_BYTES = UINT64_C(1) << 32;
static const char *const INPUT = "input,"; /* keys begin with "workload=" */
static const char *const FIRST_NAMES = "checksum,key,outcome,";

struct noted_input {
    const char *name, *digest;
};

struct journal {
    struct fr__arena *arena; /* path, rows, inputs */
    const char *path;
    struct fr__row_columns columns;
    int fd;
    const struct fr_sweep_row **rows; /* [n_rows] */
    uint32_t *table;                  /* [n_table] by key: row + 1, or 0; a power of two */
    struct noted_input *inputs;
    size_t n_rows, cap_rows, n_table, n_inputs, cap_inputs;
    off_t began_at; /* the length at begin() */
};

static enum fr_status fail_io(const struct journal *j, const char *verb, struct fr_error *err)
{
    return fr__fail(err, FR_EIO, (struct fr_loc){j->path, 0, 0}, "cannot %s: %s", verb,
                    strerror(errno));
}

/* ---- rows by key ---- */

static size_t slot_of(const struct journal *j, const char *key)
{
    size_t slot = (size_t)fr__digest_text(FR__FNV_START, key) & (j->n_table - 1);

    while (j->table[slot] && strcmp(j->rows[j->table[slot] - 1]->key, key) != 0)
        slot = (slot + 1) & (j->n_table - 1);
    return slot;
}

static const struct fr_sweep_row *find_row(const struct journal *j, const char *key)
{
    uint32_t found = j->n_table ? j->table[slot_of(j, key)] : 0;

    return found ? j->rows[found - 1] : NULL;
}

static bool grow_table(struct journal *j)
{
    size_t n = j->n_table ? 2 * j->n_table : 1024;
    uint32_t *table = calloc(n, sizeof(*table));

    if (!table)
        return false;
    free(j->table);
    j->table = table;
    j->n_table = n;
    for (size_t i = 0; i < j->n_rows; i++)
        table[slot_of(j, j->rows[i]->key)] = (uint32_t)i + 1;
    return true;
}

static enum fr_status remember(struct journal *j, const struct fr_sweep_row *row,
                               struct fr_error *err)
{
    struct fr_sweep_row *copy;

    if ((2 * (j->n_rows + 1) > j->n_table && !grow_table(j)) ||
        !fr__grow(&j->rows, &j->cap_rows, j->n_rows + 1, sizeof(*j->rows)) ||
        !(copy = fr__arena_alloc(j->arena, 1, sizeof(*copy))))
        return fr__fail_nomem(err);
    *copy = *row;
    if (!fr__row_keep(copy, j->arena))
        return fr__fail_nomem(err);
    j->rows[j->n_rows++] = copy;
    j->table[slot_of(j, row->key)] = (uint32_t)j->n_rows;
    return FR_OK;
}

/* ---- reading what is there ---- */

static char *header_text(const struct journal *j)
{
    char *text = NULL;
    size_t length;
    FILE *f = fr__text_open(&text, &length);

    if (!f)
        return NULL;
    fprintf(f, "# forerun sweep store, format %d, forerun %s\nchecksum,", FR_STORE_FORMAT,
            fr_version());
    fr__row_write_names(f, &j->columns);
    putc('\n', f);
    (void)fr__text_close(f, &text);
    return text;
}

/* Fails with the version in the first line, or "no version". */
static enum fr_status fail_header(const struct journal *j, const char *text, struct fr_error *err)
{
    static const char begin[] = "# forerun sweep store, format ";
    const char *version = strstr(text, ", forerun ");
    char word[32];

    if (strncmp(text, begin, sizeof(begin) - 1) != 0 || !version)
        return fr__fail(err, FR_EPARSE, (struct fr_loc){j->path, 1, 1},
                        "this file is no store of sweeps, which begins with \"# forerun sweep "
                        "store\"");
    version += strlen(", forerun ");
    snprintf(word, sizeof(word), "%.*s", (int)strcspn(version, "\n"), version);
    return fr__store_fail_version(j->path, (int)strtol(text + sizeof(begin) - 1, NULL, 10), word,
                                  err);
}

static bool line_adds_up(const char *line, size_t n)
{
    char hex[FR__DIGEST_HEX];

    if (n <= CHECKSUM || line[CHECKSUM] != ',')
        return false;
    fr__digest_hex(fr__fnv(FR__FNV_START, line + CHECKSUM + 1, n - CHECKSUM - 1), hex);
    return memcmp(hex, line, CHECKSUM) == 0;
}

/* Sorts the lines into rows and inputs. *good: length of the valid part from the start of text. */
static enum fr_status sort_lines(const struct journal *j, const char *text, size_t length,
                                 FILE *rows, FILE *inputs, size_t *good, struct fr_error *err)
{
    unsigned line = 3;

    for (*good = 0; *good < length; line++) {
        const char *at = text + *good, *end = memchr(at, '\n', length - *good);
        size_t n = end ? (size_t)(end - at) : length - *good;
        bool is_input;

        if (!end)
            return FR_OK; /* torn */
        if (!line_adds_up(at, n)) {
            if (*good + n + 1 == length && memchr(at, '\0', n))
                return FR_OK; /* torn: a file system that kept the length but lost the bytes */
            return fr__fail(err, FR_EPARSE, (struct fr_loc){j->path, line, 1},
                            "the line does not match its checksum: the store is damaged; without "
                            "the line the next sweep computes it again");
        }
        is_input = strncmp(at + CHECKSUM + 1, INPUT, strlen(INPUT)) == 0;
        fwrite(at + CHECKSUM + 1, 1, n - CHECKSUM, is_input ? inputs : rows);
        *good += n + 1;
    }
    return FR_OK;
}

static enum fr_status take_stored(void *user, const struct fr_sweep_row *row, struct fr_error *err)
{
    struct journal *j = user;

    if (find_row(j, row->key))
        return fr__fail(err, FR_EPARSE, (struct fr_loc){j->path, 0, 0}, "two lines have the key %s",
                        row->key);
    return remember(j, row, err);
}

static enum fr_status take_input(void *user, const struct fr__cell cells[], struct fr_error *err)
{
    struct journal *j = user;
    struct noted_input *in;

    if (!fr__grow(&j->inputs, &j->cap_inputs, j->n_inputs + 1, sizeof(*j->inputs)))
        return fr__fail_nomem(err);
    in = &j->inputs[j->n_inputs++];
    in->name = fr__arena_strdup(j->arena, cells[1].text);
    in->digest = fr__arena_strdup(j->arena, cells[2].text);
    return in->name && in->digest ? FR_OK : fr__fail_nomem(err);
}

static enum fr_status read_lines(struct journal *j, const char *text, size_t length, size_t *good,
                                 struct fr_error *err)
{
    static const struct fr__csv_column columns[] = {
        {"input", true}, {"name", true}, {"digest", true}, {NULL, false}};
    char *rows_text = NULL, *inputs_text = NULL;
    size_t n_rows, n_inputs;
    FILE *rows = fr__text_open(&rows_text, &n_rows);
    FILE *inputs = fr__text_open(&inputs_text, &n_inputs);
    enum fr_status st = rows && inputs ? FR_OK : fr__fail_nomem(err);

    if (st == FR_OK) {
        fr__row_write_names(rows, &j->columns);
        fputs("\n", rows);
        fputs("input,name,digest\n", inputs);
        st = sort_lines(j, text, length, rows, inputs, good, err);
    }
    if (rows && !fr__text_close(rows, &rows_text) && st == FR_OK)
        st = fr__fail_nomem(err);
    if (inputs && !fr__text_close(inputs, &inputs_text) && st == FR_OK)
        st = fr__fail_nomem(err);
    if (st == FR_OK)
        st = fr__rows_read(rows_text, n_rows, j->path, take_stored, j, err);
    if (st == FR_OK)
        st = fr__csv_read_text(inputs_text, n_inputs, j->path, columns, take_input, j, err);
    free(rows_text);
    free(inputs_text);
    return st;
}

/* ---- writing ---- */

static enum fr_status append(const struct journal *j, const char *text, size_t length,
                             struct fr_error *err)
{
    while (length > 0) { /* after a part of it the next try says what is wrong */
        ssize_t n = write(j->fd, text, length);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) /* the next to open the store cuts off what there is of the line */
            return fail_io(j, "write", err);
        text += n;
        length -= (size_t)n;
    }
    return FR_OK;
}

/* Appends a line of those cells, with the checksum first. */
static enum fr_status append_line(const struct journal *j, const char *cells, struct fr_error *err)
{
    size_t n = strlen(cells), length = CHECKSUM + 1 + n + 1;
    char *line = malloc(length + 1);
    enum fr_status st;

    if (!line)
        return fr__fail_nomem(err);
    fr__digest_hex(fr__fnv(FR__FNV_START, cells, n), line);
    line[CHECKSUM] = ',';
    memcpy(line + CHECKSUM + 1, cells, n);
    line[length - 1] = '\n';
    st = append(j, line, length, err);
    free(line);
    return st;
}

/* Reads through the one descriptor: closing another one of the same file would release the lock. */
static enum fr_status read_whole(const struct journal *j, char **out, size_t *length,
                                 struct fr_error *err)
{
    struct stat sb;
    size_t used = 0;
    char *text;

    if (fstat(j->fd, &sb) != 0)
        return fail_io(j, "read", err);
    if (!S_ISREG(sb.st_mode))
        return fr__fail(err, FR_EPARSE, (struct fr_loc){j->path, 0, 0},
                        "is a pipe or a device, expected a regular file");
    if ((uint64_t)sb.st_size > MAX_BYTES)
        return fr__fail(err, FR_ERANGE, (struct fr_loc){j->path, 0, 0}, "is larger than 4 GiB");
    text = malloc((size_t)sb.st_size + 1);
    if (!text)
        return fr__fail_nomem(err);
    while (used < (size_t)sb.st_size) {
        ssize_t n = pread(j->fd, text + used, (size_t)sb.st_size - used, (off_t)used);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            free(text);
            return fail_io(j, "read", err);
        }
        if (n == 0)
            break;
        used += (size_t)n;
    }
    text[used] = '\0';
    *out = text;
    *length = used;
    return FR_OK;
}

/* The columns of a store that was begun: those of its second line. Leaves them as they are where
 * this is no whole header of this version. */
static enum fr_status read_columns(struct journal *j, const char *text, struct fr_error *err)
{
    char *header = header_text(j), name[64];
    const char *at = strchr(text, '\n');
    size_t n = header ? strcspn(header, "\n") + 1 : 0;
    enum fr_status st = header ? FR_OK : fr__fail_nomem(err);

    if (st == FR_OK && at && strncmp(text, header, n) == 0 && strchr(at + 1, '\n') &&
        strncmp(at + 1, FIRST_NAMES, strlen(FIRST_NAMES)) == 0) {
        j->columns.n = 0;
        for (at += strlen("\nchecksum"); *at == ',' && st == FR_OK; at += n + 1) {
            n = strcspn(at + 1, ",\n");
            snprintf(name, sizeof(name), "%.*s", (int)n, at + 1);
            st = fr__row_columns_add(&j->columns, j->path, name, err);
        }
    }
    free(header);
    return st;
}

/* Reads the store, or begins it; cuts off a torn end. */
static enum fr_status take_over(struct journal *j, struct fr_error *err)
{
    char *text = NULL, *header = NULL;
    size_t length = 0, n_header, good = 0;
    enum fr_status st;

    fr__row_columns_init(&j->columns);
    st = read_whole(j, &text, &length, err);
    if (st == FR_OK)
        st = read_columns(j, text, err);
    if (st == FR_OK && !(header = header_text(j)))
        st = fr__fail_nomem(err);
    n_header = header ? strlen(header) : 0;
    if (st == FR_OK && length < n_header && memcmp(text, header, length) == 0) {
        if (ftruncate(j->fd, 0) != 0) /* killed while it began */
            st = fail_io(j, "write", err);
        else
            st = append(j, header, n_header, err);
    } else if (st == FR_OK && (length < n_header || memcmp(text, header, n_header) != 0)) {
        st = fail_header(j, text, err);
    } else if (st == FR_OK) {
        st = read_lines(j, text + n_header, length - n_header, &good, err);
        if (st == FR_OK && n_header + good < length &&
            ftruncate(j->fd, (off_t)(n_header + good)) != 0)
            st = fail_io(j, "write", err);
    }
    free(text);
    free(header);
    return st;
}

static enum fr_status lock(const struct journal *j, struct fr_error *err)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

    if (fcntl(j->fd, F_SETLK, &whole) == 0 || errno == ENOLCK || errno == EINVAL)
        return FR_OK; /* some file systems cannot lock */
    if (errno == EACCES || errno == EAGAIN)
        return fr__store_fail_busy(j->path, err);
    return fail_io(j, "lock", err);
}

/* ---- the kind ---- */

static void journal_free(struct journal *j)
{
    if (j->fd >= 0)
        close(j->fd);
    free(j->rows);
    free(j->table);
    free(j->inputs);
    fr__arena_free(j->arena);
    free(j);
}

static enum fr_status csv_open(void **out, const char *path, struct fr_error *err)
{
    struct journal *j = calloc(1, sizeof(*j));
    enum fr_status st;

    if (!j)
        return fr__fail_nomem(err);
    j->fd = -1;
    j->arena = fr__arena_new();
    j->path = j->arena ? fr__arena_strdup(j->arena, path) : NULL;
    if (!j->path) {
        journal_free(j);
        return fr__fail_nomem(err);
    }
    j->fd = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666);
    st = j->fd < 0 ? fail_io(j, "open", err) : lock(j, err);
    if (st == FR_OK)
        st = take_over(j, err);
    if (st == FR_OK)
        *out = j;
    else
        journal_free(j);
    return st;
}

static enum fr_status csv_put(void *store, const struct fr_sweep_row *row, struct fr_error *err)
{
    struct journal *j = store;
    const struct fr_sweep_row *old = find_row(j, row->key);
    enum fr_status st;
    char *cells = NULL;
    size_t length;
    FILE *f;

    if (old)
        return fr__rows_equal(old, row, &j->columns)
                   ? FR_OK
                   : fr__store_fail_conflict(j->path, row->key, err);
    f = fr__text_open(&cells, &length);
    if (!f)
        return fr__fail_nomem(err);
    fr__row_write_cells(f, &j->columns, row);
    st = fr__text_close(f, &cells) ? append_line(j, cells, err) : fr__fail_nomem(err);
    free(cells);
    return st == FR_OK ? remember(j, row, err) : st;
}

static int compare_keys(const void *a, const void *b)
{
    const struct fr_sweep_row *const *x = a, *const *y = b;

    return strcmp((*x)->key, (*y)->key);
}

static enum fr_status csv_each(void *store, bool with_records, fr__take_row take, void *user,
                               struct fr_error *err)
{
    struct journal *j = store;
    const struct fr_sweep_row **sorted = malloc((j->n_rows + 1) * sizeof(const void *));
    enum fr_status st = FR_OK;

    if (!sorted)
        return fr__fail_nomem(err);
    if (j->n_rows > 0)
        memcpy(sorted, j->rows, j->n_rows * sizeof(const void *));
    qsort(sorted, j->n_rows, sizeof(const void *), compare_keys);
    for (size_t i = 0; i < j->n_rows && st == FR_OK; i++) {
        struct fr_sweep_row row = *sorted[i];

        if (!with_records)
            row.record = "";
        st = take(user, &row, err);
    }
    free(sorted);
    return st;
}

static enum fr_status csv_input(void *store, const char *name, const char *digest,
                                struct fr_error *err)
{
    struct journal *j = store;
    const struct fr__cell cells[3] = {{"", FR_NOWHERE}, {name, FR_NOWHERE}, {digest, FR_NOWHERE}};
    enum fr_status st;
    char *line = NULL;
    size_t length;
    FILE *f;

    for (size_t i = 0; i < j->n_inputs; i++)
        if (strcmp(j->inputs[i].name, name) == 0)
            return strcmp(j->inputs[i].digest, digest) == 0
                       ? FR_OK
                       : fr__store_fail_input(j->path, name, err);
    f = fr__text_open(&line, &length);
    if (!f)
        return fr__fail_nomem(err);
    fputs(INPUT, f);
    fr__csv_write_cell(f, name);
    fprintf(f, ",%s", digest);
    st = fr__text_close(f, &line) ? append_line(j, line, err) : fr__fail_nomem(err);
    free(line);
    return st == FR_OK ? take_input(j, cells, err) : st;
}

static int compare_inputs(const void *a, const void *b)
{
    const struct noted_input *x = a, *y = b;

    return strcmp(x->name, y->name);
}

/* By name, as the other kind of store has them. */
static enum fr_status csv_inputs(void *store,
                                 enum fr_status (*take)(void *user, const char *name,
                                                        const char *digest, struct fr_error *err),
                                 void *user, struct fr_error *err)
{
    struct journal *j = store;

    if (j->n_inputs > 0)
        qsort(j->inputs, j->n_inputs, sizeof(*j->inputs), compare_inputs);
    for (size_t i = 0; i < j->n_inputs; i++)
        FR_TRY(take(user, j->inputs[i].name, j->inputs[i].digest, err));
    return FR_OK;
}

static enum fr_status csv_close(void *store, struct fr_error *err)
{
    struct journal *j = store;
    enum fr_status st = FR_OK;

    if (fsync(j->fd) != 0 && errno != EINVAL && errno != EROFS)
        st = fail_io(j, "write", err);
    journal_free(j);
    return st;
}

static enum fr_status csv_begin(void *store, struct fr_error *err)
{
    struct journal *j = store;
    struct stat sb;

    if (fstat(j->fd, &sb) != 0)
        return fail_io(j, "read", err);
    j->began_at = sb.st_size;
    return FR_OK;
}

static enum fr_status csv_end(void *store, bool keep, struct fr_error *err)
{
    const struct journal *j = store;

    return keep || ftruncate(j->fd, j->began_at) == 0 ? FR_OK : fail_io(j, "write", err);
}

const struct fr__store_kind fr__store_csv = {
    .open = csv_open,
    .put = csv_put,
    .each = csv_each,
    .input = csv_input,
    .inputs = csv_inputs,
    .close = csv_close,
    .begin = csv_begin,
    .end = csv_end,
};
