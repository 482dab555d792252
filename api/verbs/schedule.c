/* api/verbs/schedule.c - pipeline schedules without a model: list, show, draw, check. */
#include "config.h"

#include "base/error.h"
#include "api/verbs/verbs.h"

#include <stdlib.h>
#include <string.h>

enum fr_status fr__verb_schedule_list(struct fr__call *s, struct fr_error *err)
{
    const struct fr_schedule_kind *k;

    (void)s;
    (void)err;
    for (size_t i = 0; (k = fr_schedule_kind_at(i)) != NULL; i++) {
        fr__print_row(s->out, k->name, 24, k->summary);
        fprintf(s->out, "  %-24s  %s\n", "", k->source);
    }
    fputs(
        "\nOne of your own: file:PATH, CSV with the columns rank,index,action, such as 0,0,0F0.\n",
        s->out);
    return FR_OK;
}

/* Whether a name is a file's without the prefix: no schedule is called so, and it looks like a
 * path. */
static bool is_path(const char *name)
{
    size_t n = strlen(name);

    return !fr_schedule_kind_find(name) && strncmp(name, "file:", 5) != 0 &&
           (strchr(name, '/') || (n > 4 && strcmp(name + n - 4, ".csv") == 0));
}

static enum fr_status check_given(const struct fr__options *o, const char *name,
                                  struct fr_error *err)
{
    if (strncmp(name, "file:", 5) == 0)
        return FR_OK;
    if (o->schedule.n_ranks == 0)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "no number of devices given (--ranks)");
    if (o->schedule.n_micros == 0)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "no number of micro-batches given (--micro-batches)");
    return FR_OK;
}

/* The times of one stage; negative times are defaults. */
static struct fr_pass_times scale(const struct fr_pass_times *t, double factor)
{
    return (struct fr_pass_times){.forward = factor * t->forward,
                                  .input = factor * t->input,
                                  .weight = factor * t->weight,
                                  .backward = factor * t->backward};
}

static enum fr_status scale_stages(struct fr_pass_times **out, const struct fr__options *o,
                                   const struct fr_schedule *s, const struct fr_pass_times *t,
                                   struct fr_error *err)
{
    struct fr_pass_times *of_stage;

    if (o->n_stage_scale != s->n_stages)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "option '--stages' has %zu factors, schedule '%s' has %u stages",
                        o->n_stage_scale, s->name, s->n_stages);
    of_stage = calloc(s->n_stages, sizeof(*of_stage));
    if (!of_stage)
        return fr__fail_nomem(err);
    for (uint32_t i = 0; i < s->n_stages; i++)
        of_stage[i] = scale(t, o->stage_scale[i]);
    *out = of_stage;
    return FR_OK;
}

static enum fr_status replay(struct fr_timed_schedule *out, const struct fr__options *o,
                             struct fr_error *err)
{
    const struct fr_schedule *s = out->schedule;
    struct fr_schedule_times t = o->has_times ? o->times : fr_schedule_unit_times();
    struct fr_pass_times *of_stage = NULL;
    enum fr_status st;

    if (o->is_one_model) { /* what a device's share takes becomes what one of its stages takes */
        t.pass = scale(&t.pass, (double)s->n_ranks / (double)s->n_stages);
        t.pair *= (double)s->n_ranks / (double)s->n_stages;
    }
    if (o->n_stage_scale > 0)
        FR_TRY(scale_stages(&of_stage, o, s, &t.pass, err));
    t.of_stage = of_stage;
    st = fr_schedule_replay(&out->replay, s, &t, err);
    free(of_stage);
    return st;
}

static enum fr_status add_comms(struct fr_schedule **s, struct fr_error *err)
{
    struct fr_schedule *with = NULL;

    FR_TRY(fr_schedule_add_comms(&with, *s, err));
    fr_schedule_free(*s);
    *s = with;
    return FR_OK;
}

/* The schedules that the arguments name. */
struct loaded {
    struct fr_schedule **schedules;  /* [n] */
    struct fr_timed_schedule *timed; /* [n] of them */
    size_t n;
};

static enum fr_status load_one(struct fr_schedule **out, const struct fr__options *o,
                               const char *name, struct fr_error *err)
{
    struct fr_schedule_spec spec = o->schedule;

    spec.name = name;
    FR_TRY(check_given(o, name, err));
    FR_TRY(fr_schedule_get(out, &spec, err));
    return o->has_comms ? add_comms(out, err) : FR_OK;
}

static enum fr_status load(struct fr_schedule **out, const struct fr__options *o, const char *name,
                           struct fr_error *err)
{
    static const char prefix[] = "file:";
    size_t n = strlen(name);
    char *path;
    enum fr_status st;

    if (!is_path(name))
        return load_one(out, o, name, err);
    path = malloc(n + sizeof(prefix));
    if (!path)
        return fr__fail_nomem(err);
    memcpy(path, prefix, sizeof(prefix) - 1);
    memcpy(path + sizeof(prefix) - 1, name, n + 1);
    st = load_one(out, o, path, err);
    free(path);
    return st;
}

static void release(struct loaded *l)
{
    for (size_t i = 0; i < l->n; i++) {
        if (l->timed)
            fr_replay_fini(&l->timed[i].replay);
        if (l->schedules)
            fr_schedule_free(l->schedules[i]);
    }
    free(l->timed);
    free(l->schedules);
}

static enum fr_status load_all(struct loaded *l, const struct fr__options *o, struct fr_error *err)
{
    enum fr_status st = FR_OK;

    *l = (struct loaded){.n = o->n_arguments};
    l->schedules = calloc(l->n, sizeof(*l->schedules));
    l->timed = calloc(l->n, sizeof(*l->timed));
    if (!l->schedules || !l->timed)
        st = fr__fail_nomem(err);
    for (size_t i = 0; i < l->n && st == FR_OK; i++) {
        st = load(&l->schedules[i], o, o->arguments[i], err);
        l->timed[i].schedule = l->schedules[i];
        if (st == FR_OK)
            st = replay(&l->timed[i], o, err);
    }
    if (st != FR_OK)
        release(l);
    return st;
}

/* ---- the verbs ---- */

enum fr_status fr__verb_schedule_show(struct fr__call *s, struct fr_error *err)
{
    const struct fr__options *o = &s->options;
    struct loaded l;

    FR_TRY(load_all(&l, o, err));
    if (o->json)
        fr_show_json(s->out, fr_shown_schedules(&(struct fr_schedules_answer){l.timed, 1}));
    else if (o->has_times)
        fr_schedules_print_summary(s->out, l.timed, 1);
    else
        fr_schedule_write_csv(s->out, l.schedules[0]);
    release(&l);
    return FR_OK;
}

enum fr_status fr__verb_schedule_draw(struct fr__call *s, struct fr_error *err)
{
    const struct fr__options *o = &s->options;
    struct fr_schedules_answer a;
    struct loaded l;
    enum fr_status st = FR_OK;

    FR_TRY(fr__check_files(o, FR_KIND_SCHEDULES, err));
    FR_TRY(load_all(&l, o, err));
    a = (struct fr_schedules_answer){l.timed, l.n};
    for (size_t i = 0; i < o->n_files && st == FR_OK; i++)
        st = fr_show_file(fr_shown_schedules(&a), o->files[i], &s->context, err);
    if (st == FR_OK && o->n_files == 0)
        st = fr_show_text(s->out, fr_shown_schedules(&a), 0, err);
    release(&l);
    return st;
}

enum fr_status fr__verb_schedule_check(struct fr__call *s, struct fr_error *err)
{
    struct loaded l;
    enum fr_status st;

    FR_TRY(load_all(&l, &s->options, err));
    st =
        fr_show_text(s->out, fr_shown_checked(&(struct fr_schedules_answer){l.timed, l.n}), 0, err);
    release(&l);
    return st;
}
