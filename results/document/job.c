/* results/document/job.c - what was read in a job file, for people: a few lines above the answer to
 * it, or by itself the facts and every argument. */
#include "config.h"

#include "results/document/builders.h"
#include "results/parts/table.h"
#include "jobfile/job.h"

#include <stdio.h>
#include <string.h>

/* "pretrain.sh, ds_config.json" */
static void say_files(struct fr__document *doc, const struct fr_job_summary *m)
{
    for (size_t i = 0; i < m->n_files; i++) {
        fr__say(doc, "%s", i ? ", " : "");
        fr__say_name(doc, m->files[i]);
    }
}

static void say_counts(struct fr__document *doc, const struct fr_job_summary *m)
{
    fr__say(doc,
            ": %s, %zu argument%s: %zu understood, %zu without effect on time and memory, %zu "
            "not modelled",
            m->title, m->n_arguments, m->n_arguments == 1 ? "" : "s", m->n[FR_JOB_UNDERSTOOD],
            m->n[FR_JOB_NO_EFFECT], m->n[FR_JOB_NOT_MODELLED]);
    if (m->n[FR_JOB_UNKNOWN])
        fr__say(doc, ", %zu unknown", m->n[FR_JOB_UNKNOWN]);
    fr__say(doc, "\n");
}

static void say_notes(struct fr__document *doc, const struct fr_job_summary *m)
{
    for (size_t i = 0; i < m->n_notes; i++) {
        fr__say(doc, "- ");
        fr__say_name(doc, m->notes[i]);
        fr__say(doc, "\n");
    }
}

void fr__put_job(struct fr__document *doc, const struct fr_job *j)
{
    const struct fr_job_summary *m;

    if (!j)
        return;
    m = fr_job_summary(j);
    fr__say(doc, "job ");
    say_files(doc, m);
    say_counts(doc, m);
    say_notes(doc, m);
    fr__say(doc, "\n");
}

/* ---- by itself ---- */

/* "--seq-length, line 12" */
static void place_cell(char cell[FR__TABLE_CELL], const char *argument, struct fr_loc loc)
{
    char text[FR__TABLE_CELL];

    if (!argument)
        return;
    if (loc.line > 0)
        snprintf(text, sizeof(text), "%.100s, line %u", argument, loc.line);
    else
        snprintf(text, sizeof(text), "%.100s", argument);
    fr__table_text(cell, text);
}

static void fill_fact(const void *user, size_t i, struct fr__table_row *row)
{
    const struct fr_job_fact *f = fr_job_fact(user, i);

    fr__table_text(row->cell[0], f->name);
    fr__table_text(row->cell[1], f->value);
    place_cell(row->cell[2], f->argument, f->loc);
}

static void say_facts(struct fr__document *doc, const struct fr_job *j)
{
    static const struct fr__table_column columns[] = {
        {"fact", false}, {"is", false}, {"said by", false}};

    fr__say_table(doc, &(struct fr__table){columns, 3, fr_job_summary(j)->n_facts, fill_fact, j},
                  0);
}

/* "no effect: --lr, --seed, ...", in lines of prose. */
static void say_arguments(struct fr__document *doc, const struct fr_job *j, enum fr_job_verdict v)
{
    const struct fr_job_summary *m = fr_job_summary(j);
    enum { LINE = 96 };
    size_t used = 0;

    if (m->n[v] == 0)
        return;
    fr__say(doc, "\n%s:\n", fr_job_verdict_name(v));
    for (size_t i = 0; i < m->n_arguments; i++) {
        const struct fr_job_argument *a = fr_job_argument(j, i);
        size_t n = strlen(a->name) + 1;

        if (a->verdict != v)
            continue;
        if (used > 0 && used + n > LINE) {
            fr__say(doc, "\n");
            used = 0;
        }
        fr__say(doc, "%s", used > 0 ? " " : "  ");
        fr__say_name(doc, a->name);
        used += n;
    }
    fr__say(doc, "\n");
}

static void say_question(struct fr__document *doc, const struct fr_job *j)
{
    size_t n;
    const struct fr_job_setting *settings = fr_job_setting(j, &n);

    if (n == 0)
        return;
    fr__say(doc, "\nasked as:\n");
    for (size_t i = 0; i < n; i++) {
        fr__say(doc, "  --%s ", settings[i].name);
        fr__say_name(doc, settings[i].text);
        fr__say(doc, "\n");
    }
}

enum fr_status fr__document_of_job(struct fr__document *doc, const void *what, struct fr_error *err)
{
    const struct fr_job *j = what;
    const struct fr_job_summary *m = fr_job_summary(j);

    say_files(doc, m);
    say_counts(doc, m);
    fr__say(doc, "\n");
    say_facts(doc, j);
    say_question(doc, j);
    say_arguments(doc, j, FR_JOB_NO_EFFECT);
    say_arguments(doc, j, FR_JOB_NOT_MODELLED);
    say_arguments(doc, j, FR_JOB_UNKNOWN);
    if (m->n_notes > 0)
        fr__say(doc, "\nnotes:\n");
    say_notes(doc, m);
    return fr__document_check(doc, err);
}
