/* lowering/products.h - the matrix products that an optimizer's step is made of, and their time.
 *
 * Model:   Each product is priced by the cost model as a layer's would be, and is a kernel of its
 *          own. What is done every N steps counts 1/N a step. m x n is a matrix of parameters;
 *          [rows][columns] over depth is a product.
 *
 *            muon      m <= n, five times: X X' [m][m] over n, A A [m][m] over m, B X [m][n] over
 *                      m. In bf16, whatever the model's format. A convolution has
 *                      outputs x (inputs x height x width)
 *            shampoo   each step, for each block and each of its dims of size d, r being the rest
 *                      of it: G G' [d][d] over r, root times G [d][r] over d. Every N steps its
 *                      root: 9 d^3 FLOPs for eigenvectors and values, 2 d^3 to multiply again
 *            soap      each step, for each dim of size d: G G' [d][d] over r, into the eigenvectors
 *                      and back [d][r] over d. Every N steps the first moment there and back again,
 *                      three products [d][d] over d, and 8/3 d^3 FLOPs for the QR decomposition
 *
 *          The last two run in fp32, in tf32 where the question does. Products that are one matrix
 *          and its transpose have all their FLOPs, as GEMM computes them.
 * Sources: PyTorch 2.9, torch/optim/_muon.py, _zeropower_via_newtonschulz (addmm: sums are part of
 *          the product); facebookresearch/optimizers, distributed_shampoo, matrix_functions.py
 *          (eigendecomposition by default); nikhilvyas/SOAP, soap.py, get_orthogonal_matrix_QR; G.
 *          Golub, C. Van Loan, Matrix Computations, 4th ed., sections 5.2 (QR: 4/3 d^3, and 4/3 d^3
 *          for Q) and 8.3 (symmetric QR with vectors: 9 d^3).
 * Ignores: that decompositions run below a product's rate on GPUs, many times so where matrices are
 *          small: at one in N steps; kernels for half of a symmetric product; that Megatron-LM's
 *          --muon-split-qkv takes a fused query, key and value for three matrices.
 */
#ifndef FR_LOWERING_PRODUCTS_H
#define FR_LOWERING_PRODUCTS_H

#include "lowering/optimizer.h"

struct fr__product {
    double rows, columns, depth;
    double times; /* a step; a fraction where it is not done in each */
};

/* Hands each product of a step to take(): of all tensors of an owner. */
void fr__step_products(enum fr_optimizer o, const struct fr__weights *w,
                       void (*take)(void *user, const struct fr__product *p), void *user);
/* Their FLOPs, two for each multiplication and addition. */
double fr__step_flops(enum fr_optimizer o, const struct fr__weights *w);

/* Adds to *cost what a share of the products of an owner takes on a device type. share > 0; 1: all
 * of them. */
void fr__price_products(const struct fr_problem *in, uint32_t type, const struct fr__weights *w,
                        double share, struct fr_cost *cost);

#endif
