/* results/data/job.c - everything that was read in a job file, as JSON: by itself, or as a member
 * of the answer to it. */
#include "config.h"

#include "results/data/data.h"
#include "jobfile/job.h"

static void write_place(struct fr__json *j, struct fr_loc loc)
{
    if (loc.file)
        fr__json_string(j, "file", loc.file);
    if (loc.line > 0) {
        fr__json_count(j, "line", loc.line);
        fr__json_count(j, "column", loc.col);
    }
}

static void write_facts(struct fr__json *j, const struct fr_job *job)
{
    fr__json_open(j, "facts", '{', false);
    for (size_t i = 0; i < fr_job_summary(job)->n_facts; i++)
        fr__json_string(j, fr_job_fact(job, i)->name, fr_job_fact(job, i)->value);
    fr__json_close(j, '}');
}

static void write_arguments(struct fr__json *j, const struct fr_job *job)
{
    fr__json_open(j, "arguments", '[', false);
    for (size_t i = 0; i < fr_job_summary(job)->n_arguments; i++) {
        const struct fr_job_argument *a = fr_job_argument(job, i);

        fr__json_open(j, NULL, '{', true);
        fr__json_string(j, "argument", a->name);
        fr__json_string(j, "value", a->value);
        fr__json_string(j, "verdict", fr_job_verdict_name(a->verdict));
        fr__json_string(j, a->verdict == FR_JOB_UNDERSTOOD ? "fact" : "why", a->why);
        write_place(j, a->loc);
        fr__json_close(j, '}');
    }
    fr__json_close(j, ']');
}

static void write_members(struct fr__json *j, const struct fr_job *job)
{
    const struct fr_job_summary *m = fr_job_summary(job);
    size_t n;
    const struct fr_job_setting *settings = fr_job_setting(job, &n);

    fr__json_string(j, "framework", m->framework);
    fr__json_open(j, "files", '[', true);
    for (size_t i = 0; i < m->n_files; i++)
        fr__json_string(j, NULL, m->files[i]);
    fr__json_close(j, ']');
    write_facts(j, job);
    fr__json_open(j, "asked", '{', false);
    for (size_t i = 0; i < n; i++)
        fr__json_string(j, settings[i].name, settings[i].text);
    fr__json_close(j, '}');
    write_arguments(j, job);
    fr__json_open(j, "notes", '[', false);
    for (size_t i = 0; i < m->n_notes; i++)
        fr__json_string(j, NULL, m->notes[i]);
    fr__json_close(j, ']');
}

void fr__job_write_json(struct fr__json *j, const struct fr_job *job)
{
    if (!job)
        return;
    fr__json_open(j, "job", '{', false);
    write_members(j, job);
    fr__json_close(j, '}');
}

void fr__job_json(FILE *f, const void *what)
{
    struct fr__json j;

    fr__json_init(&j, f);
    fr__json_open(&j, NULL, '{', false);
    write_members(&j, what);
    fr__json_close(&j, '}');
    putc('\n', f);
}
