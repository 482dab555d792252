# tests of workloads/
if HAVE_CHECK
check_PROGRAMS += tests/test_workloads_graph
TESTS += tests/test_workloads_graph
tests_test_workloads_graph_SOURCES = tests/test_workloads_graph.c
tests_test_workloads_graph_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_workloads_graph_LDADD = $(TEST_WORKLOADS_LIBS)
endif

if HAVE_CHECK
check_PROGRAMS += tests/test_workloads_training tests/test_workloads_zoo
TESTS += tests/test_workloads_training tests/test_workloads_zoo
tests_test_workloads_training_SOURCES = tests/test_workloads_training.c
tests_test_workloads_training_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_workloads_training_LDADD = $(TEST_WORKLOADS_LIBS)
tests_test_workloads_zoo_SOURCES = tests/test_workloads_zoo.c
tests_test_workloads_zoo_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_workloads_zoo_LDADD = $(TEST_WORKLOADS_LIBS)
endif

if HAVE_CHECK
check_PROGRAMS += tests/test_workloads_recurrent
TESTS += tests/test_workloads_recurrent
tests_test_workloads_recurrent_SOURCES = tests/test_workloads_recurrent.c
tests_test_workloads_recurrent_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_workloads_recurrent_LDADD = $(TEST_WORKLOADS_LIBS)
endif

if HAVE_CHECK
check_PROGRAMS += tests/test_workloads_native tests/test_workloads_pipedream
TESTS += tests/test_workloads_native tests/test_workloads_pipedream
tests_test_workloads_native_SOURCES = tests/test_workloads_native.c
tests_test_workloads_native_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_workloads_native_LDADD = $(TEST_WORKLOADS_LIBS)
tests_test_workloads_pipedream_SOURCES = tests/test_workloads_pipedream.c
tests_test_workloads_pipedream_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_workloads_pipedream_LDADD = $(TEST_WORKLOADS_LIBS)
endif

if ENABLE_FUZZ
check_PROGRAMS += tests/fuzz_graph_txt
tests_fuzz_graph_txt_SOURCES = tests/fuzz_graph_txt.c
tests_fuzz_graph_txt_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
tests_fuzz_graph_txt_LDADD = libworkloads.la libtopo.la libbase.la $(LIB_DEPS)
endif
EXTRA_DIST += tests/corpus/fuzz_graph_txt/conv tests/corpus/fuzz_graph_txt/lstm \
	tests/corpus/fuzz_graph_txt/stage

if HAVE_CHECK
check_PROGRAMS += tests/test_workloads_transformers
TESTS += tests/test_workloads_transformers
tests_test_workloads_transformers_SOURCES = tests/test_workloads_transformers.c
tests_test_workloads_transformers_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_workloads_transformers_LDADD = $(TEST_WORKLOADS_LIBS)
check_PROGRAMS += tests/test_workloads_autocast
TESTS += tests/test_workloads_autocast
tests_test_workloads_autocast_SOURCES = tests/test_workloads_autocast.c
tests_test_workloads_autocast_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_workloads_autocast_LDADD = $(TEST_WORKLOADS_LIBS)
endif
EXTRA_DIST += tests/transformers_torch.py

if HAVE_CHECK
check_PROGRAMS += tests/test_workloads_images
TESTS += tests/test_workloads_images
tests_test_workloads_images_SOURCES = tests/test_workloads_images.c
tests_test_workloads_images_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_test_workloads_images_LDADD = $(TEST_WORKLOADS_LIBS)
endif
TESTS += tests/test_torchvision.sh
EXTRA_DIST += tests/test_torchvision.sh tests/torchvision.csv
