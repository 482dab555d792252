/* topo/device_types.c - the processors we know, by datasheet.
 *
 * Rates are dense peaks at boost clock, but for the K80. Two figures are no datasheet's:
 *   launch_s       host time to hand one op to the device, framework included. The launch alone
 *                  takes 2.6 us on an A100 (te42kyfo/gpu-benches, gpu-small-kernels, back to back);
 *                  an eager framework adds its own bookkeeping. We assume 10 us for the V100 and
 *                  P100 era and 6 us later; profiles and device files (calibrate/) override it.
 *   context_bytes  CUDA context with the handles of cuBLAS and cuDNN. We assume 450 MiB for every
 *                  type: reports say 274 MiB (pytorch pull request 86509) to 1 GiB (pytorch issue
 *                  28394) depending on how kernels are loaded more than on the GPU; see the manual.
 * mem_bytes of a GPU is what CUDA offers a program in all, less than the datasheet's round figure:
 * as nvidia-smi or, where that counts what the driver keeps, PyTorch's out-of-memory message has it.
 *
 * CPU peaks are cores x base clock x fp32 operations a cycle: 32 for two 256-bit or four 128-bit FMA
 * units, 64 for two of 512 bits.
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
    {.name = "k80-die",
     .is_gpu = true,
     .mem_bytes = 11441 * MIB,
     .mem_Bps = 240e9,
     .flops_per_s = {[FR_FP32] = 2.8e12},
     .vector_flops_per_s = 2.8e12,
     .n_sms = 13,
     .launch_s = OLD_LAUNCH_S,
     .context_bytes = CONTEXT_BYTES,
     .source =
         "NVIDIA Tesla K80 board specification BD-07317-001, 2015, halved: 5.6 Tflop/s at the base "
         "clock of 562 MHz (8.74 boosted, for which the two dies share 300 W), 480 GB/s; memory "
         "with error correction by nvidia-smi"},
    {.name = "p100-sxm2-16gb",
     .is_gpu = true,
     .mem_bytes = 16280 * MIB,
     .mem_Bps = 732e9,
     .flops_per_s = {[FR_FP32] = 10.6e12, [FR_FP16] = 21.2e12},
     .vector_flops_per_s = 10.6e12,
     .n_sms = 56,
     .launch_s = OLD_LAUNCH_S,
     .context_bytes = CONTEXT_BYTES,
     .source =
         "NVIDIA Tesla P100 datasheet, 2016 (NVLink model), no matrix units; memory by nvidia-smi"},
    {.name = "p100-pcie-16gb",
     .is_gpu = true,
     .mem_bytes = 16280 * MIB,
     .mem_Bps = 732e9,
     .flops_per_s = {[FR_FP32] = 9.519e12, [FR_FP16] = 19.038e12},
     .vector_flops_per_s = 9.519e12,
     .n_sms = 56,
     .launch_s = OLD_LAUNCH_S,
     .context_bytes = CONTEXT_BYTES,
     .source = "NVIDIA Tesla P100 datasheet, 2016 (PCIe model), at 1.328 GHz as "
               "sitar-lab/NeuSight's device_configs have it; memory as the SXM2 model"},
    {.name = "p4",
     .is_gpu = true,
     .mem_bytes = 7606 * MIB,
     .mem_Bps = 192e9,
     .flops_per_s = {[FR_FP32] = 5.5e12},
     .vector_flops_per_s = 5.5e12,
     .n_sms = 20,
     .launch_s = OLD_LAUNCH_S,
     .context_bytes = CONTEXT_BYTES,
     .source = "NVIDIA Tesla P4 datasheet, 2016: 2560 cores, 5.5 Tflop/s, 192 GB/s; memory by "
               "nvidia-smi"},
    {.name = "v100-sxm2-16gb",
     .is_gpu = true,
     .mem_bytes = 16160 * MIB,
     .mem_Bps = 900e9,
     .flops_per_s = {[FR_FP32] = 15.7e12, [FR_FP16] = 125e12},
     .vector_flops_per_s = 15.7e12,
     .n_sms = 80,
     .launch_s = OLD_LAUNCH_S,
     .context_bytes = CONTEXT_BYTES,
     .source = "NVIDIA Tesla V100 datasheet, 2018 (SXM2 model); memory by nvidia-smi"},
    {.name = "v100-sxm2-32gb",
     .is_gpu = true,
     .mem_bytes = 32510 * MIB,
     .mem_Bps = 900e9,
     .flops_per_s = {[FR_FP32] = 15.7e12, [FR_FP16] = 125e12},
     .vector_flops_per_s = 15.7e12,
     .n_sms = 80,
     .launch_s = OLD_LAUNCH_S,
     .context_bytes = CONTEXT_BYTES,
     .source = "NVIDIA Tesla V100 datasheet, 2018 (SXM2 model); memory by nvidia-smi"},
    {.name = "v100-sxm3-32gb",
     .is_gpu = true,
     .mem_bytes = 32510 * MIB,
     .mem_Bps = 900e9,
     .flops_per_s = {[FR_FP32] = 15.7e12, [FR_FP16] = 125e12},
     .vector_flops_per_s = 15.7e12,
     .n_sms = 80,
     .launch_s = OLD_LAUNCH_S,
     .context_bytes = CONTEXT_BYTES,
     .source =
         "NVIDIA DGX-2 datasheet, 2018: 2 Pflop/s in sixteen; the rest as the SXM2 model, our "
         "assumption; memory by nvidia-smi"},
    {.name = "v100-pcie-32gb",
     .is_gpu = true,
     .mem_bytes = 32510 * MIB,
     .mem_Bps = 900e9,
     .flops_per_s = {[FR_FP32] = 14.029e12, [FR_FP16] = 112e12},
     .vector_flops_per_s = 14.029e12,
     .n_sms = 80,
     .launch_s = OLD_LAUNCH_S,
     .context_bytes = CONTEXT_BYTES,
     .source = "NVIDIA Tesla V100 datasheet, 2018 (PCIe model), fp32 as sitar-lab/NeuSight's "
               "device_configs have it (1.37 GHz); memory as the SXM2 model"},
    {.name = "t4",
     .is_gpu = true,
     .mem_bytes = 15109 * MIB,
     .mem_Bps = 320e9,
     .flops_per_s = {[FR_FP32] = 8.141e12, [FR_FP16] = 65e12},
     .vector_flops_per_s = 8.141e12,
     .n_sms = 40,
     .launch_s = NEW_LAUNCH_S,
     .context_bytes = CONTEXT_BYTES,
     .source =
         "NVIDIA T4 datasheet, 2019; fp32 and bandwidth as sitar-lab/NeuSight's device_configs "
         "have them (1.59 GHz, which the card does not keep under load); memory by nvidia-smi"},
    {.name = "a100-pcie-40gb",
     .is_gpu = true,
     .mem_bytes = 40536 * MIB,
     .mem_Bps = 1555e9,
     .flops_per_s =
         {[FR_FP32] = 19.5e12, [FR_TF32] = 156e12, [FR_FP16] = 312e12, [FR_BF16] = 312e12},
     .vector_flops_per_s = 19.5e12,
     .n_sms = 108,
     .launch_s = NEW_LAUNCH_S,
     .context_bytes = CONTEXT_BYTES,
     .source = "NVIDIA A100 datasheet, 2021 (40 GB PCIe); memory as the SXM model"},
    {.name = "a100-pcie-80gb",
     .is_gpu = true,
     .mem_bytes = 81050 * MIB,
     .mem_Bps = 1935e9,
     .flops_per_s =
         {[FR_FP32] = 19.5e12, [FR_TF32] = 156e12, [FR_FP16] = 312e12, [FR_BF16] = 312e12},
     .vector_flops_per_s = 19.5e12,
     .n_sms = 108,
     .launch_s = NEW_LAUNCH_S,
     .context_bytes = CONTEXT_BYTES,
     .source = "NVIDIA A100 datasheet, 2021 (80 GB PCIe); memory as the SXM model"},
    {.name = "a100-sxm4-40gb",
     .is_gpu = true,
     .mem_bytes = 40536 * MIB,
     .mem_Bps = 1555e9,
     .flops_per_s =
         {[FR_FP32] = 19.5e12, [FR_TF32] = 156e12, [FR_FP16] = 312e12, [FR_BF16] = 312e12},
     .vector_flops_per_s = 19.5e12,
     .n_sms = 108,
     .launch_s = NEW_LAUNCH_S,
     .context_bytes = CONTEXT_BYTES,
     .source = "NVIDIA A100 datasheet, 2021 (40 GB SXM); memory by PyTorch, 39.59 GiB"},
    {.name = "a100-sxm4-80gb",
     .is_gpu = true,
     .mem_bytes = 81050 * MIB,
     .mem_Bps = 2039e9,
     .flops_per_s =
         {[FR_FP32] = 19.5e12, [FR_TF32] = 156e12, [FR_FP16] = 312e12, [FR_BF16] = 312e12},
     .vector_flops_per_s = 19.5e12,
     .n_sms = 108,
     .launch_s = NEW_LAUNCH_S,
     .context_bytes = CONTEXT_BYTES,
     .source = "NVIDIA A100 datasheet, 2021 (80 GB SXM); memory by PyTorch, 79.15 GiB"},
    {.name = "a40",
     .is_gpu = true,
     .mem_bytes = 46489 * MIB,
     .mem_Bps = 696e9,
     .flops_per_s =
         {[FR_FP32] = 37.4e12, [FR_TF32] = 74.8e12, [FR_FP16] = 149.7e12, [FR_BF16] = 149.7e12},
     .vector_flops_per_s = 37.4e12,
     .n_sms = 84,
     .launch_s = NEW_LAUNCH_S,
     .context_bytes = CONTEXT_BYTES,
     .source = "NVIDIA A40 datasheet, 2021; SMs and memory (45.4 GiB) by deviceQuery"},
    {.name = "h100-sxm5-80gb",
     .is_gpu = true,
     .mem_bytes = 81090 * MIB,
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
     .source =
         "NVIDIA H100 Tensor Core GPU Architecture white paper, 2023, table of SXM5 peaks; memory "
         "by PyTorch, 79.19 GiB"},
    {.name = "h200-sxm-141gb",
     .is_gpu = true,
     .mem_bytes = 143155 * MIB,
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
     .source =
         "NVIDIA H200 datasheet, 2024 (SXM): the H100's peaks at 4.8 TB/s; memory by PyTorch, "
         "139.80 GiB"},
    {.name = "gh200-96gb",
     .is_gpu = true,
     .mem_bytes = 97157 * MIB,
     .mem_Bps = 4000e9,
     .flops_per_s = {[FR_FP32] = 66.9e12,
                     [FR_TF32] = 494.7e12,
                     [FR_FP16] = 989.4e12,
                     [FR_BF16] = 989.4e12,
                     [FR_FP8] = 1978.9e12},
     .vector_flops_per_s = 66.9e12,
     .n_sms = 132,
     .launch_s = NEW_LAUNCH_S,
     .context_bytes = CONTEXT_BYTES,
     .source = "NVIDIA GH200 datasheet, 2024: 4 TB/s, peaks of the H100 SXM (which are finer "
               "here); memory by "
               "PyTorch (Lightning-AI/litgpt issue 1892)"},
    {.name = "b200-sxm-180gb",
     .is_gpu = true,
     .mem_bytes = 182630 * MIB,
     .mem_Bps = 8000e9,
     .flops_per_s = {[FR_FP32] = 80e12,
                     [FR_TF32] = 1125e12,
                     [FR_FP16] = 2250e12,
                     [FR_BF16] = 2250e12,
                     [FR_FP8] = 4500e12},
     .vector_flops_per_s = 80e12,
     .n_sms = 148,
     .launch_s = NEW_LAUNCH_S,
     .context_bytes = CONTEXT_BYTES,
     .source =
         "NVIDIA Blackwell architecture technical brief and HGX B200 datasheet, 2024: the dense "
         "half of the sparse peaks, 8 TB/s; SMs by deviceQuery; memory by PyTorch, 178.35 GiB"},
    {.name = "gb200-186gb",
     .is_gpu = true,
     .mem_bytes = 188733 * MIB,
     .mem_Bps = 8000e9,
     .flops_per_s = {[FR_FP32] = 80e12,
                     [FR_TF32] = 1250e12,
                     [FR_FP16] = 2500e12,
                     [FR_BF16] = 2500e12,
                     [FR_FP8] = 5000e12},
     .vector_flops_per_s = 80e12,
     .n_sms = 152,
     .launch_s = NEW_LAUNCH_S,
     .context_bytes = CONTEXT_BYTES,
     .source =
         "NVIDIA GB200 NVL72 datasheet, 2024, a 72nd of the rack, the dense half of the sparse "
         "peaks; SMs by deviceQuery; memory by PyTorch, 184.31 GiB"},
    {.name = "l4",
     .is_gpu = true,
     .mem_bytes = 23034 * MIB,
     .mem_Bps = 300e9,
     .flops_per_s = {[FR_FP32] = 31.334e12,
                     [FR_TF32] = 60.5e12,
                     [FR_FP16] = 121e12,
                     [FR_BF16] = 121e12,
                     [FR_FP8] = 242.5e12},
     .vector_flops_per_s = 31.334e12,
     .n_sms = 58,
     .launch_s = NEW_LAUNCH_S,
     .context_bytes = CONTEXT_BYTES,
     .source = "NVIDIA L4 datasheet, 2023, the dense half of the sparse peaks; fp32 as "
               "sitar-lab/NeuSight's device_configs have it (2.04 GHz); SMs by deviceQuery; memory "
               "by nvidia-smi"},
    {.name = "l40s",
     .is_gpu = true,
     .mem_bytes = 46068 * MIB,
     .mem_Bps = 864e9,
     .flops_per_s = {[FR_FP32] = 91.6e12,
                     [FR_TF32] = 183e12,
                     [FR_FP16] = 362.05e12,
                     [FR_BF16] = 362.05e12,
                     [FR_FP8] = 733e12},
     .vector_flops_per_s = 91.6e12,
     .n_sms = 142,
     .launch_s = NEW_LAUNCH_S,
     .context_bytes = CONTEXT_BYTES,
     .source = "NVIDIA L40S datasheet, 2023, dense; SMs by deviceQuery; memory by nvidia-smi"},
    {.name = "2x-xeon-e5-2686v4",
     .mem_bytes = 488 * GIB,
     .mem_Bps = 153.6e9,
     .flops_per_s = {[FR_FP32] = 2.3552e12},
     .vector_flops_per_s = 2.3552e12,
     .n_sms = 32,
     .source = "AWS: 64 virtual, that is 32 real cores at 2.3 GHz, 488 GiB on p3.16xlarge (732 on "
               "p2.16xlarge); four DDR4-2400 channels a socket, as the E5-2698 v4 (Intel ARK)"},
    {.name = "2x-xeon-e5-2698v4",
     .mem_bytes = 512 * GIB,
     .mem_Bps = 153.6e9,
     .flops_per_s = {[FR_FP32] = 2.816e12},
     .vector_flops_per_s = 2.816e12,
     .n_sms = 40,
     .source = "Intel ARK E5-2698 v4: 20 cores, 2.2 GHz, four DDR4-2400 channels a socket; "
               "memory by the NVIDIA DGX-1 datasheet"},
    {.name = "2x-xeon-8168",
     .mem_bytes = 1536 * GIB,
     .mem_Bps = 256e9,
     .flops_per_s = {[FR_FP32] = 8.2944e12},
     .vector_flops_per_s = 8.2944e12,
     .n_sms = 48,
     .source =
         "Intel ARK Xeon Platinum 8168: 24 cores, 2.7 GHz, two 512-bit FMA units, six DDR4-2666 "
         "channels a socket; memory by the NVIDIA DGX-2 datasheet"},
    {.name = "2x-epyc-7742",
     .mem_bytes = 2048 * GIB,
     .mem_Bps = 409.6e9,
     .flops_per_s = {[FR_FP32] = 9.216e12},
     .vector_flops_per_s = 9.216e12,
     .n_sms = 128,
     .source = "AMD EPYC 7742 data sheet: 64 cores, 2.25 GHz, eight DDR4-3200 channels a socket; "
               "memory by the NVIDIA DGX A100 640GB datasheet"},
    {.name = "2x-xeon-8480c",
     .mem_bytes = 2048 * GIB,
     .mem_Bps = 614.4e9,
     .flops_per_s = {[FR_FP32] = 14.336e12},
     .vector_flops_per_s = 14.336e12,
     .n_sms = 112,
     .source =
         "NVIDIA DGX H100 user guide: two 8480C of 56 cores, 2.0 GHz, 2 TB; two 512-bit FMA units, "
         "eight DDR5-4800 channels a socket (Intel ARK, Xeon Platinum 8480+)"},
    {.name = "2x-xeon-8570",
     .mem_bytes = 2048 * GIB,
     .mem_Bps = 716.8e9,
     .flops_per_s = {[FR_FP32] = 15.0528e12},
     .vector_flops_per_s = 15.0528e12,
     .n_sms = 112,
     .source =
         "NVIDIA DGX B200 user guide: two 8570 of 56 cores, 2.1 GHz, 2 TB; two 512-bit FMA units, "
         "eight DDR5-5600 channels a socket (Intel ARK, Xeon Platinum 8570)"},
    {.name = "2x-grace",
     .mem_bytes = 960 * GIB,
     .mem_Bps = 1024e9,
     .flops_per_s = {[FR_FP32] = 14.2848e12},
     .vector_flops_per_s = 14.2848e12,
     .n_sms = 144,
     .source =
         "NVIDIA GB200 NVL72 datasheet, 2024, an 18th of the rack: 72 cores, 480 GB and 512 GB/s a "
         "Grace; four 128-bit FMA units at 3.1 GHz (NVIDIA Grace data sheet)"},
    {.name = "4x-grace",
     .mem_bytes = 480 * GIB,
     .mem_Bps = 2048e9,
     .flops_per_s = {[FR_FP32] = 28.5696e12},
     .vector_flops_per_s = 28.5696e12,
     .n_sms = 288,
     .source =
         "NVIDIA GH200 datasheet, 2024: 72 cores, 120 GB (the smallest) and 512 GB/s a Grace; four "
         "128-bit FMA units at 3.1 GHz (NVIDIA Grace data sheet)"},
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
