/* results/data/comm.c - a collective over a range of sizes, and how it goes, as JSON and CSV. */
#include "config.h"

#include "base/json.h"
#include "base/units.h"
#include "results/comm_table.h"
#include "results/parts/nics.h"

#include <inttypes.h>
#include <math.h>

static double algorithm_GBps(const struct fr_comm_row *r)
{
    return r->time_s > 0 ? (double)r->bytes / r->time_s / 1e9 : 0;
}

static void write_row(struct fr__json *j, const struct fr_comm_table *t,
                      const struct fr_comm_row *r)
{
    fr__json_open(j, NULL, '{', true);
    fr__json_count(j, "size_bytes", r->bytes);
    fr__json_number(j, "time_us", r->time_s * 1e6);
    fr__json_number(j, "algbw_GBps", algorithm_GBps(r));
    fr__json_number(j, "busbw_GBps", r->bus_Bps / 1e9);
    fr__json_string(j, "algorithm", r->algorithm);
    fr__json_string(j, "protocol", r->protocol);
    fr__json_count(j, "channels", r->channels);
    fr__json_number(j, "nccl_time_us", r->nccl_s * 1e6);
    fr__json_string(j, "source", fr_comm_source_name(r->source));
    fr__json_number(j, "error", r->error_frac);
    fr__json_string(j, "asked", t->way);
    fr__json_string(j, "busiest_link", r->busiest == FR_NONE ? NULL : t->links[r->busiest]);
    fr__json_number(j, "busiest_link_frac", r->busiest == FR_NONE ? NAN : r->busiest_frac);
    fr__json_close(j, '}');
}

static void write_group(struct fr__json *j, const struct fr_comm_table *t)
{
    fr__json_string(j, "topology", t->topology);
    fr__json_string(j, "collective", fr_collective_kind_name(t->kind));
    fr__json_count(j, "gpus", t->n_gpus);
    fr__json_count(j, "machines", t->n_machines);
}

static void write_question(struct fr__json *j, const struct fr_comm_table *t)
{
    write_group(j, t);
    fr__nics_json(j, t->nics, t->n_nics);
    fr__json_string(j, "type", t->type->name);
    fr__json_string(j, "nccl_why", t->nccl_why);
    fr__json_string(j, "transferred_why", t->why_transferred);
}

/* Of a size by each model: a time that is not known (NaN) becomes null. */
static void write_times(struct fr__json *j, const struct fr_comm_table *t, size_t i)
{
    const struct fr_comm_times *r = &t->times[i];

    fr__json_open(j, NULL, '{', true);
    fr__json_count(j, "bytes", t->rows[i].bytes);
    fr__json_number(j, "expanded_s", r->expanded_s);
    fr__json_number(j, "closed_s", r->closed_s);
    fr__json_number(j, "fitted_s", r->fitted_s);
    fr__json_number(j, "fitted_error", r->fitted_error);
    fr__json_bool(j, "is_extrapolated", r->is_extrapolated);
    fr__json_number(j, "expanded_bus_Bps", fr_comm_bus_Bps(t, i, r->expanded_s));
    fr__json_number(j, "fitted_bus_Bps", fr_comm_bus_Bps(t, i, r->fitted_s));
    fr__json_close(j, '}');
}

static void print_models(FILE *f, const struct fr_comm_table *t)
{
    struct fr__json j;

    fr__json_init(&j, f);
    fr__json_open(&j, NULL, '{', false);
    write_group(&j, t);
    fr__json_string(&j, "system", t->system);
    fr__json_string(&j, "system_why", t->system_why);
    fr__json_open(&j, "times", '[', false);
    for (size_t i = 0; i < t->n_rows; i++)
        write_times(&j, t, i);
    fr__json_close(&j, ']');
    fr__json_close(&j, '}');
    putc('\n', f);
}

void fr_comm_print_json(FILE *f, struct fr_comm_table *const t[], size_t n)
{
    struct fr__json j;

    if (n > 0 && t[0]->times) {
        print_models(f, t[0]);
        return;
    }
    fr__json_init(&j, f);
    fr__json_open(&j, NULL, '{', false);
    if (n > 0)
        write_question(&j, t[0]);
    fr__json_open(&j, "results", '[', false);
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < t[k]->n_rows; i++)
            write_row(&j, t[k], &t[k]->rows[i]);
    fr__json_close(&j, ']');
    fr__json_close(&j, '}');
    putc('\n', f);
}

static void write_number(FILE *f, double x, char end)
{
    char buf[40];

    if (isfinite(x))
        fputs(fr__format_double(x, buf, sizeof(buf)), f);
    putc(end, f);
}

/* No name of an algorithm has a comma but that of a file: it is quoted. */
static void write_way(FILE *f, const char *way)
{
    putc('"', f);
    for (const char *c = way ? way : "auto"; *c; c++) {
        if (*c == '"')
            putc('"', f);
        putc(*c, f);
    }
    fputs("\",", f);
}

void fr_comm_print_csv(FILE *f, struct fr_comm_table *const t[], size_t n)
{
    fputs("asked,size_bytes,time_us,algbw_GBps,busbw_GBps,algorithm,protocol,channels,"
          "nccl_time_us,source,busiest_link,busiest_link_frac\n",
          f);
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < t[k]->n_rows; i++) {
            const struct fr_comm_row *r = &t[k]->rows[i];
            bool is_known = r->busiest != FR_NONE;

            write_way(f, t[k]->way);
            fprintf(f, "%" PRIu64 ",", r->bytes);
            write_number(f, r->time_s * 1e6, ',');
            write_number(f, algorithm_GBps(r), ',');
            write_number(f, r->bus_Bps / 1e9, ',');
            write_way(f, r->algorithm ? r->algorithm : "");
            fprintf(f, "%s,%u,", r->protocol ? r->protocol : "", r->channels);
            write_number(f, r->nccl_s * 1e6, ',');
            fprintf(f, "%s,%s,", fr_comm_source_name(r->source),
                    is_known ? t[k]->links[r->busiest] : "");
            write_number(f, is_known ? r->busiest_frac : NAN, '\n');
        }
}

/* ---- how it goes ---- */

static void write_links(struct fr__json *j, const struct fr_comm_story *s)
{
    fr__json_open(j, "links", '[', false);
    for (size_t i = 0; i < s->n_links; i++) {
        const struct fr_comm_link *l = &s->links[i];

        fr__json_open(j, NULL, '{', true);
        fr__json_string(j, "link", l->name);
        fr__json_number(j, "bytes", l->bytes);
        fr__json_number(j, "bw_Bps", l->bw_Bps);
        fr__json_number(j, "used_frac", l->used_frac);
        fr__json_close(j, '}');
    }
    fr__json_close(j, ']');
}

static void write_messages(struct fr__json *j, const struct fr_collective_rounds *t)
{
    fr__json_open(j, "messages", '[', false);
    for (size_t i = 0; i < t->n_messages; i++) {
        const struct fr_collective_message *m = &t->messages[i];

        fr__json_open(j, NULL, '{', true);
        fr__json_count(j, "round", m->round + 1);
        fr__json_count(j, "from", m->from);
        fr__json_count(j, "to", m->to);
        fr__json_number(j, "bytes", m->bytes);
        fr__json_count(j, "first_piece", m->first_piece);
        fr__json_count(j, "pieces", m->n_pieces);
        fr__json_bool(j, "is_sum", m->is_sum);
        fr__json_close(j, '}');
    }
    fr__json_close(j, ']');
}

void fr_comm_story_print_json(FILE *f, const struct fr_comm_story *s)
{
    struct fr__json j;

    fr__json_init(&j, f);
    fr__json_open(&j, NULL, '{', false);
    write_question(&j, s->table);
    fr__json_open(&j, "result", '[', false);
    write_row(&j, s->table, &s->table->rows[0]);
    fr__json_close(&j, ']');
    write_links(&j, s);
    fr__json_string(&j, "why_no_steps", s->why_no_steps);
    if (s->steps) {
        fr__json_string(&j, "steps_of", s->steps->algorithm);
        fr__json_string(&j, "summary", s->steps->summary);
        fr__json_string(&j, "source", s->steps->source);
        fr__json_count(&j, "rounds", s->steps->n_rounds);
        fr__json_count(&j, "switches", s->steps->n_switches);
        fr__json_count(&j, "lanes", s->steps->n_lanes);
        fr__json_number(&j, "most_sent_bytes", s->steps->most_sent_bytes);
        fr__json_number(&j, "sent_bytes", s->steps->sent_bytes);
        write_messages(&j, s->steps);
    }
    fr__json_close(&j, '}');
    putc('\n', f);
}
