/* tests/fuzz_collectives.c - any bytes as measured collectives and as a system file: refused with a
 * sentence, or rows and times that are numbers. */
#include "config.h"

#include "calibrate/collective_data.h"

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
    fr__collective_data_fini(&d);
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
        for (double bytes = 0; bytes < 1e16; bytes = 1000 * bytes + 1) {
            double t = fr_system_time_s(
                s, &(struct fr_system_call){(enum fr_system_op)op, 8, bytes, true});

            if (!(t > 0) || !isfinite(t))
                abort();
        }
    fr_system_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_rows((const char *)data, size);
    read_system((const char *)data, size);
    return 0;
}
