#!/bin/sh
# calibrate/refit.sh FORERUN MICROBENCH DIRECTORY [DEVICE]... - fits the shipped device files anew, all
# or those named, from the CSV files of MICROBENCH (doc/calibration.md) into DIRECTORY; systems
# (doc/collectives.md) into DIRECTORY/../systems.
#
# Of each class and format the first GPU named with enough rows is taken, so those that were measured
# without a framework's launch stand first.
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
fit l4 --gpu "NVIDIA L4"
fit l40s --gpu "NVIDIA L40S"
fit p100-pcie-16gb --gpu "Tesla P100-PCIE-16GB" --gpu "NVIDIA Tesla P100"
fit p4 --gpu "Tesla P4"
fit t4 --gpu "Tesla T4" --gpu "NVIDIA T4"
fit v100-pcie-32gb --gpu "Tesla V100-PCIE-32GB"
fit v100-sxm2-16gb --gpu "NVIDIA V100"

# Collectives: the name in the data's `system` column, the file.
fit_system() {
    case $wanted in
    "  " | *" $2 "*) ;;
    *) return 0 ;;
    esac
    echo "$2"
    "$forerun" calibrate fit -q "$data/collectives.csv" --system "$1" -o "$out/../systems/$2.yaml"
}

fit_system aic_a100_sxm a100-nvswitch
fit_system aic_b200_sxm b200-nvswitch
fit_system aic_h100_sxm h100-nvswitch
