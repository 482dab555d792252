/* jobfile/ask_tune.c - what of the model a job trains, in the words of --tune. */
#include "config.h"

#include "base/arena.h"
#include "jobfile/facts.h"

#include <stdio.h>
#include <string.h>

enum { MOST_TEXT = 400 };

static const char *value_of(const struct fr_job *j, enum fr__job_fact_kind k)
{
    return j->facts[k].value ? j->facts[k].value : "";
}

/* Names that spaces or commas separate, as "a+b". A pattern of several names is refused: what it
 * matches depends on the model's own names. */
static enum fr_status join_names(const struct fr_job *j, enum fr__job_fact_kind k, char *text,
                                 size_t n, struct fr_error *err)
{
    const char *value = value_of(j, k);
    size_t used = 0;

    if (strpbrk(value, "()|\\^$*[]+=:"))
        return fr__fail(
            err, FR_EUNSUPPORTED, j->facts[k].loc,
            "'%.80s' is the pattern \"%.80s\": give --tune with the names of the layers",
            j->facts[k].argument, value);
    text[0] = '\0';
    for (const char *at = value + strspn(value, " ,\"'"); *at;) {
        size_t length = strcspn(at, " ,\"'");

        if (used + length + 2 > n)
            return fr__fail(err, FR_ERANGE, j->facts[k].loc, "'%.80s' is over %zu bytes",
                            j->facts[k].argument, n);
        used += (size_t)snprintf(text + used, n - used, "%s%.*s", used ? "+" : "", (int)length, at);
        at += length;
        at += strspn(at, " ,\"'");
    }
    return FR_OK;
}

/* ",key=a+b" where the fact is set. */
static enum fr_status add_names(const struct fr_job *j, const char *key, enum fr__job_fact_kind k,
                                char text[MOST_TEXT], struct fr_error *err)
{
    char names[MOST_TEXT / 2];
    size_t used = strlen(text);

    if (!*value_of(j, k))
        return FR_OK;
    FR_TRY(join_names(j, k, names, sizeof(names), err));
    if (*names)
        snprintf(text + used, MOST_TEXT - used, ",%s=%s", key, names);
    return FR_OK;
}

static enum fr_status note_rest(struct fr_job *j, bool has_adapters, struct fr_error *err)
{
    const char *bits = value_of(j, FR__JOB_WEIGHT_BITS);

    if (*bits && strcmp(bits, "4") != 0)
        return fr__job_note(
            j, err,
            "not modelled: weights stored in %.20s bits: those of the precision are "
            "counted",
            bits);
    if (*bits && !has_adapters)
        return fr__job_note(j, err, "not modelled: weights in 4 bits that are trained as a whole");
    return FR_OK;
}

enum fr_status fr__job_tune(struct fr_job *j, const char **out, struct fr_error *err)
{
    const char *how = value_of(j, FR__JOB_TUNE), *dropout = value_of(j, FR__JOB_LORA_DROPOUT);
    bool has_adapters = strcmp(how, "lora") == 0 || strcmp(how, "qlora") == 0;
    bool is_packed =
        has_adapters && (strcmp(how, "qlora") == 0 || fr__job_is(j, FR__JOB_WEIGHT_BITS, "4"));
    char text[MOST_TEXT];
    size_t used;

    *out = NULL;
    FR_TRY(note_rest(j, has_adapters, err));
    if (!*how || strcmp(how, "full") == 0)
        return FR_OK;
    if (!has_adapters)
        return fr__job_note(
            j, err,
            "not modelled: fine-tuning by '%.40s': all parameters are trained (give "
            "--tune)",
            how);
    used = (size_t)snprintf(text, sizeof(text), "%s:rank=%.20s", is_packed ? "qlora" : "lora",
                            *value_of(j, FR__JOB_LORA_RANK) ? value_of(j, FR__JOB_LORA_RANK) : "8");
    if (is_packed && fr__job_is(j, FR__JOB_NESTED, "0"))
        used += (size_t)snprintf(text + used, sizeof(text) - used, ",double=0");
    if (*dropout && strcmp(dropout, "0") != 0 && strcmp(dropout, "0.0") != 0)
        snprintf(text + used, sizeof(text) - used, ",dropout=%.20s", dropout);
    FR_TRY(add_names(j, "targets", FR__JOB_LORA_TARGETS, text, err));
    FR_TRY(add_names(j, "train", FR__JOB_TRAINED_TOO, text, err));
    *out = fr__arena_strdup(j->arena, text);
    return *out ? FR_OK : fr__fail_nomem(err);
}
