/* results/text/record_question.c - what a table of records begins with: the question, cost sources.
 *
 * It is separate because the table of one record and the table of several both begin so.
 */
#include "config.h"

#include "base/units.h"
#include "results/parts/nics.h"
#include "results/parts/number.h"
#include "results/text/cells.h"
#include "results/text/record.h"

#include <math.h>
#include <string.h>

enum { NUMBER = 32 };

/* ", collectives as a100-nvswitch", where they are no rings step by step. */
static void print_fitted(FILE *f, const struct fr_record *r)
{
    const char *by_formula = r->closed_form_collectives ? "collectives by formula" : "";
    bool is_any_left = r->n_fitted_collectives < r->n_collectives;

    if (is_any_left && r->collective_way) {
        fprintf(f, ", %scollectives by ", r->n_fitted_collectives > 0 ? "other " : "");
        fr__put_clean(f, r->collective_way);
    }

    if (r->n_fitted_collectives == 0) {
        fprintf(f, "%s%s", by_formula[0] ? ", " : "", by_formula);
        return;
    }
    fputs(", ", f);
    if (r->n_fitted_collectives < r->n_collectives)
        fprintf(f, "%zu of %zu ", r->n_fitted_collectives, r->n_collectives);
    fputs("collectives as ", f);
    fr__put_clean(f, r->collective_systems);
    if (r->n_fitted_collectives < r->n_collectives && by_formula[0])
        fputs(", others by formula", f);
    if (r->n_extrapolated_collectives > 0)
        fprintf(f, ", %zu of them on more machines or other GPU counts than measured",
                r->n_extrapolated_collectives);
}

static void print_collectives(FILE *f, const struct fr_record *r)
{
    print_fitted(f, r);
    if (r->n_fitted_messages > 0)
        fputs(", copies between GPUs as measured", f);
    if (!r->network_system_why)
        return;
    fprintf(f, ", those over several machines %s: ",
            r->collective_way ? "not as measured" : "as rings");
    fr__put_clean(f, r->network_system_why);
}

/* ", interference as on a100-sxm4-80gb, +2.1 ms (+1.8 ms to +2.4 ms)" */
static void print_interference(FILE *f, const struct fr_record *r)
{
    char text[NUMBER], low[NUMBER], high[NUMBER];

    if (!r->interference)
        return;
    fputs(", interference as on ", f);
    fr__put_clean(f, r->interference);
    if (r->interference_s > 0)
        fprintf(f, ", +%s", fr__format_time(r->interference_s, text, sizeof(text)));
    if (r->interference_high_s > r->interference_low_s)
        fprintf(f, " (+%s to +%s)",
                fr__format_time(fmax(0, r->interference_low_s), low, sizeof(low)),
                fr__format_time(r->interference_high_s, high, sizeof(high)));
}

/* "gradients in fp32, ": where the precision leaves a choice, or they travel otherwise. */
static void print_gradients(FILE *f, const struct fr_record *r)
{
    bool is_full = strcmp(r->dtype, "fp32") == 0 || strcmp(r->dtype, "tf32") == 0;

    if (!r->gradient_dtype || is_full)
        return;
    fprintf(f, "gradients in %s", r->gradient_dtype);
    if (r->sent_gradient_dtype && strcmp(r->sent_gradient_dtype, r->gradient_dtype) != 0)
        fprintf(f, " (sent in %s)", r->sent_gradient_dtype);
    fputs(", ", f);
}

/* strategy: whose answer it is of; NULL: of all. */
static void put_warning(FILE *f, const char *strategy, const char *text)
{
    fputs("warning: ", f);
    if (strategy) {
        fr__put_clean(f, strategy);
        fputs(": ", f);
    }
    fr__put_clean(f, text);
    putc('\n', f);
}

void fr__put_nics(FILE *f, const struct fr_topo_nics nics[], size_t n)
{
    char text[FR__NICS_TEXT];

    if (n > 0)
        fprintf(f, "NICs of a machine: %s\n", fr__nics_text(nics, n, text));
}

/* Of tasks on machines without hardware: there is no batch, no number format and no optimizer. */
static void print_plain(FILE *f, const struct fr_record *r, bool with_strategy)
{
    fputs(" on ", f);
    if (r->n_gpus < r->n_gpus_total)
        fprintf(f, "%zu of the ", r->n_gpus);
    fr__put_clean(f, r->topology);
    if (with_strategy) {
        fputs(", strategy ", f);
        fr__put_clean(f, r->strategy);
    }
    fprintf(f, "\norder %s, network %s", r->order, r->network);
}

/* "vgg19 on 4 of 8 GPUs of dgx1-v100" and the rest of the question, values as they were used. */
void fr__record_put_question(FILE *f, const struct fr_record *r, bool with_strategy)
{
    fr__put_clean(f, r->workload);
    if (r->is_plain) {
        print_plain(f, r, with_strategy);
    } else {
        if (r->n_gpus == r->n_gpus_total)
            fprintf(f, " on all %zu GPUs of ", r->n_gpus);
        else
            fprintf(f, " on %zu of %zu GPUs of ", r->n_gpus, r->n_gpus_total);
        fr__put_clean(f, r->topology);
        if (with_strategy) {
            fputs(", strategy ", f);
            fr__put_clean(f, r->strategy);
        }
        fprintf(f, "\nglobal batch %u, %s%s, %s, ", r->global_batch, r->dtype,
                r->is_dtype_default ? " by default" : "", r->optimizer);
        print_gradients(f, r);
        fprintf(f, "order %s, network %s", r->order, r->network);
    }
    print_collectives(f, r);
    print_interference(f, r);
    if (r->wait_factor > 1)
        fprintf(f, ", compute %.1f %% longer for the slowest of %zu GPUs",
                100 * (r->wait_factor - 1), r->n_gpus);
    if (r->wait_factor > 1 && r->length_wait_frac > 0)
        fprintf(f, " (%.1f %% of it for batches of other lengths)",
                100 * (r->wait_factor - 1) * r->length_wait_frac);
    if (r->recipe) {
        fputs(", recipe ", f);
        fr__put_clean(f, r->recipe);
    }
    if (r->slow) {
        fputs(", slowed: ", f);
        fr__put_clean(f, r->slow);
    }
    if (r->folding && with_strategy) {
        putc('\n', f);
        fr__put_clean(f, r->folding);
    }
    putc('\n', f);
    fr__put_nics(f, r->nics, r->n_nics);
    for (size_t i = 0; i < r->n_stands_for; i++) {
        fr__put_clean(f, r->stands_for[i]);
        putc('\n', f);
    }
    if (!with_strategy)
        return;
    for (size_t i = 0; i < r->n_warnings; i++)
        put_warning(f, NULL, r->warnings[i]);
    putc('\n', f);
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

void fr__record_put_warnings(FILE *f, const struct fr_results *rs)
{
    for (size_t i = 0; i < rs->n; i++)
        for (size_t k = 0; k < rs->records[i]->n_warnings; k++) {
            const char *text = rs->records[i]->warnings[k];
            bool is_of_all = count_warned(rs, text) == rs->n;

            if (!is_of_all || i == 0)
                put_warning(f, is_of_all ? NULL : rs->records[i]->strategy, text);
        }
    putc('\n', f);
}

void fr__record_put_cost_sources(FILE *f, const struct fr_record *r)
{
    const char *separator = "";
    char text[NUMBER];

    for (unsigned trust = 0; trust < FR_N_TRUSTS; trust++) {
        if (r->cost_frac[trust] < 0.0005) /* 0.0 % */
            continue;
        fprintf(f, "%s%s %s%s", separator, fr_trust_name((enum fr_trust)trust),
                fr__percent(r->cost_frac[trust], text, sizeof(text)),
                fr_trust_note((enum fr_trust)trust));
        separator = ", ";
    }
    if (!separator[0])
        fputs("nothing computes", f);
    putc('\n', f);
}
