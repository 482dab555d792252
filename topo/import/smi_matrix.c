/* topo/import/smi_matrix.c - reads the matrix of `nvidia-smi topo -m`.
 *
 * Captures differ: tabs or blanks, colour codes of a terminal, a prompt before and a legend behind,
 * GPUs with affinities and NICs without. The header gives the columns; as many rows follow it.
 */
#include "config.h"

#include "base/error.h"
#include "topo/import/smi_matrix.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_WORDS = FR__SMI_MAX + 16, MAX_LINKS = 64, MAX_WORD = 128 };

struct line {
    unsigned number;
    size_t n;
    const char *words[MAX_WORDS];
    unsigned cols[MAX_WORDS];
};

struct reader {
    struct fr__arena *arena;
    const char *at, *end, *file;
    unsigned number;
    struct line line;
    struct fr_error *err;
    struct fr__smi_matrix *m;
    struct fr__smi_cell *cells;
    const char **names, **adapters, **cpus, **domains;
    struct fr_loc *locs;
};

static struct fr_loc loc_of(const struct reader *r, size_t word)
{
    return (struct fr_loc){r->file, r->line.number, word < r->line.n ? r->line.cols[word] : 1};
}

/* ---- lines and words ---- */

/* The length of a terminal's colour code at p, 0: none. */
static size_t colour_length(const char *p, const char *end)
{
    const char *q = p + 2;

    if (end - p < 3 || p[0] != '\033' || p[1] != '[')
        return 0;
    while (q < end && strchr("0123456789;", *q) && *q)
        q++;
    return q < end && *q == 'm' ? (size_t)(q - p) + 1 : 0;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* The next word of the line from *p on, without colour codes; false at its end. */
static bool take_word(const char **p, const char *stop, const char **begin, char word[MAX_WORD])
{
    size_t n = 0, colour = 0;

    while (*p < stop && (is_blank(**p) || (colour = colour_length(*p, stop)) > 0))
        *p += is_blank(**p) ? 1 : colour;
    *begin = *p;
    while (*p < stop && !is_blank(**p)) {
        colour = colour_length(*p, stop);
        if (colour == 0 && n + 1 < MAX_WORD)
            word[n++] = **p;
        *p += colour ? colour : 1;
    }
    word[n] = '\0';
    return *begin < *p;
}

/* The same in the arena; NULL at the line's end. */
static const char *next_word(struct reader *r, const char **p, const char *stop, const char **begin,
                             bool *is_full)
{
    char word[MAX_WORD];
    const char *copy;

    if (!take_word(p, stop, begin, word))
        return NULL;
    copy = fr__arena_strdup(r->arena, word);
    *is_full |= !copy;
    return copy;
}

/* Cuts the next line into words; false at the end of the text. */
static enum fr_status next_line(struct reader *r, bool *is_there)
{
    const char *stop, *p = r->at, *word, *begin;
    bool is_full = false;

    *is_there = r->at < r->end;
    if (!*is_there)
        return FR_OK;
    stop = memchr(r->at, '\n', (size_t)(r->end - r->at));
    stop = stop ? stop : r->end;
    r->line.number = ++r->number;
    r->line.n = 0;
    while (r->line.n < MAX_WORDS && (word = next_word(r, &p, stop, &begin, &is_full))) {
        r->line.cols[r->line.n] = (unsigned)(begin - r->at) + 1;
        r->line.words[r->line.n++] = word;
    }
    r->at = stop < r->end ? stop + 1 : r->end;
    return is_full ? fr__fail_nomem(r->err) : FR_OK;
}

static bool is_gpu(const char *word)
{
    return strncmp(word, "GPU", 3) == 0 && word[3] &&
           strspn(word + 3, "0123456789") == strlen(word + 3);
}

static bool is_header(const struct line *l)
{
    if (l->n == 0 || strcmp(l->words[0], "GPU0") != 0)
        return false;
    for (size_t i = 0; i < l->n; i++)
        if (strcmp(l->words[i], "X") == 0)
            return false;
    return true;
}

/* ---- header ---- */

/* Columns end where "CPU Affinity" begins. */
static enum fr_status read_header(struct reader *r)
{
    size_t n = 0, n_gpus = 0;

    while (n < r->line.n && strcmp(r->line.words[n], "CPU") != 0)
        n++;
    if (n > FR__SMI_MAX)
        return fr__fail(r->err, FR_ERANGE, loc_of(r, 0), "more than %d GPUs and NICs",
                        (int)FR__SMI_MAX);
    while (n_gpus < n && is_gpu(r->line.words[n_gpus]))
        n_gpus++;
    r->m->n = n;
    r->m->n_gpus = n_gpus;
    r->cells = fr__arena_alloc(r->arena, n * n, sizeof(*r->cells));
    r->names = fr__arena_alloc(r->arena, n, sizeof(*r->names));
    r->adapters = fr__arena_alloc(r->arena, n, sizeof(*r->adapters));
    r->cpus = fr__arena_alloc(r->arena, n, sizeof(*r->cpus));
    r->domains = fr__arena_alloc(r->arena, n, sizeof(*r->domains));
    r->locs = fr__arena_alloc(r->arena, n, sizeof(*r->locs));
    if (!r->cells || !r->names || !r->adapters || !r->cpus || !r->domains || !r->locs)
        return fr__fail_nomem(r->err);
    for (size_t i = 0; i < n; i++) {
        r->names[i] = r->line.words[i];
        if (i >= n_gpus && is_gpu(r->names[i]))
            return fr__fail(r->err, FR_EPARSE, loc_of(r, i), "a GPU's column behind NICs'");
        for (size_t k = 0; k < i; k++)
            if (strcmp(r->names[i], r->names[k]) == 0)
                return fr__fail(r->err, FR_EPARSE, loc_of(r, i), "column '%.40s' appears twice",
                                r->names[i]);
    }
    return FR_OK;
}

/* ---- rows ---- */

static enum fr_status read_cell(struct reader *r, size_t word, struct fr__smi_cell *cell)
{
    static const struct {
        const char *text;
        enum fr__smi_way way;
    } ways[] = {{"X", FR__SMI_SELF},  {"PIX", FR__SMI_PIX},   {"PXB", FR__SMI_PXB},
                {"PHB", FR__SMI_PHB}, {"NODE", FR__SMI_NODE}, {"SYS", FR__SMI_SYS},
                {"SOC", FR__SMI_SYS}};
    const char *text = r->line.words[word];
    char excerpt[FR__EXCERPT];

    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
        if (strcmp(text, ways[i].text) == 0) {
            cell->way = ways[i].way;
            return FR_OK;
        }
    if (strncmp(text, "NV", 2) == 0 && strlen(text) >= 3 && strlen(text) <= 5 &&
        strspn(text + 2, "0123456789") == strlen(text + 2)) {
        cell->way = FR__SMI_NVLINK;
        cell->n_links = (unsigned)strtoul(text + 2, NULL, 10);
        if (cell->n_links >= 1 && cell->n_links <= MAX_LINKS)
            return FR_OK;
    }
    return fr__fail(r->err, FR_EPARSE, loc_of(r, word),
                    "'%s' is no connection, one of X, NV1 to NV%d, PIX, PXB, PHB, NODE, SYS "
                    "expected",
                    fr__excerpt(text, excerpt), MAX_LINKS);
}

static enum fr_status read_row(struct reader *r, size_t row)
{
    size_t n = r->m->n;
    char excerpt[FR__EXCERPT];

    if (r->line.n == 0 || strcmp(r->line.words[0], r->names[row]) != 0)
        return fr__fail(r->err, FR_EPARSE, loc_of(r, 0),
                        "row '%.40s' expected, as the header has it", r->names[row]);
    if (r->line.n < n + 1)
        return fr__fail(r->err, FR_EPARSE, loc_of(r, 0),
                        "%zu connections in row '%s', %zu expected", r->line.n - 1,
                        fr__excerpt(r->names[row], excerpt), n);
    r->locs[row] = loc_of(r, 0);
    for (size_t i = 0; i < n; i++) {
        FR_TRY(read_cell(r, i + 1, &r->cells[row * n + i]));
        if ((r->cells[row * n + i].way == FR__SMI_SELF) != (i == row))
            return fr__fail(r->err, FR_EPARSE, loc_of(r, i + 1),
                            "X stands where a row meets its own column, and nowhere else");
    }
    if (r->line.n > n + 1 && strcmp(r->line.words[n + 1], "N/A") != 0)
        r->cpus[row] = r->line.words[n + 1];
    if (r->line.n > n + 2 && strcmp(r->line.words[n + 2], "N/A") != 0)
        r->domains[row] = r->line.words[n + 2];
    return FR_OK;
}

static enum fr_status check_symmetry(const struct reader *r)
{
    size_t n = r->m->n;

    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++) {
            const struct fr__smi_cell *a = &r->cells[i * n + k], *b = &r->cells[k * n + i];

            if (a->way != b->way || a->n_links != b->n_links)
                return fr__fail(r->err, FR_EPARSE, r->locs[i],
                                "'%.40s' to '%.40s' is another connection than back", r->names[i],
                                r->names[k]);
        }
    return FR_OK;
}

/* Captures without NICs' rows: what GPUs say of NICs holds back; NICs are far from each other. */
static void mirror_nics(struct reader *r)
{
    size_t n = r->m->n;

    r->m->lacks_nics = n > r->m->n_gpus;
    for (size_t i = r->m->n_gpus; i < n; i++) {
        r->locs[i] = loc_of(r, 0);
        for (size_t k = 0; k < n; k++)
            r->cells[i * n + k] =
                k < r->m->n_gpus ? r->cells[k * n + i]
                                 : (struct fr__smi_cell){i == k ? FR__SMI_SELF : FR__SMI_SYS, 0};
    }
}

/* "NIC0: mlx5_0" below the matrix. */
static enum fr_status read_legend(struct reader *r)
{
    bool is_there = true;

    for (;;) {
        FR_TRY(next_line(r, &is_there));
        if (!is_there)
            return FR_OK;
        for (size_t i = r->m->n_gpus; r->line.n == 2 && i < r->m->n; i++) {
            size_t len = strlen(r->names[i]);

            if (strncmp(r->line.words[0], r->names[i], len) == 0 &&
                strcmp(r->line.words[0] + len, ":") == 0)
                r->adapters[i] = r->line.words[1];
        }
    }
}

/* Goes on to the header of the matrix. */
static enum fr_status find_header(struct reader *r, bool *is_there)
{
    do
        FR_TRY(next_line(r, is_there));
    while (*is_there && !is_header(&r->line));
    return FR_OK;
}

static enum fr_status read_matrix(struct reader *r)
{
    bool is_there;

    FR_TRY(find_header(r, &is_there));
    if (!is_there)
        return fr__fail(r->err, FR_EPARSE, (struct fr_loc){r->file, 1, 1},
                        "no line with the columns GPU0 ...");
    FR_TRY(read_header(r));
    for (size_t row = 0; row < r->m->n; row++) {
        FR_TRY(next_line(r, &is_there));
        if (row == r->m->n_gpus && (!is_there || r->line.n == 0)) {
            mirror_nics(r);
            break;
        }
        if (!is_there)
            return fr__fail(r->err, FR_EPARSE, (struct fr_loc){r->file, r->number, 1},
                            "the matrix ends before row '%.40s'", r->names[row]);
        FR_TRY(read_row(r, row));
    }
    FR_TRY(check_symmetry(r));
    return read_legend(r);
}

/* ---- whole texts ---- */

/* As is_header() of a line that has not been cut. */
static bool is_header_text(const char *at, const char *stop)
{
    char word[MAX_WORD];
    const char *begin;

    if (!take_word(&at, stop, &begin, word) || strcmp(word, "GPU0") != 0)
        return false;
    for (size_t n = 1; n < MAX_WORDS && take_word(&at, stop, &begin, word); n++)
        if (strcmp(word, "X") == 0)
            return false;
    return true;
}

bool fr__smi_matrix_is(const char *text, size_t len)
{
    /* the head of a file is enough, and no other file's end is looked through */
    const char *end = text + (len < 65536 ? len : 65536), *stop;

    for (const char *at = text; at < end; at = stop + 1) {
        stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop ? stop : end;
        if (is_header_text(at, stop))
            return true;
    }
    return false;
}

enum fr_status fr__smi_matrix_read(struct fr__arena *a, const char *text, size_t len,
                                   const char *name, const struct fr__smi_matrix **out,
                                   struct fr_error *err)
{
    struct reader *r = fr__arena_alloc(a, 1, sizeof(*r));
    struct fr__smi_matrix *m = fr__arena_alloc(a, 1, sizeof(*m));

    if (!r || !m)
        return fr__fail_nomem(err);
    *r = (struct reader){
        .arena = a, .at = text, .end = text + len, .file = name, .err = err, .m = m};
    FR_TRY(read_matrix(r));
    m->names = r->names;
    m->adapters = r->adapters;
    m->cells = r->cells;
    m->cpus = r->cpus;
    m->domains = r->domains;
    m->locs = r->locs;
    *out = m;
    return FR_OK;
}
