dist_doc_DATA += doc/overview.md doc/manual.md doc/topology.md doc/workloads.md doc/memory.md
dist_doc_DATA += doc/sweep.md doc/search.md doc/glossary.md doc/schedules.md doc/scheduling.md doc/large-models.md doc/fine-tuning.md
dist_doc_DATA += doc/calibration.md doc/collectives.md
dist_doc_DATA += doc/job-files.md doc/measuring.md doc/recipes.md doc/cookbook.md doc/embedding.md doc/extending.md
dist_doc_DATA += doc/trust.md doc/power.md doc/formats.md
EXTRA_DIST += examples/formats/mxfp8-wide-wgrad.yaml
evidencedir = $(docdir)/evidence
dist_evidence_DATA = doc/evidence/kernels.md doc/evidence/ranges.md doc/evidence/recipes.md \
	doc/evidence/steps.md
dist_doc_DATA += doc/learning.md doc/fastt.md
dist_man_MANS += doc/forerun.1

# A page a command and the shells' completions, from the command's own tables.
command_pages = doc/man/forerun-simulate.1 doc/man/forerun-compare.1 doc/man/forerun-diff.1 \
	doc/man/forerun-explain.1 doc/man/forerun-sweep.1 doc/man/forerun-search.1 \
	doc/man/forerun-learn.1 doc/man/forerun-fit.1 doc/man/forerun-job.1 \
	doc/man/forerun-comm.1 doc/man/forerun-topo.1 doc/man/forerun-graph.1 \
	doc/man/forerun-schedule.1 doc/man/forerun-validate.1 doc/man/forerun-reproduce.1 \
	doc/man/forerun-calibrate.1 doc/man/forerun-recipe.1 \
	doc/man/forerun-completion.1
man_MANS = $(command_pages)
bashcompletiondir = $(datadir)/bash-completion/completions
bashcompletion_DATA = doc/completion/forerun
zshcompletiondir = $(datadir)/zsh/site-functions
zshcompletion_DATA = doc/completion/_forerun
CLEANFILES += $(command_pages) $(bashcompletion_DATA) $(zshcompletion_DATA)
$(command_pages): forerun$(EXEEXT)
	$(AM_V_GEN)$(MKDIR_P) doc/man && page=`basename $@ .1` && \
	  ./forerun$(EXEEXT) help --man `echo $$page | sed 's/^forerun-//'` >$@.tmp && mv $@.tmp $@
doc/completion/forerun: forerun$(EXEEXT)
	$(AM_V_GEN)$(MKDIR_P) doc/completion && \
	  ./forerun$(EXEEXT) completion bash >$@.tmp && mv $@.tmp $@
doc/completion/_forerun: forerun$(EXEEXT)
	$(AM_V_GEN)$(MKDIR_P) doc/completion && \
	  ./forerun$(EXEEXT) completion zsh >$@.tmp && mv $@.tmp $@

# The examples that the pages name, as "cd $(pkgdatadir)" finds them.
install-data-hook:
	cd $(srcdir) && find examples -type f | while read -r file; do \
	  $(MKDIR_P) "$(DESTDIR)$(pkgdatadir)/`dirname $$file`" && \
	  $(INSTALL_DATA) "$$file" "$(DESTDIR)$(pkgdatadir)/$$file" || exit 1; \
	done
uninstall-hook:
	rm -rf "$(DESTDIR)$(pkgdatadir)/examples"
EXTRA_DIST += examples/collectives/two-halves.txt examples/jobs/pretrain_llama.sh \
	examples/recipes/bucket-views.yaml \
	examples/recipes/channels-last.yaml \
	examples/recipes/compiled-images.yaml examples/recipes/steps.csv \
	examples/searches/README.md
EXTRA_DIST += doc/README.md doc/pictures/house.svg doc/pictures/gnmt-head.png \
	doc/pictures/ten-tasks.png doc/pictures/ten-tasks.graph.svg doc/pictures/alexnet-split.png \
	doc/pictures/dgx1-v100.svg doc/pictures/gb200-nvl72.svg doc/pictures/mesh.svg \
	doc/pictures/resnet50.svg doc/pictures/schedules.png doc/pictures/six-schedules.png \
	doc/pictures/truth.png doc/pictures/trust.png doc/pictures/learn.svg
EXTRA_DIST += doc/pictures/fit-all-reduce.png doc/pictures/fit-attention.png \
	doc/pictures/fit-conv-backward-data.png \
	doc/pictures/fit-conv-backward-filter.png doc/pictures/fit-conv-forward.png \
	doc/pictures/fit-elementwise.png doc/pictures/fit-embedding.png \
	doc/pictures/fit-layernorm.png doc/pictures/fit-matmul.png doc/pictures/fit-softmax.png
EXTRA_DIST += doc/pictures/steps-binomial.svg doc/pictures/steps-bruck.svg \
	doc/pictures/steps-bucket.svg doc/pictures/steps-direct.svg \
	doc/pictures/steps-neighbour-exchange.svg doc/pictures/steps-sharp.svg \
	doc/pictures/steps-two-level.svg \
	doc/pictures/steps-chain.svg doc/pictures/steps-halving-doubling.svg \
	doc/pictures/steps-hierarchical-pairwise.svg doc/pictures/steps-hierarchical.svg \
	doc/pictures/steps-nvls.svg doc/pictures/steps-pairwise.svg doc/pictures/steps-shift.svg doc/pictures/steps-pat.svg \
	doc/pictures/steps-ring.svg doc/pictures/steps-tree.svg
