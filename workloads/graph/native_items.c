/* workloads/graph/native_items.c - cells that hold a list, its items separated by ';'. */
#include "config.h"

#include "workloads/graph/native.h"

#include <string.h>

uint32_t fr__n_items(const char *text)
{
    uint32_t n = text[0] != '\0';

    for (; *text; text++)
        n += *text == ';';
    return n;
}

struct fr__item fr__first_item(const char *text, struct fr_loc loc)
{
    return (struct fr__item){text, 0, loc};
}

struct fr__item fr__next_item(struct fr__item *cursor)
{
    struct fr__item it = *cursor;
    size_t step = it.len = strcspn(it.text, ";");

    step += it.text[it.len] == ';';
    cursor->text += step;
    cursor->loc.col += (unsigned)step;
    return it;
}

/* ---- the column `tuning` ---- */

/* "again": an op that runs its forward op once more for the backward pass. */
const char *fr__native_tuning(const struct fr_op *op)
{
    if (op->is_recomputed)
        return op->packing == FR_PACK_NONE ? "again" : fr_packing_name(op->packing);
    if (op->packing != FR_PACK_NONE)
        return fr_packing_name(op->packing);
    return op->is_frozen ? "frozen" : op->is_adapter ? "adapter" : "";
}

bool fr__native_set_tuning(struct fr_op *op, const char *word)
{
    enum fr_packing packing = fr_packing_parse(word);
    bool is_packed = packing != FR_N_PACKINGS && packing != FR_PACK_NONE;

    if (!is_packed && strcmp(word, "frozen") != 0 && strcmp(word, "adapter") != 0 &&
        strcmp(word, "again") != 0)
        return false;
    op->is_frozen = is_packed || strcmp(word, "frozen") == 0;
    op->is_adapter = strcmp(word, "adapter") == 0;
    op->is_recomputed = strcmp(word, "again") == 0 || (is_packed && op->phase > FR_PHASE_FORWARD);
    op->packing = is_packed ? packing : FR_PACK_NONE;
    return true;
}
