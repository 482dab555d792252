/* lowering/schedules/action.c - the text of actions, as PyTorch prints them:
 * {stage}{kind}{micro}. */
#include "config.h"

#include "lowering/schedules/action.h"

#include <stdio.h>
#include <string.h>

static const char *const words[FR_N_ACTIONS] = {
    [FR_ACTION_F] = "F",
    [FR_ACTION_B] = "B",
    [FR_ACTION_I] = "I",
    [FR_ACTION_W] = "W",
    [FR_ACTION_UNSHARD] = "UNSHARD",
    [FR_ACTION_RESHARD] = "RESHARD",
    [FR_ACTION_REDUCE_GRAD] = "REDUCE_GRAD",
    [FR_ACTION_WAIT_REDUCE_GRAD] = "WAIT_REDUCE_GRAD",
    [FR_ACTION_SEND_F] = "SEND_F",
    [FR_ACTION_RECV_F] = "RECV_F",
    [FR_ACTION_SEND_B] = "SEND_B",
    [FR_ACTION_RECV_B] = "RECV_B",
    [FR_ACTION_WAIT_SEND_F] = "WAIT_SEND_F",
    [FR_ACTION_WAIT_SEND_B] = "WAIT_SEND_B",
    [FR_ACTION_UPDATE] = "UPDATE",
};

static const char pair_word[] = "OVERLAP_F_B";

bool fr_action_computes(const struct fr_action *a)
{
    return a->kind <= FR_ACTION_W;
}

static int print_one(char *buf, size_t n, unsigned kind, uint32_t stage, uint32_t micro)
{
    if (micro == FR_NONE)
        return snprintf(buf, n, "%u%s", stage, words[kind]);
    return snprintf(buf, n, "%u%s%u", stage, words[kind], micro);
}

const char *fr_action_text(const struct fr_action *a, char buf[FR_ACTION_TEXT])
{
    char one[40], other[40];

    if (a->with == FR_ACTION_NONE) {
        print_one(buf, FR_ACTION_TEXT, a->kind, a->stage, a->micro);
        return buf;
    }
    print_one(one, sizeof(one), a->kind, a->stage, a->micro);
    print_one(other, sizeof(other), a->with, a->with_stage, a->with_micro);
    snprintf(buf, FR_ACTION_TEXT, "(%s;%s)%s", one, other, pair_word);
    return buf;
}

/* ---- reading ---- */

/* Digits at *text, which moves past them. */
static bool read_number(const char **text, uint32_t *out)
{
    const char *c = *text;
    uint32_t n = 0;

    while (*c >= '0' && *c <= '9' && n < FR_SCHEDULE_MOST_MICROS)
        n = 10 * n + (uint32_t)(*c++ - '0');
    if (c == *text || n >= FR_SCHEDULE_MOST_MICROS)
        return false;
    *text = c;
    *out = n;
    return true;
}

/* A word's kind at *text, which moves past it; FR_ACTION_NONE: there is none. */
static unsigned read_word(const char **text)
{
    size_t n = 0;

    while (((*text)[n] >= 'A' && (*text)[n] <= 'Z') || (*text)[n] == '_')
        n++;
    for (unsigned k = 0; k < FR_N_ACTIONS; k++)
        if (strlen(words[k]) == n && memcmp(words[k], *text, n) == 0) {
            *text += n;
            return k;
        }
    return FR_ACTION_NONE;
}

static bool is_of_stage(unsigned kind)
{
    return kind == FR_ACTION_UNSHARD || kind == FR_ACTION_RESHARD ||
           kind == FR_ACTION_REDUCE_GRAD || kind == FR_ACTION_WAIT_REDUCE_GRAD;
}

static bool read_one(const char **text, uint8_t *kind, uint32_t *stage, uint32_t *micro)
{
    unsigned k;

    if (!read_number(text, stage))
        return false;
    k = read_word(text);
    if (k == FR_ACTION_NONE)
        return false;
    *kind = (uint8_t)k;
    *micro = FR_NONE;
    return is_of_stage(k) || read_number(text, micro);
}

bool fr__action_parse(const char *text, struct fr_action *out)
{
    struct fr_action a = {.with = FR_ACTION_NONE};

    if (text[0] != '(') {
        if (!read_one(&text, &a.kind, &a.stage, &a.micro) || *text != '\0')
            return false;
        *out = a;
        return true;
    }
    text++;
    if (!read_one(&text, &a.kind, &a.stage, &a.micro) || *text++ != ';' ||
        !read_one(&text, &a.with, &a.with_stage, &a.with_micro) || *text++ != ')' ||
        strcmp(text, pair_word) != 0)
        return false;
    if (a.kind != FR_ACTION_F || (a.with != FR_ACTION_B && a.with != FR_ACTION_I))
        return false;
    *out = a;
    return true;
}
