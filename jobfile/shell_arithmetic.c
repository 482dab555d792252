/* jobfile/shell_arithmetic.c - $(( )): whole numbers of 64 bits, by precedence climbing
 * (POSIX.1-2008, Shell Command Language, 2.6.4). What overflows, or is no expression that is known
 * here, is unknown, as what lacks a value is. */
#include "config.h"

#include "base/units.h"
#include "jobfile/shell_state.h"

#include <string.h>

enum { MOST_DEPTH = 64 };

struct sum {
    struct fr__shell_state *s;
    const char *at;
    const char *unknown;
    unsigned depth;
};

static int64_t fail(struct sum *x, const char *name)
{
    if (!x->unknown)
        x->unknown = name;
    return 0;
}

static void blanks(struct sum *x)
{
    x->at += strspn(x->at, " \t\r\n");
}

static bool takes(struct sum *x, const char *sign)
{
    size_t n = strlen(sign);

    blanks(x);
    if (strncmp(x->at, sign, n) != 0)
        return false;
    x->at += n;
    return true;
}

static int64_t climb(struct sum *x, int least);

static int64_t number(struct sum *x)
{
    int64_t value = 0;

    for (; *x->at >= '0' && *x->at <= '9'; x->at++) {
        if (value > (INT64_MAX - 9) / 10)
            return fail(x, "");
        value = value * 10 + (*x->at - '0');
    }
    return fr__is_name_letter(*x->at, false) ? fail(x, "") : value;
}

/* The value of a variable, itself an expression. */
static int64_t variable(struct sum *x)
{
    char name[FR__SHELL_NAME];
    const struct fr__shell_variable *v;
    const char *back;
    size_t n = 0;
    int64_t value;

    while (fr__is_name_letter(x->at[n], false) && n + 1 < sizeof(name)) {
        name[n] = x->at[n];
        n++;
    }
    name[n] = '\0';
    x->at += n;
    v = fr__shell_find(x->s, name);
    if (!v || v->fields.n == 0 || fr__cells_unknown(x->s, &v->fields.at[0])) {
        const char *unknown = v && v->fields.n ? fr__cells_unknown(x->s, &v->fields.at[0]) : NULL;
        char *copy = unknown ? NULL : fr__arena_strdup(x->s->arena, name);

        return fail(x, unknown ? unknown : copy ? copy : "");
    }
    back = x->at;
    x->at = fr__cells_text(x->s, &v->fields.at[0]);
    if (!x->at) {
        x->at = back;
        return fail(x, "");
    }
    value = climb(x, 0);
    blanks(x);
    if (*x->at)
        fail(x, "");
    x->at = back;
    return value;
}

static int64_t primary(struct sum *x)
{
    int64_t value;

    if (++x->depth > MOST_DEPTH)
        return fail(x, "");
    blanks(x);
    if (takes(x, "(")) {
        value = climb(x, 0);
        if (!takes(x, ")"))
            fail(x, "");
    } else if (takes(x, "!")) {
        value = !primary(x);
    } else if (takes(x, "-")) {
        value = primary(x);
        value = value == INT64_MIN ? fail(x, "") : -value;
    } else if (takes(x, "+")) {
        value = primary(x);
    } else if (*x->at >= '0' && *x->at <= '9') {
        value = number(x);
    } else if (fr__is_name_letter(*x->at, true)) {
        value = variable(x);
    } else {
        value = fail(x, "");
    }
    x->depth--;
    return value;
}

static int64_t times(struct sum *x, int64_t a, int64_t b)
{
    if (a != 0 && b != 0 &&
        (a == INT64_MIN || b == INT64_MIN || (a < 0 ? -a : a) > INT64_MAX / (b < 0 ? -b : b)))
        return fail(x, "");
    return a * b;
}

static int64_t power(struct sum *x, int64_t a, int64_t b)
{
    int64_t value = 1;

    if (b < 0 || b > 62)
        return fail(x, "");
    while (b-- > 0 && !x->unknown)
        value = times(x, value, a);
    return value;
}

static int64_t plus(struct sum *x, int64_t a, int64_t b)
{
    if ((b > 0 && a > INT64_MAX - b) || (b < 0 && a < INT64_MIN - b))
        return fail(x, "");
    return a + b;
}

enum sign { OR, AND, EQ, NE, LE, GE, LT, GT, PLUS, MINUS, POWER, TIMES, OVER, REST, N_SIGNS };

static int64_t apply(struct sum *x, enum sign sign, int64_t a, int64_t b)
{
    switch (sign) {
    case OR:
        return a || b;
    case AND:
        return a && b;
    case EQ:
        return a == b;
    case NE:
        return a != b;
    case LE:
        return a <= b;
    case GE:
        return a >= b;
    case LT:
        return a < b;
    case GT:
        return a > b;
    case PLUS:
        return plus(x, a, b);
    case MINUS:
        return b == INT64_MIN ? fail(x, "") : plus(x, a, -b);
    case POWER:
        return power(x, a, b);
    case TIMES:
        return times(x, a, b);
    case OVER:
        return b == 0 || (a == INT64_MIN && b == -1) ? fail(x, "") : a / b;
    case REST:
        return b == 0 || (a == INT64_MIN && b == -1) ? fail(x, "") : a % b;
    case N_SIGNS:
        break;
    }
    return fail(x, "");
}

static int64_t climb(struct sum *x, int least)
{
    static const struct {
        const char *text;
        int binds;
    } signs[N_SIGNS] = {
        [OR] = {"||", 1},  [AND] = {"&&", 2},  [EQ] = {"==", 3},    [NE] = {"!=", 3},
        [LE] = {"<=", 4},  [GE] = {">=", 4},   [LT] = {"<", 4},     [GT] = {">", 4},
        [PLUS] = {"+", 5}, [MINUS] = {"-", 5}, [POWER] = {"**", 7}, [TIMES] = {"*", 6},
        [OVER] = {"/", 6}, [REST] = {"%", 6},
    };
    int64_t value;

    if (++x->depth > MOST_DEPTH)
        return fail(x, "");
    value = primary(x);
    while (!x->unknown) {
        int i = 0;

        while (i < N_SIGNS && !(signs[i].binds > least && takes(x, signs[i].text)))
            i++;
        if (i == N_SIGNS)
            break;
        value = apply(x, (enum sign)i, value, climb(x, signs[i].binds));
    }
    x->depth--;
    return value;
}

enum fr_status fr__shell_arithmetic(struct fr__shell_state *s, const char *text, int64_t *out,
                                    const char **unknown)
{
    struct sum x = {.s = s, .at = text};

    *out = climb(&x, 0);
    if (!x.unknown && takes(&x, "?")) { /* a ? b : c */
        int64_t yes = climb(&x, 0), no = takes(&x, ":") ? climb(&x, 0) : fail(&x, "");

        *out = *out ? yes : no;
    }
    blanks(&x);
    if (!x.unknown && *x.at)
        fail(&x, "");
    *unknown = x.unknown;
    return FR_OK;
}
