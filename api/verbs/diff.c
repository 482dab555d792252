/* api/verbs/diff.c - why one answer takes longer than another: asks both questions again. */
#include "config.h"

#include "base/error.h"
#include "base/units.h"
#include "api/verbs/verbs.h"
#include "study/difference/difference.h"

#include <math.h>

/* An answer from a file, and the same asked again. */
struct side {
    struct fr_asked *asked;
    struct fr_record *record;
};

/* Relative; times of one program on one machine are equal to the last bit. */
static const double SAME_TIME = 1e-9;

static void note_change(struct fr__call *s, const char *path, const struct side *side)
{
    double said_s = side->asked->iteration_s, is_s = side->record->iteration_s;
    char said[32], is[32];

    if (s->options.quiet || said_s < 0 || fabs(is_s - said_s) <= SAME_TIME * said_s)
        return;
    fr__note(s,
             "%s says %s, the same question now takes %s: the program or a file that "
             "it names has changed",
             path, fr__format_time(said_s, said, sizeof(said)),
             fr__format_time(is_s, is, sizeof(is)));
}

static enum fr_status ask(struct fr__call *s, const char *path, struct side *side,
                          struct fr_error *err)
{
    struct fr_question q;

    FR_TRY(fr_asked_load(&side->asked, path, err));
    q = side->asked->question;
    FR_TRY(fr_answer(&q, &s->context, &side->record, err));
    fr__end_progress(s);
    note_change(s, path, side);
    return FR_OK;
}

static enum fr_status tell(struct fr__call *s, const struct side sides[2], struct fr_error *err)
{
    struct fr_difference *d;
    enum fr_status st;

    FR_TRY(fr_difference_new(&d, sides[0].record, sides[1].record, err));
    st = fr__show(s, fr_shown_difference(&(struct fr_difference_answer){d, s->options.verbose}),
                  err);
    fr_difference_free(d);
    return st;
}

enum fr_status fr__verb_diff(struct fr__call *s, struct fr_error *err)
{
    struct side sides[2] = {{NULL, NULL}, {NULL, NULL}};
    enum fr_status st = FR_OK;

    FR_TRY(fr__check_files(&s->options, FR_KIND_DIFFERENCE, err));
    for (size_t i = 0; i < 2 && st == FR_OK; i++)
        st = ask(s, s->options.arguments[i], &sides[i], err);
    if (st == FR_OK)
        st = tell(s, sides, err);
    for (size_t i = 0; i < 2; i++) {
        fr_record_free(sides[i].record);
        fr_asked_free(sides[i].asked);
    }
    return st;
}
