torchrun pretrain_gpt.py --num-layers 2 --hidden-size 64 --bf16 \
    --num-attention-haeds 4
