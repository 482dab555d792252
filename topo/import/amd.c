/* topo/import/amd.c - AMD's GPUs that RCCL's topology files name.
 *
 * They are no built-in types, since nothing was measured on them here: ops take what the data sheet
 * says, with the efficiencies that any unknown GPU gets. Peaks and memory are AMD's data sheets;
 * launch and context as for NVIDIA's GPUs, our assumption.
 */
#include "config.h"

#include "topo/import/defaults.h"

#include <string.h>

#define XGMI "; latency: as NVLink 2.0 by TACCL, NSDI 2023, table 1, our assumption"

const struct fr__wire fr__wire_xgmi_mi50 = {24e9, 0.7e-6,
                                            "RCCL src/graph/topo.h, VEGA_XGMI_WIDTH" XGMI};
const struct fr__wire fr__wire_xgmi_mi200 = {36e9, 0.7e-6,
                                             "RCCL src/graph/topo.h, MI200_XGMI_WIDTH" XGMI};
const struct fr__wire fr__wire_xgmi_mi300 = {48e9, 0.7e-6,
                                             "RCCL src/graph/topo.h, GFX94X_XGMI_WIDTH" XGMI};

enum { GiB_BITS = 30, CONTEXT_MiB = 450 };

#define COMMON .is_gpu = true, .launch_s = 6e-6, .context_bytes = (uint64_t)CONTEXT_MiB << 20

static const struct fr_device_type types[] = {
    {.name = "mi50-16gb",
     .mem_bytes = 16ull << GiB_BITS,
     .mem_Bps = 1024e9,
     .flops_per_s = {[FR_FP32] = 13.3e12, [FR_FP16] = 26.5e12},
     .vector_flops_per_s = 13.3e12,
     .n_sms = 60,
     .source = "AMD Radeon Instinct MI50 data sheet, 2018",
     COMMON},
    {.name = "mi100",
     .mem_bytes = 32ull << GiB_BITS,
     .mem_Bps = 1228.8e9,
     .flops_per_s = {[FR_FP32] = 46.1e12, [FR_FP16] = 184.6e12, [FR_BF16] = 92.3e12},
     .vector_flops_per_s = 23.1e12,
     .n_sms = 120,
     .source = "AMD Instinct MI100 data sheet, 2020",
     COMMON},
    {.name = "mi250x-die",
     .mem_bytes = 64ull << GiB_BITS,
     .mem_Bps = 1638.4e9,
     .flops_per_s = {[FR_FP32] = 47.85e12, [FR_FP16] = 191.5e12, [FR_BF16] = 191.5e12},
     .vector_flops_per_s = 23.95e12,
     .n_sms = 110,
     .source = "AMD Instinct MI250X data sheet, 2021, half of the two dies",
     COMMON},
    {.name = "mi210",
     .mem_bytes = 64ull << GiB_BITS,
     .mem_Bps = 1638.4e9,
     .flops_per_s = {[FR_FP32] = 45.3e12, [FR_FP16] = 181.0e12, [FR_BF16] = 181.0e12},
     .vector_flops_per_s = 22.6e12,
     .n_sms = 104,
     .source = "AMD Instinct MI210 data sheet, 2022",
     COMMON},
    {.name = "mi300a",
     .mem_bytes = 128ull << GiB_BITS,
     .mem_Bps = 5300e9,
     .flops_per_s =
         {[FR_FP32] = 122.6e12, [FR_TF32] = 490.3e12, [FR_FP16] = 980.6e12, [FR_BF16] = 980.6e12},
     .vector_flops_per_s = 122.6e12,
     .n_sms = 228,
     .source = "AMD Instinct MI300A data sheet, 2023",
     COMMON},
    {.name = "mi300x",
     .mem_bytes = 192ull << GiB_BITS,
     .mem_Bps = 5300e9,
     .flops_per_s =
         {[FR_FP32] = 163.4e12, [FR_TF32] = 653.7e12, [FR_FP16] = 1307.4e12, [FR_BF16] = 1307.4e12},
     .vector_flops_per_s = 163.4e12,
     .n_sms = 304,
     .source = "AMD Instinct MI300X data sheet, 2023",
     COMMON},
};

const struct fr_device_type *fr__amd_type_find(const char *name)
{
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (strcmp(types[i].name, name) == 0)
            return &types[i];
    return NULL;
}
