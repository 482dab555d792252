/* lowering/update.h - how software runs an optimizer's step, and what it does to gradients before
 * that: in kernels over lists of tensors, or as a chain of kernels for each tensor.
 *
 * Model:   A row of lowering/updates.yaml says how many bytes are read and written for each
 *          parameter and how many kernels there are for each tensor. Kernels over lists take
 *          bytes / rate. Of a chain of k kernels over a tensor of n bytes each takes what a kernel
 *          of bytes x n / k takes by the device's curve of element-wise kernels: the rate where the
 *          tensor is large, a kernel's own time where it is a bias. The host launches k kernels a
 *          tensor, or one for LIST_TENSORS tensors. Where the host reads a number of the GPU's
 *          before it goes on (a drain), the GPU waits DRAIN_S.
 *          Without a row, a step is the least that the optimizer needs: one kernel for each op
 *          with parameters, which reads the gradient and reads and writes weight and states once
 *          (lowering/price.h).
 * Sources: those of the rows. Tensors in a launch: NVIDIA/apex, csrc/multi_tensor_apply.cuh,
 *          depth_to_max_tensors, four lists. A drain: PyTorch's issue tracker has 20 to 40 us for
 *          .item(); half of both.
 * Ignores: temporaries of chains, beside those of lowering/price.h; scalars of a step (rates,
 *          powers of beta), a few kernels in all.
 */
#ifndef FR_LOWERING_UPDATE_H
#define FR_LOWERING_UPDATE_H

#include "lowering/lowering.h"

enum fr__updates_of { FR__UPDATES_MOMENTUM, FR__UPDATES_ADAM, FR__UPDATES_GRADIENTS };

/* A row of lowering/updates.yaml, which says what each is. 0: left out. */
struct fr__update {
    const char *name;
    enum fr__updates_of of;
    double bytes, narrow_bytes, table_bytes;
    double kernels, small_kernels, drains;
    const char *source;
};

extern const struct fr__update fr__updates[];
extern const size_t fr__n_updates;

/* Rows as bits 1 << row; there are no more. */
enum { FR__MOST_UPDATES = 64 };

/* Names joined by '+', or "none". FR_EUSAGE: there is none of a name, with the nearest; two are of
 * one optimizer. what: the option, for messages. */
enum fr_status fr__updates_read(uint64_t *out, const char *names, const char *what,
                                struct fr_error *err);
/* And back, into buf. */
const char *fr__updates_text(uint64_t updates, char *buf, size_t n);
/* That of an optimizer; NULL: none. */
const struct fr__update *fr__update_of(uint64_t updates, enum fr_optimizer optimizer);
/* Those that are of gradients, as bits. */
uint64_t fr__updates_of_gradients(uint64_t updates);
#endif
