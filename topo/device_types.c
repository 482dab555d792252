/* topo/device_types.c - the processors we know, by datasheet, and the names of number formats.
 *
 * Rates are dense peaks at boost clock. Two figures are no datasheet's:
 *   launch_s       host time to hand one op to the device, framework included. The launch alone
 *                  takes 2.6 us on an A100 (te42kyfo/gpu-benches, gpu-small-kernels, back to back);
 *                  an eager framework adds its own bookkeeping. We assume 10 us for the V100 and
 *                  P100 era and 6 us later; profiles and device files (calibrate/) override it.
 *   context_bytes  CUDA context with the handles of cuBLAS and cuDNN. We assume 450 MiB.
 * CPU peaks are cores x base clock x 32 fp32 operations a cycle (two 256-bit FMA units).
 */
#include "config.h"

#include "topo/topo.h"

#include <string.h>

#define GIB (UINT64_C(1) << 30)
#define MIB (UINT64_C(1) << 20)
#define OLD_LAUNCH_S 10e-6
#define NEW_LAUNCH_S 6e-6
#define CONTEXT_BYTES (450 * MIB)

static const struct fr_device_type builtin[] = {
    {.name = "p100-sxm2-16gb",
     .is_gpu = true,
     .mem_bytes = 16 * GIB,
     .mem_Bps = 732e9,
     .flops_per_s = {[FR_FP32] = 10.6e12, [FR_FP16] = 21.2e12},
     .vector_flops_per_s = 10.6e12,
     .n_sms = 56,
     .launch_s = OLD_LAUNCH_S,
     .context_bytes = CONTEXT_BYTES,
     .source = "NVIDIA Tesla P100 datasheet, 2016 (NVLink model); no matrix units"},
    {.name = "v100-sxm2-16gb",
     .is_gpu = true,
     .mem_bytes = 16 * GIB,
     .mem_Bps = 900e9,
     .flops_per_s = {[FR_FP32] = 15.7e12, [FR_FP16] = 125e12},
     .vector_flops_per_s = 15.7e12,
     .n_sms = 80,
     .launch_s = OLD_LAUNCH_S,
     .context_bytes = CONTEXT_BYTES,
     .source = "NVIDIA Tesla V100 datasheet, 2018 (SXM2 model)"},
    {.name = "v100-sxm2-32gb",
     .is_gpu = true,
     .mem_bytes = 32 * GIB,
     .mem_Bps = 900e9,
     .flops_per_s = {[FR_FP32] = 15.7e12, [FR_FP16] = 125e12},
     .vector_flops_per_s = 15.7e12,
     .n_sms = 80,
     .launch_s = OLD_LAUNCH_S,
     .context_bytes = CONTEXT_BYTES,
     .source = "NVIDIA Tesla V100 datasheet, 2018 (SXM2 model)"},
    {.name = "a100-sxm4-40gb",
     .is_gpu = true,
     .mem_bytes = 40 * GIB,
     .mem_Bps = 1555e9,
     .flops_per_s =
         {[FR_FP32] = 19.5e12, [FR_TF32] = 156e12, [FR_FP16] = 312e12, [FR_BF16] = 312e12},
     .vector_flops_per_s = 19.5e12,
     .n_sms = 108,
     .launch_s = NEW_LAUNCH_S,
     .context_bytes = CONTEXT_BYTES,
     .source = "NVIDIA A100 datasheet, 2021 (40 GB SXM)"},
    {.name = "a100-sxm4-80gb",
     .is_gpu = true,
     .mem_bytes = 80 * GIB,
     .mem_Bps = 2039e9,
     .flops_per_s =
         {[FR_FP32] = 19.5e12, [FR_TF32] = 156e12, [FR_FP16] = 312e12, [FR_BF16] = 312e12},
     .vector_flops_per_s = 19.5e12,
     .n_sms = 108,
     .launch_s = NEW_LAUNCH_S,
     .context_bytes = CONTEXT_BYTES,
     .source = "NVIDIA A100 datasheet, 2021 (80 GB SXM)"},
    {.name = "h100-sxm5-80gb",
     .is_gpu = true,
     .mem_bytes = 80 * GIB,
     .mem_Bps = 3350e9,
     .flops_per_s = {[FR_FP32] = 66.9e12,
                     [FR_TF32] = 494.7e12,
                     [FR_FP16] = 989.4e12,
                     [FR_BF16] = 989.4e12,
                     [FR_FP8] = 1978.9e12},
     .vector_flops_per_s = 66.9e12,
     .n_sms = 132,
     .launch_s = NEW_LAUNCH_S,
     .context_bytes = CONTEXT_BYTES,
     .source = "NVIDIA H100 Tensor Core GPU Architecture white paper, 2023, table of SXM5 peaks"},
    {.name = "h200-sxm-141gb",
     .is_gpu = true,
     .mem_bytes = 141 * GIB,
     .mem_Bps = 4800e9,
     .flops_per_s = {[FR_FP32] = 66.9e12,
                     [FR_TF32] = 494.7e12,
                     [FR_FP16] = 989.4e12,
                     [FR_BF16] = 989.4e12,
                     [FR_FP8] = 1978.9e12},
     .vector_flops_per_s = 66.9e12,
     .n_sms = 132,
     .launch_s = NEW_LAUNCH_S,
     .context_bytes = CONTEXT_BYTES,
     .source = "NVIDIA H200 datasheet, 2024 (SXM): the H100's peaks, 141 GB at 4.8 TB/s"},
    {.name = "2x-xeon-e5-2698v4",
     .mem_bytes = 512 * GIB,
     .mem_Bps = 153.6e9,
     .flops_per_s = {[FR_FP32] = 2.816e12},
     .vector_flops_per_s = 2.816e12,
     .n_sms = 40,
     .source = "Intel ARK E5-2698 v4: 20 cores, 2.2 GHz, four DDR4-2400 channels a socket; "
               "memory by the NVIDIA DGX-1 datasheet"},
    {.name = "2x-epyc-7742",
     .mem_bytes = 2048 * GIB,
     .mem_Bps = 409.6e9,
     .flops_per_s = {[FR_FP32] = 9.216e12},
     .vector_flops_per_s = 9.216e12,
     .n_sms = 128,
     .source = "AMD EPYC 7742 data sheet: 64 cores, 2.25 GHz, eight DDR4-3200 channels a socket; "
               "memory by the NVIDIA DGX A100 640GB datasheet"},
};

const struct fr_device_type *fr_device_type_builtin(size_t i)
{
    return i < sizeof(builtin) / sizeof(builtin[0]) ? &builtin[i] : NULL;
}

const struct fr_device_type *fr_device_type_find(const char *name)
{
    const struct fr_device_type *type;

    for (size_t i = 0; (type = fr_device_type_builtin(i)); i++)
        if (strcmp(type->name, name) == 0)
            return type;
    return NULL;
}

static const char *const dtype_names[FR_N_DTYPES] = {
    [FR_FP32] = "fp32", [FR_TF32] = "tf32", [FR_FP16] = "fp16",
    [FR_BF16] = "bf16", [FR_FP8] = "fp8",  [FR_AMP] = "amp",
};

const char *fr_dtype_name(enum fr_dtype dtype)
{
    return (unsigned)dtype < FR_N_DTYPES ? dtype_names[dtype] : "unknown";
}

enum fr_dtype fr_dtype_parse(const char *name)
{
    unsigned i = 0;

    while (i < FR_N_DTYPES && strcmp(dtype_names[i], name) != 0)
        i++;
    return (enum fr_dtype)i;
}
