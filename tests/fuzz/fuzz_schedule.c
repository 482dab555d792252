/* tests/fuzz/fuzz_schedule.c - any bytes as a pipeline schedule: refused, or one that can be run,
 * and that is the same when it is written and read again. */
#include "config.h"

#include "lowering/schedules/schedule.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void replay(const struct fr_schedule *s)
{
    struct fr_replay x;
    struct fr_error err;

    if (fr_schedule_replay(&x, s, NULL, &err) != FR_OK)
        abort();
    for (size_t i = 0; i < s->n_actions; i++)
        if (x.finish[i] > x.makespan)
            abort();
    fr_replay_fini(&x);
}

static void read_again(const struct fr_schedule *s)
{
    char *text = NULL;
    size_t len = 0;
    FILE *f = open_memstream(&text, &len);
    struct fr_schedule *other = NULL;
    struct fr_error err;

    if (!f)
        return;
    fr_schedule_write_csv(f, s);
    fclose(f);
    if (fr_schedule_load_text(&other, text, len, "again", &err) != FR_OK ||
        other->n_actions != s->n_actions)
        abort();
    for (size_t i = 0; i < s->n_actions; i++) {
        char ours[FR_ACTION_TEXT], theirs[FR_ACTION_TEXT];

        if (strcmp(fr_action_text(&s->actions[i], ours),
                   fr_action_text(&other->actions[i], theirs)) != 0)
            abort();
    }
    fr_schedule_free(other);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    struct fr_schedule *s = NULL;
    struct fr_error err = {0};

    if (!text)
        return 0;
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    if (fr_schedule_load_text(&s, text, size, "fuzz", &err) != FR_OK) {
        if (!err.text[0])
            abort();
    } else {
        read_again(s);
        if (fr_schedule_check(s, &err) == FR_OK)
            replay(s);
    }
    fr_schedule_free(s);
    free(text);
    return 0;
}
