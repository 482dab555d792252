# Tests of the product as a whole: its structure, documentation, installation, and how it takes bad
# input.
EXTRA_DIST += tests/project/same_bytes.sh tests/project/client/client.c tests/project/client/embed.c \
	tests/project/client/run.sh

# Does some test notice every single mistake made on purpose? A few minutes; not part of check.
EXTRA_DIST += tests/project/mutate.py tests/project/mutations.py tests/project/circles.py \
	tests/project/doc_figures.py tests/project/doc_figures.txt
.PHONY: mutate
mutate:
	python3 -B $(srcdir)/tests/project/mutate.py
