/* cli/schedule.c - pipeline schedules without a model: list, show, draw, check. */
#include "config.h"

#include "base/error.h"
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

enum fr_status cli_schedule_list(struct session *s, struct fr_error *err)
{
    const struct fr_schedule_kind *k;

    (void)s;
    (void)err;
    for (size_t i = 0; (k = fr_schedule_kind_at(i)) != NULL; i++) {
        cli_print_row(stdout, k->name, 24, k->summary);
        printf("  %-24s  %s\n", "", k->source);
    }
    puts("\nOne of your own: file:PATH, CSV with the columns rank,index,action, such as 0,0,0F0.");
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

static enum fr_status check_given(const struct options *o, const char *name, struct fr_error *err)
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

static enum fr_status scale_stages(struct fr_pass_times **out, const struct options *o,
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

static enum fr_status replay(struct fr_timed_schedule *out, const struct options *o,
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

static enum fr_status add_comms(struct fr_timed_schedule *x, struct fr_error *err)
{
    struct fr_schedule *with = NULL;

    FR_TRY(fr_schedule_add_comms(&with, x->schedule, err));
    fr_schedule_free(x->schedule);
    x->schedule = with;
    return FR_OK;
}

static enum fr_status load(struct fr_timed_schedule *out, const struct options *o, const char *name,
                           struct fr_error *err)
{
    struct fr_schedule_spec spec = o->schedule;
    char *path = NULL;
    enum fr_status st;

    if (is_path(name)) {
        path = malloc(strlen(name) + sizeof("file:"));
        if (!path)
            return fr__fail_nomem(err);
        memcpy(path, "file:", 5);
        memcpy(path + 5, name, strlen(name) + 1);
    }
    spec.name = path ? path : name;
    st = check_given(o, spec.name, err);
    if (st == FR_OK)
        st = fr_schedule_get(&out->schedule, &spec, err);
    if (st == FR_OK && o->has_comms)
        st = add_comms(out, err);
    if (st == FR_OK)
        st = replay(out, o, err);
    free(path);
    return st;
}

static void release(struct fr_timed_schedule *all, size_t n)
{
    for (size_t i = 0; all && i < n; i++) {
        fr_replay_fini(&all[i].replay);
        fr_schedule_free(all[i].schedule);
    }
    free(all);
}

static enum fr_status load_all(struct fr_timed_schedule **out, const struct options *o,
                               struct fr_error *err)
{
    struct fr_timed_schedule *all = calloc(o->n_arguments, sizeof(*all));
    enum fr_status st = all ? FR_OK : fr__fail_nomem(err);

    for (size_t i = 0; i < o->n_arguments && st == FR_OK; i++)
        st = load(&all[i], o, o->arguments[i], err);
    if (st != FR_OK) {
        release(all, o->n_arguments);
        return st;
    }
    *out = all;
    return FR_OK;
}

enum fr_status cli_schedule_show(struct session *s, struct fr_error *err)
{
    const struct options *o = &s->options;
    struct fr_timed_schedule *all;

    FR_TRY(load_all(&all, o, err));
    if (o->json)
        fr_schedule_print_json(stdout, all);
    else if (o->has_times)
        fr_schedules_print_summary(stdout, all, 1);
    else
        fr_schedule_write_csv(stdout, all->schedule);
    release(all, o->n_arguments);
    return FR_OK;
}

enum fr_status cli_schedule_draw(struct session *s, struct fr_error *err)
{
    const struct options *o = &s->options;
    struct fr_timed_schedule *all;
    enum fr_status st = FR_OK;

    for (size_t i = 0; i < o->n_files; i++)
        FR_TRY(fr_schedules_check_path(o->files[i], err));
    FR_TRY(load_all(&all, o, err));
    for (size_t i = 0; i < o->n_files && st == FR_OK; i++)
        st = fr_schedules_write(all, o->n_arguments, o->files[i], &s->context, err);
    if (st == FR_OK && o->n_files == 0)
        st = fr_schedules_print_boxes(stdout, all, o->n_arguments, err);
    release(all, o->n_arguments);
    return st;
}

enum fr_status cli_schedule_check(struct session *s, struct fr_error *err)
{
    const struct options *o = &s->options;
    struct fr_timed_schedule *all;

    FR_TRY(load_all(&all, o, err));
    for (size_t i = 0; i < o->n_arguments; i++)
        fr_schedule_print_check(stdout, &all[i]);
    release(all, o->n_arguments);
    return FR_OK;
}
