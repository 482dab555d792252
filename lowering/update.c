/* lowering/update.c - how software runs an optimizer's step, by name; see update.h. */
#include "config.h"

#include "lowering/update.h"

#include "base/error.h"

#include <stdio.h>
#include <string.h>

static enum fr_status find(size_t *row, const char *name, size_t length, const char *what,
                           struct fr_error *err)
{
    const char *known[FR__MOST_UPDATES];
    char copy[64], hint[128];

    for (*row = 0; *row < fr__n_updates; ++*row) {
        known[*row] = fr__updates[*row].name;
        if (strlen(known[*row]) == length && strncmp(known[*row], name, length) == 0)
            return FR_OK;
    }
    snprintf(copy, sizeof(copy), "%.*s", (int)(length < 60 ? length : 60), name);
    return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "%s: no update is called '%s'%s", what, copy,
                    fr__did_you_mean(copy, known, fr__n_updates, hint, sizeof(hint)));
}

/* Of gradients there may be several, of an optimizer one. */
static const struct fr__update *same_kind(uint64_t updates, size_t row)
{
    for (size_t i = 0; i < fr__n_updates; i++)
        if ((updates >> i & 1) && i != row && fr__updates[i].of == fr__updates[row].of &&
            fr__updates[i].of != FR__UPDATES_GRADIENTS)
            return &fr__updates[i];
    return NULL;
}

enum fr_status fr__updates_read(uint64_t *out, const char *names, const char *what,
                                struct fr_error *err)
{
    const struct fr__update *other;
    uint64_t updates = 0;
    size_t row;

    for (const char *at = names; strcmp(names, "none") != 0;) {
        size_t length = strcspn(at, "+");

        FR_TRY(find(&row, at, length, what, err));
        other = same_kind(updates, row);
        if (other)
            return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "%s: '%s' and '%s' are of one optimizer",
                            what, other->name, fr__updates[row].name);
        updates |= (uint64_t)1 << row;
        if (at[length] == '\0')
            break;
        at += length + 1;
    }
    *out = updates;
    return FR_OK;
}

const char *fr__updates_text(uint64_t updates, char *buf, size_t n)
{
    size_t used = 0;

    snprintf(buf, n, "none");
    for (size_t i = 0; i < fr__n_updates && used < n; i++)
        if (updates >> i & 1)
            used += (size_t)snprintf(buf + used, n - used, "%s%s", used ? "+" : "",
                                     fr__updates[i].name);
    return buf;
}

const struct fr__update *fr__update_of(uint64_t updates, enum fr_optimizer optimizer)
{
    for (size_t i = 0; i < fr__n_updates; i++)
        if ((updates >> i & 1) &&
            ((fr__updates[i].of == FR__UPDATES_ADAM && optimizer == FR_ADAM) ||
             (fr__updates[i].of == FR__UPDATES_MOMENTUM && optimizer == FR_MOMENTUM)))
            return &fr__updates[i];
    return NULL;
}

uint64_t fr__updates_of_gradients(uint64_t updates)
{
    uint64_t of_gradients = 0;

    for (size_t i = 0; i < fr__n_updates; i++)
        if (fr__updates[i].of == FR__UPDATES_GRADIENTS)
            of_gradients |= updates & (uint64_t)1 << i;
    return of_gradients;
}
