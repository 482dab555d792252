#!/usr/bin/env python3
"""tests/oracles/interval_study.py - which way of making ranges from residuals does best, on sources
that are made up.

usage: interval_study.py [REPEATS [few]]

The rows at hand are too few to choose a method by, and a method that they chose could not be judged
by them. So sources are drawn here as interval_model.py takes a residual apart, with as many models
and rows a class as the published sources have (STRUCTURE) and spreads of about the size that is
found in them. Each method makes its terms from one such set, and is judged on the rows of a further
source, drawn alike, that it has not seen. Three shapes of all effects: normal, skewed to the slow
side (gamma of shape 2), and with long tails (Student's t of 4 degrees of freedom).

    constant    quantiles of all rows, each source as much, alike for all classes
    mixture     a class is a mixture of its sources and of its parents (interval_terms.Mixtures)
    normal      linear model with random effects, quantiles of a normal distribution
    student     the same, quantiles of Student's t; degrees of freedom by Satterthwaite (Biometrics
                Bulletin 2, 1946): those between sources are as many as sources less one
    shape       the same, quantiles of the sources left out of it, one at a time
    drawn       the same; the shape is that of a Dirichlet process: each source left out as much as
                the other, and Student's t as one source more (Ferguson, Annals of Statistics 1(2),
                1973: a new draw comes from the base measure with weight a / (a + n), a = 1)

few: of sources A to D only, with spreads of anchored rows. Prints how many rows lie in the 90 %
range, its width, and the pinball loss, over all rows of the new sources, each source as much.
"""
import math
import random
import sys

import interval_model
import interval_terms

# (models, rows each) of a class; "several": like the smaller sources of large models
STRUCTURE = {
    "A": {"one-gpu fp32 convolutions": (3, 3), "one-gpu fp32 products": (6, 5),
          "one-gpu half convolutions": (3, 3), "one-gpu half products": (6, 5),
          "one-machine fp32 convolutions": (3, 5), "one-machine fp32 products": (7, 9),
          "one-machine half convolutions": (3, 5), "one-machine half products": (7, 9),
          "machines fp32 products": (2, 7), "machines half products": (2, 7)},
    "B": {"one-gpu fp32 convolutions": (3, 2), "one-gpu half convolutions": (1, 2),
          "one-machine fp32 convolutions": (3, 3), "one-machine half convolutions": (1, 4),
          "machines fp32 convolutions": (3, 2)},
    "C": {"one-gpu fp32 convolutions": (1, 3), "one-gpu fp32 products": (3, 3),
          "one-gpu half products": (2, 2), "one-machine fp32 convolutions": (1, 9),
          "one-machine fp32 products": (3, 9), "one-machine half convolutions": (1, 9),
          "one-machine half products": (1, 9)},
    "D": {"one-gpu fp32 convolutions": (5, 4), "one-machine fp32 convolutions": (5, 10),
          "machines fp32 convolutions": (3, 4)},
    "E": {"one-machine half products": (6, 8), "machines half products": (6, 8)},
    "F": {"one-machine half products": (4, 5), "machines half products": (5, 10)},
    "G": {"one-machine half products": (2, 5)}, "H": {"machines half products": (2, 5)},
    "I": {"one-machine half products": (3, 3)}, "J": {"machines half products": (3, 3)},
    "K": {"one-machine half products": (1, 8), "machines half products": (1, 8)},
}
# standard deviations: place, kind, source, its kind, its class, its model, row
SPREADS = (0.05, 0.09, 0.10, 0.06, 0.03, 0.13, 0.10)
ANCHORED = (0.02, 0.02, 0.05, 0.03, 0.02, 0.07, 0.05)
MIDDLE = 0.08


def drawer(shape, rng):
    """A function that draws an effect of standard deviation s."""
    if shape == "skewed":
        return lambda s: s * (rng.gammavariate(2, 1) - 2) / math.sqrt(2)
    if shape == "long tails":
        return lambda s: s * rng.gauss(0, 1) / math.sqrt(rng.gammavariate(2, 0.5)) / math.sqrt(2)
    return lambda s: rng.gauss(0, s)


class World:
    """What all sources share, and rows of sources drawn from it."""

    def __init__(self, draw, spreads):
        self.draw, self.spreads, self.shared = draw, spreads, {}

    def effect(self, key, spread):
        if key not in self.shared:
            self.shared[key] = self.draw(spread)
        return self.shared[key]

    def rows(self, source, classes):
        out = []
        for name, (n_models, n_rows) in classes.items():
            place, kind = name.split()[0], " ".join(name.split()[1:])
            keys = (place, kind, source, (source, kind), (source, name))
            middle = MIDDLE + sum(self.effect(key, spread)
                                  for key, spread in zip(keys, self.spreads))
            for model in range(n_models):
                at = middle + self.effect((source, kind, model), self.spreads[5])
                out += [interval_terms.Row(source, "", f"m{model}", name,
                                           at + self.draw(self.spreads[6]), 0.0)
                        for _ in range(n_rows)]
        return out


# ---- methods: rows -> a function from the name of a class to five quantiles ----

def constant(rows):
    points, n = interval_terms.of_sources(rows)
    q = interval_terms.quantiles(points, n)
    return lambda name: q


def mixture(rows):
    model = interval_terms.Mixtures(rows, "")
    return lambda name: model.term(name)[0]


def by_effects(rows):
    """The four methods that share a fit."""
    fit = interval_model.Fit(interval_model.cells_of(rows, lambda row: 0.0))
    shapes = {"normal": interval_model.normal_shape(),
              "shape": interval_model.shape(interval_model.misses(fit)),
              "student": interval_model.student_shape(interval_model.freedom(fit)),
              "drawn": interval_model.drawn_shape(interval_model.misses(fit),
                                                  interval_model.freedom(fit))}

    def of(shape):
        def term(name):
            mean, variance = fit.predict(name)
            return [mean + z * math.sqrt(variance) for z in shape]
        return term
    return {name: of(shape) for name, shape in shapes.items()}


def judge(term, rows, sums):
    inside = width = loss = 0.0
    for row in rows:
        q = term(row.name)
        inside += q[0] <= row.r <= q[4]
        width += math.exp(q[4]) - math.exp(q[0])
        loss += interval_terms.pinball(row.r, q[0], q[4])
    for i, x in enumerate((inside, width, loss)):
        sums[i] += x / len(rows)


def main():
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    is_few = sys.argv[2:] == ["few"]
    structure = {name: STRUCTURE[name] for name in ("ABCD" if is_few else STRUCTURE)}
    print("| shape | method | in 90 % | width | pinball |\n|---|---|---|---|---|")
    for shape in ("normal", "skewed", "long tails"):
        rng = random.Random(1)
        sums = {}
        for _ in range(repeats):
            world = World(drawer(shape, rng), ANCHORED if is_few else SPREADS)
            rows = [r for source, classes in structure.items() for r in world.rows(source, classes)]
            terms = {"constant": constant(rows), "mixture": mixture(rows), **by_effects(rows)}
            new = [world.rows("new " + name, structure[name]) for name in list(structure)[:6]]
            for method, term in terms.items():
                for own in new:
                    judge(term, own, sums.setdefault(method, [0.0, 0.0, 0.0]))
        for method, (inside, width, loss) in sums.items():
            n = repeats * min(6, len(structure))
            print(f"| {shape} | {method} | {100 * inside / n:.1f} % | {100 * width / n:.0f} % "
                  f"| {loss / n:.4f} |")


if __name__ == "__main__":
    main()
