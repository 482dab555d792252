noinst_LTLIBRARIES += libapi.la
libapi_la_SOURCES = api/call/call.c api/call/columns.c api/call/list.c api/call/reply.h \
	api/call/request.c api/call/request.h api/forerun.h api/options/answer.c \
	api/options/comm.c api/options/command.c api/options/device.c api/options/find.c \
	api/options/job.c api/options/learn.c api/options/options.c api/options/options.h api/options/overwrite.c \
	api/options/schedule.c api/options/search.c api/options/sweep.c api/verbs/calibrate.c \
	api/verbs/calibrate_system.c api/verbs/comm.c api/verbs/compare.c api/verbs/completion.c \
	api/verbs/diff.c api/verbs/drawing.c api/verbs/explain.c api/verbs/graph.c \
	api/verbs/graph_draw.c api/verbs/fit.c api/verbs/job.c api/verbs/layers.c api/verbs/learn.c \
	api/verbs/manifest.h api/verbs/manifest.c api/verbs/manifest_inputs.c \
	api/verbs/manifest_sources.c api/verbs/note.c api/verbs/output.c api/verbs/parse.c \
	api/verbs/recipe.c api/verbs/reproduce.c api/verbs/schedule.c api/verbs/search.c \
	api/verbs/simulate.c api/verbs/stages.c api/verbs/sweep.c api/verbs/table.c api/verbs/topo.c \
	api/verbs/topo_import.c api/verbs/validate.c api/verbs/verbs.h
