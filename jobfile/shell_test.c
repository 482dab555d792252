/* jobfile/shell_test.c - the conditions of [ ] and [[ ]], and the patterns of case.
 *
 * It is separate because a condition has three answers here: what only the run knows, files among
 * it, is unknown, and unknown parts decide nothing that known ones decide.
 */
#include "config.h"

#include "jobfile/shell_state.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_DEPTH = 32 };

struct test {
    struct fr__shell_state *s;
    const struct fr__shell_word *at;
    size_t n, i;
    unsigned depth;
};

/* Whether c is in the set behind '['; *end: behind its ']'. NULL: the set does not end. */
static const char *set_end(const char *p, char c, bool *is_in)
{
    bool is_not = *p == '!' || *p == '^';

    *is_in = false;
    p += is_not;
    for (const char *first = p; *p && (*p != ']' || p == first); p++) {
        if (p[1] == '-' && p[2] && p[2] != ']') {
            *is_in |= c >= p[0] && c <= p[2];
            p += 2;
        } else {
            *is_in |= c == *p;
        }
    }
    *is_in = *is_in != is_not;
    return *p == ']' ? p + 1 : NULL;
}

bool fr__shell_matches(const char *pattern, const char *text)
{
    const char *star = NULL, *from = NULL;

    while (*text || *pattern == '*') {
        bool is_in = false;
        const char *end = *pattern == '[' && *text ? set_end(pattern + 1, *text, &is_in) : NULL;

        if (*pattern == '*') {
            star = ++pattern;
            from = text;
            if (!*pattern)
                return true;
        } else if (*text && (*pattern == '?' || (end ? is_in : *pattern && *pattern == *text))) {
            pattern = end ? end : pattern + 1;
            text++;
        } else if (star && *from) {
            pattern = star;
            text = ++from;
        } else {
            return false;
        }
    }
    return !*pattern;
}

static enum fr__truth truth(bool is_true)
{
    return is_true ? FR__TRUE : FR__FALSE;
}

static enum fr__truth not(enum fr__truth t) { return t == FR__UNKNOWN ? t : truth(t == FR__FALSE); }

static bool is_word(const struct test *t, size_t at, const char *text)
{
    return t->i + at < t->n && strcmp(t->at[t->i + at].text, text) == 0;
}

/* Whether a word is a variable that nobody has set: empty, unless the environment has it. */
static bool is_unset(struct test *t, const struct fr__shell_word *word)
{
    const struct fr__shell_variable *v =
        word->unknown && strcmp(word->text, "?") == 0 ? fr__shell_find(t->s, word->unknown) : NULL;

    return word->unknown && strcmp(word->text, "?") == 0 && word->unknown[0] != '$' &&
           (!v || v->fields.n == 0);
}

static enum fr__truth alone(struct test *t, const struct fr__shell_word *sign,
                            const struct fr__shell_word *word)
{
    bool is_empty = strcmp(sign->text, "-z") == 0;

    if (is_empty || strcmp(sign->text, "-n") == 0) {
        if (is_unset(t, word)) {
            t->s->has_assumed = true;
            return truth(is_empty);
        }
        return word->unknown ? FR__UNKNOWN : truth(is_empty == !word->text[0]);
    }
    return FR__UNKNOWN; /* of files and terminals */
}

static enum fr__truth numbers(struct test *t, const char *sign, const char *a, const char *b)
{
    static const char *const signs[] = {"-eq", "-ne", "-lt", "-le", "-gt", "-ge"};
    const char *unknown[2];
    int64_t x, y;
    size_t i = 0;

    while (i < 6 && strcmp(signs[i], sign) != 0)
        i++;
    if (i == 6 || fr__shell_arithmetic(t->s, a, &x, &unknown[0]) != FR_OK ||
        fr__shell_arithmetic(t->s, b, &y, &unknown[1]) != FR_OK || unknown[0] || unknown[1])
        return FR__UNKNOWN;
    return truth(i == 0   ? x == y
                 : i == 1 ? x != y
                 : i == 2 ? x < y
                 : i == 3 ? x <= y
                 : i == 4 ? x > y
                          : x >= y);
}

static enum fr__truth both(struct test *t, const struct fr__shell_word *a,
                           const struct fr__shell_word *sign, const struct fr__shell_word *b)
{
    if (a->unknown || b->unknown)
        return FR__UNKNOWN;
    if (strcmp(sign->text, "=") == 0 || strcmp(sign->text, "==") == 0)
        return truth(fr__shell_matches(b->text, a->text));
    if (strcmp(sign->text, "!=") == 0)
        return truth(!fr__shell_matches(b->text, a->text));
    return numbers(t, sign->text, a->text, b->text);
}

static bool is_sign(const struct test *t, size_t at)
{
    static const char *const signs[] = {"=",   "==",  "!=",  "=~",  "<",   ">",
                                        "-eq", "-ne", "-lt", "-le", "-gt", "-ge"};

    for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++)
        if (is_word(t, at, signs[i]))
            return true;
    return false;
}

static enum fr__truth any_of(struct test *t);

static enum fr__truth one(struct test *t)
{
    const struct fr__shell_word *w = t->at + t->i;
    enum fr__truth inner;

    if (t->i >= t->n || t->depth > MOST_DEPTH)
        return FR__UNKNOWN;
    if (is_word(t, 0, "!") && t->i + 1 < t->n) {
        t->i++;
        t->depth++;
        inner = one(t);
        t->depth--;
        return not(inner);
    }
    if (is_word(t, 0, "(")) {
        t->i++;
        t->depth++;
        inner = any_of(t);
        t->depth--;
        t->i += is_word(t, 0, ")");
        return inner;
    }
    if (is_sign(t, 1) && t->i + 2 < t->n) {
        t->i += 3;
        return both(t, w, w + 1, w + 2);
    }
    if (w->text[0] == '-' && w->text[1] && !w->text[2] && t->i + 1 < t->n) {
        t->i += 2;
        return alone(t, w, w + 1);
    }
    t->i++;
    return w->unknown ? FR__UNKNOWN : truth(w->text[0]);
}

static enum fr__truth all_of(struct test *t)
{
    enum fr__truth sum = one(t);

    while (is_word(t, 0, "&&") || is_word(t, 0, "-a")) {
        enum fr__truth next;

        t->i++;
        next = one(t);
        sum = sum == FR__FALSE || next == FR__FALSE ? FR__FALSE : sum == FR__UNKNOWN ? sum : next;
    }
    return sum;
}

static enum fr__truth any_of(struct test *t)
{
    enum fr__truth sum = all_of(t);

    while (is_word(t, 0, "||") || is_word(t, 0, "-o")) {
        enum fr__truth next;

        t->i++;
        next = all_of(t);
        sum = sum == FR__TRUE || next == FR__TRUE ? FR__TRUE : sum == FR__UNKNOWN ? sum : next;
    }
    return sum;
}

enum fr__truth fr__shell_test(struct fr__shell_state *s, const struct fr__shell_word words[],
                              size_t n)
{
    struct test t = {.s = s, .at = words, .n = n};
    enum fr__truth answer = any_of(&t);

    return t.i == n ? answer : FR__UNKNOWN;
}
