noinst_LTLIBRARIES += libworkloads.la
libworkloads_la_SOURCES = workloads/workloads.h \
	workloads/builder.h workloads/builder.c workloads/builder_check.c workloads/graph.c \
	workloads/kinds.c workloads/names.h workloads/names.c workloads/order.c \
	workloads/totals.c workloads/graph_check.c \
	workloads/nn.h workloads/nn.c workloads/training.c workloads/zoo.h workloads/zoo.c \
	workloads/model_lenet.c workloads/model_alexnet.c workloads/model_vgg.c \
	workloads/model_resnet.c workloads/model_gpt.c
