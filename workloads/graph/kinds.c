/* workloads/graph/kinds.c - how op kinds, phases and layouts are spelt. */
#include "config.h"

#include "workloads/graph/kinds.h"

#define KIND_TEXT(name, text, shape) text,
static const char *const kind_names[] = {FR_OP_KINDS(KIND_TEXT)};
#undef KIND_TEXT
const struct fr__name_list fr__op_kind_names = FR__NAMES(kind_names);

static const char *const phase_names[] = {
    [FR_PHASE_INPUT] = "input",
    [FR_PHASE_FORWARD] = "forward",
    [FR_PHASE_BACKWARD_DATA] = "backward-data",
    [FR_PHASE_BACKWARD_WEIGHT] = "backward-weight",
    [FR_PHASE_UPDATE] = "update",
};
const struct fr__name_list fr__phase_names = FR__NAMES(phase_names);

static const char *const layout_names[] = {
    [FR_LAYOUT_DEFAULT] = "default",
    [FR_LAYOUT_NCHW] = "nchw",
    [FR_LAYOUT_NHWC] = "nhwc",
};
static const struct fr__name_list layouts = FR__NAMES(layout_names);

const char *fr_image_layout_name(enum fr_image_layout layout)
{
    return fr__name_of(&layouts, layout);
}

enum fr_image_layout fr_image_layout_parse(const char *name)
{
    return (enum fr_image_layout)fr__name_parse(&layouts, name);
}

const char *fr_op_kind_name(enum fr_op_kind kind)
{
    return fr__name_of(&fr__op_kind_names, kind);
}

enum fr_op_kind fr_op_kind_parse(const char *name)
{
    return (enum fr_op_kind)fr__name_parse(&fr__op_kind_names, name);
}

bool fr_op_kind_is_message(enum fr_op_kind kind)
{
    switch (kind) {
    case FR_OP_ALL_REDUCE:
    case FR_OP_ALL_GATHER:
    case FR_OP_REDUCE_SCATTER:
    case FR_OP_ALL_TO_ALL:
        return true;
    default:
        return false;
    }
}

bool fr_op_kind_is_product(enum fr_op_kind kind)
{
    switch (kind) {
    case FR_OP_CONV2D:
    case FR_OP_MATMUL:
    case FR_OP_BATCH_MATMUL:
    case FR_OP_ATTENTION:
    case FR_OP_LSTM:  /* eight matrix products a step */
    case FR_OP_SCAN:  /* in chunks: products of heads */
    case FR_OP_LAYER: /* a whole layer is mostly its matrix products */
        return true;
    default:
        return false;
    }
}

const char *fr_phase_name(enum fr_phase phase)
{
    return fr__name_of(&fr__phase_names, phase);
}

enum fr_phase fr_phase_parse(const char *name)
{
    return (enum fr_phase)fr__name_parse(&fr__phase_names, name);
}
