# tests of cli/
TESTS += tests/test_cli.sh tests/test_cli_golden.sh tests/test_sweep.sh tests/test_explain.sh
EXTRA_DIST += tests/command.sh tests/test_cli.sh tests/test_sweep.sh tests/test_explain.sh tests/test_cli_golden.sh tests/golden/cli
