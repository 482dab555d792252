/* study/question/slow.c - reads "n3.gpu2=1.3,n0..1.gpu*=1.1": which devices take how many times as
 * long. */
#include "config.h"

#include "study/question/slow.h"

#include "base/error.h"
#include "base/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A device may be named several times; the product has the same bounds as each factor. */
static const double LEAST = 1e-3, MOST = 1e6;

enum { NAME = 160, NUMBER = 40 };

/* One "NAME=FACTOR" of n characters. */
static enum fr_status take_item(double slow[], bool is_meant[], const struct fr_topo *t,
                                const char *item, size_t n, struct fr_error *err)
{
    size_t name_length = strcspn(item, "=,"), n_meant;
    char name[NAME], number[NUMBER];
    double factor = 0;

    if (name_length == 0 || name_length >= n || name_length >= NAME || n - name_length > NUMBER)
        return fr__fail(err, FR_EPARSE, FR_NOWHERE,
                        "option '--slow' is \"%.60s\", expected devices like n3.gpu2=1.3", item);
    snprintf(name, sizeof(name), "%.*s", (int)name_length, item);
    snprintf(number, sizeof(number), "%.*s", (int)(n - name_length - 1), item + name_length + 1);
    FR_TRY(fr__parse_number(number, "option '--slow': a factor", FR_NOWHERE, LEAST, MOST, &factor,
                            err));
    memset(is_meant, 0, t->n_devices * sizeof(*is_meant));
    FR_TRY(fr_topo_match(t, name, is_meant, &n_meant, err));
    for (size_t d = 0; d < t->n_devices; d++)
        if (is_meant[d])
            slow[d] *= factor;
    for (size_t d = 0; d < t->n_devices; d++)
        if (slow[d] < LEAST || slow[d] > MOST)
            return fr__fail(err, FR_ERANGE, FR_NOWHERE,
                            "option '--slow': all factors for %s make %g, expected %g to %g",
                            t->devices[d].name, slow[d], LEAST, MOST);
    return FR_OK;
}

static enum fr_status take_list(double slow[], bool is_meant[], const struct fr_topo *t,
                                const char *text, struct fr_error *err)
{
    for (size_t d = 0; d < t->n_devices; d++)
        slow[d] = 1;
    for (const char *item = text;;) {
        size_t n = strcspn(item, ",");

        FR_TRY(take_item(slow, is_meant, t, item, n, err));
        if (!item[n])
            return FR_OK;
        item += n + 1;
    }
}

enum fr_status fr__slow_devices(double **out, const struct fr_topo *t, const struct fr_question *q,
                                struct fr_error *err)
{
    enum fr_status st = FR_ENOMEM;
    double *slow;
    bool *is_meant;

    *out = NULL;
    if (!q->slow)
        return FR_OK;
    slow = calloc(t->n_devices, sizeof(*slow));
    is_meant = calloc(t->n_devices, sizeof(*is_meant));
    st = slow && is_meant ? take_list(slow, is_meant, t, q->slow, err) : fr__fail_nomem(err);
    free(is_meant);
    if (st == FR_OK)
        *out = slow;
    else
        free(slow);
    return st;
}

const char *fr__why_devices_differ(const struct fr_question *q)
{
    if (q->slow || q->run.device_slowdown)
        return "some devices are slowed by name";
    if (q->run.device_cv > 0)
        return "each device has a speed of its own";
    if (q->run.jitter_cv > 0)
        return "each rank's times vary by themselves";
    if (q->run.order == FR_ORDER_RANDOM)
        return "each rank draws an order of its own";
    return NULL;
}
