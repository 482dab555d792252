/* api/verbs/output.c - files first, the answer last. */
#include "config.h"

#include "base/error.h"
#include "base/units.h"
#include "api/verbs/manifest.h"
#include "api/verbs/verbs.h"

#include <string.h>

void fr__end_progress(struct fr__call *s)
{
    if (s->caller->end_progress)
        s->caller->end_progress(s->caller->user);
}

FILE *fr__page_open(struct fr__call *s)
{
    return s->caller->open_page ? s->caller->open_page(s->caller->user) : s->out;
}

enum fr_status fr__page_close(struct fr__call *s, enum fr_status st, struct fr_error *err)
{
    return s->caller->close_page ? s->caller->close_page(s->caller->user, st, err) : st;
}

enum fr_status fr__check_files(const struct fr__options *o, enum fr_kind kind, struct fr_error *err)
{
    for (size_t i = 0; i < o->n_files; i++)
        FR_TRY(fr_kind_check_path(kind, o->files[i], err));
    return FR_OK;
}

enum fr_status fr__check_measured(const struct fr__options *o, struct fr_error *err)
{
    const char *text = o->question.measured;

    if (!fr_measured_is_implicit(text))
        return FR_OK;
    return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                    "option '--measured' is \"%.40s\", which does not say by which strategy: "
                    "%.40s:dp",
                    text, text);
}

enum fr_status fr__check_terms(const struct fr__options *o, struct fr_error *err)
{
    const struct fr_sweep_terms *t = &o->terms;

    if (t->tokens > 0 && t->samples > 0)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, FR__TOKENS_AND_SAMPLES);
    if (fr_prices_any(&t->prices) && !(t->tokens > 0 || t->samples > 0))
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "option '--price' needs the length of the run: --tokens or --samples");
    return FR_OK;
}

/* Says what a trace leaves out: the later micro-batches of a long pipeline. */
static enum fr_status note_trace(struct fr__call *s, const struct fr_results *rs, const char *path,
                                 struct fr_error *err)
{
    const struct fr__options *o = &s->options;
    static const char ending[] = ".trace.json";
    size_t n = strlen(path), m = sizeof(ending) - 1;
    uint32_t shown, of;

    if (o->quiet || o->trace.micro_batches > 0 || n <= m || strcmp(path + n - m, ending) != 0)
        return FR_OK;
    FR_TRY(fr_trace_extent(rs->records[0], &o->trace, &shown, &of, err));
    if (shown < of)
        fr__note(s,
                 "%s shows the first %u of %u micro-batches; --trace-micro-batches N "
                 "shows more, --trace-ranks fewer GPUs",
                 path, (unsigned)shown, (unsigned)of);
    return FR_OK;
}

enum fr_status fr__file_done(struct fr__call *s, enum fr_status st, struct fr_error *err)
{
    if (st != FR_EIO)
        return st;
    fr__end_progress(s);
    s->caller->say_error(s->caller->user, err);
    s->lacks_file = true;
    return FR_OK;
}

/* Whether a terminal shows the text in colours. */
static bool has_colours(enum fr_kind k)
{
    return k == FR_KIND_RUN || k == FR_KIND_COMPARISON || k == FR_KIND_SWEEP || k == FR_KIND_SEARCH;
}

enum fr_status fr__show_files(struct fr__call *s, struct fr_shown x, struct fr_error *err)
{
    const struct fr__options *o = &s->options;

    for (size_t i = 0; i < o->n_files; i++)
        FR_TRY(fr__file_done(s, fr_show_file(x, o->files[i], &s->context, err), err));
    return FR_OK;
}

static enum fr_status show_answer(struct fr__call *s, struct fr_shown x, struct fr_error *err)
{
    if (s->options.json) {
        fr_show_json(s->out, x);
        return FR_OK;
    }
    if (!has_colours(x.kind))
        return fr_show_text(s->out, x, s->width, err);
    return fr__page_close(s, fr_show_text(fr__page_open(s), x, s->width, err), err);
}

enum fr_status fr__show(struct fr__call *s, struct fr_shown x, struct fr_error *err)
{
    FR_TRY(fr__show_files(s, x, err));
    FR_TRY(show_answer(s, x, err));
    return fr__manifest_end(s, x, err);
}

enum fr_status fr__write_results(struct fr__call *s, const struct fr_results *rs,
                                 struct fr_error *err)
{
    const struct fr__options *o = &s->options;
    struct fr_shown x = rs->is_comparison ? fr_shown_comparison(rs) : fr_shown_run(rs);

    FR_TRY(fr_prices_check_topo(&o->terms.prices, fr_plan_view(rs->records[0]->plan)->topo, err));
    FR_TRY(fr__show_files(s, x, err));
    for (size_t i = 0; i < o->n_files; i++)
        FR_TRY(note_trace(s, rs, o->files[i], err));
    FR_TRY(show_answer(s, x, err));
    return fr__manifest_end(s, x, err);
}

void fr__print_row(FILE *f, const char *name, int width, const char *summary)
{
    fprintf(f, "  %-*s  %s\n", width, name, summary);
}

/* ---- how a call ends ---- */

/* Prints a note that lists the kinds of an answer's warnings that cast doubt on its figures. Whether
 * there are any. */
static bool tell_doubts(struct fr__call *s, const struct fr_record *r)
{
    bool is_in_doubt[FR_N_WARNINGS] = {false}, is_any = false;
    char text[256] = "";
    size_t used = 0;

    for (size_t i = 0; i < r->n_warnings; i++)
        is_in_doubt[r->warning_kinds[i]] = fr_warning_is_doubt(r->warning_kinds[i]);
    for (unsigned w = 0; w < FR_N_WARNINGS; w++)
        if (is_in_doubt[w] && used < sizeof(text))
            used += (size_t)snprintf(text + used, sizeof(text) - used, ", %s",
                                     fr_warning_name((enum fr_warning)w));
    if (r->interval.is_known && r->interval.is_guess && used < sizeof(text))
        used += (size_t)snprintf(text + used, sizeof(text) - used, ", range");
    is_any = used > 0;
    if (is_any)
        fr__note(s, "strict: %s of '%.100s'", text + 2, r->strategy);
    return is_any;
}

enum fr_call_status fr__call_doubts(struct fr__call *s, const struct fr_record *const records[],
                                    size_t n)
{
    bool is_any = false;

    for (size_t i = 0; s->options.strict && i < n; i++)
        is_any = tell_doubts(s, records[i]) || is_any;
    return is_any ? FR_CALL_WARNED : FR_CALL_DONE;
}

enum fr_call_status fr__call_status(enum fr_status st)
{
    switch (st) {
    case FR_EPARSE:
    case FR_ERANGE:
    case FR_EUSAGE:
    case FR_ENOENT:
    case FR_EUNSUPPORTED:
        return FR_CALL_USAGE;
    case FR_ENOROOM:
        return FR_CALL_NO_MEMORY;
    case FR_OK:
        return FR_CALL_DONE;
    case FR_ECANCELLED:
        return FR_CALL_CANCELLED;
    case FR_EIO:
    case FR_ENOMEM:
    case FR_EDEADLOCK:
    case FR_ECHECK:
        break;
    }
    return FR_CALL_FAILED;
}

void fr__call_explain_memory(const struct fr__call *s, struct fr_error *err)
{
    char limit[32];

    if (err->code == FR_ENOMEM && s->context.memory_bytes > 0 &&
        strcmp(err->text, "out of memory") == 0)
        snprintf(err->text, sizeof(err->text),
                 "out of memory: this command may take %s; --memory-limit sets how much",
                 fr__format_bytes(s->context.memory_bytes, limit, sizeof(limit)));
}
