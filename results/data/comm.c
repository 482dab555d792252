/* results/data/comm.c - a collective over a range of sizes as JSON, for programs. */
#include "config.h"

#include "base/json.h"
#include "results/comm_table.h"

static void write_row(struct fr__json *j, const struct fr_comm_row *r)
{
    static const char *const SOURCES[] = {"fitted", "steps", "formula"};

    fr__json_open(j, NULL, '{', true);
    fr__json_count(j, "size_bytes", r->bytes);
    fr__json_number(j, "time_us", r->time_s * 1e6);
    fr__json_number(j, "algbw_GBps", r->time_s > 0 ? (double)r->bytes / r->time_s / 1e9 : 0);
    fr__json_number(j, "busbw_GBps", r->bus_Bps / 1e9);
    fr__json_string(j, "algorithm", r->algorithm);
    fr__json_string(j, "protocol", r->protocol);
    fr__json_count(j, "channels", r->channels);
    fr__json_number(j, "nccl_time_us", r->nccl_s * 1e6);
    fr__json_string(j, "source", SOURCES[r->source]);
    fr__json_close(j, '}');
}

void fr_comm_print_json(FILE *f, const struct fr_comm_table *t)
{
    struct fr__json j;

    fr__json_init(&j, f);
    fr__json_open(&j, NULL, '{', false);
    fr__json_string(&j, "topology", t->topology);
    fr__json_string(&j, "collective", fr_collective_kind_name(t->kind));
    fr__json_count(&j, "gpus", t->n_gpus);
    fr__json_count(&j, "machines", t->n_machines);
    fr__json_string(&j, "nccl_why", t->nccl_why);
    fr__json_open(&j, "results", '[', false);
    for (size_t i = 0; i < t->n_rows; i++)
        write_row(&j, &t->rows[i]);
    fr__json_close(&j, ']');
    fr__json_close(&j, '}');
    putc('\n', f);
}
