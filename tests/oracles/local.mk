# What other programs found, and the scripts that asked them.
EXTRA_DIST += tests/oracles/plain_layouts.py \
	tests/oracles/collective_rows.py tests/oracles/fastt_table.py \
	tests/oracles/gen_simgrid.py tests/oracles/host_times.py tests/oracles/interval_page.py \
	tests/oracles/job_truth.py \
	tests/oracles/interval_study.py tests/oracles/interval_terms.py \
	tests/oracles/large_report.py tests/oracles/layout_orders.py \
	tests/oracles/layout_random.py tests/oracles/interval_model.py \
	tests/oracles/length_variation.py \
	tests/oracles/large_rows.py tests/oracles/opened_rows.py tests/oracles/row_rules.py tests/oracles/torch_memory.py \
	tests/oracles/torch_tuning.py \
	tests/oracles/torchvision.csv \
	tests/oracles/training_rows.py tests/oracles/transformers_torch.py \
	tests/oracles/torch/memory.csv tests/oracles/torch/parallel.csv tests/oracles/torch/README.md \
	tests/oracles/torch_parallel.py tests/oracles/nccl_log/madeup.txt \
	tests/golden/simgrid tests/golden/facts

# Searches beside what they stand for: random layouts coarse and op by op (LAYOUTS of them, from
# SEED on), and the order of published layouts (TRAINING: the table of steps).
LAYOUTS = 200
SEED = 1
TRAINING = $(srcdir)/../shared/data/measured/training.csv
truth-layouts: forerun
	python3 $(srcdir)/tests/oracles/layout_random.py ./forerun -n $(LAYOUTS) -s $(SEED) -v
truth-orders: forerun
	python3 $(srcdir)/tests/oracles/large_rows.py $(TRAINING) | \
	  awk -F- 'NR == 1 || /^(MEG|LMS|BSA|LMD|LMX)-/' >orders.csv
	./forerun validate orders.csv --json >orders.json
	python3 $(srcdir)/tests/oracles/layout_orders.py orders.csv orders.json -v
.PHONY: truth-layouts truth-orders
