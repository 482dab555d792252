/* results/document/record_question.c - what a table of records begins with: the question, cost
 * sources.
 *
 * It is separate because the table of one record and the table of several both begin so.
 */
#include "config.h"

#include "base/units.h"
#include "results/parts/nics.h"
#include "results/parts/number.h"
#include "results/parts/cells.h"
#include "results/document/record.h"

#include <math.h>
#include <string.h>

enum { NUMBER = 32 };

/* ", collectives as a100-nvswitch", where they are no rings step by step. */
static void print_fitted(struct fr__document *doc, const struct fr_record *r)
{
    const char *by_formula = r->closed_form_collectives ? "collectives by formula" : "";
    bool is_any_left = r->n_fitted_collectives < r->n_collectives;

    if (is_any_left && r->collective_way) {
        fr__say(doc, ", %scollectives by ", r->n_fitted_collectives > 0 ? "other " : "");
        fr__say_name(doc, r->collective_way);
    }

    if (r->n_fitted_collectives == 0) {
        fr__say(doc, "%s%s", by_formula[0] ? ", " : "", by_formula);
        return;
    }
    fr__say(doc, ", ");
    if (r->n_fitted_collectives < r->n_collectives)
        fr__say(doc, "%zu of %zu ", r->n_fitted_collectives, r->n_collectives);
    fr__say(doc, "collectives as ");
    fr__say_name(doc, r->collective_systems);
    if (r->n_fitted_collectives < r->n_collectives && by_formula[0])
        fr__say(doc, ", others by formula");
    if (r->n_extrapolated_collectives > 0)
        fr__say(doc, ", %zu of them on more machines or other GPU counts than measured",
                r->n_extrapolated_collectives);
}

static void print_collectives(struct fr__document *doc, const struct fr_record *r)
{
    print_fitted(doc, r);
    if (r->n_fitted_messages > 0)
        fr__say(doc, ", copies between GPUs as measured");
    if (!r->network_system_why)
        return;
    fr__say(doc, ", those over several machines %s: ",
            r->collective_way ? "not as measured" : "as rings");
    fr__say_name(doc, r->network_system_why);
}

/* ", interference as on a100-sxm4-80gb, +2.1 ms (+1.8 ms to +2.4 ms)" */
static void print_interference(struct fr__document *doc, const struct fr_record *r)
{
    char text[NUMBER], low[NUMBER], high[NUMBER];

    if (!r->interference)
        return;
    fr__say(doc, ", interference as on ");
    fr__say_name(doc, r->interference);
    if (r->interference_s > 0)
        fr__say(doc, ", +%s", fr__format_time(r->interference_s, text, sizeof(text)));
    if (r->interference_high_s > r->interference_low_s)
        fr__say(doc, " (+%s to +%s)",
                fr__format_time(fmax(0, r->interference_low_s), low, sizeof(low)),
                fr__format_time(r->interference_high_s, high, sizeof(high)));
}

/* "gradients in fp32, ": where the precision leaves a choice, or they travel otherwise. */
static void print_gradients(struct fr__document *doc, const struct fr_record *r)
{
    bool is_full = strcmp(r->dtype, "fp32") == 0 || strcmp(r->dtype, "tf32") == 0;

    if (!r->gradient_dtype || is_full)
        return;
    fr__say(doc, "gradients in %s", r->gradient_dtype);
    if (r->sent_gradient_dtype && strcmp(r->sent_gradient_dtype, r->gradient_dtype) != 0)
        fr__say(doc, " (sent in %s)", r->sent_gradient_dtype);
    fr__say(doc, ", ");
}

/* strategy: whose answer it is of; NULL: of all. */
static void put_warning(struct fr__document *doc, const char *strategy, const char *text)
{
    fr__say(doc, "warning: ");
    if (strategy) {
        fr__say_name(doc, strategy);
        fr__say(doc, ": ");
    }
    fr__say_name(doc, text);
    fr__say(doc, "\n");
}

void fr__put_nics(struct fr__document *doc, const struct fr_topo_nics nics[], size_t n)
{
    char text[FR__NICS_TEXT];

    if (n > 0)
        fr__say(doc, "NICs of a machine: %s\n", fr__nics_text(nics, n, text));
}

/* Of tasks on machines without hardware: there is no batch, no number format and no optimizer. */
static void print_plain(struct fr__document *doc, const struct fr_record *r, bool with_strategy)
{
    fr__say(doc, " on ");
    if (r->n_gpus < r->n_gpus_total)
        fr__say(doc, "%zu of the ", r->n_gpus);
    fr__say_name(doc, r->topology);
    if (with_strategy) {
        fr__say(doc, ", strategy ");
        fr__say_name(doc, r->strategy);
    }
    fr__say(doc, "\norder %s, network %s", r->order, r->network);
}

/* The software that was assumed, and what the run would take without any. */
static void put_software(struct fr__document *doc, const struct fr_record *r)
{
    char time[NUMBER];

    if (r->recipe && r->is_recipe_assumed) {
        fr__say(doc, "software as usual: ");
        fr__say_name(doc, r->recipe);
    }
    if (r->ideal_iteration_s > 0)
        fr__say(doc, "%sideal software: %s", r->is_recipe_assumed ? "; " : "",
                fr__format_time(r->ideal_iteration_s, time, sizeof(time)));
    if (r->recipe && r->is_recipe_assumed)
        fr__say(doc, " (--recipe none)");
    if (r->ideal_iteration_s > 0 || (r->recipe && r->is_recipe_assumed))
        fr__say(doc, "\n");
}

/* "vgg19 on 4 of 8 GPUs of dgx1-v100" and the rest of the question, values as they were used. */
void fr__record_put_question(struct fr__document *doc, const struct fr_record *r,
                             bool with_strategy)
{
    fr__say_name(doc, r->workload);
    if (r->is_plain) {
        print_plain(doc, r, with_strategy);
    } else {
        if (r->n_gpus == r->n_gpus_total)
            fr__say(doc, " on all %zu GPUs of ", r->n_gpus);
        else
            fr__say(doc, " on %zu of %zu GPUs of ", r->n_gpus, r->n_gpus_total);
        fr__say_name(doc, r->topology);
        if (with_strategy) {
            fr__say(doc, ", strategy ");
            fr__say_name(doc, r->strategy);
        }
        fr__say(doc, "\nglobal batch %u, %s%s, %s, ", r->global_batch, r->dtype,
                r->is_dtype_default ? " by default" : "", r->optimizer);
        print_gradients(doc, r);
        fr__say(doc, "order %s, network %s", r->order, r->network);
    }
    print_collectives(doc, r);
    print_interference(doc, r);
    if (r->wait_factor > 1)
        fr__say(doc, ", compute %.1f %% longer for the slowest of %zu GPUs",
                100 * (r->wait_factor - 1), r->n_gpus);
    if (r->wait_factor > 1 && r->length_wait_frac > 0)
        fr__say(doc, " (%.1f %% of it for batches of other lengths)",
                100 * (r->wait_factor - 1) * r->length_wait_frac);
    if (r->tune) {
        fr__say(doc, ", trained by ");
        fr__say_name(doc, r->tune);
    }
    if (r->recipe && !r->is_recipe_assumed) {
        fr__say(doc, ", recipe ");
        fr__say_name(doc, r->recipe);
    }
    if (r->slow) {
        fr__say(doc, ", slowed: ");
        fr__say_name(doc, r->slow);
    }
    if (r->folding && with_strategy) {
        fr__say(doc, "\n");
        fr__say_name(doc, r->folding);
    }
    fr__say(doc, "\n");
    put_software(doc, r);
    fr__put_nics(doc, r->nics, r->n_nics);
    for (size_t i = 0; i < r->n_stands_for; i++) {
        fr__say_name(doc, r->stands_for[i]);
        fr__say(doc, "\n");
    }
    if (!with_strategy)
        return;
    for (size_t i = 0; i < r->n_warnings; i++)
        put_warning(doc, NULL, r->warnings[i]);
    fr__say(doc, "\n");
}

static bool has_warning(const struct fr_record *r, const char *text)
{
    for (size_t i = 0; i < r->n_warnings; i++)
        if (strcmp(r->warnings[i], text) == 0)
            return true;
    return false;
}

/* How many of the records have it. */
static size_t count_warned(const struct fr_results *rs, const char *text)
{
    size_t n = 0;

    for (size_t i = 0; i < rs->n; i++)
        n += has_warning(rs->records[i], text);
    return n;
}

void fr__record_put_warnings(struct fr__document *doc, const struct fr_results *rs)
{
    for (size_t i = 0; i < rs->n; i++)
        for (size_t k = 0; k < rs->records[i]->n_warnings; k++) {
            const char *text = rs->records[i]->warnings[k];
            bool is_of_all = count_warned(rs, text) == rs->n;

            if (!is_of_all || i == 0)
                put_warning(doc, is_of_all ? NULL : rs->records[i]->strategy, text);
        }
    fr__say(doc, "\n");
}

void fr__record_put_cost_sources(struct fr__document *doc, const struct fr_record *r)
{
    const char *separator = "";
    char text[NUMBER];

    for (unsigned trust = 0; trust < FR_N_TRUSTS; trust++) {
        if (r->cost_frac[trust] < 0.0005) /* 0.0 % */
            continue;
        fr__say(doc, "%s%s %s%s", separator, fr_trust_name((enum fr_trust)trust),
                fr__percent(r->cost_frac[trust], text, sizeof(text)),
                fr_trust_note((enum fr_trust)trust));
        separator = ", ";
    }
    if (!separator[0])
        fr__say(doc, "nothing computes");
    fr__say(doc, "\n");
}
