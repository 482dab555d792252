noinst_LTLIBRARIES += libstudy.la
libstudy_la_SOURCES = \
	study/answer.c study/collective_time.h study/collective_time.c study/comm.h study/comm.c \
	study/comm_types.c study/inputs.h study/inputs.c study/interference.h study/interference.c \
	study/learn.h study/learn.c study/lending.h study/links.h study/links.c study/loading.h \
	study/loading.c study/peak.c study/question.c study/rates.c study/recipe.h study/recipe.c \
	study/recipes.h study/record.h study/record.c study/search.h study/seeds.c study/sensitivity.c \
	study/session.h study/session.c study/setting.c study/slow.h study/slow.c study/staging.h \
	study/staging.c study/study.h study/sweep.h study/uncertainty.c study/validate.h \
	study/warnings.c \
	study/ask/advice.h study/ask/advice.c study/ask/adviser.h study/ask/ask.c study/ask/options.c \
	study/ask/trial.c \
	study/search/block.c study/search/coarse.c study/search/flags.c study/search/frontier.c \
	study/search/layout.c study/search/memory.c study/search/mesh.c study/search/probe.c \
	study/search/referee.c study/search/run.c study/search/search.h study/search/space.c \
	study/store/csv.c study/store/digest.h study/store/digest.c study/store/row.h study/store/row.c \
	study/store/sentences.c study/store/sqlite.c study/store/store.h study/store/store.c \
	study/sweep/grid.c study/sweep/inputs.c study/sweep/price.c study/sweep/run.c \
	study/sweep/scaling.c study/sweep/state.h study/sweep/summary.c \
	study/validate/rows.h study/validate/rows.c study/validate/summary.h study/validate/summary.c \
	study/validate/validate.c
