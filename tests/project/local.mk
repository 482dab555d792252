# Tests of the product as a whole: its structure, documentation, installation, and how it takes bad
# input.
project_tests = tests/project/test_facts.sh \
	tests/project/test_doc_examples.sh \
	tests/project/test_doc_figures.sh \
	tests/project/test_exports.sh \
	tests/project/test_hostile.sh \
	tests/project/test_layers.sh \
	tests/project/test_mutations.sh \
	tests/project/test_strategy_names.sh \
	tests/project/test_torch_scripts.sh \
	tests/project/test_torchvision.sh
TESTS += $(project_tests)
EXTRA_DIST += $(project_tests) tests/project/same_bytes.sh tests/project/client/client.c \
	tests/project/client/run.sh

# Does some test notice every single mistake made on purpose? A few minutes; not part of check.
EXTRA_DIST += tests/project/mutate.py tests/project/mutations.py tests/project/circles.py \
	tests/project/doc_figures.py tests/project/doc_figures.txt
.PHONY: mutate
mutate:
	python3 -B $(srcdir)/tests/project/mutate.py
