/* study/sweep/price.c - the price of GPUs, machines and clusters per hour, and the cost of a row's
 * training run. */
#include "config.h"

#include "base/error.h"
#include "base/units.h"
#include "calibrate/power/power.h"
#include "study/answer/record.h"
#include "study/sweep/state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double DEFAULT_SAMPLES = 1e6;

/* ---- reading prices ---- */

/* Where the name of an item ends: before the first '=' behind which a number ends the item. A name
 * may have '=' and ',' itself ("2x hgx-h100 via rails:400Gbps,spine=2:1"). *n: the item's
 * length. */
static size_t name_length(const char *item, size_t *n)
{
    *n = strspn(item, "+-.0123456789eE");
    if (*n > 0 && item[*n] == ',') /* "2.5,energy=0.12" */
        return 0;
    for (const char *equals = strchr(item, '='); equals; equals = strchr(equals + 1, '=')) {
        size_t n_number = strspn(equals + 1, "+-.0123456789eE");
        char end = equals[1 + n_number];

        if (n_number > 0 && (end == ',' || end == '\0')) {
            *n = (size_t)(equals - item) + 1 + n_number;
            return (size_t)(equals - item);
        }
    }
    *n = strcspn(item, ",");
    return 0;
}

/* "energy=0.12": a name that no GPU, machine or cluster has. */
static enum fr_status take_energy(struct fr_prices *p, double usd_per_kWh, struct fr_error *err)
{
    if (p->has_energy)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "option '--price' has two prices of energy");
    p->has_energy = true;
    p->usd_per_kWh = usd_per_kWh;
    return FR_OK;
}

static enum fr_status parse_one(struct fr_prices *p, const char *item, size_t *n,
                                struct fr_error *err)
{
    struct fr_price price = {.name = ""};
    size_t n_name = name_length(item, n), n_number = *n - (n_name ? n_name + 1 : 0);
    const char *number = item + *n - n_number;
    char text[64], what[320] = "option '--price'";

    if (n_name >= sizeof(price.name) || n_number >= sizeof(text) || item[0] == '=' ||
        (n_name && item[n_name - 1] == '='))
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "option '--price' has \"%.*s\", expected USD or NAME=USD",
                        *n < 40 ? (int)*n : 40, item);
    memcpy(price.name, item, n_name);
    memcpy(text, number, n_number);
    text[n_number] = '\0';
    if (n_name)
        snprintf(what, sizeof(what), "option '--price' of '%s'", price.name);
    FR_TRY(fr__parse_number(text, what, FR_NOWHERE, 0, 1e9, &price.usd_per_hour, err));
    if (strcmp(price.name, "energy") == 0)
        return take_energy(p, price.usd_per_hour, err);
    for (size_t i = 0; i < p->n; i++)
        if (strcmp(p->price[i].name, price.name) == 0)
            return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                            "option '--price' has two prices for %s%s%s", n_name ? "'" : "",
                            n_name ? price.name : "all GPUs", n_name ? "'" : "");
    if (p->n == FR_MAX_PRICES)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "option '--price' has over %d prices",
                        FR_MAX_PRICES);
    p->price[p->n++] = price;
    return FR_OK;
}

enum fr_status fr_prices_parse(struct fr_prices *p, const char *text, struct fr_error *err)
{
    struct fr_prices *more = malloc(sizeof(*more));
    enum fr_status st = FR_OK;
    size_t n;

    if (!more)
        return fr__fail_nomem(err);
    *more = *p;
    for (bool is_first = true; st == FR_OK && (is_first || *text); is_first = false) {
        st = parse_one(more, text, &n, err);
        if (st == FR_OK && text[n] == ',' && !text[n + 1])
            st = fr__fail(err, FR_EUSAGE, FR_NOWHERE, "option '--price' ends with a comma");
        if (st == FR_OK)
            text += n + (text[n] == ',');
    }
    if (st == FR_OK)
        *p = *more;
    free(more);
    return st;
}

/* ---- whose price it is ---- */

/* All of the type's name, or all up to one of its dashes. */
static bool fits(const char *name, const char *type, size_t n_type)
{
    size_t n = strlen(name);

    return n <= n_type && strncmp(name, type, n) == 0 && (n == n_type || type[n] == '-' || n == 0);
}

/* Whether two texts are the same but for their blanks. */
static bool is_same_text(const char *a, const char *b)
{
    for (;; a++, b++) {
        a += strspn(a, " \t");
        b += strspn(b, " \t");
        if (*a != *b)
            return false;
        if (!*a)
            return true;
    }
}

static const struct fr_price *price_of_type(const struct fr_prices *p, const char *type, size_t n)
{
    const struct fr_price *best = NULL;

    for (size_t i = 0; i < p->n; i++)
        if (fits(p->price[i].name, type, n) &&
            (!best || strlen(p->price[i].name) > strlen(best->name)))
            best = &p->price[i];
    return best;
}

static const struct fr_price *price_of_machine(const struct fr_prices *p, const char *name,
                                               size_t n)
{
    for (size_t i = 0; i < p->n; i++)
        if (strlen(p->price[i].name) == n && n > 0 && strncmp(p->price[i].name, name, n) == 0)
            return &p->price[i];
    return NULL;
}

/* Sums over a list "NAME:COUNT;...". NAN: some name has no price. */
static double sum(const struct fr_prices *p, const char *list,
                  const struct fr_price *(*find)(const struct fr_prices *p, const char *name,
                                                 size_t n))
{
    double usd = list[0] ? 0 : NAN;

    while (*list) {
        size_t n = strcspn(list, ";"), n_name = n;
        const struct fr_price *price;

        while (n_name > 0 && list[n_name] != ':')
            n_name--;
        price = find(p, list, n_name);
        usd += (price ? price->usd_per_hour : NAN) * fr__strtod(list + n_name + 1, NULL);
        list += n + (list[n] == ';');
    }
    return usd;
}

bool fr_prices_any(const struct fr_prices *p)
{
    return p->n > 0 || p->has_energy;
}

double fr_prices_usd_per_hour(const struct fr_prices *p, const struct fr_priced *what)
{
    double usd = NAN;

    for (size_t i = 0; i < p->n && what->topology; i++)
        if (p->price[i].name[0] && is_same_text(p->price[i].name, what->topology) &&
            (strpbrk(what->topology, " \t") || !what->machines || !what->machines[0]))
            return p->price[i].usd_per_hour;
    if (what->machines)
        usd = sum(p, what->machines, price_of_machine);
    return isnan(usd) ? sum(p, what->gpu_types, price_of_type) : usd;
}

/* ---- whether the names mean something ---- */

/* Names for suggestions: of GPUs, whole and their first words, of machines, of topologies. */
enum { MAX_NAMES = 1024, MAX_NAME = 256 };

struct names {
    char text[MAX_NAMES][MAX_NAME];
    const char *name[MAX_NAMES];
    size_t n, n_types; /* the first n_types are those of GPUs */
};

static void add_name(struct names *names, const char *text, size_t n)
{
    if (names->n == MAX_NAMES || n >= MAX_NAME)
        return;
    for (size_t i = 0; i < names->n; i++)
        if (strncmp(names->text[i], text, n) == 0 && !names->text[i][n])
            return;
    memcpy(names->text[names->n], text, n);
    names->text[names->n][n] = '\0';
    names->name[names->n] = names->text[names->n];
    names->n++;
}

/* Names of a list "NAME:COUNT;...". */
static void add_names(struct names *names, const char *list)
{
    while (list && *list) {
        size_t n = strcspn(list, ";"), n_name = n;

        while (n_name > 0 && list[n_name] != ':')
            n_name--;
        add_name(names, list, n_name);
        list += n + (list[n] == ';');
    }
}

static bool is_known(const struct names *names, const char *name)
{
    for (size_t i = 0; i < names->n; i++)
        if (i < names->n_types ? fits(name, names->name[i], strlen(names->name[i]))
                               : is_same_text(name, names->name[i]))
            return true;
    return false;
}

static enum fr_status check_known(const struct fr_prices *p, struct names *names,
                                  struct fr_error *err)
{
    char hint[600];

    for (size_t i = 0; i < p->n; i++) {
        if (is_known(names, p->price[i].name))
            continue;
        return fr__fail(
            err, FR_ENOENT, FR_NOWHERE,
            "option '--price': no type of GPU, machine or topology is called '%.80s'%s (see "
            "'forerun "
            "topo list')",
            p->price[i].name,
            fr__did_you_mean(p->price[i].name, names->name, names->n, hint, sizeof(hint)));
    }
    return FR_OK;
}

/* clusters: [n]. */
static enum fr_status check_names(const struct fr_prices *p, const struct fr_priced clusters[],
                                  size_t n, struct fr_error *err)
{
    struct names *names = calloc(1, sizeof(*names));
    const struct fr_device_type *type;
    const struct fr_topo_alias *alias;
    enum fr_status st;

    if (!names)
        return fr__fail_nomem(err);
    for (size_t i = 0; i < n; i++)
        add_names(names, clusters[i].gpu_types);
    for (size_t i = 0; (type = fr_device_type_builtin(i)) != NULL; i++)
        if (type->is_gpu) {
            add_name(names, type->name, strlen(type->name));
            add_name(names, type->name, strcspn(type->name, "-"));
        }
    names->n_types = names->n;
    for (size_t i = 0; i < n; i++) {
        add_names(names, clusters[i].machines);
        add_name(names, clusters[i].topology, strlen(clusters[i].topology));
    }
    for (size_t i = 0; fr_topo_preset_name(i); i++)
        add_name(names, fr_topo_preset_name(i), strlen(fr_topo_preset_name(i)));
    for (size_t i = 0; (alias = fr_topo_alias_at(i)) != NULL; i++)
        add_name(names, alias->name, strlen(alias->name));
    st = check_known(p, names, err);
    free(names);
    return st;
}

/* Names the first type of GPU that has no price. */
static enum fr_status fail_unpriced(const struct fr_prices *p, const struct fr_priced *c,
                                    struct fr_error *err)
{
    const char *type = c->gpu_types;

    while (type[strcspn(type, ";")] && price_of_type(p, type, strcspn(type, ":")))
        type += strcspn(type, ";") + 1;
    return fr__fail(
        err, FR_ENOENT, FR_NOWHERE,
        "option '--price' has no price of '%.*s', which %.80s has, so what is cheapest is not "
        "known: add %.*s=USD",
        (int)strcspn(type, ":"), type, c->topology, (int)strcspn(type, "-:"), type);
}

/* A cluster whose energy is not known would be left out of what is cheapest. */
static enum fr_status check_draw(const struct fr_priced *c, struct fr_error *err)
{
    char type[MAX_NAME];

    for (const char *at = c->gpu_types; *at; at += strcspn(at, ";"), at += *at == ';') {
        snprintf(type, sizeof(type), "%.*s", (int)strcspn(at, ":;"), at);
        if (!fr__power_of(type))
            return fr__fail(err, FR_ENOENT, FR_NOWHERE,
                            "option '--price' has a price of energy, but what '%.80s' of %.80s "
                            "draws is not known",
                            type, c->topology);
    }
    return FR_OK;
}

enum fr_status fr_prices_check(const struct fr_prices *p, const struct fr_sweep *s,
                               struct fr_error *err)
{
    FR_TRY(check_names(p, s->clusters, s->n_clusters, err));
    /* a cluster without a price would be left out of what is cheapest */
    for (size_t i = 0; p->n > 0 && i < s->n_clusters; i++)
        if (isnan(fr_prices_usd_per_hour(p, &s->clusters[i])))
            return fail_unpriced(p, &s->clusters[i], err);
    for (size_t i = 0; p->has_energy && i < s->n_clusters; i++)
        FR_TRY(check_draw(&s->clusters[i], err));
    return FR_OK;
}

enum fr_status fr_prices_check_topo(const struct fr_prices *p, const struct fr_topo *t,
                                    struct fr_error *err)
{
    uint32_t *all = calloc(t->n_gpus + 1, sizeof(*all));
    struct fr_priced c = {.topology = t->name};
    enum fr_status st;
    char *machines, *types;

    for (uint32_t i = 0; all && i < t->n_gpus; i++)
        all[i] = i;
    c.machines = machines = all ? fr__machines_in_use(t, all, t->n_gpus) : NULL;
    c.gpu_types = types = all ? fr__gpu_types(t, all, t->n_gpus) : NULL;
    st = machines && types ? check_names(p, &c, 1, err) : fr__fail_nomem(err);
    free(machines);
    free(types);
    free(all);
    return st;
}

/* ---- a whole run ---- */

static const double JOULES_A_KWH = 3.6e6;

/* USD for GPUs and energy over a time. NAN: a part of it is not known. */
static double usd_of(const struct fr_prices *p, const struct fr_priced *what, double time_s,
                     double energy_usd)
{
    double usd = p->n > 0 ? time_s / 3600 * fr_prices_usd_per_hour(p, what) : 0;

    return p->has_energy ? usd + energy_usd : usd;
}

struct fr_sweep_value fr_sweep_value(const struct fr_sweep_row *row,
                                     const struct fr_sweep_terms *terms)
{
    struct fr_sweep_value v = {NAN, NAN, false};
    double samples = terms->samples > 0 ? terms->samples : DEFAULT_SAMPLES;
    const struct fr_priced what = {row->topology, row->machines, row->gpu_types};
    double energy_usd;

    if (terms->tokens > 0)
        samples = terms->tokens / (double)row->seq_len;
    if (row->outcome != FR_FITS || !(row->samples_per_s > 0) || !isfinite(samples))
        return v;
    v.time_s = samples / row->samples_per_s;
    energy_usd =
        v.time_s * row->gpu_W * (double)row->gpus / JOULES_A_KWH * terms->prices.usd_per_kWh;
    v.cost = fr_prices_any(&terms->prices) ? usd_of(&terms->prices, &what, v.time_s, energy_usd)
                                           : v.time_s / 3600 * (double)row->gpus;
    v.is_late = terms->deadline_s > 0 && v.time_s > terms->deadline_s;
    return v;
}

bool fr_record_run_of(const struct fr_record *r, const struct fr_sweep_terms *terms,
                      struct fr_record_run *out)
{
    double per_s = terms->tokens > 0 ? r->tokens_per_s : r->samples_per_s;
    double n = terms->tokens > 0 ? terms->tokens : terms->samples;
    const struct fr_priced what = {r->topology, r->machines, r->gpu_types};

    if (r->oom || !(n > 0) || !(per_s > 0))
        return false;
    out->time_s = n / per_s;
    out->gpu_hours = out->time_s / 3600 * (double)r->n_gpus;
    out->energy_J = r->power_limit_W > 0 ? out->time_s * r->gpu_W * (double)r->n_gpus
                    : r->board_W > 0     ? out->time_s * r->board_W
                                         : NAN;
    out->energy_usd =
        terms->prices.has_energy ? out->energy_J / JOULES_A_KWH * terms->prices.usd_per_kWh : NAN;
    out->cost_usd = fr_prices_any(&terms->prices) && r->gpu_types
                        ? usd_of(&terms->prices, &what, out->time_s, out->energy_usd)
                        : NAN;
    return true;
}
