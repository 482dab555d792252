noinst_LTLIBRARIES += libjobfile.la
libjobfile_la_SOURCES = \
	jobfile/ask.c jobfile/ask_tune.c jobfile/derive.c jobfile/facts.h jobfile/facts.c jobfile/job.h \
	jobfile/read.h jobfile/read.c jobfile/shell.h jobfile/shell.c \
	jobfile/shell_arithmetic.c jobfile/shell_command.c jobfile/shell_files.c \
	jobfile/shell_parameters.c \
	jobfile/shell_state.h jobfile/shell_test.c jobfile/shell_values.c \
	jobfile/shell_words.c jobfile/toml.h jobfile/toml.c jobfile/tree.c \
	jobfile/verdicts.c jobfile/words.c
nodist_libjobfile_la_SOURCES = jobfile/framework_table.c jobfile/model_table.c

# What arguments of training frameworks mean, and the models that they describe.
job_frameworks = jobfile/frameworks/launcher.yaml jobfile/frameworks/megatron-lm.yaml \
	jobfile/frameworks/megatron-deepspeed.yaml jobfile/frameworks/slime.yaml \
	jobfile/frameworks/pai-megatron-patch.yaml jobfile/frameworks/torchtitan.yaml \
	jobfile/frameworks/deepspeed.yaml \
	jobfile/frameworks/hf-trainer.yaml jobfile/frameworks/llama-factory.yaml \
	jobfile/frameworks/accelerate.yaml jobfile/frameworks/axolotl.yaml \
	jobfile/frameworks/llm-foundry.yaml jobfile/frameworks/nemo.yaml \
	jobfile/frameworks/gpt-neox.yaml jobfile/frameworks/nanotron.yaml
job_facts = jobfile/framework.schema.yaml $(job_frameworks)
job_models = jobfile/model.schema.yaml jobfile/asked_models.yaml
jobfile/framework_table.c: $(job_facts) base/facts/compile$(EXEEXT)
	$(AM_V_GEN)facts='$(job_facts)'; $(make_table)
jobfile/model_table.c: $(job_models) base/facts/compile$(EXEEXT)
	$(AM_V_GEN)facts='$(job_models)'; $(make_table)
BUILT_SOURCES += jobfile/framework_table.c jobfile/model_table.c
CLEANFILES += jobfile/framework_table.c jobfile/model_table.c
EXTRA_DIST += $(job_facts) $(job_models)
facts_DATA += $(job_frameworks) jobfile/asked_models.yaml
