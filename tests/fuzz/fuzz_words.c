/* tests/fuzz/fuzz_words.c - any bytes as what a user types: a strategy, a setting of a question, an
 * axis of a sweep or of a search, prices, a random graph. The first byte says which. What is taken
 * must be finite and read back; what is not gets a sentence.
 */
#include "config.h"

#include "strategies/strategies.h"
#include "study/layouts/search.h"
#include "study/sweep/sweep.h"
#include "workloads/random/random_tasks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static enum fr_status read_setting(const char *text, unsigned which, struct fr_error *err)
{
    const char *name = fr_question_setting(which % FR_N_SETTINGS);
    struct fr_question q, again;
    enum fr_status st;
    char *spelt;

    fr_question_init(&q);
    st = fr_question_set(&q, name, text, err);
    if (st != FR_OK)
        return st;
    spelt = fr_question_text(&q, which % FR_N_SETTINGS);
    fr_question_init(&again);
    if (!spelt || fr_question_set(&again, name, spelt, err) != FR_OK)
        abort();
    free(spelt);
    return FR_OK;
}

/* Not a range of thousands, which takes seconds under sanitizers. */
static enum fr_status read_sweep(const char *text, unsigned which, struct fr_error *err)
{
    struct fr_sweep *s = fr_sweep_new();
    const char *to = strstr(text, "..");
    enum fr_status st = FR_OK;

    if (s && (!to || strspn(to, ".0123456789") < 6))
        st = fr_sweep_add(s, fr_question_setting(which % FR_N_SETTINGS), text, err);
    fr_sweep_free(s);
    return st;
}

static enum fr_status read_search(const char *text, struct fr_error *err)
{
    struct fr_search *s = fr_search_new();
    enum fr_status st = s ? fr_search_axis(s, text, err) : FR_OK;

    fr_search_free(s);
    return st;
}

static enum fr_status read_prices(const char *text, struct fr_error *err)
{
    struct fr_prices p = {.n = 0};
    enum fr_status st = fr_prices_parse(&p, text, err);

    for (size_t i = 0; st == FR_OK && i < p.n; i++)
        if (!isfinite(p.price[i].usd_per_hour))
            abort();
    return st;
}

/* Only what has few tasks, since making many takes long. */
static enum fr_status read_random(const char *text, struct fr_error *err)
{
    FILE *f = fopen("/dev/null", "w");
    const char *digits = strstr(text, "tasks=");
    enum fr_status st = FR_OK;

    if (f && digits && strspn(digits + 6, "0123456789") < 4)
        st = fr_random_tasks(f, text, err);
    if (f)
        fclose(f);
    return st;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct fr_strategy *strategy;
    struct fr_option_values values;
    struct fr_error err = {0};
    enum fr_status st;
    char *text;

    if (size < 2)
        return 0;
    text = malloc(size - 1);
    if (!text)
        return 0;
    memcpy(text, data + 2, size - 2);
    text[size - 2] = '\0';
    switch (data[0] % 6) {
    case 0:
        st = fr_strategy_parse(text, &strategy, &values, &err);
        break;
    case 1:
        st = read_setting(text, data[1], &err);
        break;
    case 2:
        st = read_sweep(text, data[1], &err);
        break;
    case 3:
        st = read_search(text, &err);
        break;
    case 4:
        st = read_prices(text, &err);
        break;
    default:
        st = read_random(text, &err);
    }
    if (st != FR_OK && !err.text[0])
        abort();
    free(text);
    return 0;
}
