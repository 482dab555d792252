/* tests/fuzz/fuzz_collectives.c - any bytes as measured collectives or messages and as a system
 * file: refused with a sentence, or rows and times that are numbers. */
#include "config.h"

#include "calibrate/fit/read/collective_data.h"

#include <math.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_rows(const char *text, size_t size)
{
    struct fr__collective_data d = {0};
    struct fr_error err = {.text = ""};

    if (fr__collective_data_read_text(&d, text, size, "fuzz", "S", &err) != FR_OK && !err.text[0])
        abort();
    for (size_t i = 0; i < d.n_rows; i++)
        if (!(d.rows[i].time_s > 0) || d.rows[i].call.n_gpus < 2)
            abort();
    for (size_t i = 0; i < d.n_messages; i++)
        if (!(d.messages[i].time_s > 0) || d.messages[i].bytes < 1)
            abort();
    fr__collective_data_fini(&d);
}

static void price(const struct fr_system *s, enum fr_system_op op, unsigned n_nodes)
{
    for (double bytes = 0; bytes < 1e16; bytes = 1000 * bytes + 1) {
        double t =
            fr_system_time_s(s, &(struct fr_system_call){op, 8 * n_nodes, bytes, true, n_nodes});

        if (!(t > 0) || !isfinite(t))
            abort();
    }
}

static void read_system(const char *text, size_t size)
{
    struct fr_system *s;
    struct fr_error err = {.text = ""};

    if (fr_system_read(&s, text, size, "fuzz", &err) != FR_OK) {
        if (!err.text[0])
            abort();
        return;
    }
    for (unsigned op = 0; op < FR_N_SYSTEM_OPS; op++)
        for (unsigned nodes = 1; nodes < 1000; nodes = 7 * nodes + 1)
            if (fr_system_covers(s, (enum fr_system_op)op, nodes))
                price(s, (enum fr_system_op)op, nodes);
    for (size_t link = 0; link < fr_system_info(s)->n_links; link++)
        for (double bytes = 0; bytes < 1e16; bytes = 1000 * bytes + 1)
            if (!(fr_system_send_s(s, link, bytes) > 0))
                abort();
    fr_system_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_rows((const char *)data, size);
    read_system((const char *)data, size);
    return 0;
}
