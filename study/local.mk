noinst_LTLIBRARIES += libstudy.la
libstudy_la_SOURCES = \
	study/answer.c study/cluster.c study/collective_time.h study/collective_time.c study/comm.h \
	study/comm.c study/comm_types.c study/difference.h study/from_file.h study/from_file.c \
	study/host.h study/host.c study/inputs.h study/inputs.c \
	study/interference.h study/interference.c study/learn.h study/learn.c study/lending.h \
	study/links.c study/loading.h study/loading.c study/peak.c study/question.c study/rates.c \
	study/recipe.h study/recipe.c study/recipe_names.h study/recipe_names.c study/recipes.h \
	study/record.h study/record.c study/recut.h study/recut.c study/search.h \
	study/seeds.c study/sensitivity.c study/session.h study/session.c study/setting.c study/slow.h \
	study/slow.c study/software.h study/software.c study/staging.h study/staging.c study/study.h \
	study/sweep.h study/uncertainty.c study/validate.h study/variation.h study/variation.c \
	study/warnings.c \
	study/ask/advice.h study/ask/advice.c study/ask/adviser.h study/ask/ask.c study/ask/machines.c \
	study/ask/options.c study/ask/trial.c \
	study/difference/asked.c study/difference/difference.c study/difference/parts.c \
	study/interval/anchor.h study/interval/anchor.c study/interval/contradiction.h \
	study/interval/contradiction.c study/interval/cost_error.h study/interval/cost_error.c \
	study/grown.h study/grown.c study/interval/interval.h \
	study/interval/interval.c study/interval/missed_kind.h study/interval/missed_kind.c \
	study/interval/update.h \
	study/interval/measured.h study/interval/measured.c study/interval/terms.h \
	study/interval/terms.c \
	study/search/axes.c study/search/block.h study/search/block.c study/search/block_bytes.c \
	study/search/clusters.c study/search/coarse.c study/search/coarse_bytes.c study/search/flags.c \
	study/search/frontier.c study/search/job.c study/search/layout.c study/search/match.c \
	study/search/memory.c \
	study/search/mesh.c study/search/pair.c study/search/probe.c study/search/referee.c \
	study/search/run.c study/search/search.h study/search/space.c \
	study/store/csv.c study/store/digest.h study/store/digest.c study/store/row.h study/store/row.c \
	study/store/sentences.c study/store/sqlite.c study/store/store.h study/store/store.c \
	study/sweep/grid.c study/sweep/inputs.c study/sweep/nics.c study/sweep/price.c study/sweep/run.c \
	study/sweep/scaling.c study/sweep/state.h study/sweep/summary.c \
	study/validate/anchored.h study/validate/anchored.c study/validate/rows.h study/validate/rows.c \
	study/validate/summary.h study/validate/summary.c study/validate/validate.c
nodist_libstudy_la_SOURCES = study/recipes/texts.c

# The shipped recipes, compiled in as text and installed.
recipe_files = study/recipes/deepspeed.yaml \
	study/recipes/deepspeed-zero3.yaml \
	study/recipes/deepspeed-zero3-2021.yaml \
	study/recipes/llm-foundry.yaml \
	study/recipes/megatron-lm.yaml \
	study/recipes/mxnet-horovod.yaml \
	study/recipes/nvidia-apex.yaml \
	study/recipes/nvidia-gnmt.yaml \
	study/recipes/nvidia-mxnet-fp16.yaml \
	study/recipes/nvidia-paddle-bert.yaml \
	study/recipes/nvidia-pytorch-bert.yaml \
	study/recipes/nvidia-squad-amp.yaml \
	study/recipes/nvidia-squad-fp32.yaml \
	study/recipes/nvidia-tf-bert.yaml \
	study/recipes/nvidia-transformer.yaml \
	study/recipes/oneflow.yaml \
	study/recipes/pytorch-compile.yaml \
	study/recipes/pytorch-ddp.yaml \
	study/recipes/synchronous.yaml \
	study/recipes/synchronous-overlap.yaml \
	study/recipes/tf-horovod.yaml \
	study/recipes/tf-horovod-xla.yaml \
	study/recipes/tf-slim.yaml \
	study/recipes/tf1.yaml \
	study/recipes/torchtitan.yaml
study/recipes/texts.c: $(recipe_files) study/recipes/texts.awk
	@$(MKDIR_P) study/recipes
	$(AM_V_GEN)cd $(srcdir) && LC_ALL=C $(AWK) -f study/recipes/texts.awk $(recipe_files) \
	  > $(abs_builddir)/study/recipes/texts.c.new
	$(AM_V_at)mv study/recipes/texts.c.new $@
BUILT_SOURCES += study/recipes/texts.c
CLEANFILES += study/recipes/texts.c
EXTRA_DIST += $(recipe_files) study/recipes/texts.awk
recipesdir = $(pkgdatadir)/recipes
recipes_DATA = $(recipe_files)
