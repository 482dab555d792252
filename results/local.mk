noinst_LTLIBRARIES += libresults.la
libresults_la_SOURCES = results/results.h results/record.h results/record.c results/sensitivity.c results/uncertainty.c results/validate.h results/validate.c \
	results/validate_rows.h results/validate_rows.c results/validate_summary.h \
	results/validate_summary.c results/validate_text.c results/plot_validate.c results/fits.h results/fits.c \
	results/fit_picture.h results/fit_axis.h results/fit_axis.c results/fit_kernels.c results/fit_systems.c results/fit_runs.c \
	results/reproduce.h results/reproduce.c results/reproduce_build.h results/reproduce_build.c \
	results/reproduce_fastt.c results/plot_reproduce.c \
	results/collective_time.h results/collective_time.c results/collective_text.c results/plot_fit.c results/peak.c results/advice.h results/advice.c results/answer.c \
	results/format.h results/format.c results/format_json.c results/format_csv.c \
	results/task_order.h results/task_order.c results/memory_curve.h results/memory_curve.c \
	results/format_trace.c results/lanes.h results/lanes.c results/gnuplot.h results/gnuplot.c \
	results/program.h results/program.c results/draw.h results/dot.h results/dot.c \
	results/draw_topo.h results/draw_topo.c results/draw_layout.c \
	results/draw_graph.h results/draw_graph.c results/draw_fold.c results/draw_ops.c \
	results/plot.h results/plot.c results/plot_timeline.c results/plot_compare.c \
	results/format_html.h results/format_html.c results/format_html_text.c \
	results/format_html_page.c results/format_html_words.c results/format_html_tables.c \
	results/format_html_path.c results/format_html_timeline.c results/format_html_memory.c \
	results/table.h results/table.c results/report.c
nodist_libresults_la_SOURCES = results/report_text.h

# the report's style and script, as C strings
EXTRA_DIST += results/embed.awk results/report.css results/report.js
BUILT_SOURCES += results/report_text.h
CLEANFILES += results/report_text.h
results/report_text.h: results/embed.awk results/report.css results/report.js
	$(AM_V_GEN)$(MKDIR_P) results && { \
	  $(AWK) -v name=report_style -f $(srcdir)/results/embed.awk $(srcdir)/results/report.css && \
	  $(AWK) -v name=report_script -f $(srcdir)/results/embed.awk $(srcdir)/results/report.js; \
	} > $@.tmp && mv $@.tmp $@
results/format_html_page.lo: results/report_text.h

# sweeps
libresults_la_SOURCES += results/sweep.h results/sweep_state.h results/question.c results/sweep_grid.c \
	results/sweep_inputs.c results/setting_cache.h results/setting_cache.c results/sweep_run.c \
	results/sweep_row.h results/sweep_row.c results/digest.h results/digest.c \
	results/store.h results/store.c results/store_csv.c results/store_sqlite.c \
	results/sweep_price.c results/sweep_summary.c results/sweep_text.h results/sweep_text.c \
	results/sweep_report.c results/sweep_write.c results/sweep_plot.h results/sweep_plot.c
EXTRA_DIST += results/fastt/README.md results/fastt/gains.png \
	results/fastt/fastt.order.png results/fastt/fastt.spread.png results/fastt/fastt.breakdown.png

# explanations
libresults_la_SOURCES += results/explain.h results/explain_parts.h results/explain.c \
	results/explain_text.c results/explain_op.c results/explain_gantt.c results/explain_json.c \
	results/explain_write.c results/explain_plot.c results/explain_graph.c

# learning of costs
libresults_la_SOURCES += results/learn.h results/learn.c results/learn_text.c results/learn_draw.h \
	results/learn_draw.c
