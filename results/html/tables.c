/* results/html/tables.c - the tables of the report and its key figures.
 *
 * It is separate from the tables as text, which need neither columns to sort by nor bars.
 */
#include "config.h"

#include "base/units.h"
#include "results/html/html.h"
#include "results/parts/colours.h"
#include "results/parts/number.h"
#include "results/parts/rows.h"
#include "results/parts/times.h"
#include "study/answer/figures.h"

#include <math.h>
#include <string.h>

/* Least share of the time of a resource that is listed: a quarter faster, it changes a tenth of a
 * percent. */
static const double LEAST_PART = 0.0025;

enum { MOST_LINKS = 12, MOST_HOLDERS = 10 };

/* ---- key figures ---- */

static void tile(FILE *f, const char *number, const char *what)
{
    fprintf(f, "<div class=\"tile\"><b>%s</b><span>%s</span></div>\n", number, what);
}

static void write_time_parts(FILE *f, const struct fr_record *r)
{
    double whole_s = r->compute_s + r->exposed_comm_s + r->bubble_s;
    struct fr__html_part parts[] = {
        {"compute", FR__COLOUR_FORWARD, r->compute_s, ""},
        {"exposed communication", FR__COLOUR_COMMUNICATION, r->exposed_comm_s, ""},
        {"bubble", FR__COLOUR_IDLE, r->bubble_s, ""},
    };

    if (!(whole_s > 0))
        return;
    for (size_t i = 0; i < 3; i++) {
        fr__record_time(r, parts[i].share, parts[i].value, FR__HTML_TEXT);
        parts[i].share /= whole_s;
    }
    fr__html_stack(f, parts, 3);
}

void fr__html_figures(FILE *f, const struct fr_record *r)
{
    char number[FR__HTML_TEXT], text[128], more[FR__HTML_TEXT];

    fputs("<div class=\"tiles\">\n", f);
    if (!r->oom && r->interval.is_known)
        snprintf(text, sizeof(text), "iteration; 90 %%: %s to %s",
                 fr__record_time(r, r->interval.low_s, number, sizeof(number)),
                 fr__record_time(r, r->interval.high_s, more, sizeof(more)));
    else
        snprintf(text, sizeof(text), "%s%s", fr__record_time_title(r),
                 r->oom ? ", if it fitted" : "");
    tile(f, fr__record_time(r, r->iteration_s, number, sizeof(number)), text);
    if (!r->is_plain)
        tile(f,
             fr__fixed(r->samples_per_s, r->samples_per_s >= 1000 ? 0 : 1, number, sizeof(number)),
             "samples a second");
    snprintf(text, sizeof(text), "lower bound, %s %s above", fr__record_time_title(r),
             r->lower_bound_s > 0
                 ? fr__html_percent(r->iteration_s / r->lower_bound_s - 1, more, sizeof(more))
                 : "?");
    tile(f, fr__record_time(r, r->lower_bound_s, number, sizeof(number)), text);
    snprintf(text, sizeof(text), "peak memory of %s",
             fr__format_bytes((double)r->peak_capacity_bytes, more, sizeof(more)));
    if (!r->is_plain)
        tile(f, fr__format_bytes((double)r->peak_bytes, number, sizeof(number)), text);
    fputs("</div>\n", f);
    write_time_parts(f, r);
}

/* ---- strategies side by side ---- */

static void strategy_bars(FILE *f, const struct fr_record *r, double longest_s)
{
    double whole_s = r->compute_s + r->exposed_comm_s + r->bubble_s;
    double scale = whole_s > 0 ? r->iteration_s / whole_s / longest_s : 0;

    fputs("<td class=\"w\"><span class=\"bar\">", f);
    fr__html_slice(f, FR__COLOUR_FORWARD, r->compute_s * scale);
    fr__html_slice(f, FR__COLOUR_COMMUNICATION, r->exposed_comm_s * scale);
    fr__html_slice(f, FR__COLOUR_IDLE, r->bubble_s * scale);
    fputs("</span></td>", f);
}

/* The peak, and whether it fits. */
static void strategy_memory(FILE *f, const struct fr_record *r)
{
    char text[FR__HTML_TEXT];

    fr__html_bytes_cell(f, (double)r->peak_bytes);
    if (r->oom)
        fprintf(f, "<td class=\"s bad\">lacks %s</td>",
                fr__format_bytes((double)r->oom_why.over_bytes, text, sizeof(text)));
    else
        fprintf(f, "<td class=\"s\">fits in %s</td>",
                fr__format_bytes((double)r->peak_capacity_bytes, text, sizeof(text)));
}

static void strategy_row(FILE *f, const struct fr_results *rs, size_t i, double longest_s)
{
    const struct fr_record *r = rs->records[i];
    double times = fr__row_speed_up(rs, i);
    bool is_plain = fr__results_are_plain(rs);
    char text[FR__HTML_TEXT], more[FR__HTML_TEXT + 32], name[FR__ROW_NAME];

    fputs("<tr><td class=\"t\">", f);
    if (i < FR__HTML_PICTURED)
        fprintf(f, "<a href=\"#run%zu\">", i + 1);
    fr__html_text(f, fr__row_name(rs, i, name));
    fputs(i < FR__HTML_PICTURED ? "</a></td>" : "</td>", f);
    fr__html_time_cell(f, r, r->iteration_s);
    strategy_bars(f, r, longest_s);
    if (!is_plain)
        fr__html_number_cell(
            f, r->samples_per_s,
            fr__fixed(r->samples_per_s, r->samples_per_s >= 1000 ? 0 : 1, text, sizeof(text)));
    snprintf(more, sizeof(more), "%s×", fr__fixed(times, 2, text, sizeof(text)));
    fr__html_number_cell(f,
                         fr__rows_differ(rs, FR__ROW_BATCH) ? r->samples_per_s
                         : r->iteration_s > 0               ? 1 / r->iteration_s
                                                            : 0,
                         times > 0 ? more : "");
    if (r->lower_bound_s > 0)
        fr__html_percent_cell(f, r->iteration_s / r->lower_bound_s - 1);
    else
        fputs("<td></td>", f);
    if (!is_plain)
        strategy_memory(f, r);
    fputs("</tr>\n", f);
}

void fr__html_strategies(FILE *f, const struct fr_results *rs)
{
    bool is_plain = fr__results_are_plain(rs);
    char name[FR__ROW_NAME];
    double longest_s = 0;

    for (size_t i = 0; i < rs->n; i++)
        longest_s = fmax(longest_s, rs->records[i]->iteration_s);
    fprintf(f,
            "<section>\n<h2>Strategies side by side</h2>\n<table class=\"sort\"><thead><tr>"
            "<th>strategy</th><th class=\"n\">%s</th><th class=\"w\"></th>%s"
            "<th class=\"n\">speed-up</th><th class=\"n\">over bound</th>%s"
            "</tr></thead><tbody>\n",
            is_plain ? "makespan" : "iteration", is_plain ? "" : "<th class=\"n\">samples/s</th>",
            is_plain ? "" : "<th class=\"n\">peak memory</th><th></th>");
    for (size_t i = 0; i < rs->n; i++)
        strategy_row(f, rs, i, longest_s > 0 ? longest_s : 1);
    fputs("</tbody></table>\n<ul class=\"key\">\n"
          "<li><i style=\"background:" FR__COLOUR_FORWARD "\"></i>compute</li>\n"
          "<li><i style=\"background:" FR__COLOUR_COMMUNICATION
          "\"></i>exposed communication</li>\n"
          "<li><i style=\"background:" FR__COLOUR_IDLE "\"></i>bubble</li>\n"
          "</ul>\n",
          f);
    fprintf(f, "<p class=\"note\">Means over the %ss in use. Speed-up against ",
            is_plain ? "machine" : "GPU");
    fr__html_text(f, fr__row_name(rs, fr__row_base(rs), name));
    fputs(". Over bound: how far above the time that no order of the same tasks beats.</p>\n"
          "</section>\n",
          f);
}

/* ---- sensitivities ---- */

/* A bar that grows with the time saved; what would cost time is grey. */
static void change_bar(FILE *f, double frac, double most)
{
    fputs("<td class=\"w\"><span class=\"bar\">", f);
    fr__html_slice(f, frac < 0 ? FR__COLOUR_UPDATE : FR__COLOUR_OTHER,
                   most > 0 ? fabs(frac) / most : 0);
    fputs("</span></td>", f);
}

static void sensitivity_row(FILE *f, const struct fr_record *r,
                            const struct fr_record_sensitivity *s, double most)
{
    char text[FR__HTML_TEXT];

    fputs("<tr>", f);
    fr__html_text_cell(f, s->resource);
    fr__html_number_cell(f, fr__faster_change(s),
                         fr__html_change(fr__faster_change(s), text, sizeof(text)));
    fr__html_number_cell(f, s->faster_frac, fr__html_change(s->faster_frac, text, sizeof(text)));
    if (r->has_reruns)
        fr__html_number_cell(f, s->rerun_faster_frac,
                             fr__html_change(s->rerun_faster_frac, text, sizeof(text)));
    change_bar(f, r->has_reruns ? s->rerun_faster_frac : s->faster_frac, most);
    fr__html_percent_cell(f, r->iteration_s > 0 ? s->part_s / r->iteration_s : 0);
    fputs("</tr>\n", f);
}

void fr__html_sensitivities(FILE *f, const struct fr_record *r)
{
    double most = 0;
    size_t n = 0;

    while (n < r->n_sensitivities &&
           fabs(r->sensitivities[n].part_s) >= LEAST_PART * r->iteration_s) {
        const struct fr_record_sensitivity *s = &r->sensitivities[n++];

        most = fmax(most, fabs(r->has_reruns ? s->rerun_faster_frac : s->faster_frac));
    }
    if (n == 0)
        return;
    fprintf(f,
            "<h3>What would help</h3>\n<table class=\"sort\"><thead><tr><th>resource</th>"
            "<th class=\"n\">change</th><th class=\"n\">%s</th>%s<th class=\"w\"></th>"
            "<th class=\"n\">of the time</th></tr></thead><tbody>\n",
            r->is_plain ? "makespan" : "iteration time",
            r->has_reruns ? "<th class=\"n\">run again</th>" : "");
    for (size_t i = 0; i < n; i++)
        sensitivity_row(f, r, &r->sensitivities[i], most);
    fprintf(f,
            "</tbody></table>\n<p class=\"note\">From the run itself: the %s that a resource "
            "accounts for shrinks by a fifth when it is a quarter faster. Something else may "
            "become the bottleneck before that",
            r->is_plain ? "part of the makespan" : "part of the iteration");
    fputs(r->has_reruns ? "; running again sees it."
                        : "; --sensitivity-rerun runs again and sees it.",
          f);
    fputs(r->is_rough
              ? " Rough here: messages share links so that small changes have large effects.</p>\n"
              : "</p>\n",
          f);
}

/* ---- memory ---- */

static void holder_row(FILE *f, const struct fr_record_peak *p, const struct fr_record_holder *h)
{
    double share = p->bytes > 0 ? (double)h->bytes / (double)p->bytes : 0;
    char text[FR__HTML_TEXT];

    fputs("<tr>", f);
    fr__html_text_cell(f, h->name);
    fr__html_text_cell(f, fr_buffer_kind_name(h->kind));
    fr__html_number_cell(f, h->stays ? 0 : h->since_s,
                         h->stays ? "always" : fr__format_time(h->since_s, text, sizeof(text)));
    fr__html_bytes_cell(f, (double)h->bytes);
    fr__html_percent_cell(f, share);
    fputs("<td class=\"w\"><span class=\"bar\">", f);
    fr__html_slice(f, fr__html_kind_colour(h->kind), share);
    fputs("</span></td></tr>\n", f);
}

void fr__html_peak(FILE *f, const struct fr_record *r)
{
    const struct fr_record_peak *p = &r->peak;
    size_t n = p->n_holders < MOST_HOLDERS ? p->n_holders : MOST_HOLDERS;
    char text[FR__HTML_TEXT];

    if (!p->device || n == 0 || r->is_plain)
        return;
    fputs("<h3>Who holds the memory</h3>\n<p>", f);
    fr__html_text(f, p->device);
    fprintf(f, " holds most at %s: ", fr__format_time(p->at_s, text, sizeof(text)));
    fprintf(f, "%s", fr__format_bytes((double)p->bytes, text, sizeof(text)));
    if (p->task) {
        fputs(", when it comes to ", f);
        fr__html_text(f, p->task);
        if (p->phase)
            fprintf(f, " (%s)", p->phase);
    }
    fputs(".</p>\n<table class=\"sort\"><thead><tr><th>held by</th><th>as</th>"
          "<th class=\"n\">since</th><th class=\"n\">bytes</th><th class=\"n\">of all</th>"
          "<th class=\"w\"></th></tr></thead><tbody>\n",
          f);
    for (size_t i = 0; i < n; i++)
        holder_row(f, p, &p->holders[i]);
    fputs("</tbody></table>\n", f);
    if (p->holders_total > n)
        fprintf(f, "<p class=\"note\">The largest %zu of %zu.</p>\n", n, p->holders_total);
}

/* ---- links and devices ---- */

void fr__html_links(FILE *f, const struct fr_record *r)
{
    size_t n = r->n_links < MOST_LINKS ? r->n_links : MOST_LINKS;

    if (n == 0)
        return;
    fputs("<h3>Links by utilisation</h3>\n<table class=\"sort\"><thead><tr><th>link, one direction"
          "</th><th class=\"n\">carries</th><th class=\"n\">busy</th><th "
          "class=\"w\"></th></tr></thead><tbody>\n",
          f);
    for (size_t i = 0; i < n; i++) {
        const struct fr_record_link *l = &r->links[i];

        fputs("<tr>", f);
        fr__html_text_cell(f, l->name);
        fr__html_bytes_cell(f, l->bytes);
        fr__html_percent_cell(f, l->utilisation_frac);
        fputs("<td class=\"w\"><span class=\"bar\">", f);
        fr__html_slice(f, FR__COLOUR_COPY, l->utilisation_frac);
        fputs("</span></td></tr>\n", f);
    }
    fputs("</tbody></table>\n", f);
    if (r->links_total > n)
        fprintf(f, "<p class=\"note\">The busiest %zu of %zu links in use.</p>\n", n,
                r->links_total);
}

/* is_held: [FR_N_BUFFER_KINDS] which kinds any device holds. */
static void device_row(FILE *f, const struct fr_record *r, const struct fr_record_device *d,
                       const bool is_held[])
{
    fputs("<tr>", f);
    fr__html_text_cell(f, d->name);
    fr__html_time_cell(f, r, d->compute_s);
    fr__html_time_cell(f, r, d->exposed_comm_s);
    fr__html_time_cell(f, r, d->idle_s);
    fr__html_time_cell(f, r, d->critical_s);
    if (!r->is_plain)
        fr__html_bytes_cell(f, (double)d->peak_bytes);
    for (unsigned kind = 0; kind < FR_N_BUFFER_KINDS; kind++)
        if (is_held[kind])
            fr__html_bytes_cell(f, (double)d->memory_bytes[kind]);
    fputs("</tr>\n", f);
}

void fr__html_devices(FILE *f, const struct fr_record *r, const struct fr__html_room *room)
{
    size_t n = r->n_devices < room->devices ? r->n_devices : room->devices;
    bool is_held[FR_N_BUFFER_KINDS] = {false};

    for (size_t i = 0; i < n; i++)
        for (unsigned kind = 0; kind < FR_N_BUFFER_KINDS; kind++)
            is_held[kind] = is_held[kind] || (!r->is_plain && r->devices[i].memory_bytes[kind] > 0);
    fputs("<details>\n<summary>Devices in numbers</summary>\n<table class=\"sort\"><thead>"
          "<tr><th>device</th><th class=\"n\">compute</th><th class=\"n\">exposed</th>"
          "<th class=\"n\">bubble</th><th class=\"n\">critical</th>",
          f);
    fputs(r->is_plain ? "" : "<th class=\"n\">peak memory</th>", f);
    for (unsigned kind = 0; kind < FR_N_BUFFER_KINDS; kind++) {
        if (!is_held[kind])
            continue;
        fputs("<th class=\"n\">", f);
        fr__html_text(f, fr_buffer_kind_name((enum fr_buffer_kind)kind));
        fputs("</th>", f);
    }
    fputs("</tr></thead><tbody>\n", f);
    for (size_t i = 0; i < n; i++)
        device_row(f, r, &r->devices[i], is_held);
    fputs("</tbody></table>\n<p class=\"note\">", f);
    if (r->n_devices > n)
        fprintf(f, "The first %zu of %zu devices. ", n, r->n_devices);
    fputs("Critical: computing on the critical path.", f);
    fputs(r->is_plain ? "" : " The kinds of memory are those at the moment of the peak.", f);
    fputs("</p>\n</details>\n", f);
}
