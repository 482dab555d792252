/* workloads/zoo/pattern.c - which letter of a pattern a layer has. It is apart from zoo.c, which
 * writes patterns, since the families that read them are below it. */
#include "config.h"

#include "workloads/zoo/zoo.h"

char fr__model_letter(const uint32_t values[], uint32_t n, uint32_t layer)
{
    return ((const char *)(values + FR__MAX_MODEL_KEYS))[layer % n];
}
