/* calibrate/cost/channelwise.h - how much slower than an elementwise op batch norm moves its bytes.
 *
 * cuDNN's kernels for images that lie channel by channel (NCHW) give each channel to one block of
 * threads, which sums it up and then normalises it. With fewer channels than multiprocessors some
 * of these are idle, and one block alone does not use all of its share of the memory. So the share
 * of the memory bandwidth that is reached is
 *
 *     share = (most^-q + (block channels / n_sms)^-q)^(-1/q)
 *
 * and an elementwise op reaches 0.91 (an A100 and a V100 in fp32, doc/evidence/kernels.md).
 *
 *                most   block   q
 *     forward    0.80   0.85    6
 *     backward   0.79   0.70    4
 *
 * Source:  traces of ResNet-50 in fp32 and tf32 under PyTorch: V100 (pytorch/kineto, 636 kernels),
 *          A100 (facebookresearch/HolisticTraceAnalysis, 318) and H100 (sarchlab/triosim, 106),
 *          whose kernels are bn_fw_tr_1C11 and bn_bw_1C11 with as many blocks as channels. With the
 *          constants fitted to two of them, all batch norms of the third take 1.14, 1.04 and 0.88
 *          times (forward) and 1.18, 1.06 and 0.86 times (backward) what was measured; as
 *          elementwise ops they took 0.89, 0.75 and 0.62, and 0.81, 0.65 and 0.51.
 * Ignores: small images that are read once and kept in shared memory (up to a third faster), and
 *          images that lie pixel by pixel (NHWC), whose kernels no data at hand have measured.
 */
#ifndef FR_CALIBRATE_COST_CHANNELWISE_H
#define FR_CALIBRATE_COST_CHANNELWISE_H

#include <stdbool.h>

/* A factor of 1 or more on the time of an elementwise op of the same bytes. channels: 1 or more;
 * n_sms: multiprocessors, 0: not known, then as if there were channels enough. */
double fr__channelwise_slowdown(double channels, double n_sms, bool is_forward);
#endif
