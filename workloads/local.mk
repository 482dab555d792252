noinst_LTLIBRARIES += libworkloads.la
libworkloads_la_SOURCES = workloads/workloads.h \
	workloads/builder.h workloads/autocast.h workloads/autocast.c workloads/builder.c workloads/builder_check.c workloads/graph.c \
	workloads/kinds.c workloads/names.h workloads/names.c workloads/order.c \
	workloads/totals.c workloads/graph_check.c \
	workloads/load.c workloads/import.h workloads/native.h workloads/native_read.c \
	workloads/native_ops.c workloads/native_write.c workloads/import_pipedream.c \
	workloads/pipedream.h workloads/pipedream_parse.c workloads/pipedream_layers.c \
	workloads/pipedream_graph.c \
	workloads/nn.h workloads/nn.c workloads/nn_image.h workloads/nn_image.c \
	workloads/training.c workloads/zoo.h workloads/zoo.c \
	workloads/model_lenet.c workloads/model_alexnet.c workloads/model_vgg.c \
	workloads/model_resnet.h workloads/model_resnet.c workloads/model_wresnet.c \
	workloads/model_inception.c workloads/model_densenet.c \
	workloads/model_gpt.c \
	workloads/nn_recurrent.h workloads/nn_recurrent.c workloads/model_rnnlm.c \
	workloads/model_gnmt.c workloads/nn_attention.h workloads/nn_attention.c \
	workloads/model_transformer.c workloads/model_bert.c workloads/model_llama.h \
	workloads/model_llama.c workloads/nn_moe.h workloads/nn_moe.c workloads/model_mixtral.c
EXTRA_DIST += doc/workloads.md \
	examples/gnmt-head/README.md examples/gnmt-head/workload.yaml \
	examples/gnmt-head/ops.csv examples/gnmt-head/edges.csv examples/gnmt-head/times.csv \
	examples/ten-tasks/workload.yaml examples/ten-tasks/ops.csv examples/ten-tasks/edges.csv \
	examples/ten-tasks/times.csv examples/ten-tasks/processors.yaml
