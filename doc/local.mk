noinst_LTLIBRARIES += libdoc.la
libdoc_la_SOURCES = \

dist_doc_DATA += doc/overview.md doc/manual.md doc/topology.md doc/workloads.md doc/memory.md
dist_doc_DATA += doc/sweep.md doc/glossary.md doc/schedules.md doc/scheduling.md doc/large-models.md
dist_doc_DATA += doc/calibration.md doc/collectives.md
dist_doc_DATA += doc/measuring.md doc/recipes.md
dist_doc_DATA += doc/true.md doc/truth.md
dist_doc_DATA += doc/learning.md doc/fastt.md
dist_man_MANS += doc/forerun.1
EXTRA_DIST += examples/collectives/two-halves.txt examples/recipes/bucket-views.yaml
EXTRA_DIST += doc/README.md doc/pictures/house.svg doc/pictures/gnmt-head.png \
	doc/pictures/ten-tasks.png doc/pictures/ten-tasks.graph.svg doc/pictures/alexnet-split.png \
	doc/pictures/dgx1-v100.svg doc/pictures/gb200-nvl72.svg doc/pictures/mesh.svg \
	doc/pictures/resnet50.svg doc/pictures/schedules.png doc/pictures/six-schedules.png \
	doc/pictures/truth.png doc/pictures/learn.svg
EXTRA_DIST += doc/pictures/fit-all-reduce.png doc/pictures/fit-attention.png \
	doc/pictures/fit-conv-backward-data.png \
	doc/pictures/fit-conv-backward-filter.png doc/pictures/fit-conv-forward.png \
	doc/pictures/fit-elementwise.png doc/pictures/fit-embedding.png \
	doc/pictures/fit-layernorm.png doc/pictures/fit-matmul.png doc/pictures/fit-softmax.png
EXTRA_DIST += doc/pictures/steps-binomial.svg doc/pictures/steps-bruck.svg \
	doc/pictures/steps-chain.svg doc/pictures/steps-halving-doubling.svg \
	doc/pictures/steps-hierarchical-pairwise.svg doc/pictures/steps-hierarchical.svg \
	doc/pictures/steps-nvls.svg doc/pictures/steps-pairwise.svg doc/pictures/steps-pat.svg \
	doc/pictures/steps-ring.svg doc/pictures/steps-tree.svg
