/* calibrate/cost/relatives.h - which GPUs resemble each other, for those that nobody measured. */
#ifndef FR_CALIBRATE_COST_RELATIVES_H
#define FR_CALIBRATE_COST_RELATIVES_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

enum { FR__NO_RELATIVE = INT_MAX };

/* A GPU by the name that its boards begin with: a row of calibrate/cost/chips.yaml, which has the
 * sources; the build makes a constant table. */
struct fr__chip {
    const char *name;
    int generation;
    const char *die;       /* NULL: of this GPU alone */
    const char *whole_die; /* boards that differ in their memories alone; NULL: this one alone */
    double sustained;      /* clock under load over that of its peak; 0: it keeps its clock */
    double cache_MiB;      /* of the last level */
};

extern const struct fr__chip fr__chips[];
extern const size_t fr__n_chips;

/* How far device type b is from a, by their names ("v100-sxm2-16gb"). In this order: the same name
 * (0), other boards of the same chip, other chips of its generation, the generations next to it,
 * newer ones first. FR__NO_RELATIVE: one of them is not known, or they are more than two
 * generations apart. */
int fr__kinship(const char *a, const char *b);
/* Whether two boards carry the same die with other memories: an H200 is an H100 with 4.8 instead of
 * 3.35 TB/s. */
bool fr__is_same_die(const char *a, const char *b);
/* Whether the chip is of a generation before Volta's; false: newer, or not known. */
bool fr__is_before_volta(const char *device);
/* Whether the chip is of Ampere's generation or a later one, which need CUDA 11 and cuDNN 8. */
bool fr__pads_channels(const char *device);
/* The generation of FlashAttention that is the newest for the chip and that its attention was
 * measured with: 3 on Hopper, 2 before it, and 4 on Blackwell, which has kernels of its own. 2: not
 * known. */
unsigned fr__newest_attention(const char *device);
/* Size of the chip's last cache, in bytes; that of the largest of these chips: not known. */
double fr__cache_bytes(const char *device);
/* How much less of its peak rate device `to` keeps under a long load of arithmetic than device
 * `from`: boards of 70 to 75 W lower their clocks (relatives.c). 1: neither does, or not known. */
double fr__sustained_ratio(const char *to, const char *from);
#endif
