/* results/html/path.c - what the critical path is made of, and its longest tasks, in the report.
 *
 * It is separate because it walks the path of the run, not the record.
 */
#include "config.h"

#include "results/html/html.h"
#include "results/parts/colours.h"
#include "results/parts/lanes.h"
#include "results/parts/times.h"

#include <string.h>

enum { MOST_PIECES = 10, N_PARTS = FR__N_CATEGORIES + 1 /* waiting for launches and channels */ };

/* A task of the path and its share of it. */
struct piece {
    uint32_t task;
    double s;
};

/* Keeps the longest ones, longest first. */
static void keep_piece(struct piece pieces[], size_t *n, struct piece p)
{
    size_t i = *n;

    if (i == MOST_PIECES && p.s <= pieces[i - 1].s)
        return;
    if (i < MOST_PIECES)
        (*n)++;
    else
        i--;
    for (; i > 0 && pieces[i - 1].s < p.s; i--)
        pieces[i] = pieces[i - 1];
    pieces[i] = p;
}

/* Sends and receives are one thing here: either may be the one on the path. */
static enum fr__category part_of(const struct fr_task *k)
{
    enum fr__category c = fr__category_even(fr__category_of(k));

    return c == FR__RECV ? FR__SEND : c;
}

static const char *part_title(const struct fr_record *r, enum fr__category c)
{
    return c == FR__SEND         ? "messages"
           : c == FR__COLLECTIVE ? "collectives"
           : r->is_plain         ? "tasks"
                                 : fr__category_title(r, c);
}

/* Walks the path; parts_s: [N_PARTS], zeroed. */
static size_t walk(const struct fr_record *r, double parts_s[], struct piece pieces[])
{
    const struct fr_task *tasks = fr_plan_view(r->plan)->tasks;
    const struct fr_run *run = r->run;
    double at_s = 0;
    size_t n = 0;

    for (size_t i = 0; i < run->n_critical; i++) {
        uint32_t t = run->critical[i];
        double start_s = run->start_s[t] > at_s ? run->start_s[t] : at_s;
        double s = run->end_s[t] - start_s;

        parts_s[FR__N_CATEGORIES] += start_s - at_s;
        if (tasks[t].kind != FR_TASK_MARKER) {
            parts_s[part_of(&tasks[t])] += s;
            keep_piece(pieces, &n, (struct piece){t, s});
        }
        at_s = run->end_s[t];
    }
    return n;
}

static void write_parts(FILE *f, const struct fr_record *r, const double parts_s[])
{
    struct fr__html_part parts[N_PARTS];
    size_t n = 0;

    for (unsigned c = 0; c < N_PARTS; c++) {
        struct fr__html_part *p = &parts[n];
        bool is_task = c < FR__N_CATEGORIES;

        if (!(parts_s[c] > 0))
            continue;
        *p = (struct fr__html_part){
            is_task ? part_title(r, (enum fr__category)c) : "waiting for launches or channels",
            is_task ? fr__category_colour((enum fr__category)c) : FR__COLOUR_IDLE,
            parts_s[c] / r->run->makespan_s, ""};
        fr__record_time(r, parts_s[c], p->value, sizeof(p->value));
        n++;
    }
    fr__html_stack(f, parts, n);
}

static void write_piece(FILE *f, const struct fr_record *r, const struct piece *p)
{
    const struct fr_plan_view *v = fr_plan_view(r->plan);
    const struct fr_task *k = &v->tasks[p->task];
    char label[256], text[FR__HTML_TEXT];

    fputs("<tr><td class=\"t\">", f);
    fr__html_text(f, fr_plan_task_label(r->plan, p->task, label, sizeof(label)));
    fprintf(f, "</td><td>%s</td><td class=\"t\">", fr__category_title(r, fr__category_of(k)));
    fr__html_text(f, v->topo->devices[k->device].name);
    fprintf(f, "</td><td class=\"n\">%s</td>",
            fr__record_time(r, r->run->start_s[p->task], text, sizeof(text)));
    fprintf(f, "<td class=\"n\">%s</td>", fr__record_time(r, p->s, text, sizeof(text)));
    fprintf(f, "<td class=\"n\">%s</td></tr>\n",
            fr__html_percent(p->s / r->run->makespan_s, text, sizeof(text)));
}

void fr__html_path(FILE *f, const struct fr_record *r)
{
    double parts_s[N_PARTS] = {0};
    struct piece pieces[MOST_PIECES];
    size_t n;

    if (!r->run || !r->plan || !(r->run->makespan_s > 0))
        return;
    n = walk(r, parts_s, pieces);
    fputs("<h3>The critical path</h3>\n", f);
    write_parts(f, r, parts_s);
    fprintf(f,
            "<p class=\"note\">%zu tasks, each started by the end of the one before, end with the "
            "%s.</p>\n<details>\n<summary>Its longest tasks</summary>\n<table><thead><tr>"
            "<th>task</th><th>kind</th><th>device</th><th class=\"n\">starts</th>"
            "<th class=\"n\">takes</th><th class=\"n\">of the path</th></tr></thead><tbody>\n",
            r->critical_total, r->is_plain ? "last" : "iteration");
    for (size_t i = 0; i < n; i++)
        write_piece(f, r, &pieces[i]);
    fputs("</tbody></table>\n</details>\n", f);
}
