# What other programs found, and the scripts that asked them.
EXTRA_DIST += tests/oracles/collective_rows.py tests/oracles/fastt_table.py \
	tests/oracles/gen_simgrid.py tests/oracles/interval_terms.py tests/oracles/large_report.py tests/oracles/layout_orders.py \
	tests/oracles/large_rows.py tests/oracles/row_rules.py tests/oracles/torch_memory.py \
	tests/oracles/torchvision.csv \
	tests/oracles/training_rows.py tests/oracles/transformers_torch.py \
	tests/oracles/torch/memory.csv tests/oracles/torch/parallel.csv tests/oracles/torch/README.md \
	tests/oracles/torch_parallel.py tests/oracles/nccl_log/madeup.txt \
	tests/golden/simgrid
