/* base/csv.c - CSV over libcsv, with the positions it does not report.
 *
 * libcsv gets the text in pieces that each end with a byte that may end a cell (comma, CR, LF).
 * When it reports a cell, that cell ended with the piece just given, and the next one starts
 * right after: so positions follow from libcsv's own decisions, without a second parser beside
 * it.
 */
#include "config.h"

#include "base/arena.h"
#include "base/csv.h"
#include "base/error.h"
#include "base/file.h"
#include "base/units.h"
#include "base/utf8.h"

#include <assert.h>
#include <csv.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 1 << 16, MAX_CELLS = 256, MAX_CELL_BYTES = 1 << 20 };
static const uint64_t MAX_FILE_BYTES = UINT64_C(4) << 30;

/* A cell of the row being read; its text lies in reader.text, which moves as it grows. */
struct span {
    size_t start;
    unsigned line, col;
};

struct reader {
    struct csv_parser parser;
    const struct fr__csv_column *columns;
    size_t n_columns;
    fr__csv_row_fn row;
    fr__csv_header_fn header; /* NULL, or takes the header, after which nothing more is read */
    bool is_done;
    void *user;
    struct fr_error *err;
    enum fr_status st; /* not FR_OK: nothing more is read */

    struct fr_loc here;  /* of the next byte */
    struct fr_loc cell;  /* where the cell being read started */
    uint64_t n_bytes;    /* read so far */
    uint64_t cell_at;    /* n_bytes at cell */
    bool is_after_cr;    /* an LF now belongs to the same line end */
    bool has_cell_ended; /* libcsv reported a cell or row in the piece just given */

    struct span spans[MAX_CELLS];
    size_t n_cells;
    char *text;
    size_t n_text, text_cap;

    bool has_header;
    size_t n_header;
    size_t column_of[MAX_CELLS]; /* [n_header] index into columns */
    struct fr__cell *cells;      /* [n_columns] */
};

/* ---- one row ---- */

static void fail_at(struct reader *r, struct fr_loc loc, const char *text)
{
    if (r->st == FR_OK)
        r->st = fr__fail(r->err, FR_EPARSE, loc, "%s", text);
}

static void fail_large_cell(struct reader *r)
{
    fail_at(r, r->cell, "the cell that starts here is larger than 1 MiB");
}

/* Whether a cell is apostrophes and then what a spreadsheet takes for a formula: the writer puts an
 * apostrophe before each such text (fr__csv_write_cell), the reader takes it away. */
static bool is_guarded(const char *s, size_t len)
{
    size_t n = 0;

    while (n < len && s[n] == '\'')
        n++;
    return n > 0 && n + 1 < len && strchr("=+-@", s[n]) != NULL;
}

static void take_cell(void *text, size_t len, void *user)
{
    struct reader *r = user;

    r->has_cell_ended = true;
    if (r->st != FR_OK)
        return;
    if (len > MAX_CELL_BYTES) {
        fail_large_cell(r);
        return;
    }
    if (r->n_cells == MAX_CELLS) {
        fail_at(r, r->cell, "a row has more than 256 cells");
        return;
    }
    if (!fr__grow(&r->text, &r->text_cap, r->n_text + len + 1, 1)) {
        r->st = fr__fail_nomem(r->err);
        return;
    }
    r->spans[r->n_cells++] = (struct span){r->n_text, r->cell.line, r->cell.col};
    if (len > 1 && is_guarded(text, len)) {
        text = (char *)text + 1;
        len--;
    }
    if (len)
        memcpy(r->text + r->n_text, text, len);
    r->text[r->n_text + len] = '\0';
    r->n_text += len + 1;
}

static struct fr_loc span_loc(const struct reader *r, size_t i)
{
    return (struct fr_loc){r->here.file, r->spans[i].line, r->spans[i].col};
}

static enum fr_status fail_unknown_column(const struct reader *r, const char *name,
                                          struct fr_loc loc)
{
    const char *names[MAX_CELLS];
    char excerpt[FR__EXCERPT], near[FR__EXCERPT + 32], known[256] = "";
    size_t used = 0;

    for (size_t i = 0; i < r->n_columns; i++) {
        names[i] = r->columns[i].name;
        if (used < sizeof(known))
            used += (size_t)snprintf(known + used, sizeof(known) - used, " %s", names[i]);
    }
    fr__did_you_mean(name, names, r->n_columns, near, sizeof(near));
    return fr__fail(r->err, FR_EPARSE, loc, "column '%s' is not known%s%s%s",
                    fr__excerpt(name, excerpt), near, *near ? "" : ", the columns are",
                    *near ? "" : known);
}

static enum fr_status match_header_cell(struct reader *r, size_t i)
{
    const char *name = r->text + r->spans[i].start;
    char excerpt[FR__EXCERPT];
    size_t c = 0;

    while (c < r->n_columns && strcmp(name, r->columns[c].name) != 0)
        c++;
    if (!*name)
        return fr__fail(r->err, FR_EPARSE, span_loc(r, i), "column %zu has no name", i + 1);
    if (c == r->n_columns)
        return fail_unknown_column(r, name, span_loc(r, i));
    for (size_t j = 0; j < i; j++)
        if (r->column_of[j] == c)
            return fr__fail(r->err, FR_EPARSE, span_loc(r, i),
                            "column '%s' appears twice, first at line %u column %u",
                            fr__excerpt(name, excerpt), r->spans[j].line, r->spans[j].col);
    r->column_of[i] = c;
    return FR_OK;
}

/* Gives the names of the columns to the caller. */
static enum fr_status hand_header(struct reader *r)
{
    struct fr__cell cells[MAX_CELLS];

    for (size_t i = 0; i < r->n_cells; i++)
        cells[i] = (struct fr__cell){r->text + r->spans[i].start, span_loc(r, i)};
    r->has_header = r->is_done = true;
    return r->header(r->user, cells, r->n_cells, r->err);
}

static enum fr_status take_header(struct reader *r)
{
    if (r->header)
        return hand_header(r);
    for (size_t i = 0; i < r->n_cells; i++)
        FR_TRY(match_header_cell(r, i));
    for (size_t c = 0; c < r->n_columns; c++) {
        bool is_there = false;

        for (size_t i = 0; i < r->n_cells; i++)
            is_there = is_there || r->column_of[i] == c;
        if (!is_there && r->columns[c].is_required)
            return fr__fail(r->err, FR_EPARSE, span_loc(r, 0), "column '%s' is missing",
                            r->columns[c].name);
    }
    r->has_header = true;
    r->n_header = r->n_cells;
    return FR_OK;
}

static enum fr_status take_record(struct reader *r)
{
    if (r->n_cells != r->n_header) {
        size_t at = r->n_cells > r->n_header ? r->n_header : 0;

        return fr__fail(r->err, FR_EPARSE, span_loc(r, at),
                        "the row has %zu cell%s, the header %zu", r->n_cells,
                        r->n_cells == 1 ? "" : "s", r->n_header);
    }
    for (size_t c = 0; c < r->n_columns; c++)
        r->cells[c] = (struct fr__cell){"", span_loc(r, 0)};
    for (size_t i = 0; i < r->n_cells; i++)
        r->cells[r->column_of[i]] = (struct fr__cell){r->text + r->spans[i].start, span_loc(r, i)};
    return r->row(r->user, r->cells, r->err);
}

static void take_row(int terminator, void *user)
{
    struct reader *r = user;

    (void)terminator;
    r->has_cell_ended = true;
    if (r->st == FR_OK && !r->is_done)
        r->st = r->has_header ? take_record(r) : take_header(r);
    r->n_cells = 0;
    r->n_text = 0;
}

/* ---- the text, piece by piece ---- */

static void count_byte(struct reader *r, char c)
{
    bool is_second = c == '\n' && r->is_after_cr; /* the line was counted at the CR */

    r->n_bytes++;
    r->is_after_cr = c == '\r';
    if (c != '\n' && c != '\r') {
        r->here.col++;
    } else {
        r->here.line += !is_second;
        r->here.col = 1;
    }
}

/* The first n bytes of a piece, of which only the last may end a line. */
static void count_bytes(struct reader *r, const char *s, size_t n)
{
    if (n == 0)
        return;
    if (n > 1) {
        r->n_bytes += n - 1;
        r->here.col += (unsigned)(n - 1);
        r->is_after_cr = false;
    }
    count_byte(r, s[n - 1]);
}

static void fail_parser(struct reader *r)
{
    if (csv_error(&r->parser) == CSV_EPARSE)
        fail_at(r, r->here,
                "a quote inside a cell or text after its closing quote; "
                "quote the whole cell and write \"\" for a quote in it");
    else
        r->st = fr__fail_nomem(r->err);
}

/* An empty line ends without a report; a quoted cell that starts with a line end starts with its
 * quote. */
static bool is_empty_line(const struct reader *r, const char *piece, size_t n)
{
    return n == 1 && (*piece == '\n' || *piece == '\r') && r->n_bytes - r->cell_at == 1;
}

/* A piece ends with a comma, the end of a line or the text, and has none of them before. */
static void feed_piece(struct reader *r, const char *s, size_t n)
{
    size_t taken;

    r->has_cell_ended = false;
    taken = csv_parse(&r->parser, s, n, take_cell, take_row, r);
    count_bytes(r, s, taken < n ? taken : n);
    if (r->st != FR_OK)
        return;
    if (taken != n) {
        fail_parser(r);
        return;
    }
    if (r->has_cell_ended || is_empty_line(r, s, n)) {
        r->cell = r->here;
        r->cell_at = r->n_bytes;
    } else if (r->parser.entry_pos > MAX_CELL_BYTES + 1) { /* 1: perhaps the closing quote */
        fail_large_cell(r);
    }
}

static void feed(struct reader *r, const char *s, size_t n)
{
    for (size_t i = 0, start = 0; i < n && r->st == FR_OK && !r->is_done; i++) {
        bool is_end = s[i] == ',' || s[i] == '\n' || s[i] == '\r';

        if (is_end || i + 1 == n) {
            feed_piece(r, s + start, i + 1 - start);
            start = i + 1;
        }
    }
}

/* Gives the parser the bytes of s that are text and returns how many; the rest, when is_last is
 * false, is a character that goes on in the next block. */
static size_t feed_text(struct reader *r, const char *s, size_t n, bool is_last)
{
    size_t good = fr__utf8_text_length(s, n);

    feed(r, s, good);
    if (r->st != FR_OK || good == n || (!is_last && fr__utf8_is_cut(s + good, n - good)))
        return good;
    r->st = fr__fail(r->err, FR_EPARSE, r->here, "byte 0x%02x %s", (unsigned)(unsigned char)s[good],
                     fr__utf8_fault(s + good, n - good));
    return good;
}

static enum fr_status fail_empty(const struct reader *r)
{
    char names[256] = "";
    size_t used = 0;

    for (size_t i = 0; i < r->n_columns && used < sizeof(names); i++)
        if (r->columns[i].is_required)
            used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s", used ? "," : "",
                                     r->columns[i].name);
    return fr__fail(r->err, FR_EPARSE, (struct fr_loc){r->here.file, 1, 1},
                    "no header row, expected one such as %s", names);
}

static enum fr_status finish(struct reader *r)
{
    struct fr_loc open_cell = r->cell;

    if (r->st == FR_OK && !r->is_done && csv_fini(&r->parser, take_cell, take_row, r) != 0) {
        if (csv_error(&r->parser) == CSV_EPARSE)
            fail_at(r, open_cell, "the quote that opens here is never closed");
        else
            r->st = fr__fail_nomem(r->err);
    }
    if (r->st == FR_OK && !r->has_header)
        r->st = fail_empty(r);
    return r->st;
}

static void reader_fini(struct reader *r)
{
    csv_free(&r->parser);
    free(r->cells);
    free(r->text);
    free(r);
}

static int is_never_space(unsigned char c)
{
    (void)c; /* blanks belong to the cell (RFC 4180, 2.4) */
    return 0;
}

static struct reader *reader_new(const char *name, const struct fr__csv_column columns[],
                                 fr__csv_row_fn row, void *user, struct fr_error *err)
{
    struct reader *r = calloc(1, sizeof(*r));

    if (!r)
        return NULL;
    while (columns[r->n_columns].name)
        r->n_columns++;
    assert(r->n_columns <= MAX_CELLS);
    r->cells = calloc(r->n_columns + 1, sizeof(*r->cells));
    if (!r->cells || csv_init(&r->parser, CSV_STRICT | CSV_STRICT_FINI) != 0) {
        free(r->cells);
        free(r);
        return NULL;
    }
    csv_set_blk_size(&r->parser, BLOCK); /* by its own 128 bytes, large cells are copied often */
    csv_set_space_func(&r->parser, is_never_space);
    r->columns = columns;
    r->row = row;
    r->user = user;
    r->err = err;
    r->here = (struct fr_loc){name, 1, 1};
    r->cell = r->here;
    return r;
}

static size_t mark_length(const char *s, size_t n)
{
    return n >= 3 && memcmp(s, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

enum fr_status fr__csv_read_text(const char *text, size_t len, const char *name,
                                 const struct fr__csv_column columns[], fr__csv_row_fn row,
                                 void *user, struct fr_error *err)
{
    struct reader *r;
    enum fr_status st;
    size_t skip = mark_length(text, len);

    if (len > MAX_FILE_BYTES)
        return fr__fail(err, FR_ERANGE, (struct fr_loc){name, 0, 0}, "is larger than 4 GiB");
    r = reader_new(name, columns, row, user, err);
    if (!r)
        return fr__fail_nomem(err);
    feed_text(r, text + skip, len - skip, true);
    st = finish(r);
    reader_fini(r);
    return st;
}

enum fr_status fr__csv_header_text(const char *text, size_t len, const char *name,
                                   fr__csv_header_fn header, void *user, struct fr_error *err)
{
    static const struct fr__csv_column none[] = {{NULL, false}};
    size_t skip = mark_length(text, len);
    struct reader *r = reader_new(name, none, NULL, user, err);
    enum fr_status st;

    if (!r)
        return fr__fail_nomem(err);
    r->header = header;
    feed_text(r, text + skip, len - skip, true);
    st = finish(r);
    reader_fini(r);
    return st;
}

/* block: [BLOCK] of the caller's. */
static void feed_file(struct reader *r, FILE *f, char block[])
{
    size_t kept = 0; /* the start of a character, from the block before */
    bool is_first = true, is_last = false;
    uint64_t n_read = 0;

    while (r->st == FR_OK && !is_last) {
        size_t room = BLOCK - kept, got = fread(block + kept, 1, room, f);
        size_t n = kept + got, skip = is_first ? mark_length(block, n) : 0;
        size_t used;

        is_first = false;
        is_last = got < room;
        n_read += got;
        if (ferror(f)) {
            r->st = fr__fail(r->err, FR_EIO, (struct fr_loc){r->here.file, 0, 0}, "cannot read: %s",
                             strerror(errno));
            return;
        }
        if (n_read > MAX_FILE_BYTES) {
            r->st = fr__fail(r->err, FR_ERANGE, (struct fr_loc){r->here.file, 0, 0},
                             "is larger than 4 GiB");
            return;
        }
        used = skip + feed_text(r, block + skip, n - skip, is_last);
        kept = n - used;
        memmove(block, block + used, kept);
    }
}

enum fr_status fr__csv_read(const char *path, const struct fr__csv_column columns[],
                            fr__csv_row_fn row, void *user, struct fr_error *err)
{
    struct reader *r;
    enum fr_status st;
    uint64_t size;
    char *block;
    FILE *f;

    FR_TRY(fr__file_open(path, &f, &size, err));
    if (size > MAX_FILE_BYTES) {
        fclose(f);
        return fr__fail(err, FR_ERANGE, (struct fr_loc){path, 0, 0}, "is larger than 4 GiB");
    }
    block = malloc(BLOCK); /* too large for a small stack */
    r = block ? reader_new(path, columns, row, user, err) : NULL;
    st = r ? FR_OK : fr__fail_nomem(err);
    if (r) {
        feed_file(r, f, block);
        st = finish(r);
        reader_fini(r);
    }
    free(block);
    fclose(f);
    return st;
}

/* ---- cells ---- */

enum { WHAT_SIZE = 80 };

static const char *quote_name(const char *column, char buf[WHAT_SIZE])
{
    char excerpt[FR__EXCERPT];

    snprintf(buf, WHAT_SIZE, "'%s'", fr__excerpt(column, excerpt));
    return buf;
}

enum fr_status fr__cell_number(const struct fr__cell *c, const char *column, double min, double max,
                               double *out, struct fr_error *err)
{
    char what[WHAT_SIZE];

    return fr__parse_number(c->text, quote_name(column, what), c->loc, min, max, out, err);
}

enum fr_status fr__cell_count(const struct fr__cell *c, const char *column, uint64_t min,
                              uint64_t max, uint64_t *out, struct fr_error *err)
{
    char what[WHAT_SIZE];

    return fr__parse_count(c->text, quote_name(column, what), c->loc, min, max, out, err);
}

/* Whether a spreadsheet would run the text as a formula, or take away an apostrophe that is part of
 * it. Numbers are none, nor is a sign alone. */
static bool needs_guard(const char *text)
{
    const char *s = text + strspn(text, "'"), *end;

    if (!*s || !strchr("=+-@", *s) || !s[1])
        return false;
    (void)fr__strtod(text, &end);
    return end == text || *end != '\0';
}

bool fr__csv_write_cell(FILE *f, const char *text)
{
    size_t len = strlen(text);
    bool has_blank_end = len > 0 && (strchr(" \t", text[0]) || strchr(" \t", text[len - 1]));
    bool is_quoted = has_blank_end || strpbrk(text, ",\"\r\n"), is_guarded = needs_guard(text);

    if (!is_quoted)
        return (!is_guarded || putc('\'', f) != EOF) && fputs(text, f) != EOF;
    if (!is_guarded)
        return csv_fwrite(f, text, len) == 0;
    /* libcsv quotes a text whole: the apostrophe stands inside the quotes */
    if (fputs("\"'", f) == EOF)
        return false;
    for (const char *c = text; *c; c++)
        if ((*c == '"' && putc('"', f) == EOF) || putc(*c, f) == EOF)
            return false;
    return putc('"', f) != EOF;
}

void fr__csv_write_quoted(FILE *f, const char *text)
{
    putc('"', f);
    for (; *text; text++) {
        if (*text == '"')
            putc('"', f);
        putc(*text, f);
    }
    putc('"', f);
}
