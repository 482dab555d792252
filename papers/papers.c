/* papers/papers.c - the papers, and reproductions as text, JSON and CSV. */
#include "config.h"

#include "papers/papers.h"

#include "base/csv.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/units.h"
#include "papers/parts/cell.h"
#include "papers/runner/runner.h"
#include "results/parts/output.h"
#include "results/render/render.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 1 << 20 }; /* of a file */

const struct fr_repro_paper *fr_repro_paper_at(size_t i)
{
    return i < fr__n_papers ? &fr__papers[i] : NULL;
}

static enum fr_status find(const char *name, const struct fr_repro_paper **out,
                           struct fr_error *err)
{
    const char *names[64];
    char hint[128];
    size_t n = 0;

    for (; n < fr__n_papers && n < 64; n++) {
        names[n] = fr__papers[n].name;
        if (strcmp(names[n], name) == 0) {
            *out = &fr__papers[n];
            return FR_OK;
        }
    }
    return fr__fail(err, FR_ENOENT, FR_NOWHERE, "no experiments of a paper '%s'%s", name,
                    fr__did_you_mean(name, names, n, hint, sizeof(hint)));
}

/* A file of the user's own. */
static enum fr_status run_file(struct fr_reproduction **out, const char *path, const char *data,
                               const struct fr_context *ctx, struct fr_error *err)
{
    enum fr_status st;
    char *text;
    size_t n;

    FR_TRY(fr__read_file(path, MOST_BYTES, &text, &n, err));
    st = fr__paper_run(out, &(struct fr__paper_file){text, n, path, fr__ask_ways}, data, ctx, err);
    free(text);
    return st;
}

enum fr_status fr_reproduce(struct fr_reproduction **out, const char *paper, const char *data,
                            const struct fr_context *ctx, struct fr_error *err)
{
    const struct fr_repro_paper *p;
    char name[64];

    if (fr__ends_in(paper, ".yaml"))
        return run_file(out, paper, data, ctx, err);
    FR_TRY(find(paper, &p, err));
    snprintf(name, sizeof(name), "papers/%.30s/experiments.yaml", p->name);
    return fr__paper_run(out,
                         &(struct fr__paper_file){p->text, strlen(p->text), name, fr__ask_ways},
                         data, ctx, err);
}

/* ---- files ---- */

enum fr_status fr_reproduction_check_path(const char *paper, const char *path, struct fr_error *err)
{
    static const char *const pictures[] = {".png", ".svg", ".pdf"};
    static const char *const data[] = {".csv", ".json", ".md"};
    bool is_picture = false, is_data = false;
    const struct fr_repro_paper *p = NULL;

    if (!fr__ends_in(paper, ".yaml"))
        FR_TRY(find(paper, &p, err));
    for (size_t i = 0; i < sizeof(pictures) / sizeof(pictures[0]); i++)
        is_picture = is_picture || fr__ends_in(path, pictures[i]);
    for (size_t i = 0; i < sizeof(data) / sizeof(data[0]); i++)
        is_data = is_data || fr__ends_in(path, data[i]);
    if (!is_picture && !is_data)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "'%s': expected a name that ends in .csv, .json, .md, .png, .svg or .pdf",
                        path);
    if (is_picture && !(p && p->pictures[0]))
        return fr__fail(
            err, FR_EUSAGE, FR_NOWHERE,
            "'%s': no table of '%s' can be drawn, so expected a name that ends in .csv, "
            ".json or .md",
            path, paper);
    return fr__check_output(path, err);
}

enum fr_status fr_reproduction_write_json(const struct fr_reproduction *r, const char *path,
                                          struct fr_error *err)
{
    struct fr__out out;

    FR_TRY(fr__out_open(&out, path, err));
    fr_reproduction_print_json(out.f, r);
    return fr__out_commit(&out, err);
}

/* ---- text ---- */

static void fill(const void *user, size_t i, struct fr__table_row *row)
{
    const struct fr_repro_table *t = user;

    for (size_t c = 0; c < t->n_columns; c++)
        fr__repro_cell_text(row->cell[c], &t->cells[i * t->n_columns + c], t->columns[c].unit);
}

void fr_reproduction_print(FILE *f, const struct fr_reproduction *r)
{
    struct fr__table_column columns[FR__TABLE_MAX_COLUMNS];

    fprintf(f, "%s\n%s\n", r->source, r->setting);
    for (size_t k = 0; k < r->n_tables; k++) {
        const struct fr_repro_table *t = &r->tables[k];

        for (size_t c = 0; c < t->n_columns; c++)
            columns[c] =
                (struct fr__table_column){t->columns[c].title, t->columns[c].unit != FR_UNIT_TEXT};
        fprintf(f, "\n%s\n", t->title);
        fr__table_print(f, &(struct fr__table){columns, t->n_columns, t->n_rows, fill, t});
        fprintf(f, "  paper: %s\n", t->published);
        if (t->found)
            fprintf(f, "  ours: %s\n", t->found);
    }
}

/* ---- JSON ---- */

static void write_row(struct fr__json *j, const struct fr_repro_table *t, size_t row)
{
    fr__json_open(j, NULL, '{', true);
    for (size_t c = 0; c < t->n_columns; c++) {
        const struct fr_repro_cell *x = &t->cells[row * t->n_columns + c];

        if (x->text)
            fr__json_string(j, t->columns[c].name, x->text);
        else if (t->columns[c].unit == FR_UNIT_TEXT || isnan(x->value))
            fr__json_null(j, t->columns[c].name);
        else
            fr__json_number(j, t->columns[c].name, x->value);
    }
    fr__json_close(j, '}');
}

void fr_reproduction_print_json(FILE *f, const struct fr_reproduction *r)
{
    struct fr__json j;

    fr__json_init(&j, f);
    fr__json_open(&j, NULL, '{', false);
    fr__json_string(&j, "paper", r->paper);
    fr__json_string(&j, "source", r->source);
    fr__json_string(&j, "setting", r->setting);
    fr__json_open(&j, "tables", '[', false);
    for (size_t k = 0; k < r->n_tables; k++) {
        fr__json_open(&j, NULL, '{', false);
        fr__json_string(&j, "name", r->tables[k].name);
        fr__json_string(&j, "title", r->tables[k].title);
        fr__json_string(&j, "published", r->tables[k].published);
        fr__json_string(&j, "found", r->tables[k].found);
        fr__json_open(&j, "rows", '[', false);
        for (size_t i = 0; i < r->tables[k].n_rows; i++)
            write_row(&j, &r->tables[k], i);
        fr__json_close(&j, ']');
        fr__json_close(&j, '}');
    }
    fr__json_close(&j, ']');
    fr__json_close(&j, '}');
    putc('\n', f);
}

/* ---- CSV ---- */

enum fr_status fr_reproduction_write(const struct fr_reproduction *r, const char *path,
                                     struct fr_error *err)
{
    struct fr__out out;
    char number[40];

    FR_TRY(fr__out_open(&out, path, err));
    fputs("table,row,column,value\n", out.f);
    for (size_t k = 0; k < r->n_tables; k++)
        for (size_t i = 0; i < r->tables[k].n_rows * r->tables[k].n_columns; i++) {
            const struct fr_repro_table *t = &r->tables[k];
            const struct fr_repro_cell *c = &t->cells[i];
            const struct fr_repro_column *column = &t->columns[i % t->n_columns];

            fprintf(out.f, "%s,%zu,%s,", t->name, i / t->n_columns + 1, column->name);
            if (c->text)
                fr__csv_write_cell(out.f, c->text);
            else if (column->unit != FR_UNIT_TEXT && !isnan(c->value))
                fputs(fr__format_double(c->value, number, sizeof(number)), out.f);
            putc('\n', out.f);
        }
    return fr__out_commit(&out, err);
}
