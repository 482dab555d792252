noinst_LTLIBRARIES += libworkloads.la
libworkloads_la_SOURCES = \
	workloads/graph/formats.c workloads/graph/formats.h workloads/graph/formats_read.c workloads/load.c workloads/load.h \
	workloads/profile.h workloads/workloads.h \
	workloads/graph/builder.h workloads/graph/builder.c workloads/graph/builder_check.c \
	workloads/graph/check.c workloads/graph/elements.h workloads/graph/elements.c \
	workloads/graph/experts.h workloads/graph/experts.c workloads/graph/graph.c workloads/graph/infer_shape.h workloads/graph/infer_shape.c \
	workloads/graph/kinds.h workloads/graph/kinds.c workloads/graph/native.h \
	workloads/graph/native_edges.c workloads/graph/native_items.c workloads/graph/native_ops.c \
	workloads/graph/native_read.c workloads/graph/native_shape.c workloads/graph/native_write.c \
	workloads/graph/order.c workloads/graph/plain.h workloads/graph/plain.c \
	workloads/graph/rewriter.h workloads/graph/rewriter.c workloads/graph/shape.h \
	workloads/graph/shape.c workloads/graph/shape_check.c workloads/graph/totals.h \
	workloads/graph/totals.c \
	workloads/import/dax.c workloads/import/hf_config.c workloads/import/hf_families.h \
	workloads/import/hf_model.c workloads/import/import.h \
	workloads/import/pipedream.h workloads/import/pipedream.c workloads/import/pipedream_graph.c \
	workloads/import/pipedream_layers.c workloads/import/pipedream_parse.c \
	workloads/import/pipedream_profile.c workloads/import/stg.c workloads/import/task_files.h \
	workloads/import/task_files.c workloads/import/task_list.h workloads/import/task_list.c \
	workloads/import/tasks.c workloads/import/wfcommons.c \
	workloads/passes/autocast.h workloads/passes/autocast.c workloads/passes/fuse.h \
	workloads/passes/fuse.c workloads/passes/fuse_find.c workloads/passes/fuse_groups.c \
	workloads/passes/fuse_inside.c workloads/passes/fuse_parts.h workloads/passes/fuse_product.c workloads/passes/small_ops.c workloads/passes/small_ops.h \
	workloads/passes/gather.h workloads/passes/gather.c workloads/passes/gather_buckets.c \
	workloads/passes/gather_emit.c workloads/passes/gather_parts.h workloads/passes/gather_sets.c \
	workloads/passes/quantise.h workloads/passes/quantise.c workloads/passes/quantise_find.c \
	workloads/passes/quantise_parts.h \
	workloads/passes/keep_wide.h workloads/passes/keep_wide.c \
	workloads/passes/recompute.h workloads/passes/recompute.c workloads/passes/recompute_groups.h \
	workloads/passes/recompute_budget.h workloads/passes/recompute_budget.c workloads/passes/recompute_core.c workloads/passes/recompute_groups.c workloads/passes/recompute_modules.c workloads/passes/ring.h workloads/passes/ring.c \
	workloads/passes/ring_emit.c workloads/passes/ring_find.c workloads/passes/ring_parts.h \
	workloads/passes/shard.h workloads/passes/sharded.h workloads/passes/sharded.c \
	workloads/passes/training.h workloads/passes/training.c \
	workloads/passes/training_data.c workloads/passes/training_ops.c \
	workloads/passes/training_rules.c workloads/passes/training_weights.c workloads/passes/units.h \
	workloads/passes/units.c workloads/passes/tune.h workloads/passes/tune.c \
	workloads/passes/tune_adapters.c workloads/passes/tune_find.c workloads/passes/tune_parts.h \
	workloads/passes/tune_prompt.c workloads/passes/tune_read.c workloads/passes/untie.h workloads/passes/untie.c \
	workloads/passes/shard/annotate.c workloads/passes/shard/backward.c \
	workloads/passes/shard/derive.c workloads/passes/shard/emit.c workloads/passes/shard/exchange.c \
	workloads/passes/shard/experts.c workloads/passes/shard/forward.c \
	workloads/passes/shard/gradients.c workloads/passes/shard/grains.c \
	workloads/passes/shard/local.c workloads/passes/shard/move.c workloads/passes/shard/read.c \
	workloads/passes/shard/rules.h workloads/passes/shard/rules.c workloads/passes/shard/shard.c \
	workloads/passes/shard/sum.c workloads/passes/shard/walk.h \
	workloads/random/random_tasks.h workloads/random/random_tasks.c \
	workloads/zoo/alexnet.c workloads/zoo/bert.c workloads/zoo/decoder.h workloads/zoo/decoder.c \
	workloads/zoo/decoder_attention.c workloads/zoo/decoder_mixers.c workloads/zoo/decoder_vision.c workloads/zoo/densenet.c \
	workloads/zoo/gnmt.c \
	workloads/zoo/gpt.c workloads/zoo/inception.c workloads/zoo/lenet.c \
	workloads/zoo/llama.c workloads/zoo/neox.c workloads/zoo/net.c \
	workloads/zoo/nn.h workloads/zoo/nn.c workloads/zoo/nn_attention.h workloads/zoo/nn_attention.c \
	workloads/zoo/mmdit.c workloads/zoo/nn_encoder.h workloads/zoo/nn_encoder.c \
	workloads/zoo/nn_image.h workloads/zoo/nn_image.c workloads/zoo/nn_mlp.h workloads/zoo/nn_mlp.c \
	workloads/zoo/nn_moe.h workloads/zoo/nn_moe.c \
	workloads/zoo/nn_recurrent.h workloads/zoo/nn_recurrent.c workloads/zoo/nn_tf1.h \
	workloads/zoo/nn_tf1.c workloads/zoo/pattern.c workloads/zoo/resnet.c workloads/zoo/rnnlm.c \
	workloads/zoo/t5.c workloads/zoo/towers.c workloads/zoo/transformer.c workloads/zoo/vgg.c \
	workloads/zoo/vit.c workloads/zoo/whisper.c \
	workloads/zoo/zoo.h workloads/zoo/zoo.c
workload_tables = workloads/import/hf_family_table.c workloads/import/hf_ignored_table.c \
	workloads/zoo/model_table.c workloads/graph/format_table.c
nodist_libworkloads_la_SOURCES = $(workload_tables)
hf_facts = workloads/import/hf_family.schema.yaml workloads/import/hf_families.yaml
hf_ignored_facts = workloads/import/hf_ignored.schema.yaml workloads/import/hf_ignored.yaml
model_facts = workloads/zoo/model.schema.yaml workloads/zoo/models.yaml
format_facts = workloads/graph/format.schema.yaml workloads/graph/formats.yaml
workloads/graph/format_table.c: $(format_facts) base/facts/compile$(EXEEXT)
	$(AM_V_GEN)facts='$(format_facts)'; $(make_table)
workloads/zoo/model_table.c: $(model_facts) base/facts/compile$(EXEEXT)
	$(AM_V_GEN)facts='$(model_facts)'; $(make_table)
workloads/import/hf_family_table.c: $(hf_facts) base/facts/compile$(EXEEXT)
	$(AM_V_GEN)facts='$(hf_facts)'; $(make_table)
workloads/import/hf_ignored_table.c: $(hf_ignored_facts) base/facts/compile$(EXEEXT)
	$(AM_V_GEN)facts='$(hf_ignored_facts)'; $(make_table)
BUILT_SOURCES += $(workload_tables)
CLEANFILES += $(workload_tables)
EXTRA_DIST += $(hf_facts) $(hf_ignored_facts) $(model_facts) $(format_facts)
facts_DATA += workloads/graph/formats.yaml workloads/import/hf_families.yaml workloads/zoo/models.yaml
EXTRA_DIST += doc/workloads.md \
	examples/gnmt-head/README.md examples/gnmt-head/workload.yaml \
	examples/gnmt-head/ops.csv examples/gnmt-head/edges.csv examples/gnmt-head/times.csv \
	examples/layouts/README.md examples/layouts/mesh-tensorflow-transformer.csv \
	examples/layouts/one-weird-trick-alexnet.csv \
	examples/ten-tasks/workload.yaml examples/ten-tasks/ops.csv examples/ten-tasks/edges.csv \
	examples/ten-tasks/times.csv examples/ten-tasks/processors.yaml \
	examples/stages/README.md examples/stages/graph.txt
EXTRA_DIST += examples/tasks/README.md examples/tasks/heft.csv examples/tasks/graham.csv \
	examples/tasks/graham-shorter.csv examples/tasks/graham-fewer-edges.csv
EXTRA_DIST += examples/tasks/diamond.stg examples/tasks/diamond.dax examples/tasks/diamond-wfcommons.json
