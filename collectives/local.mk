noinst_LTLIBRARIES += libcollectives.la
libcollectives_la_SOURCES = \
	collectives/collectives.h collectives/grid.c collectives/grid.h collectives/options.c \
	collectives/options.h collectives/rounds.c collectives/rounds.h \
	collectives/algorithms/binomial.c collectives/algorithms/bruck.c \
	collectives/algorithms/bucket.c collectives/algorithms/chain.c \
	collectives/algorithms/custom.c collectives/algorithms/custom.h \
	collectives/algorithms/custom_file.c collectives/algorithms/custom_file.h \
	collectives/algorithms/direct.c collectives/algorithms/halving.c \
	collectives/algorithms/hierarchical.c collectives/algorithms/in_switch.c \
	collectives/algorithms/list.c collectives/algorithms/neighbour.c \
	collectives/algorithms/pairwise.c collectives/algorithms/pairwise_nodes.c \
	collectives/algorithms/pat.c collectives/algorithms/ring.c collectives/algorithms/schedule.c \
	collectives/algorithms/schedule.h collectives/algorithms/schedule_check.c \
	collectives/algorithms/tree.c \
	collectives/nccl/choice.c collectives/nccl/comm.h collectives/nccl/constants.c \
	collectives/nccl/constants.h collectives/nccl/from_topo.c collectives/nccl/from_topo.h \
	collectives/nccl/from_xml.c collectives/nccl/from_xml.h collectives/nccl/levels.c \
	collectives/nccl/measured.c collectives/nccl/measured.h collectives/nccl/model.c \
	collectives/nccl/nets.c collectives/nccl/paths.c collectives/nccl/search.c \
	collectives/nccl/system.c collectives/nccl/system.h collectives/nccl/trees.c \
	collectives/nccl/trees.h collectives/nccl/try.h collectives/nccl/tuner.c \
	collectives/nccl/tuner.h
