torchrun --nnodes $NNODES --nproc_per_node 8 pretrain_gpt.py --num-layers 2 --hidden-size 64 \
 --num-attention-heads 4 --seq-length 128 --micro-batch-size $MBS --global-batch-size 64 --bf16 --vocab-size 1000 $EXTRA
