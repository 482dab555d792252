dist_doc_DATA += doc/manual.md doc/topology.md doc/workloads.md doc/memory.md
dist_doc_DATA += doc/sweep.md
dist_doc_DATA += doc/calibration.md doc/collectives.md
dist_doc_DATA += doc/measuring.md
dist_doc_DATA += doc/truth.md
dist_man_MANS += doc/forerun.1
EXTRA_DIST += doc/README.md doc/pictures/gnmt-head.png \
	doc/pictures/dgx1-v100.svg doc/pictures/gb200-nvl72.svg \
	doc/pictures/resnet50.svg doc/pictures/truth.png
