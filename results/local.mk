noinst_LTLIBRARIES += libresults.la
libresults_la_SOURCES = \
	results/draw.h results/explain.h results/explain.c results/fits.h results/fits.c \
	results/kinds.h results/kinds.c results/pipelines.c results/replays.c results/results.h \
	results/show.h results/show.c \
	results/canvas/canvas.h results/canvas/canvas.c results/canvas/dot.c \
	results/canvas/drawing.h results/canvas/drawing.c results/canvas/files.c results/canvas/svg.c \
	results/canvas/text.c \
	results/charts/chart.h results/charts/chart.c results/charts/cost.h results/charts/cost.c \
	results/charts/gnuplot.h results/charts/gnuplot.c results/charts/measure.c \
	results/charts/scatter.h results/charts/scatter.c results/charts/script.c \
	results/charts/timeline.h results/charts/timeline.c \
	results/data/comm.c results/data/csv.c results/data/data.h results/data/difference.c \
	results/data/explain.c results/data/explain_layout.c results/data/fits.c \
	results/data/fit.c results/data/job.c results/data/json.c results/data/learn.c results/data/recipe_fit.c results/data/schedule.c results/data/search.c \
	results/data/stage_profile.c results/data/stages.c results/data/sweep.c \
	results/data/trace.c results/data/trace_choice.h results/data/trace_choice.c \
	results/data/validate.c \
	results/document/builders.h results/document/comm.c results/document/comm_explanation.c \
	results/document/comparison.c results/document/difference.c results/document/document.h \
	results/document/document.c results/document/explain.h results/document/explain.c \
	results/document/explain_cells.c results/document/explain_gantt.c \
	results/document/explain_layout.c results/document/explain_op.c \
	results/document/explain_steps.c results/document/fit.c results/document/job.c results/document/learn.c results/document/pipelines.c \
	results/document/recipe_fit.c \
	results/document/record.h results/document/record.c results/document/record_details.c \
	results/document/record_memory.c results/document/record_page.c \
	results/document/record_question.c results/document/record_run.c \
	results/document/schedule.c results/document/search.h results/document/search.c \
	results/document/search_clusters.c results/document/stages.c results/document/sweep.c \
	results/document/sweep_points.h results/document/sweep_points.c \
	results/document/validate.c results/document/validate_split.h results/document/validate_split.c \
	results/drawings/explain.h results/drawings/explain.c results/drawings/fold.c results/drawings/graph.h \
	results/drawings/graph.c results/drawings/key.c \
	results/drawings/layout.c results/drawings/mesh.h results/drawings/mesh.c \
	results/drawings/ops.c results/drawings/snake.h results/drawings/snake.c \
	results/drawings/topo.h results/drawings/topo.c results/drawings/wires.h \
	results/drawings/wires.c results/drawings/words.c \
	results/html/figure.c results/html/html.h \
	results/html/inline.h results/html/inline.c results/html/memory.c results/html/page.c \
	results/html/pictures.c results/html/scale.c results/html/sweep.c \
	results/html/sweep_plot.c results/html/timeline.c \
	results/parts/cells.h results/parts/cells.c results/parts/colours.h \
	results/parts/colours.c results/parts/difference_lines.h results/parts/difference_lines.c \
	results/parts/explanation.h results/parts/explanation.c results/parts/lanes.h \
	results/parts/lanes.c results/parts/memory_curve.h results/parts/memory_curve.c \
	results/parts/microbatches.h results/parts/microbatches.c results/parts/nics.h \
	results/parts/nics.c results/parts/number.h results/parts/number.c results/parts/output.h \
	results/parts/output.c results/parts/palette.h results/parts/palette.c \
	results/parts/program.h results/parts/program.c results/parts/rows.h results/parts/rows.c \
	results/parts/schedule.h results/parts/schedule.c results/parts/search_price.h \
	results/parts/search_price.c results/parts/sweep_names.h results/parts/sweep_names.c \
	results/parts/table.h results/parts/table.c results/parts/task_order.h \
	results/parts/task_order.c results/parts/ticks.h results/parts/ticks.c \
	results/parts/times.h results/parts/times.c \
	results/pictures/compare.c results/pictures/curves.c results/pictures/difference.c \
	results/pictures/explain.c results/pictures/fit.h results/pictures/fit.c \
	results/pictures/fit_axis.h results/pictures/fit_axis.c results/pictures/fit_kernels.c \
	results/pictures/fit_runs.c results/pictures/fit_systems.c results/pictures/learn.c \
	results/pictures/pictures.h results/pictures/record.c results/pictures/scaling.c \
	results/pictures/schedule.c results/pictures/search.c results/pictures/search_clusters.c \
	results/pictures/steps.c results/pictures/sweep.c results/pictures/timeline.c \
	results/pictures/validate.c results/pictures/validate_split.c \
	results/render/html.c results/render/markdown.c results/render/render.h \
	results/render/table.c results/render/text.c
nodist_libresults_la_SOURCES = results/html/report_text.h

# the report's style and script, as C strings
EXTRA_DIST += results/html/embed.awk results/html/report.css results/html/report.js
BUILT_SOURCES += results/html/report_text.h
CLEANFILES += results/html/report_text.h
results/html/report_text.h: results/html/embed.awk results/html/report.css results/html/report.js
	$(AM_V_GEN)$(MKDIR_P) results/html && { \
	  $(AWK) -v name=report_style -f $(srcdir)/results/html/embed.awk $(srcdir)/results/html/report.css && \
	  $(AWK) -v name=report_script -f $(srcdir)/results/html/embed.awk $(srcdir)/results/html/report.js; \
	} > $@.tmp && mv $@.tmp $@
results/html/page.lo: results/html/report_text.h
