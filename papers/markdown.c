/* papers/markdown.c - the tables of a reproduction as a page of Markdown.
 *
 * A comment before each table has its name, so that a document can show one of them and a test
 * find it again.
 */
#include "config.h"

#include "base/error.h"
#include "base/file.h"
#include "papers/papers.h"
#include "papers/parts/cell.h"

#include <string.h>

/* Markdown's own characters lose their meaning, and a line break ends no row. */
static void put_text(FILE *f, const char *text)
{
    for (; *text; text++) {
        if (strchr("\\`*_|<>[]#", *text))
            putc('\\', f);
        putc(*text == '\n' || *text == '\r' ? ' ' : *text, f);
    }
}

static void put_rule(FILE *f, const struct fr_repro_table *t)
{
    for (size_t c = 0; c < t->n_columns; c++)
        fputs(t->columns[c].unit == FR_UNIT_TEXT ? "|---" : "|---:", f);
    fputs("|\n", f);
}

static void put_table(FILE *f, const struct fr_repro_table *t)
{
    char cell[FR__TABLE_CELL];

    fprintf(f, "\n<!-- table: %s -->\n\n", t->name);
    for (size_t c = 0; c < t->n_columns; c++) {
        fputs("| ", f);
        put_text(f, t->columns[c].title);
        putc(' ', f);
    }
    fputs("|\n", f);
    put_rule(f, t);
    for (size_t i = 0; i < t->n_rows * t->n_columns; i++) {
        cell[0] = '\0';
        fr__repro_cell_text(cell, &t->cells[i], t->columns[i % t->n_columns].unit);
        fputs(cell[0] ? "| " : "|", f);
        put_text(f, cell);
        putc(' ', f);
        if (i % t->n_columns + 1 == t->n_columns)
            fputs("|\n", f);
    }
}

enum fr_status fr_reproduction_write_markdown(const struct fr_reproduction *r, const char *path,
                                              struct fr_error *err)
{
    struct fr__out out;

    FR_TRY(fr__out_open(&out, path, err));
    fputs("# ", out.f);
    put_text(out.f, r->source);
    fputs("\n\n", out.f);
    put_text(out.f, r->setting);
    putc('\n', out.f);
    for (size_t k = 0; k < r->n_tables; k++) {
        const struct fr_repro_table *t = &r->tables[k];

        fputs("\n## ", out.f);
        put_text(out.f, t->title);
        putc('\n', out.f);
        put_table(out.f, t);
        fputs("\nPaper: ", out.f);
        put_text(out.f, t->published);
        putc('\n', out.f);
        if (t->found) {
            fputs("\nOurs: ", out.f);
            put_text(out.f, t->found);
            putc('\n', out.f);
        }
    }
    return fr__out_commit(&out, err);
}
