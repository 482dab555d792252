# Tests of the command.
command_tests = tests/cli/test_calibrate_run.sh \
	tests/cli/test_diff.sh \
	tests/cli/test_help.sh tests/cli/test_placement.sh \
	tests/cli/test_cli.sh \
	tests/cli/test_deaf.sh \
	tests/cli/test_planners.sh \
	tests/cli/test_cli_golden.sh \
	tests/cli/test_desk.sh \
	tests/cli/test_draw.sh \
	tests/cli/test_explain.sh \
	tests/cli/test_files.sh \
	tests/cli/test_fits.sh \
	tests/cli/test_limits.sh tests/cli/test_markdown.sh tests/cli/test_names.sh tests/cli/test_plugins.sh \
	tests/cli/test_recipe.sh \
	tests/cli/test_refit.sh \
	tests/cli/test_side_by_side.sh tests/cli/test_tasks.sh tests/cli/test_tables.sh \
	tests/cli/test_hybrid_cut.sh \
	tests/cli/test_report.sh \
	tests/cli/test_schedule.sh \
	tests/cli/test_search.sh \
	tests/cli/test_sweep.sh \
	tests/cli/test_truth.sh \
	tests/cli/test_validate.sh
TESTS += $(command_tests)
EXTRA_DIST += $(command_tests) tests/golden/cli

# predictions beside published rates (doc/measured-steps.md); MEASURED: the table of rates
MEASURED = $(srcdir)/../shared/data/measured/training.csv
truth: forerun
	@if test -r '$(MEASURED)'; then \
		set -ex; \
		python3 $(srcdir)/tests/oracles/training_rows.py '$(MEASURED)' > training_rows.csv; \
		./forerun validate training_rows.csv -o truth.png -o truth.csv --json > truth.json; \
		./forerun validate training_rows.csv --anchored --json > truth_anchored.json; \
		python3 $(srcdir)/tests/oracles/training_rows.py --recipes '$(MEASURED)' > recipe_rows.csv; \
		./forerun validate recipe_rows.csv --json > recipe_rows.json; \
		./forerun validate recipe_rows.csv --anchored --json > recipe_anchored.json; \
		python3 $(srcdir)/tests/oracles/large_rows.py '$(MEASURED)' > large_rows.csv; \
		./forerun validate large_rows.csv --json > large_rows.json; \
		python3 $(srcdir)/tests/oracles/large_report.py large_rows.csv large_rows.json; \
		python3 $(srcdir)/tests/oracles/interval_terms.py --measured '$(MEASURED)' \
			training_rows.csv truth.json \
			large_rows.csv large_rows.json training_rows.csv truth_anchored.json \
			recipe_rows.csv recipe_rows.json recipe_rows.csv recipe_anchored.json; \
	else \
		echo "SKIP: no published rates in $(MEASURED)"; \
	fi
	@if test -r '$(MICROBENCH)/collectives.csv'; then \
		set -ex; \
		python3 $(srcdir)/tests/oracles/collective_rows.py ./forerun '$(MICROBENCH)'; \
	else \
		echo "SKIP: no measured collectives in $(MICROBENCH)"; \
	fi
CLEANFILES += training_rows.csv truth.png truth.csv truth.json truth_anchored.json \
	large_rows.csv large_rows.json recipe_rows.csv recipe_rows.json recipe_anchored.json
.PHONY: truth
