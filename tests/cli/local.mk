# Tests of the command.
command_tests = tests/cli/test_calibrate_run.sh \
	tests/cli/test_cli.sh \
	tests/cli/test_cli_golden.sh \
	tests/cli/test_draw.sh \
	tests/cli/test_explain.sh \
	tests/cli/test_fits.sh \
	tests/cli/test_refit.sh \
	tests/cli/test_tables.sh \
	tests/cli/test_report.sh \
	tests/cli/test_schedule.sh \
	tests/cli/test_sweep.sh \
	tests/cli/test_truth.sh \
	tests/cli/test_validate.sh
TESTS += $(command_tests)
EXTRA_DIST += $(command_tests) tests/golden/cli

# predictions beside published rates (doc/truth.md); MEASURED: the table of rates
MEASURED = $(srcdir)/../shared/data/measured/training.csv
truth: forerun
	python3 $(srcdir)/tests/oracles/training_rows.py '$(MEASURED)' > training_rows.csv
	./forerun validate training_rows.csv -o truth.png -o truth.csv
CLEANFILES += training_rows.csv truth.png truth.csv
.PHONY: truth
