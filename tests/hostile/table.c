/* tests/hostile/table.c - reads a table of bad inputs; its format is in table.h. */
#include "config.h"

#include "tests/hostile/table.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_BYTES = 1 << 23 };

struct file {
    char path[256];
    char *bytes;
    size_t n;
};

/* A text that grows. */
struct text {
    char *bytes;
    size_t n, cap;
};

struct reader {
    const char *path;
    unsigned line;
    char *command;    /* of the section; NULL: none yet */
    char spoilt[256]; /* "": rows add words */
    struct file files[MOST_FILES];
    size_t n_files;
    int status;
    bool is_skipped, is_refused, is_fresh; /* is_fresh: no row yet with these files */
    file_fn file;
    row_fn row;
    void *user;
    struct text out;
};

static void add(struct text *t, const char *bytes, size_t n)
{
    if (t->n + n + 1 > t->cap) {
        t->cap = 2 * (t->n + n + 1);
        ck_assert_uint_lt(t->cap, MOST_BYTES);
        t->bytes = realloc(t->bytes, t->cap);
        ck_assert_ptr_nonnull(t->bytes);
    }
    memcpy(t->bytes + t->n, bytes, n);
    t->n += n;
    t->bytes[t->n] = '\0';
}

static void wrong(const struct reader *r, const char *what)
{
    ck_abort_msg("%s:%u: %s", r->path, r->line, what);
}

bool table_has(const char *need)
{
    if (strcmp(need, "xml") == 0) {
#ifdef HAVE_EXPAT
        return true;
#else
        return false;
#endif
    }
    if (strcmp(need, "sqlite") == 0) {
#ifdef HAVE_SQLITE
        return true;
#else
        return false;
#endif
    }
    if (strcmp(need, "full") == 0)
        return access("/dev/full", W_OK) == 0;
    if (strcmp(need, "user") == 0)
        return geteuid() != 0;
    ck_abort_msg("a table needs '%s', which nobody knows", need);
    return false;
}

/* ---- bytes written as text ---- */

static size_t unescape(const struct reader *r, struct text *t, const char *s, const char *end);

/* \{N:TEXT}, s behind the brace; the bytes that were read. */
static size_t unescape_repeat(const struct reader *r, struct text *t, const char *s,
                              const char *end)
{
    char *text;
    unsigned long n = strtoul(s, &text, 10);
    const char *close = memchr(s, '}', (size_t)(end - s));
    struct text one = {0};

    if (*text != ':' || !close)
        wrong(r, "expected \\{N:TEXT}");
    add(&one, "", 0);
    unescape(r, &one, text + 1, close);
    for (unsigned long i = 0; i < n; i++)
        add(t, one.bytes, one.n);
    free(one.bytes);
    return (size_t)(close - s) + 1;
}

static size_t unescape(const struct reader *r, struct text *t, const char *s, const char *end)
{
    static const char from[] = "ntr0sp\\", to[] = "\n\t\r\0 |\\";
    const char *start = s, *at;
    char hex[3] = "", byte;

    while (s < end) {
        if (*s != '\\') {
            add(t, s++, 1);
            continue;
        }
        s++;
        at = s < end ? strchr(from, *s) : NULL;
        if (s < end && *s == '{') {
            s += 1 + unescape_repeat(r, t, s + 1, end);
        } else if (s + 2 < end && *s == 'x') {
            memcpy(hex, s + 1, 2);
            byte = (char)strtoul(hex, NULL, 16);
            add(t, &byte, 1);
            s += 3;
        } else if (at && *at) {
            add(t, &to[at - from], 1);
            s++;
        } else {
            wrong(r, "an escape that nobody knows");
        }
    }
    return (size_t)(s - start);
}

static struct text bytes_of(const struct reader *r, const char *s, size_t n)
{
    struct text t = {0};

    add(&t, "", 0);
    unescape(r, &t, s, s + n);
    return t;
}

/* ---- rows ---- */

static const char *find(const char *hay, size_t n_hay, const char *needle, size_t n)
{
    for (size_t i = 0; n > 0 && i + n <= n_hay; i++)
        if (memcmp(hay + i, needle, n) == 0)
            return hay + i;
    return NULL;
}

/* "OLD => NEW", split at `arrow`. */
static struct text replaced(const struct reader *r, const struct file *f, const char *change,
                            const char *arrow)
{
    bool is_all = strncmp(change, "all ", 4) == 0;
    struct text old,
        new = bytes_of(r, arrow + 3 + (arrow[3] == ' '), strlen(arrow + 3) - (arrow[3] == ' '));
    struct text out = {0};
    size_t at = 0;
    const char *hit;

    change += is_all ? 4 : 0;
    old = bytes_of(r, change, arrow > change ? (size_t)(arrow - change) : 0);
    add(&out, "", 0);
    if (strcmp(old.bytes, "^") == 0)
        add(&out, new.bytes, new.n);
    else if (old.n > 0 && strcmp(old.bytes, "$") != 0) {
        for (bool is_done = false; !is_done; is_done = !is_all) {
            hit = find(f->bytes + at, f->n - at, old.bytes, old.n);
            if (!hit)
                break;
            add(&out, f->bytes + at, (size_t)(hit - f->bytes) - at);
            add(&out, new.bytes, new.n);
            at = (size_t)(hit - f->bytes) + old.n;
        }
        if (at == 0)
            wrong(r, "the file does not hold what is to be changed");
    }
    if (old.n > 0)
        add(&out, f->bytes + at, f->n - at);
    if (old.n == 0 || strcmp(old.bytes, "$") == 0)
        add(&out, new.bytes, new.n);
    free(old.bytes);
    free(new.bytes);
    return out;
}

static struct text spoil(const struct reader *r, const char *change)
{
    const struct file *f = NULL;
    const char *arrow = strncmp(change, "=>", 2) == 0 ? change - 1 : strstr(change, " =>");
    struct text out = {0};

    for (size_t i = 0; i < r->n_files; i++)
        if (strcmp(r->files[i].path, r->spoilt) == 0)
            f = &r->files[i];
    if (!f)
        wrong(r, "no file of this name to spoil");
    if (strncmp(change, "cut ", 4) == 0) {
        size_t n = strtoul(change + 4, NULL, 10);

        ck_assert_uint_lt(n, f->n);
        add(&out, f->bytes, n);
        return out;
    }
    if (!arrow)
        wrong(r, "expected OLD => NEW");
    return replaced(r, f, change, arrow);
}

/* Splits text into words, which it owns. */
static void add_words(const struct reader *r, struct row *row, char *text, bool is_escaped)
{
    while (*text) {
        char end = ' ', *start;

        text += strspn(text, " ");
        if (!*text)
            break;
        if (*text == '\'') {
            end = '\'';
            text++;
        }
        start = text;
        text = strchr(text, end);
        text = text ? text : start + strlen(start);
        if (*text)
            *text++ = '\0';
        ck_assert_int_lt(row->n_words, MOST_WORDS);
        if (is_escaped)
            row->words[row->n_words++] = bytes_of(r, start, strlen(start)).bytes;
        else
            row->words[row->n_words++] = strdup(start);
    }
}

static void give_files(struct reader *r)
{
    for (size_t i = 0; i < r->n_files; i++)
        r->file(r->user, r->files[i].path, r->files[i].bytes, r->files[i].n);
}

/* line: "NAME | CHANGE | SENTENCE", which is cut into pieces; whole: the same, uncut. */
static void read_row(struct reader *r, char *line, const char *whole)
{
    char *change = strstr(line, " | "), *sentence = change ? strstr(change + 3, " | ") : NULL;
    struct row row = {.table = r->path, .line = r->line, .name = line, .status = r->status};
    struct text bytes = {0};
    char *command, *told = NULL;

    if (!sentence || !r->command)
        wrong(r, "expected NAME | CHANGE | SENTENCE below a %command");
    *change = *sentence = '\0';
    change += 3;
    sentence += 3;
    row.sentence = sentence;
    row.is_first = r->is_fresh && r->spoilt[0] && !r->is_refused;
    command = strdup(r->command);
    add_words(r, &row, command, false);
    free(command);
    if (r->spoilt[0]) {
        bytes = spoil(r, change);
        row.spoilt = r->spoilt;
        row.bytes = bytes.bytes;
        row.n_bytes = bytes.n;
    } else {
        add_words(r, &row, change, true);
    }
    give_files(r);
    r->is_fresh = false;
    if (!r->row(r->user, &row, &told)) {
        add(&r->out, whole, strlen(whole));
    } else {
        add(&r->out, whole, (size_t)(sentence - line));
        add(&r->out, told, strlen(told));
    }
    free(told);
    free(bytes.bytes);
    for (int i = 0; i < row.n_words; i++)
        free(row.words[i]);
}

/* ---- directives ---- */

static void forget_files(struct reader *r)
{
    for (size_t i = 0; i < r->n_files; i++)
        free(r->files[i].bytes);
    r->n_files = 0;
}

static bool begins(const char *line, const char *word, const char **rest)
{
    size_t n = strlen(word);

    if (strncmp(line, word, n) != 0 || (line[n] && line[n] != ' '))
        return false;
    *rest = line[n] ? line + n + 1 : line + n;
    return true;
}

static void read_directive(struct reader *r, const char *line)
{
    const char *rest;

    if (begins(line, "%command", &rest)) {
        free(r->command);
        r->command = strdup(rest);
        r->spoilt[0] = '\0';
        r->status = 2;
        r->is_skipped = r->is_refused = false;
        forget_files(r);
    } else if (begins(line, "%spoil", &rest)) {
        snprintf(r->spoilt, sizeof(r->spoilt), "%s", rest);
        r->is_fresh = true;
    } else if (begins(line, "%refused", &rest)) {
        r->is_refused = true;
    } else if (begins(line, "%options", &rest)) {
        r->spoilt[0] = '\0';
    } else if (begins(line, "%needs", &rest)) {
        r->is_skipped = r->is_skipped || !table_has(rest);
    } else if (begins(line, "%status", &rest)) {
        r->status = atoi(rest);
    } else {
        wrong(r, "a directive that nobody knows");
    }
}

/* The next line without its end, which is kept in r->out if the line is no row; NULL: no more. */
static char *next_line(FILE *f, char **line, size_t *cap)
{
    ssize_t n = getline(line, cap, f);

    if (n <= 0)
        return NULL;
    if ((*line)[n - 1] == '\n')
        (*line)[n - 1] = '\0';
    return *line;
}

static void keep(struct reader *r, const char *line)
{
    add(&r->out, line, strlen(line));
    add(&r->out, "\n", 1);
}

static void read_file(struct reader *r, const char *path, FILE *in, char **line, size_t *cap)
{
    struct file *f = &r->files[r->n_files];
    struct text t = {0};

    ck_assert_uint_lt(r->n_files, MOST_FILES);
    snprintf(f->path, sizeof(f->path), "%s", path);
    add(&t, "", 0);
    while (next_line(in, line, cap) && strcmp(*line, "%end") != 0) {
        r->line++;
        keep(r, *line);
        add(&t, *line, strlen(*line));
        add(&t, "\n", 1);
    }
    r->line++;
    keep(r, "%end");
    f->bytes = t.bytes;
    f->n = t.n;
    r->n_files++;
    r->is_fresh = true;
}

void table_read(const char *path, file_fn file, row_fn row, void *user, char **rewritten)
{
    struct reader r = {.path = path, .status = 2, .file = file, .row = row, .user = user};
    FILE *f = fopen(path, "r");
    char *line = NULL, *whole;
    const char *rest;
    size_t cap = 0;

    if (!f)
        ck_abort_msg("cannot open %s", path);
    while (next_line(f, &line, &cap)) {
        r.line++;
        if (begins(line, "%file", &rest)) {
            char name[256];

            snprintf(name, sizeof(name), "%s", rest);
            keep(&r, line);
            read_file(&r, name, f, &line, &cap);
        } else if (line[0] == '%' || line[0] == '#' || !line[0]) {
            keep(&r, line);
            if (line[0] == '%')
                read_directive(&r, line);
        } else if (r.is_skipped) {
            keep(&r, line);
        } else {
            whole = strdup(line);
            read_row(&r, line, whole);
            add(&r.out, "\n", 1);
            free(whole);
        }
    }
    fclose(f);
    free(line);
    free(r.command);
    forget_files(&r);
    if (rewritten)
        *rewritten = r.out.bytes;
    else
        free(r.out.bytes);
}
