# Random questions against what must always be true. make check asks a few, make hunt as many as
# HUNT_QUESTIONS, of which HUNT_SEED is the seed.
EXTRA_DIST += tests/hunt/ask.py tests/hunt/better.py tests/hunt/bounds.py \
	tests/hunt/choices.py tests/hunt/draw.py tests/hunt/exceptions.py tests/hunt/hunt.py \
	tests/hunt/parts.py tests/hunt/question.py tests/hunt/same.py tests/hunt/shrink.py \
	tests/hunt/verbs.py
HUNT_QUESTIONS = 5000
HUNT_SEED = 1
.PHONY: hunt
hunt: forerun
	python3 -B $(srcdir)/tests/hunt/hunt.py ./forerun -n $(HUNT_QUESTIONS) -s $(HUNT_SEED)
