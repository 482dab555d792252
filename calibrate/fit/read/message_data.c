/* calibrate/fit/read/message_data.c - reads measured messages between two GPUs
 * (doc/measuring.md: p2p.csv). */
#include "config.h"

#include "base/error.h"
#include "calibrate/fit/read/collective_data.h"

#include <string.h>

enum column { SOURCE, SYSTEM, SRC, DST, LINK, BYTES, BANDWIDTH_GBPS, LATENCY_US, NOTES };

const struct fr__csv_column fr__message_columns[] = {[SOURCE] = {"source", true},
                                                     [SYSTEM] = {"system", true},
                                                     [SRC] = {"src", true},
                                                     [DST] = {"dst", true},
                                                     [LINK] = {"link", true},
                                                     [BYTES] = {"bytes", true},
                                                     [BANDWIDTH_GBPS] = {"bandwidth_GBps", true},
                                                     [LATENCY_US] = {"latency_us", true},
                                                     [NOTES] = {"notes", false},
                                                     {"gpu", false},
                                                     {NULL, false}};

/* Whether the row is about messages of one size, from one place to another, with no other
 * traffic. */
static bool is_one_message(const struct fr__cell cells[])
{
    return cells[BYTES].text[0] && (cells[LATENCY_US].text[0] || cells[BANDWIDTH_GBPS].text[0]) &&
           strcmp(cells[SRC].text, cells[DST].text) != 0 &&
           strncmp(cells[NOTES].text, "bw_bi", 5) != 0;
}

enum fr_status fr__message_take_row(void *user, const struct fr__cell cells[], struct fr_error *err)
{
    const struct fr__collective_scan *s = user;
    struct fr__message_row row = {.file = s->file, .line = cells[BYTES].loc.line};
    double time_us, GBps;

    if (strcmp(cells[SYSTEM].text, s->system) != 0 || !is_one_message(cells))
        return FR_OK;
    FR_TRY(fr__cell_number(&cells[BYTES], "bytes", 0, 1e15, &row.bytes, err));
    if (cells[LATENCY_US].text[0]) {
        FR_TRY(fr__cell_number(&cells[LATENCY_US], "latency_us", 1e-3, 1e12, &time_us, err));
    } else {
        FR_TRY(fr__cell_number(&cells[BANDWIDTH_GBPS], "bandwidth_GBps", 1e-9, 1e9, &GBps, err));
        time_us = row.bytes / GBps * 1e-3;
        if (time_us > 1e12)
            return fr__fail(err, FR_ERANGE, cells[BANDWIDTH_GBPS].loc,
                            "at %s GB/s the message takes over 1e12 us",
                            cells[BANDWIDTH_GBPS].text);
    }
    if (row.bytes < 1 || time_us < 1e-3)
        return FR_OK;
    if (strlen(cells[LINK].text) >= sizeof(((struct fr_system_link *)0)->name))
        return fr__fail(err, FR_ERANGE, cells[LINK].loc, "'link' is longer than %zu bytes",
                        sizeof(((struct fr_system_link *)0)->name) - 1);
    row.time_s = time_us * 1e-6;
    return fr__collective_data_add_message(s->data, &row, cells[LINK].text, cells[SOURCE].text,
                                           err);
}
