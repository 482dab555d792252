noinst_LTLIBRARIES += libstudy.la
libstudy_la_SOURCES = \
	study/owned_record.h study/owned_record.c study/study.h \
	study/advice/advice.h study/advice/advice.c study/advice/adviser.h study/advice/ask.c \
	study/advice/machines.c study/advice/options.c study/advice/trial.c \
	study/answer/answer.c study/answer/cluster.c study/answer/decided_figures.c \
	study/answer/figures.h study/answer/figures.c study/answer/learn.h study/answer/learn.c \
	study/answer/learn_figures.h study/answer/learn_figures.c study/answer/stage_figures.h \
	study/answer/stage_figures.c study/answer/links.c \
	study/answer/cuts.c study/answer/cuts.h study/answer/peak.c \
	study/answer/power.c study/answer/rates.c \
	study/answer/record.h study/answer/record.c \
	study/answer/recut.h study/answer/recut.c study/answer/seeds.c study/answer/sensitivity.c \
	study/answer/staging.h study/answer/staging.c study/answer/uncertainty.c \
	study/answer/warnings.c \
	study/comm/comm.h study/comm/comm.c study/comm/figures.h study/comm/figures.c \
	study/comm/types.c \
	study/difference/asked.c study/difference/difference.h study/difference/difference.c \
	study/difference/figures.h study/difference/figures.c study/difference/parts.c \
	study/explain/explain.c study/explain/explanation.h study/explain/figures.h \
	study/explain/figures.c study/explain/kept.h \
	study/explain/layout_mesh.c study/explain/layout_parts.h study/explain/layout_run.h \
	study/explain/layout_run.c study/explain/layout_watch.c \
	study/explain/step_products.c study/explain/step_products.h \
	study/interval/anchor.h study/interval/anchor.c study/interval/contradiction.h \
	study/interval/contradiction.c study/interval/cost_error.h study/interval/cost_error.c \
	study/interval/interval.h study/interval/interval.c study/interval/measured.h \
	study/interval/measured.c study/interval/missed_kind.h study/interval/missed_kind.c \
	study/interval/most_likely.h study/interval/most_likely.c \
	study/interval/normal.h study/interval/normal.c study/interval/priors.h \
	study/interval/priors.c \
	study/interval/terms.h study/interval/terms.c study/interval/update.h \
	study/layouts/axes.c study/layouts/block.h study/layouts/block.c \
	study/layouts/block_bytes.c study/layouts/clusters.c study/layouts/coarse.c \
	study/layouts/coarse_bytes.c study/layouts/figures.h study/layouts/figures.c \
	study/layouts/flags.c study/layouts/frontier.c study/layouts/job.c study/layouts/layout.c \
	study/layouts/match.c study/layouts/memory.c study/layouts/mesh.c study/layouts/pair.c \
	study/layouts/probe.c study/layouts/referee.c study/layouts/run.c study/layouts/search.h \
	study/layouts/space.c study/layouts/state.h \
	study/question/refuse_code.c study/question/host.h \
	study/question/host.c study/question/interference.h study/question/interference.c \
	study/question/loading.h study/question/loading.c study/question/question.c \
	study/question/slow.h study/question/slow.c study/question/software.h \
	study/question/software.c study/question/spreads.h study/question/spreads.c \
	study/question/variation.h study/question/variation.c \
	study/recipe_fit/figures.h study/recipe_fit/figures.c study/recipe_fit/fitting.h \
	study/recipe_fit/next.c study/recipe_fit/recipe_fit.h study/recipe_fit/recipe_fit.c study/recipe_fit/step.c \
	study/recipes/fitted.h study/recipes/fitted.c \
	study/recipes/names.h study/recipes/names.c study/recipes/recipe.h study/recipes/recipe.c \
	study/recipes/recipes.h study/recipes/usual.h study/recipes/usual.c \
	study/session/grown.h study/session/grown.c study/session/inputs.h study/session/inputs.c \
	study/session/inputs_alone.c study/session/kept.h study/session/session.h \
	study/session/session.c \
	study/store/csv.c study/store/digest.h study/store/digest.c study/store/row.h \
	study/store/row.c study/store/sentences.c study/store/sqlite.c study/store/store.h \
	study/store/store.c \
	study/sweep/grid.c study/sweep/inputs.c study/sweep/nics.c study/sweep/price.c \
	study/sweep/run.c study/sweep/scaling.c study/sweep/state.h study/sweep/summary.c \
	study/sweep/sweep.h \
	study/validate/anchored.h study/validate/anchored.c study/validate/figures.h \
	study/validate/figures.c study/validate/rows.h \
	study/validate/rows.c study/validate/split.h study/validate/split.c \
	study/validate/summary.h study/validate/summary.c \
	study/validate/validate.h study/validate/validate.c
nodist_libstudy_la_SOURCES = study/interval/table.c study/recipes/texts.c \
	study/recipes/usual_table.c

# The shipped recipes, compiled in as text and installed.
recipe_files = study/recipes/deepspeed.yaml \
	study/recipes/deepspeed-zero3.yaml \
	study/recipes/deepspeed-zero3-2021.yaml \
	study/recipes/gluonnlp-bert.yaml \
	study/recipes/hf-trainer.yaml \
	study/recipes/hf-trainer-gpt2.yaml \
	study/recipes/internlm.yaml \
	study/recipes/llm-foundry.yaml \
	study/recipes/megatron-bridge.yaml \
	study/recipes/megatron-core.yaml \
	study/recipes/megatron-lm.yaml \
	study/recipes/mindspore-bert.yaml \
	study/recipes/mindspore-bert-fused.yaml \
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
	study/recipes/paddle1-bert.yaml \
	study/recipes/pytorch-compile.yaml \
	study/recipes/pytorch-ddp.yaml \
	study/recipes/synchronous.yaml \
	study/recipes/synchronous-overlap.yaml \
	study/recipes/tf-horovod.yaml \
	study/recipes/tf-horovod-xla.yaml \
	study/recipes/tf-slim.yaml \
	study/recipes/tf1.yaml \
	study/recipes/tf2-bert.yaml \
	study/recipes/tf2-bert-multiworker.yaml \
	study/recipes/tf2-bert-xla.yaml \
	study/recipes/tf2-mirrored.yaml \
	study/recipes/tf2-multiworker.yaml \
	study/recipes/timm.yaml \
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

# The terms of ranges.
term_facts = study/interval/term.schema.yaml study/interval/terms.yaml
study/interval/table.c: $(term_facts) base/facts/compile$(EXEEXT)
	$(AM_V_GEN)facts='$(term_facts)'; $(make_table)
BUILT_SOURCES += study/interval/table.c
CLEANFILES += study/interval/table.c
EXTRA_DIST += $(term_facts)
facts_DATA += study/interval/terms.yaml

# Which software usually trains a model.
usual_facts = study/recipes/usual.schema.yaml study/recipes/usual.yaml
study/recipes/usual_table.c: $(usual_facts) base/facts/compile$(EXEEXT)
	$(AM_V_GEN)facts='$(usual_facts)'; $(make_table)
BUILT_SOURCES += study/recipes/usual_table.c
CLEANFILES += study/recipes/usual_table.c
EXTRA_DIST += $(usual_facts)
facts_DATA += study/recipes/usual.yaml
