/* study/sweep/price.c - the price of GPUs per hour, and the cost of a row's training run. */
#include "config.h"

#include "base/error.h"
#include "base/units.h"
#include "study/sweep/state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double DEFAULT_SAMPLES = 1e6;

/* ---- reading prices ---- */

static enum fr_status parse_one(struct fr_prices *p, const char *item, size_t n,
                                struct fr_error *err)
{
    struct fr_price price = {.type = ""};
    const char *equals = memchr(item, '=', n), *number = equals ? equals + 1 : item;
    char text[64], what[96] = "option '--price'";
    size_t n_name = equals ? (size_t)(equals - item) : 0, n_number = n - (size_t)(number - item);

    if (n_name >= sizeof(price.type) || n_number >= sizeof(text) || (equals && n_name == 0))
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "option '--price' has \"%.*s\", expected USD or TYPE=USD",
                        n < 40 ? (int)n : 40, item);
    memcpy(price.type, item, n_name);
    memcpy(text, number, n_number);
    text[n_number] = '\0';
    if (equals)
        snprintf(what, sizeof(what), "option '--price' of '%s'", price.type);
    FR_TRY(fr__parse_number(text, what, FR_NOWHERE, 0, 1e9, &price.usd_per_hour, err));
    for (size_t i = 0; i < p->n; i++)
        if (strcmp(p->price[i].type, price.type) == 0)
            return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                            "option '--price' has two prices for %s%s%s", n_name ? "'" : "",
                            n_name ? price.type : "all GPUs", n_name ? "'" : "");
    if (p->n == FR_MAX_PRICES)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "option '--price' has over %d prices",
                        FR_MAX_PRICES);
    p->price[p->n++] = price;
    return FR_OK;
}

enum fr_status fr_prices_parse(struct fr_prices *p, const char *text, struct fr_error *err)
{
    struct fr_prices more = *p;

    for (;;) {
        size_t n = strcspn(text, ",");

        FR_TRY(parse_one(&more, text, n, err));
        if (!text[n])
            break;
        text += n + 1;
    }
    *p = more;
    return FR_OK;
}

/* ---- whose price it is ---- */

/* All of the type's name, or all up to one of its dashes. */
static bool fits(const char *name, const char *type, size_t n_type)
{
    size_t n = strlen(name);

    return n <= n_type && strncmp(name, type, n) == 0 && (n == n_type || type[n] == '-' || n == 0);
}

static bool fits_any(const char *name, const char *const types[], size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (fits(name, types[i], strlen(types[i])))
            return true;
    return false;
}

/* Whole names and their first words, for suggestions; more than there are in memory. */
enum { MAX_NAMES = 512, MAX_NAME = 64 };

struct names {
    char text[MAX_NAMES][MAX_NAME];
    const char *name[MAX_NAMES];
    size_t n;
};

static void add_name(struct names *names, const char *type, size_t n)
{
    if (names->n == MAX_NAMES || n >= MAX_NAME)
        return;
    memcpy(names->text[names->n], type, n);
    names->text[names->n][n] = '\0';
    names->name[names->n] = names->text[names->n];
    names->n++;
}

static enum fr_status fail_unknown(const char *name, const char *const types[], size_t n,
                                   struct fr_error *err)
{
    struct names *names = calloc(1, sizeof(*names));
    char hint[128];
    enum fr_status st;

    if (!names)
        return fr__fail_nomem(err);
    for (size_t i = 0; i < n; i++) {
        add_name(names, types[i], strlen(types[i]));
        add_name(names, types[i], strcspn(types[i], "-"));
    }
    st = fr__fail(err, FR_ENOENT, FR_NOWHERE,
                  "option '--price': no type of GPU is called '%s'%s (see 'forerun topo list')",
                  name, fr__did_you_mean(name, names->name, names->n, hint, sizeof(hint)));
    free(names);
    return st;
}

/* types: [MAX_NAMES], of which n are filled in; the built-in ones are added. */
static enum fr_status check_names(const struct fr_prices *p, const char *types[], size_t n,
                                  struct fr_error *err)
{
    const struct fr_device_type *type;

    for (size_t i = 0; (type = fr_device_type_builtin(i)) != NULL && n < MAX_NAMES; i++)
        if (type->is_gpu)
            types[n++] = type->name;
    for (size_t i = 0; i < p->n; i++)
        if (!fits_any(p->price[i].type, types, n))
            return fail_unknown(p->price[i].type, types, n, err);
    return FR_OK;
}

/* Where some GPUs have a price, all need one: else a machine without a price would be left out of
 * what is cheapest. */
static enum fr_status check_all_priced(const struct fr_prices *p, const struct fr_sweep *s,
                                       struct fr_error *err)
{
    for (size_t i = 0; p->n > 0 && i < s->n_types; i++) {
        bool is_priced = false;

        for (size_t k = 0; k < p->n && !is_priced; k++)
            is_priced = fits(p->price[k].type, s->types[i], strlen(s->types[i]));
        if (!is_priced)
            return fr__fail(err, FR_ENOENT, FR_NOWHERE,
                            "option '--price' has no price of '%s', so what is cheapest is not "
                            "known: add %.*s=USD",
                            s->types[i], (int)strcspn(s->types[i], "-"), s->types[i]);
    }
    return FR_OK;
}

enum fr_status fr_prices_check(const struct fr_prices *p, const struct fr_sweep *s,
                               struct fr_error *err)
{
    const char *types[MAX_NAMES];
    size_t n = 0;

    for (size_t i = 0; i < s->n_types && n < MAX_NAMES; i++)
        types[n++] = s->types[i];
    FR_TRY(check_names(p, types, n, err));
    return check_all_priced(p, s, err);
}

enum fr_status fr_prices_check_topo(const struct fr_prices *p, const struct fr_topo *t,
                                    struct fr_error *err)
{
    const char *types[MAX_NAMES];
    size_t n = 0;

    for (size_t i = 0; i < t->n_types && n < MAX_NAMES; i++)
        if (t->types[i].is_gpu)
            types[n++] = t->types[i].name;
    return check_names(p, types, n, err);
}

static double price_of(const struct fr_prices *p, const char *type, size_t n)
{
    const struct fr_price *best = NULL;

    for (size_t i = 0; i < p->n; i++)
        if (fits(p->price[i].type, type, n) &&
            (!best || strlen(p->price[i].type) > strlen(best->type)))
            best = &p->price[i];
    return best ? best->usd_per_hour : NAN;
}

double fr_prices_usd_per_hour(const struct fr_prices *p, const char *gpu_types)
{
    double usd = 0;

    while (*gpu_types) {
        size_t n = strcspn(gpu_types, ";"), n_name = n;

        while (n_name > 0 && gpu_types[n_name] != ':')
            n_name--;
        usd += price_of(p, gpu_types, n_name) * fr__strtod(gpu_types + n_name + 1, NULL);
        gpu_types += n + (gpu_types[n] == ';');
    }
    return usd;
}

/* ---- a whole run ---- */

struct fr_sweep_value fr_sweep_value(const struct fr_sweep_row *row,
                                     const struct fr_sweep_terms *terms)
{
    struct fr_sweep_value v = {NAN, NAN, false};
    double samples = terms->samples > 0 ? terms->samples : DEFAULT_SAMPLES;
    double per_hour = terms->prices.n > 0 ? fr_prices_usd_per_hour(&terms->prices, row->gpu_types)
                                          : (double)row->gpus;

    if (terms->tokens > 0)
        samples = terms->tokens / (double)row->seq_len;
    if (row->outcome != FR_FITS || !(row->samples_per_s > 0) || !isfinite(samples))
        return v;
    v.time_s = samples / row->samples_per_s;
    v.cost = v.time_s / 3600 * per_hour;
    v.is_late = terms->deadline_s > 0 && v.time_s > terms->deadline_s;
    return v;
}

bool fr_record_run_of(const struct fr_record *r, const struct fr_sweep_terms *terms,
                      struct fr_record_run *out)
{
    double per_s = terms->tokens > 0 ? r->tokens_per_s : r->samples_per_s;
    double n = terms->tokens > 0 ? terms->tokens : terms->samples;

    if (r->oom || !(n > 0) || !(per_s > 0))
        return false;
    out->time_s = n / per_s;
    out->gpu_hours = out->time_s / 3600 * (double)r->n_gpus;
    out->cost_usd = terms->prices.n > 0 && r->gpu_types
                        ? out->time_s / 3600 * fr_prices_usd_per_hour(&terms->prices, r->gpu_types)
                        : NAN;
    out->energy_J = r->board_W > 0 ? out->time_s * r->board_W : NAN;
    return true;
}
