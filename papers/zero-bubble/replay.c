/* papers/zero-bubble/replay.c - a pipeline schedule alone: forward, input and weight passes of one
 * unit each, no messages. */
#include "config.h"

#include "papers/runner/asks.h"

#include "base/error.h"
#include "lowering/schedules/schedule.h"

enum fr_status fr__ask_replay(const struct fr__ask *a, const struct fr__field **out,
                              struct fr_error *err)
{
    const struct fr_schedule_times times = fr_schedule_unit_times();
    struct fr__field fields[] = {{"makespan", {.number = 0}}, {"span", {.number = 0}}};
    struct fr_schedule_spec spec = {.name = NULL};
    struct fr_schedule *s;
    struct fr_replay r;
    enum fr_status st;

    FR_TRY(fr__ask_text(a, "schedule", &spec.name, err));
    FR_TRY(fr__ask_count(a, "ranks", 1024, &spec.n_ranks, err));
    FR_TRY(fr__ask_count(a, "micros", 4096, &spec.n_micros, err));
    FR_TRY(fr__ask_count(a, "virtual", 64, &spec.n_virtual, err));
    FR_TRY(fr_schedule_make(&s, &spec, err));
    st = fr_schedule_replay(&r, s, &times, err);
    if (st == FR_OK) {
        fields[0].value.number = r.makespan;
        fields[1].value.number = r.longest_span;
        fr_replay_fini(&r);
    }
    fr_schedule_free(s);
    FR_TRY(st);
    return fr__ask_answer(a, fields, sizeof(fields) / sizeof(fields[0]), out, err);
}
