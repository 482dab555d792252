/* study/warnings.c - what to know of an answer before its figures are believed.
 *
 * A precision that a GPU has no arithmetic for is computed in another one that holds its numbers,
 * at that one's rate: bf16 on a V100 as fp32, fp8 on an A100 as bf16.
 */
#include "config.h"

#include "study/record.h"

#include "base/error.h"

#include <stdio.h>

/* Whether one of the GPUs before the i-th is of its type. */
static bool is_seen(const struct fr__making *m, size_t i)
{
    const struct fr_device *devices = m->setting->topo->devices;

    for (size_t k = 0; k < i; k++)
        if (devices[m->devices[k]].type == devices[m->devices[i]].type)
            return true;
    return false;
}

enum fr_status fr__fill_warnings(struct fr_record *r, struct fr__arena *arena,
                                 const struct fr__making *m, struct fr_error *err)
{
    const struct fr_topo *t = m->setting->topo;
    enum fr_dtype asked = m->setting->graph->dtype;
    enum fr_dtype wanted = asked == FR_AMP ? FR_FP16 : asked;
    const char **list = fr__arena_alloc(arena, t->n_types, sizeof(*list));
    char text[256];

    if (!list)
        return fr__fail_nomem(err);
    r->warnings = list;
    for (size_t i = 0; i < m->n_devices; i++) {
        const struct fr_device_type *type = &t->types[t->devices[m->devices[i]].type];
        enum fr_dtype has = fr_device_type_arithmetic(type, asked);

        if (has == wanted || !type->is_gpu || is_seen(m, i))
            continue;
        snprintf(text, sizeof(text), "%.100s has no %s arithmetic: matrix products run as %s",
                 type->name, fr_dtype_name(wanted), fr_dtype_name(has));
        list[r->n_warnings] = fr__arena_strdup(arena, text);
        if (!list[r->n_warnings++])
            return fr__fail_nomem(err);
    }
    return FR_OK;
}
