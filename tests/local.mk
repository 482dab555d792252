# One Check program a folder's object; each links its own folder's library and those below.
TEST_BASE_LIBS = libbase.la $(CHECK_LIBS) $(LIB_DEPS)
TEST_TOPO_LIBS = libtopo.la $(TEST_BASE_LIBS)
TEST_WORKLOADS_LIBS = libworkloads.la $(TEST_TOPO_LIBS)
TEST_CALIBRATE_LIBS = libcalibrate.la $(TEST_WORKLOADS_LIBS)
TEST_SIM_LIBS = libsim.la $(TEST_CALIBRATE_LIBS)
TEST_STRATEGIES_LIBS = libstrategies.la $(TEST_SIM_LIBS)
TEST_RESULTS_LIBS = libresults.la $(TEST_STRATEGIES_LIBS)
# Check's timeout of 4 s is meant for an idle machine and no sanitizer.
AM_TESTS_ENVIRONMENT = srcdir='$(srcdir)'; export srcdir; CK_TIMEOUT_MULTIPLIER=10; export CK_TIMEOUT_MULTIPLIER;

# A fuzz target is `check_PROGRAMS += tests/fuzz_X` under `if ENABLE_FUZZ`, linked with
# `tests_fuzz_X_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)`; its seeds are in tests/corpus/fuzz_X/.
EXTRA_DIST += tests/fuzz.sh

include tests/base.mk
include tests/topo.mk
include tests/workloads.mk
include tests/calibrate.mk
include tests/sim.mk
include tests/strategies.mk
include tests/results.mk
include tests/cli.mk
include tests/project.mk
