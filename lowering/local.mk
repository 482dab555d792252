noinst_LTLIBRARIES += liblowering.la
liblowering_la_SOURCES = \
	lowering/check_problem.c lowering/check_problem.h lowering/cut_runs.c lowering/cut_runs.h \
	lowering/decisions.c lowering/decisions.h \
	lowering/decisions_new.h lowering/learning.c lowering/learning.h lowering/learning_new.h \
	lowering/log.c lowering/log.h lowering/lowering.h lowering/mesh.c lowering/mesh.h \
	lowering/optimizer.c lowering/optimizer.h lowering/products.c lowering/products.h \
	lowering/share.c lowering/share.h lowering/weights.c lowering/weights.h \
	lowering/params.c lowering/params.h lowering/placer.c lowering/placer.h lowering/price.c \
	lowering/price.h lowering/recipe.c lowering/recipe.h lowering/stage_plan.c \
	lowering/stage_plan.h lowering/update.c lowering/update.h lowering/values.c lowering/values.h \
	lowering/dag/dag.c lowering/dag/dag.h lowering/dag/dims.c lowering/dag/dims.h \
	lowering/dag/graph.c lowering/dag/graph.h lowering/dag/index.c lowering/dag/lines.c \
	lowering/dag/lines.h \
	lowering/dag/links.c lowering/dag/machines.c lowering/dag/names.c lowering/dag/order.c \
	lowering/dag/order.h lowering/dag/plan.c lowering/dag/plan.h lowering/dag/price.c \
	lowering/dag/shared_links.c lowering/dag/shared_links.h lowering/dag/slots.c \
	lowering/dag/slots.h \
	lowering/exchange/copies.c lowering/exchange/exchange.c lowering/exchange/exchange.h \
	lowering/exchange/gather.c lowering/exchange/late.c lowering/exchange/parts.h \
	lowering/exchange/reduce.c lowering/exchange/servers.c lowering/exchange/stages.c \
	lowering/partition/balance.c lowering/partition/balance.h lowering/partition/best.c \
	lowering/partition/best.h lowering/partition/chain.c lowering/partition/chain.h \
	lowering/partition/choose.c lowering/partition/choose.h \
	lowering/partition/kinds.c lowering/partition/kinds.h lowering/partition/ranks.c \
	lowering/partition/ranks.h lowering/partition/ranks_search.c \
	lowering/partition/ranks_search.h lowering/partition/timed.c lowering/partition/timed.h \
	lowering/partition/tries.c lowering/partition/tries.h \
	lowering/pipeline/async.c lowering/pipeline/async.h lowering/pipeline/ends.c \
	lowering/pipeline/moments.c lowering/pipeline/moments.h lowering/pipeline/pipeline.c \
	lowering/pipeline/pipeline.h lowering/pipeline/place.c lowering/pipeline/stages.c \
	lowering/pipeline/stages.h lowering/pipeline/stages_cut.c lowering/pipeline/stages_given.c \
	lowering/pipeline/stages_given.h lowering/pipeline/stages_memory.c \
	lowering/pipeline/stages_memory.h lowering/pipeline/stages_price.c \
	lowering/pipeline/stages_price.h lowering/pipeline/sums.c lowering/pipeline/sums.h \
	lowering/pipeline/ties.c lowering/pipeline/ties.h \
	lowering/pipeline/times.c lowering/pipeline/times.h \
	lowering/replica/group_ops.c lowering/replica/group_ops.h lowering/replica/line_up.c \
	lowering/replica/line_up.h lowering/replica/parts.h lowering/replica/passes.c \
	lowering/replica/rank_groups.h lowering/replica/replica.c lowering/replica/replica.h \
	lowering/replica/tail.c lowering/replica/tensors.c \
	lowering/schedules/action.c lowering/schedules/action.h lowering/schedules/asynchronous.c \
	lowering/schedules/chimera.c lowering/schedules/chimera_released.c \
	lowering/schedules/comms.c lowering/schedules/dualpipe.c lowering/schedules/eager.c \
	lowering/schedules/gpipe.c lowering/schedules/interleaved.c lowering/schedules/looped_bfs.c \
	lowering/schedules/maker.c lowering/schedules/maker.h lowering/schedules/one_f_one_b.c \
	lowering/schedules/passes.c lowering/schedules/passes.h lowering/schedules/read.c \
	lowering/schedules/replay.c lowering/schedules/schedule.h lowering/schedules/table.c \
	lowering/schedules/v_pattern.c \
	lowering/schedules/zb_v.c lowering/schedules/zb_v.h lowering/schedules/zb_v_auto.c \
	lowering/schedules/zero_bubble.c
EXTRA_DIST += examples/schedules/late-backward.csv
nodist_liblowering_la_SOURCES = lowering/recipe_table.c lowering/update_table.c \
	lowering/optimizer_table.c
recipe_facts = lowering/recipe.schema.yaml lowering/recipes.yaml
lowering/recipe_table.c: $(recipe_facts) base/facts/compile$(EXEEXT)
	$(AM_V_GEN)facts='$(recipe_facts)'; $(make_table)
update_facts = lowering/update.schema.yaml lowering/updates.yaml
lowering/update_table.c: $(update_facts) base/facts/compile$(EXEEXT)
	$(AM_V_GEN)facts='$(update_facts)'; $(make_table)
optimizer_facts = lowering/optimizer.schema.yaml lowering/optimizers.yaml
lowering/optimizer_table.c: $(optimizer_facts) base/facts/compile$(EXEEXT)
	$(AM_V_GEN)facts='$(optimizer_facts)'; $(make_table)
BUILT_SOURCES += lowering/recipe_table.c lowering/update_table.c lowering/optimizer_table.c
CLEANFILES += lowering/recipe_table.c lowering/update_table.c lowering/optimizer_table.c
EXTRA_DIST += $(recipe_facts) $(update_facts) $(optimizer_facts)
facts_DATA += lowering/recipes.yaml lowering/updates.yaml lowering/optimizers.yaml
