# tests of cli/
TESTS += tests/test_cli.sh
EXTRA_DIST += tests/test_cli.sh
