/* collectives/algorithms/custom_file.c - reads a person's own algorithm and proves that it is
 * right. */
#include "config.h"

#include "collectives/algorithms/custom_file.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/file.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_WORK = 1 << 24 }; /* words of sets that the check may take: 128 MiB */

struct reader {
    struct fr__custom *c;
    const char *at, *end, *line_start;
    struct fr_loc loc;
    uint64_t n_carried; /* pieces of all messages so far */
    bool has_kind;
    struct fr_error *err;
};

/* ---- words ---- */

static void skip_space(struct reader *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\r'))
        r->at++;
    if (r->at < r->end && *r->at == '#')
        while (r->at < r->end && *r->at != '\n')
            r->at++;
    r->loc.col = (unsigned)(r->at - r->line_start) + 1;
}

static bool is_line_over(struct reader *r)
{
    skip_space(r);
    return r->at == r->end || *r->at == '\n';
}

/* The next word of the line into word; "" at its end. */
static enum fr_status next_word(struct reader *r, char word[FR__EXCERPT])
{
    size_t n = 0;

    word[0] = '\0';
    if (is_line_over(r))
        return FR_OK;
    while (r->at<r->end && * r->at> ' ' && *r->at != '#') {
        if (n + 1 == FR__EXCERPT)
            return fr__fail(r->err, FR_EPARSE, r->loc, "the word is too long");
        word[n++] = *r->at++;
    }
    if (n == 0)
        return fr__fail(r->err, FR_EPARSE, r->loc, "a control character");
    word[n] = '\0';
    return FR_OK;
}

/* A number at r->at, up to `most`. */
static enum fr_status number(struct reader *r, const char *what, uint32_t least, uint32_t most,
                             uint32_t *out)
{
    uint64_t value = 0;
    bool is_any = false;

    skip_space(r);
    while (r->at < r->end && *r->at >= '0' && *r->at <= '9' && value <= most) {
        value = 10 * value + (uint64_t)(*r->at++ - '0');
        is_any = true;
    }
    if (!is_any)
        return fr__fail(r->err, FR_EPARSE, r->loc, "expected %s, a number", what);
    if (value < least || value > most)
        return fr__fail(r->err, FR_ERANGE, r->loc, "%s must be %u to %u", what, least, most);
    *out = (uint32_t)value;
    return FR_OK;
}

/* ---- lines ---- */

static enum fr_status read_ranges(struct reader *r, struct fr__custom_send *m)
{
    struct fr__custom *c = r->c;

    m->first_range = (uint32_t)c->n_ranges;
    for (;;) {
        struct fr__custom_range range;

        FR_TRY(number(r, "the piece", 0, c->n_pieces - 1, &range.first));
        range.last = range.first;
        if (r->at < r->end && *r->at == '-') {
            r->at++;
            FR_TRY(number(r, "the range's end", range.first, c->n_pieces - 1, &range.last));
        }
        r->n_carried += range.last - range.first + 1;
        if (c->n_ranges == FR__CUSTOM_SENDS || r->n_carried > FR__CUSTOM_CARRIED)
            return fr__fail(r->err, FR_ERANGE, r->loc, "the messages carry too many pieces");
        if (!fr__grow(&c->ranges, &c->cap_ranges, c->n_ranges + 1, sizeof(*c->ranges)))
            return fr__fail_nomem(r->err);
        c->ranges[c->n_ranges++] = range;
        if (r->at == r->end || *r->at != ',')
            break;
        r->at++;
    }
    m->n_ranges = (uint32_t)c->n_ranges - m->first_range;
    return FR_OK;
}

static enum fr_status read_send(struct reader *r)
{
    struct fr__custom *c = r->c;
    struct fr__custom_send m = {.line = r->loc.line};
    char word[FR__EXCERPT];

    if (c->n_rounds == 0)
        return fr__fail(r->err, FR_EPARSE, r->loc,
                        "'send' before the first 'round'; collective, ranks, pieces come first");
    m.round = c->n_rounds - 1;
    FR_TRY(number(r, "the sender", 0, c->n - 1, &m.from));
    FR_TRY(number(r, "the receiver", 0, c->n - 1, &m.to));
    if (m.from == m.to)
        return fr__fail(r->err, FR_ERANGE, r->loc, "rank %u sends to itself", m.from);
    FR_TRY(read_ranges(r, &m));
    FR_TRY(next_word(r, word));
    m.is_sum = strcmp(word, "sum") == 0;
    if (word[0] && !m.is_sum)
        return fr__fail(r->err, FR_EPARSE, r->loc, "'%s' after the pieces, expected 'sum'", word);
    if (c->n_sends == FR__CUSTOM_SENDS)
        return fr__fail(r->err, FR_ERANGE, r->loc, "more than %d messages", FR__CUSTOM_SENDS);
    if (!fr__grow(&c->sends, &c->cap_sends, c->n_sends + 1, sizeof(*c->sends)))
        return fr__fail_nomem(r->err);
    c->sends[c->n_sends++] = m;
    return FR_OK;
}

static enum fr_status read_kind(struct reader *r)
{
    const char *names[FR_RING_STEP];
    char word[FR__EXCERPT], hint[128];

    FR_TRY(next_word(r, word));
    for (unsigned i = 0; i < FR_RING_STEP; i++)
        names[i] = fr_collective_kind_name((enum fr_collective_kind)i);
    r->c->kind = fr_collective_kind_parse(word);
    r->has_kind = true;
    if (r->c->kind < FR_RING_STEP)
        return FR_OK;
    return fr__fail(r->err, FR_EPARSE, r->loc, "no collective '%s'%s", word,
                    fr__did_you_mean(word, names, FR_RING_STEP, hint, sizeof(hint)));
}

static enum fr_status read_round(struct reader *r)
{
    struct fr__custom *c = r->c;

    if (!r->has_kind || c->n == 0 || c->n_pieces == 0)
        return fr__fail(r->err, FR_EPARSE, r->loc,
                        "'round' before 'collective', 'ranks' and 'pieces' are all said");
    if (c->n_rounds == FR__CUSTOM_ROUNDS ||
        (uint64_t)c->n * (c->n_rounds + 1) > 64 * (uint64_t)FR__CUSTOM_SENDS)
        return fr__fail(r->err, FR_ERANGE, r->loc, "too many rounds for %u ranks", c->n);
    c->n_rounds++;
    return FR_OK;
}

static enum fr_status read_line(struct reader *r)
{
    static const char *const WORDS[] = {"collective", "ranks", "pieces", "round", "send"};
    struct fr__custom *c = r->c;
    char word[FR__EXCERPT], hint[128];

    FR_TRY(next_word(r, word));
    if (!word[0])
        return FR_OK;
    if (strcmp(word, "send") == 0)
        return read_send(r);
    if (strcmp(word, "round") == 0)
        return read_round(r);
    if (c->n_rounds > 0)
        return fr__fail(r->err, FR_EPARSE, r->loc, "'%s' after the first 'round'%s", word,
                        fr__did_you_mean(word, WORDS, 5, hint, sizeof(hint)));
    if (strcmp(word, "collective") == 0)
        return read_kind(r);
    if (strcmp(word, "ranks") == 0)
        return number(r, "the number of ranks", 2, FR__CUSTOM_RANKS, &c->n);
    if (strcmp(word, "pieces") == 0)
        return number(r, "the number of pieces", 1, FR__CUSTOM_PIECES, &c->n_pieces);
    return fr__fail(r->err, FR_EPARSE, r->loc, "'%s' is no word of such a file%s", word,
                    fr__did_you_mean(word, WORDS, 5, hint, sizeof(hint)));
}

static enum fr_status read_lines(struct reader *r)
{
    while (r->at < r->end) {
        r->line_start = r->at;
        r->loc.line++;
        FR_TRY(read_line(r));
        if (!is_line_over(r))
            return fr__fail(r->err, FR_EPARSE, r->loc, "more than one statement in a line");
        if (r->at < r->end)
            r->at++;
    }
    r->loc.col = 1;
    if (r->c->n_rounds == 0)
        return fr__fail(r->err, FR_EPARSE, r->loc, "the file has no 'round'");
    return FR_OK;
}

/* ---- the whole ---- */

static int by_round_and_sender(const void *one, const void *other)
{
    const struct fr__custom_send *a = one, *b = other;

    if (a->round != b->round)
        return a->round < b->round ? -1 : 1;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return a->line < b->line ? -1 : a->line > b->line;
}

static enum fr_status put_in_order(struct reader *r)
{
    struct fr__custom *c = r->c;
    size_t n_places = (size_t)c->n_rounds * c->n;

    if (c->n_sends > 0)
        qsort(c->sends, c->n_sends, sizeof(*c->sends), by_round_and_sender);
    c->first = calloc(n_places + 1, sizeof(*c->first));
    c->n_recvs = calloc(n_places, sizeof(*c->n_recvs));
    if (!c->first || !c->n_recvs)
        return fr__fail_nomem(r->err);
    for (size_t i = 0; i < c->n_sends; i++) {
        const struct fr__custom_send *m = &c->sends[i];

        c->first[(size_t)m->round * c->n + m->from + 1]++;
        c->n_recvs[(size_t)m->round * c->n + m->to]++;
    }
    for (size_t i = 0; i < n_places; i++)
        c->first[i + 1] += c->first[i];
    return FR_OK;
}

/* What a rank gets of one piece in one round does not depend on the order: one message, or sums. */
static enum fr_status check_races(struct reader *r)
{
    struct fr__custom *c = r->c;
    const size_t n_places = (size_t)c->n * c->n_pieces;
    uint32_t *last = calloc(n_places, sizeof(*last)); /* 2 * (round + 1) + is_sum; 0: none */
    enum fr_status st = last ? FR_OK : fr__fail_nomem(r->err);

    for (size_t i = 0; i < c->n_sends && st == FR_OK; i++) {
        const struct fr__custom_send *m = &c->sends[i];
        const struct fr_loc at = {r->loc.file, m->line, 1};

        for (uint32_t j = 0; j < m->n_ranges && st == FR_OK; j++)
            for (uint32_t p = c->ranges[m->first_range + j].first;
                 p <= c->ranges[m->first_range + j].last && st == FR_OK; p++) {
                uint32_t *seen = &last[(size_t)m->to * c->n_pieces + p];

                if (*seen / 2 == m->round + 1 && !(*seen % 2 && m->is_sum))
                    st = fr__fail(r->err, FR_EPARSE, at,
                                  "rank %u gets piece %u twice in a round, not both to be added",
                                  m->to, p);
                *seen = 2 * (m->round + 1) + m->is_sum;
            }
    }
    free(last);
    return st;
}

static enum fr_status judge(struct reader *r)
{
    struct fr__custom *c = r->c;
    struct fr__schedule s = {
        .algorithm = &fr__custom_algorithm, .kind = c->kind, .n = c->n, .bytes = 1, .custom = c};
    const struct fr_loc whole = {r->loc.file, 0, 0};
    struct fr_error fault = {.code = FR_OK};

    if ((c->kind == FR_ALL_GATHER || c->kind == FR_REDUCE_SCATTER) && c->n_pieces % c->n != 0)
        return fr__fail(r->err, FR_ERANGE, whole, "%u pieces are not as many for each of %u ranks",
                        c->n_pieces, c->n);
    if (c->kind == FR_ALL_TO_ALL && c->n_pieces != c->n * c->n)
        return fr__fail(r->err, FR_ERANGE, whole, "an all-to-all of %u ranks has %u pieces, not %u",
                        c->n, c->n * c->n, c->n_pieces);
    if ((uint64_t)c->n * c->n_pieces * ((c->n + 63) / 64) > MOST_WORK)
        return fr__fail(r->err, FR_ERANGE, whole, "%u pieces on %u ranks are too many to check",
                        c->n_pieces, c->n);
    FR_TRY(check_races(r));
    FR_TRY(fr__schedule_make(&s, r->err));
    if (fr__schedule_check(&s, 0, &fault) != FR_OK)
        return fr__fail(r->err, fault.code == FR_ECHECK ? FR_EPARSE : fault.code, whole, "%s",
                        fault.text);
    return FR_OK;
}

enum fr_status fr__custom_parse(struct fr__custom **out, const char *text, size_t len,
                                const char *path, struct fr_error *err)
{
    struct reader r = {.at = text, .end = text + len, .line_start = text, .err = err};
    enum fr_status st;

    r.loc.file = path;
    r.c = calloc(1, sizeof(*r.c));
    if (!r.c)
        return fr__fail_nomem(err);
    st = read_lines(&r);
    if (st == FR_OK)
        st = put_in_order(&r);
    if (st == FR_OK)
        st = judge(&r);
    if (st == FR_OK)
        *out = r.c;
    else
        fr__custom_free(r.c);
    return st;
}

enum fr_status fr__custom_load(struct fr__custom **out, const char *path, struct fr_error *err)
{
    char *text = NULL;
    size_t len = 0;
    enum fr_status st;

    FR_TRY(fr__read_file(path, FR__CUSTOM_BYTES, &text, &len, err));
    st = fr__custom_parse(out, text, len, path, err);
    free(text);
    return st;
}
