/* results/data/comm.c - collectives over a range of sizes, how one goes, and three models of one
 * beside each other: as JSON and as CSV. */
#include "config.h"

#include "results/data/data.h"
#include "study/comm/figures.h"

static void write_row(struct fr__json *j, const struct fr_comm_table *t,
                      const struct fr_comm_row *r)
{
    fr__json_open(j, NULL, '{', true);
    fr__figures_json(j, fr__comm_figures, &(struct fr__comm_answer){t, r});
    fr__json_close(j, '}');
}

void fr__curves_json(FILE *f, const void *what)
{
    const struct fr_curves_answer *a = what;
    struct fr_comm_table *const *t = a->tables;
    size_t n = a->n;
    struct fr__json j;

    if (n > 0 && t[0]->times) {
        fr__figures_print_json(f, fr__comm_models_figures, t[0]);
        putc('\n', f);
        return;
    }
    fr__json_init(&j, f);
    fr__json_open(&j, NULL, '{', false);
    if (n > 0)
        fr__figures_json(&j, fr__comm_question_figures, t[0]);
    fr__json_open(&j, "results", '[', false);
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < t[k]->n_rows; i++)
            write_row(&j, t[k], &t[k]->rows[i]);
    fr__json_close(&j, ']');
    fr__json_close(&j, '}');
    putc('\n', f);
}

void fr__curves_csv(FILE *f, const void *what)
{
    static const char *const order[] = {"asked=asked_or_auto", NULL};
    const struct fr_curves_answer *a = what;

    fr__figures_csv_names(f, fr__comm_figures, order);
    putc('\n', f);
    for (size_t k = 0; k < a->n; k++)
        for (size_t i = 0; i < a->tables[k]->n_rows; i++) {
            fr__figures_csv(f, fr__comm_figures, order,
                            &(struct fr__comm_answer){a->tables[k], &a->tables[k]->rows[i]});
            putc('\n', f);
        }
}

void fr__comm_explanation_json(FILE *f, const void *what)
{
    const struct fr_comm_explanation *s = what;
    struct fr__json j;

    fr__json_init(&j, f);
    fr__json_open(&j, NULL, '{', false);
    fr__figures_json(&j, fr__comm_question_figures, s->table);
    fr__json_open(&j, "result", '[', false);
    write_row(&j, s->table, &s->table->rows[0]);
    fr__json_close(&j, ']');
    fr__figures_json(&j, fr__comm_explanation_figures, s);
    fr__json_close(&j, '}');
    putc('\n', f);
}
