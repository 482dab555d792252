/* calibrate/fit/read/nccl_log.c - reads the log of nccl-tests line by line. It is no CSV reader,
 * because a log has words between blanks and text of other programs between its lines. */
#include "config.h"

#include "calibrate/fit/read/nccl_log.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/units.h"
#include "calibrate/fit/read/row_hash.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_WORDS = 64, MAX_WORD = 64, MAX_RANKS = 65536, LEFT_LEAST = 3, MAX_PREFIX = 6 };

struct word {
    const char *at;
    size_t len;
    unsigned col; /* column of its first byte, from 1 */
};

struct line {
    const char *at;
    size_t len;
    size_t n_tag;                 /* bytes of a tag before it */
    bool is_last;                 /* of the file */
    struct word words[MAX_WORDS]; /* the first MAX_WORDS words */
    size_t n_words;               /* number of all words */
};

struct log {
    struct fr__collective_data *data;
    const char *name;
    uint32_t file;
    unsigned line;

    unsigned n_ranks;
    uint64_t *hosts; /* [n_hosts] hashes of their names */
    size_t n_hosts, hosts_cap;
    char gpu[128];

    size_t n_prefix;        /* words before each line, such as a time and the name of a pod */
    char program[MAX_WORD]; /* "all_reduce" */
    bool has_table;
    bool is_torn;             /* a message cut the row before: the rest of it follows */
    size_t n_left, n_columns; /* columns before the first `time`; all columns */
    size_t wrong;             /* column of wrong results; 0: there is none */
    size_t n_row;             /* words of the row before; 0: the table has none yet */
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static void split(struct line *l)
{
    size_t i = 0;

    l->n_words = 0;
    for (;;) {
        size_t from;

        while (i < l->len && is_blank(l->at[i]))
            i++;
        if (i == l->len)
            return;
        from = i;
        while (i < l->len && !is_blank(l->at[i]))
            i++;
        if (l->n_words < MAX_WORDS)
            l->words[l->n_words] =
                (struct word){l->at + from, i - from, (unsigned)(from + l->n_tag) + 1};
        l->n_words++;
    }
}

/* Bytes of digits from i on. */
static size_t digits(const struct line *l, size_t i)
{
    size_t n = 0;

    while (i + n < l->len && l->at[i + n] >= '0' && l->at[i + n] <= '9')
        n++;
    return n;
}

/* Drops what a launcher puts before each line: "[1,0]<stdout>:" of mpirun --tag-output or
 * "[prterun-host-7@1,0]<stdout>: " of Open MPI 5, "0: " of srun --label. */
static void drop_tag(struct line *l)
{
    static const char *const ENDS[] = {"]<stdout>:", "]<stderr>:"};
    size_t n = digits(l, 0), i = 0;

    if (n > 0 && n + 1 < l->len && l->at[n] == ':' && is_blank(l->at[n + 1])) {
        l->n_tag = n + 1;
    } else if (l->len > 0 && l->at[0] == '[') {
        while (i < l->len && l->at[i] != ']' && !is_blank(l->at[i]))
            i++;
        for (size_t k = 0; k < 2; k++)
            if (l->len >= i + strlen(ENDS[k]) && memcmp(l->at + i, ENDS[k], strlen(ENDS[k])) == 0)
                l->n_tag = i + strlen(ENDS[k]);
    }
    l->at += l->n_tag;
    l->len -= l->n_tag;
}

/* Splits the line that starts at *at into words; *at moves behind its end. */
static void next_line(struct line *l, const char **at, const char *end)
{
    const char *stop = memchr(*at, '\n', (size_t)(end - *at));

    l->at = *at;
    l->len = (size_t)((stop ? stop : end) - *at);
    l->n_tag = 0;
    *at = stop ? stop + 1 : end;
    l->is_last = *at == end;
    drop_tag(l);
    split(l);
}

static bool is_word(const struct line *l, size_t i, const char *text)
{
    return i < l->n_words && i < MAX_WORDS && l->words[i].len == strlen(text) &&
           memcmp(l->words[i].at, text, l->words[i].len) == 0;
}

/* Whether the line is one of nccl-tests' own that say what follows; *prefix: words before it. */
static bool is_heading(const struct line *l, size_t *prefix)
{
    for (size_t i = 0; i <= MAX_PREFIX; i++)
        if (is_word(l, i, "#") && (is_word(l, i + 1, "nThread") || is_word(l, i + 1, "Rank") ||
                                   (is_word(l, i + 1, "size") && is_word(l, i + 2, "count")))) {
            *prefix = i;
            return true;
        }
    return false;
}

/* It begins with a number. */
static bool is_row(const struct line *l)
{
    const struct word *w = &l->words[0];

    for (size_t i = 0; l->n_words > 0 && i < w->len; i++)
        if (w->at[i] < '0' || w->at[i] > '9')
            return false;
    return l->n_words > 0;
}

/* Without the words that stand before each line, as its headings had them. */
static void drop_prefix(struct line *l, size_t n)
{
    size_t kept = l->n_words < MAX_WORDS ? l->n_words : MAX_WORDS;

    if (n == 0 || is_word(l, 0, "#") || is_row(l))
        return;
    n = n < kept ? n : kept;
    memmove(l->words, l->words + n, (kept - n) * sizeof(l->words[0]));
    l->n_words -= n;
    if (l->n_words > MAX_WORDS - n) /* the last words were not kept */
        l->n_words = MAX_WORDS + 1;
}

bool fr__is_nccl_log(const char *text, size_t len)
{
    const char *at = text, *end = text + len;

    while (at < end) {
        struct line l;
        size_t prefix;

        next_line(&l, &at, end);
        if (is_heading(&l, &prefix))
            return true;
    }
    return false;
}

static struct fr_loc loc_of(const struct log *g, const struct line *l, size_t word)
{
    unsigned col = word < l->n_words && word < MAX_WORDS ? l->words[word].col : 1;

    return (struct fr_loc){g->name, g->line, col};
}

/* Copies a word with a NUL; a word that is too long is cut. */
static const char *copy_word(const struct line *l, size_t i, char out[MAX_WORD])
{
    size_t len = l->words[i].len < MAX_WORD ? l->words[i].len : MAX_WORD - 1;

    memcpy(out, l->words[i].at, len);
    out[len] = '\0';
    return out;
}

static enum fr_status read_number(const struct log *g, const struct line *l, size_t word,
                                  const char *what, double min, double max, double *out,
                                  struct fr_error *err)
{
    char text[MAX_WORD];

    return fr__parse_number(copy_word(l, word, text), what, loc_of(g, l, word), min, max, out, err);
}

/* ---- what a table is of ---- */

static bool is_of_name(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Remembers the last "NAME_perf" of the line. */
static void find_program(struct log *g, const struct line *l)
{
    static const char mark[] = "_perf";
    const size_t n = sizeof(mark) - 1;

    for (size_t i = 1; i + n <= l->len; i++) {
        size_t from = i;

        if (memcmp(l->at + i, mark, n) != 0)
            continue;
        while (from > 0 && is_of_name(l->at[from - 1]))
            from--;
        if (from < i && i - from < MAX_WORD) {
            memcpy(g->program, l->at + from, i - from);
            g->program[i - from] = '\0';
        }
    }
}

/* The program of nccl-tests whose name is part of the file's name. Longer names are tried first,
 * since they contain shorter ones. */
static const char *program_of_file(const char *path)
{
    static const char *const programs[] = {
        "reduce_scatter", "all_gather", "all_reduce", "alltoallv", "broadcast", "hypercube",
        "alltoall",       "sendrecv",   "scatter",    "gather",    "reduce"};
    const char *slash = strrchr(path, '/');

    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
        if (strstr(slash ? slash + 1 : path, programs[i]))
            return programs[i];
    return NULL;
}

/* ---- lines ---- */

static enum fr_status add_host(struct log *g, const struct word *host, struct fr_error *err)
{
    uint64_t h = FR__FNV_START;

    for (size_t i = 0; i < host->len; i++)
        h = fr__fnv_word(h, (unsigned char)host->at[i]);
    for (size_t i = g->n_hosts; i > 0; i--)
        if (g->hosts[i - 1] == h)
            return FR_OK;
    if (!fr__grow(&g->hosts, &g->hosts_cap, g->n_hosts + 1, sizeof(h)))
        return fr__fail_nomem(err);
    g->hosts[g->n_hosts++] = h;
    return FR_OK;
}

/* Takes the name after the bracket of "[0x1b] NVIDIA H100", up to the end of the line. */
static void take_gpu(struct log *g, const struct line *l, size_t bracket)
{
    const struct word *w = &l->words[bracket];
    size_t n = 0;

    for (const char *c = w->at + w->len; c < l->at + l->len && n + 1 < sizeof(g->gpu); c++)
        if (n > 0 || !is_blank(*c))
            g->gpu[n++] = *c >= ' ' && *c <= '~' ? *c : '?';
    while (n > 0 && (g->gpu[n - 1] == ' ' || g->gpu[n - 1] == '?'))
        n--;
    g->gpu[n] = '\0';
}

/* "# Rank K [Group G] Pid P on HOST device D [BUS] GPU" */
static enum fr_status take_rank(struct log *g, const struct line *l, struct fr_error *err)
{
    char text[MAX_WORD];
    uint64_t rank;
    size_t on = 3;

    if (l->n_words < 3)
        return fr__fail(err, FR_EPARSE, loc_of(g, l, 1), "a rank line without a number");
    FR_TRY(fr__parse_count(copy_word(l, 2, text), "the rank", loc_of(g, l, 2), 0, MAX_RANKS - 1,
                           &rank, err));
    if (is_word(l, 3, "Group") && !is_word(l, 4, "0"))
        return fr__fail(err, FR_EPARSE, loc_of(g, l, 3),
                        "ranks in several groups (NCCL_TESTS_SPLIT) measure several collectives at "
                        "once");
    while (on < l->n_words && on < 9 && !is_word(l, on, "on"))
        on++;
    if (!is_word(l, on, "on") || !is_word(l, on + 2, "device") || l->n_words < on + 5)
        return fr__fail(err, FR_EPARSE, loc_of(g, l, 1),
                        "expected a rank line of nccl-tests: 'Rank K ... on HOST device D [BUS] "
                        "GPU'");
    if (rank == 0) {
        g->n_ranks = 0;
        g->n_hosts = 0;
        take_gpu(g, l, on + 4);
    }
    if (rank != g->n_ranks)
        return fr__fail(err, FR_EPARSE, loc_of(g, l, 2), "rank %s, expected %u: a line is missing",
                        text, g->n_ranks);
    g->n_ranks++;
    return add_host(g, &l->words[on + 1], err);
}

static enum fr_status take_header(struct log *g, const struct line *l, struct fr_error *err)
{
    const char *program = g->program[0] ? g->program : program_of_file(g->name);
    size_t time = 1;

    while (time < l->n_words && time < MAX_WORDS && !is_word(l, time, "time"))
        time++;
    if (!is_word(l, 3, "type") || !is_word(l, time, "time") || time < 4 || l->n_words > MAX_WORDS)
        return fr__fail(err, FR_EPARSE, loc_of(g, l, 1),
                        "expected the columns of nccl-tests: size, count, type, ..., time, ...");
    if (g->n_ranks == 0)
        return fr__fail(err, FR_EPARSE, loc_of(g, l, 1),
                        "a table without '# Rank' lines before it: how many GPUs were there?");
    if (!program)
        return fr__fail(err, FR_EPARSE, loc_of(g, l, 1),
                        "nothing before this table names the program that made it (all_reduce_perf "
                        "...): name the file after it");
    if (program != g->program)
        snprintf(g->program, sizeof(g->program), "%s", program);
    g->has_table = true;
    g->n_row = 0;
    g->n_left = time - 1; /* the # is no column */
    g->n_columns = l->n_words - 1;
    g->wrong = 0;
    for (size_t i = time; i < l->n_words && !g->wrong; i++)
        if (is_word(l, i, "#wrong"))
            g->wrong = i - 1;
    return FR_OK;
}

/* Reads a row of a table. Columns are counted from the right, because a program without redop or
 * root leaves these blank. */
static enum fr_status take_row(struct log *g, const struct line *l, struct fr_error *err)
{
    size_t n_right = g->n_columns - g->n_left, time = l->n_words - n_right;
    struct fr__collective_row row = {.file = g->file, .line = g->line};
    char dtype[MAX_WORD], source[192];
    double time_us, n_wrong;

    if (l->n_words < LEFT_LEAST + n_right || l->n_words > g->n_columns)
        return fr__fail(err, FR_EPARSE, loc_of(g, l, 0), "a row of %zu words in a table of %zu",
                        l->n_words, g->n_columns);
    FR_TRY(read_number(g, l, 0, "'size'", 0, 1e15, &row.call.bytes, err));
    FR_TRY(read_number(g, l, 1, "'count'", 0, 1e15, &time_us, err));
    copy_word(l, 2, dtype);
    FR_TRY(read_number(g, l, time, "'time'", 0, 1e12, &time_us, err));
    if (g->wrong > 0 && !is_word(l, g->wrong - g->n_left + time, "N/A")) {
        FR_TRY(read_number(g, l, g->wrong - g->n_left + time, "'#wrong'", 0, 1e15, &n_wrong, err));
        if (n_wrong > 0)
            return fr__fail(err, FR_EPARSE, loc_of(g, l, g->wrong - g->n_left + time),
                            "this run computed wrong results");
    }
    g->n_row = l->n_words;
    if (row.call.bytes < 1 || time_us <= 0 || g->n_ranks < 2)
        return FR_OK;
    row.call.n_gpus = g->n_ranks;
    row.call.n_nodes = (unsigned)g->n_hosts;
    row.time_s = time_us * 1e-6;
    snprintf(source, sizeof(source), "nccl-tests, %s", g->gpu);
    return fr__collective_data_add(g->data, &row, g->program, dtype, source, err);
}

/* A row is printed piece by piece, so that a message of NCCL or of the job may stand in its middle,
 * and the rest begins the next line. Such a row is passed over. */
static bool is_torn(struct log *g, const struct line *l)
{
    size_t n_right = g->n_columns - g->n_left;
    bool was_torn = g->is_torn;

    g->is_torn = false;
    if (was_torn && l->n_words == n_right)
        return true;
    for (size_t i = LEFT_LEAST; i + 1 < l->n_words && i + 1 < MAX_WORDS; i++)
        g->is_torn |=
            is_word(l, i, "NCCL") && (is_word(l, i + 1, "WARN") || is_word(l, i + 1, "INFO"));
    return g->is_torn;
}

/* The log ends in the middle of a row: a job was killed, or the file copied while it ran. */
static bool is_cut_off(const struct log *g, const struct line *l)
{
    return l->is_last && l->n_words < g->n_row;
}

static enum fr_status take_line(struct log *g, const struct line *l, struct fr_error *err)
{
    if (memchr(l->at, 0, l->len))
        return fr__fail(err, FR_EPARSE, loc_of(g, l, 0), "a byte that is 0: this is no text");
    if (g->has_table && is_row(l))
        return is_torn(g, l) || is_cut_off(g, l) ? FR_OK : take_row(g, l, err);
    find_program(g, l);
    if (!is_word(l, 0, "#"))
        return FR_OK;
    if (is_word(l, 1, "nThread")) {
        g->n_ranks = 0;
        g->n_hosts = 0;
        g->has_table = false;
    }
    if (is_word(l, 1, "Rank"))
        return take_rank(g, l, err);
    if (is_word(l, 1, "size") && is_word(l, 2, "count"))
        return take_header(g, l, err);
    if (is_word(l, 1, "Out") || is_word(l, 1, "Avg")) {
        g->has_table = false;
        g->program[0] = '\0';
    }
    return FR_OK;
}

enum fr_status fr__nccl_log_read(struct fr__collective_data *d, const char *text, size_t len,
                                 const char *name, uint32_t file, struct fr_error *err)
{
    struct log g = {.data = d, .name = name, .file = file};
    const char *at = text, *end = text + len;
    enum fr_status st = FR_OK;

    while (st == FR_OK && at < end) {
        struct line l;

        next_line(&l, &at, end);
        g.line++;
        is_heading(&l, &g.n_prefix);
        drop_prefix(&l, g.n_prefix);
        st = take_line(&g, &l, err);
    }
    free(g.hosts);
    return st;
}
