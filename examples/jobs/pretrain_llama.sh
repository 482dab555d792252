#!/bin/bash
# A launch script of Megatron-LM as one submits it: 4 machines of 8 GPUs, a Llama decoder of 8
# billion parameters. What it asks for:
#
#     forerun job show examples/jobs/pretrain_llama.sh
#     forerun simulate --job examples/jobs/pretrain_llama.sh -t "4x hgx-h100 via ib:400Gbps"
#SBATCH --nodes=4
#SBATCH --gpus-per-node=8

TP=${TP:-2}
PP=${PP:-2}
MICRO_BATCH=1
GLOBAL_BATCH=$((64 * SLURM_NNODES))

MODEL_ARGS=(
    --num-layers 32
    --hidden-size 4096
    --ffn-hidden-size 14336
    --num-attention-heads 32
    --group-query-attention
    --num-query-groups 8
    --seq-length 8192
    --max-position-embeddings 8192
    --position-embedding-type rope
    --normalization RMSNorm
    --swiglu
    --disable-bias-linear
    --untie-embeddings-and-output-weights
    --attention-dropout 0.0
    --hidden-dropout 0.0
    --vocab-size 128256 # of the tokenizer
)

TRAINING_ARGS=(
    --micro-batch-size $MICRO_BATCH
    --global-batch-size $GLOBAL_BATCH
    --train-iters 100000
    --lr 3e-4
    --lr-decay-style cosine
    --weight-decay 0.1
    --clip-grad 1.0
    --bf16
    --use-distributed-optimizer
    --overlap-grad-reduce
    --overlap-param-gather
)

if [ "$TP" -gt 1 ]; then
    TRAINING_ARGS+=(--sequence-parallel)
fi

torchrun --nproc_per_node $SLURM_GPUS_PER_NODE --nnodes $SLURM_NNODES pretrain_gpt.py \
    --tensor-model-parallel-size $TP --pipeline-model-parallel-size $PP \
    "${MODEL_ARGS[@]}" "${TRAINING_ARGS[@]}" \
    --data-path $DATA_PATH --save $CHECKPOINTS --log-interval 10
