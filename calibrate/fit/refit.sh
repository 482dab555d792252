#!/bin/sh
# calibrate/fit/refit.sh FORERUN MICROBENCH DIRECTORY [DEVICE]... - fits the shipped device files
# anew, all or those named, from the CSV files of MICROBENCH (doc/calibration.md) into DIRECTORY;
# systems (doc/collectives.md) into DIRECTORY/../systems.
#
# Of each class and format the first GPU named with enough rows is taken, so those that were
# measured without a framework's launch stand first.
set -eu
forerun=$1 data=$2 out=$3
shift 3
wanted=" $* "

fit() {
    device=$1
    shift
    case $wanted in
    "  " | *" $device "*) ;;
    *) return 0 ;;
    esac
    echo "$device"
    "$forerun" calibrate fit -q "$data/gemm.csv" "$data/conv.csv" "$data/other_kernels.csv" \
        -d "$device" "$@" -o "$out/$device.yaml"
}

fit a100-pcie-40gb --gpu "NVIDIA A100-PCIE-40GB"
fit a100-pcie-80gb --gpu "NVIDIA A100 80GB PCIe"
fit a100-sxm4-80gb --gpu "NVIDIA A100-SXM4-80GB" --gpu "NVIDIA A100 80GB"
fit a40 --gpu "NVIDIA A40"
fit b200-sxm-180gb --gpu "NVIDIA B200"
fit gb200-186gb --gpu "NVIDIA GB200"
fit h100-sxm5-80gb --gpu "NVIDIA H100 80GB HBM3" --gpu "NVIDIA H100"
fit h200-sxm-141gb --gpu "NVIDIA H200"
fit l4 --gpu "NVIDIA L4"
fit l40s --gpu "NVIDIA L40S"
fit p100-pcie-16gb --gpu "Tesla P100-PCIE-16GB" --gpu "NVIDIA Tesla P100"
fit p4 --gpu "Tesla P4"
fit t4 --gpu "Tesla T4" --gpu "NVIDIA T4"
fit v100-pcie-32gb --gpu "Tesla V100-PCIE-32GB"
fit v100-sxm2-16gb --gpu "NVIDIA V100"

# Systems: the file, the name in the data's `system` column, the data.
fit_system() {
    file=$1 name=$2
    shift 2
    case $wanted in
    "  " | *" $file "*) ;;
    *) return 0 ;;
    esac
    echo "$file"
    "$forerun" calibrate fit -q "$@" --system "$name" -o "$out/../systems/$file.yaml"
}
chosen=$(mktemp -d)
trap 'rm -rf "$chosen"' EXIT

# One setting of several that were measured: they differ by more than the machine does.
{
    head -n 1 "$data/collectives.csv"
    grep '^[^,]*aws-ofi-nccl 1.13.0[^,]*,alps_gh200,.*default environment' "$data/collectives.csv"
} >"$chosen/alps.csv"
# GPU i of a DGX-1 has NVLinks to those of its four, and to i +- 4: the source does not say which
# link a pair has.
awk -F, -v OFS=, 'FNR == 1 { print; next }
    $2 == "tartan_dgx1_p100" && $6 ~ /^NVLink1/ {
        from = substr($4, 4); to = substr($5, 4)
        near = int(from / 4) == int(to / 4) || from - to == 4 || to - from == 4
        $6 = near ? "NVLink1" : "PCIe3 (no NVLink between the two)"
        print; next
    }
    $2 == "tartan_dgx1_p100" { print }' "$data/p2p.csv" >"$chosen/dgx1.csv"

fit_system a100-dgx vidur_a100_dgx "$data/collectives.csv" "$data/p2p.csv"
fit_system a100-nvswitch aic_a100_sxm "$data/collectives.csv"
fit_system a100-pairs vidur_a100_pairwise_nvlink "$data/p2p.csv"
fit_system a40-pairs vidur_a40_pairwise_nvlink "$data/p2p.csv"
fit_system b200-infiniband vultr_hgx_b200 "$data/collectives.csv"
fit_system b200-nvswitch aic_b200_sxm "$data/collectives.csv"
fit_system dgx1-p100 tartan_dgx1_p100 "$chosen/dgx1.csv"
fit_system gb200-nvswitch aic_gb200 "$data/collectives.csv"
fit_system gh200-slingshot alps_gh200 "$chosen/alps.csv"
fit_system h100-nvswitch aic_h100_sxm "$data/collectives.csv"
fit_system p100-edr tartan_summitdev "$data/p2p.csv"
