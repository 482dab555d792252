#!/usr/bin/env python3
"""tests/oracles/interval_terms.py - how far measured steps are from predictions, by class of step.

usage: interval_terms.py [--write study/interval/terms.yaml]
                         [--page doc/trust.md,doc/evidence/ranges.md]
                         [--measured training.csv] ROWS.csv PREDICTED.json [ROWS.csv ...]

training.csv is the table that rows come from; with it, rows that leave something unsaid
(row_rules.UNSAID) do not count in classes with a recipe, and not in anchored ones if it is links.
ROWS.csv are rows for `forerun validate`, PREDICTED.json what it said of them (--json; with
--anchored, the rows of several GPUs as corrected by their one-GPU row). `make truth` prints the
tables; --write makes the terms that the program is built with anew, --page the tables of pages.

    residual    r = ln(measured / predicted)
    class       place (one GPU, one machine, several machines) x numbers (fp32 and tf32, or half: 16
                bits and fewer) x work (convolutions, where most of the FLOPs are theirs, or
                products) x software (unknown, or given as a recipe) x what was measured (nothing,
                "anchored": the step on one GPU, "by several": on fewer GPUs, "by as many": on as
                many, another batch)
    source      the letters of a row's id: who published it. A source counts once, however many rows
                it has; among its rows each software (the notes) counts once
    term        quantiles of r in a class. A class is a mixture of its sources and of its parent,
                which weighs as much as some number of sources: a class that many published hardly
                sees its parent, one without rows is its parent. That is the predictive distribution
                of a Dirichlet process (Ferguson, Annals of Statistics 1(2), 1973). Parents: a class
                leans on its work and place, these on its work, that on all rows, and those on a
                two-piece normal distribution with the spread of all of them on each side. Work
                comes first since software differs most where there are convolutions (input,
                layouts, fused normalisation). Where a recipe is given, sources are taken as
                predicted with their recipes, those that have none as they are
    leaning     the number of LEANS whose loss is least with the sources of the rows at hand left
                out, one at a time, each as much: so a source that is judged has not chosen it
    widening    by sqrt(1 + 1 / n) for n sources (2 at least): what a further source adds to the
                spread of n alike, as in the prediction interval of a normal distribution
    anchored    what a source's rows have in common is corrected there, so that rows of few sources
                say more: quantiles by interval_model.py, a linear model with random effects, in the
                form that interval_study.py found best on sources that are made up. That form was
                left out of the classes that are not anchored: by the rows at hand it is worse there
                than the mixture (76 % of 708 rows in a range of 75 %, loss 0.031), since sources
                differ by far more in convolutions of 16 bits than elsewhere, and it has them differ
                alike
    judged      with all rows of a source left out, one source at a time: how many of its rows lie
                inside. Pinball loss (Koenker and Bassett, Econometrica 46(1), 1978): mean over the
                5 and 95 % quantiles of r; the constant band has the quantiles of all other sources'
                rows, alike for all classes. Smaller is better
    left out    rows of more than 64 GPUs: doc/evidence/steps.md judges them, source by source.
                VTRS: a law, not measurements. BERT at 512 tokens by PyTorch and PaddlePaddle: most
                sequences are shorter than their rows say (doc/evidence/steps.md)
"""
import collections
import csv
import json
import math
import re
import sys

import interval_model
import interval_page
import row_rules

PLACES = ["one-gpu", "one-machine", "machines"]
NUMBERS = ["fp32", "half"]
WORKS = ["convolutions", "products"]
SOFTWARE = ["", " recipe"]
ANCHORED = ["", " anchored", " anchored by several", " anchored by as many"]
MOST_GPUS = 64
NOISE = 0.03  # of a measured step, as study/interval/anchor.c
LEVELS = [0.05, 0.25, 0.5, 0.75, 0.95]
LEANS = [1, 2, 4, 8, 16]
KINDS = [(s + a).strip() for a in ANCHORED for s in SOFTWARE]

# unsaid: what it does not say (row_rules.UNSAID); series, gpus, batch: of rows that differ in
# nothing but these two, the latter a GPU's
Row = collections.namedtuple("Row", "source software model name r cost_error unsaid series gpus "
                             "batch", defaults=(frozenset(), None, 0, 0.0))


def is_left_out(row):
    return (row["id"].startswith("VTRS") or int(row.get("gpus") or 1) > MOST_GPUS or
            (row["workload"].startswith("bert") and "--seq-len 512" in row["options"] and
             row["notes"].startswith(("PyTorch", "PaddlePaddle"))))


def series(row):
    """What rows share that one system ran, on any number of GPUs with any batch."""
    if "topology" not in row:
        return None
    machine = re.sub(r"^\d+x ", "", row["topology"]).split()[0]
    return (row["id"].split("-")[0], row["workload"], row["precision"], machine, row["notes"],
            row["options"].replace(" --spread", ""), row["strategy"])


def read(rows_path, predicted_path, unsaid):
    with open(rows_path, newline="", encoding="utf-8") as f:
        rows = {r["id"]: r for r in csv.DictReader(f)}
    with open(predicted_path, encoding="utf-8") as f:
        predicted = json.load(f)["rows"]
    out = []
    for p in predicted:
        row = rows[p["id"]]
        if p["predicted_s"] is None or p["class"] is None or is_left_out(row):
            continue
        gpus, batch = int(row.get("gpus") or 1), float(row.get("global_batch") or 1)
        out.append(Row(re.match("[A-Za-z_]+", p["id"])[0], row["notes"], row["workload"],
                       p["class"], math.log(p["measured_s"] / p["predicted_s"]),
                       p["cost_error"], unsaid.get(p["id"], frozenset()), series(row),
                       gpus, batch / gpus))
    return out


def differences(rows):
    """Rows as another of their series corrects them: what is left of the residual is what the other
    does not share. By several: the other is on fewer GPUs, but not on one (for that the program
    itself is asked: validate --anchored). By as many: it has another batch a GPU."""
    out, alike = [], collections.defaultdict(list)
    for row in rows:
        if "anchored" not in row.name and row.series:
            alike[row.series].append(row)
    for members in alike.values():
        for row in members:
            for other in members:
                how = ""
                if row.batch == other.batch and 1 < other.gpus < row.gpus:
                    how = " anchored by several"
                elif row.batch != other.batch and row.gpus == other.gpus:
                    how = " anchored by as many"
                if how and kind_of(row.name) == kind_of(other.name):
                    out.append(row._replace(name=row.name + how, r=row.r - other.r,
                                            cost_error=NOISE))
    return out


# ---- mixtures of residuals: lists of (r, weight), weights of sum 1 ----

def of_sources(rows):
    """Every source as much, in it every software, in it every row. Also how many sources."""
    tree = collections.defaultdict(lambda: collections.defaultdict(list))
    for row in rows:
        tree[row.source][row.software].append(row.r)
    return [(r, 1 / len(tree) / len(softwares) / len(rs))
            for softwares in tree.values() for rs in softwares.values() for r in rs], len(tree)


def mixed(rows, parent, lean):
    own, n = of_sources(rows)
    return ([(r, w * n / (n + lean)) for r, w in own] +
            [(r, w * lean / (n + lean)) for r, w in parent])


def weighted_median(points):
    at = 0.0
    for r, w in sorted(points):
        at += w
        if at >= 0.5:
            return r
    return 0.0


def normal(rows):
    """41 points of a two-piece normal distribution: around the median of these rows, with the
    spread of those below it on the left, of those above it on the right."""
    own, _ = of_sources(rows)
    middle_r = weighted_median(own)
    deviation = [math.sqrt(2 * sum(w * (r - middle_r) ** 2 for r, w in own
                                   if (r > middle_r) == is_right)) for is_right in (False, True)]
    points = []
    for i in range(41):
        p, low, high = (i + 0.5) / 41, -6.0, 6.0
        for _ in range(50):
            mid = (low + high) / 2
            low, high = (mid, high) if (1 + math.erf(mid / math.sqrt(2))) / 2 < p else (low, mid)
        points.append((middle_r + deviation[low > 0] * low, 1 / 41))
    return points


def quantiles(points, n_sources):
    points = sorted(points)
    out, at = [], 0.0
    wanted = list(LEVELS)
    for i, (r, w) in enumerate(points):
        while wanted and at + w / 2 >= wanted[0]:
            before = points[i - 1] if i else (r, w)
            behind = at - before[1] / 2
            level = wanted.pop(0)
            part = (level - behind) / (at + w / 2 - behind) if i else 1
            out.append(before[0] + min(max(part, 0), 1) * (r - before[0]))
        at += w
    out += [points[-1][0]] * len(wanted)
    wide = math.sqrt(1 + 1 / max(n_sources, 2))
    return [out[2] + wide * (q - out[2]) for q in out]


def kind_of(name):
    """"", "recipe", "anchored", "recipe anchored by several", ..."""
    return " ".join(name.split()[3:])


def may_judge(row, kind):
    """Whether a row says what a question of that kind says: with a recipe all that rows may leave
    unsaid. What is left of an anchored one is what links and their use cost."""
    return not row.unsaid if "recipe" in kind else not ("anchored" in kind and "link" in row.unsaid)


def of_kind(rows, kind):
    """The rows of a kind; for a recipe's those of other sources without one, too."""
    rows = [r for r in rows if may_judge(r, kind)]
    own = [r for r in rows if kind_of(r.name) == kind]
    if "recipe" not in kind:
        return own
    have = {r.source for r in own}
    plain = kind.replace("recipe", "").strip()
    return own + [r for r in rows if kind_of(r.name) == plain and r.source not in have]


def lineage(name):
    """The class and its parents, from all rows of its kind to it: tests of a class's name."""
    place, numbers, work = name.split()[:3]
    tests = [lambda n: True]
    tests.append(lambda n: n.split()[2] == work)
    tests.append(lambda n: tests[1](n) and n.split()[0] == place)
    tests.append(lambda n: tests[2](n) and n.split()[1] == numbers)
    return tests


class Mixtures:
    """Of the classes of a kind that is not anchored."""

    def __init__(self, rows, kind, lean=None):
        self.rows = of_kind(rows, kind)
        self.lean = lean or self.best_lean(kind)

    def best_lean(self, kind):
        losses = []
        for lean in LEANS:
            means = []
            for source in sorted({r.source for r in self.rows}):
                others = [r for r in self.rows if r.source != source]
                own = [r for r in self.rows if r.source == source]
                if others:
                    terms = {name: Mixtures(others, kind, lean).term(name)
                             for name in {r.name for r in own}}
                    judged = [(r, interval(*terms[r.name], r.cost_error)) for r in own]
                    means.append(sum(pinball(r.r, q[0], q[4]) for r, q in judged) / len(own))
            losses.append(sum(means))
        return LEANS[losses.index(min(losses))]

    def term(self, name):
        """Quantiles of a class, and the median of what its rows' costs allow."""
        points, n_sources, cost_error = None, 0, None
        for test in lineage(name):
            own = [r for r in self.rows if test(r.name)]
            if points is None:
                points = normal(own or self.rows)
            if own:
                points = mixed(own, points, self.lean)
                n_sources = len({r.source for r in own})
                errors = [r._replace(r=r.cost_error) for r in own]
                cost_error = weighted_median(of_sources(errors)[0])
        return quantiles(points, n_sources), cost_error or 0.0


class Effects:
    """Of the classes of an anchored kind: a linear model with random effects. The shape of what it
    misses is drawn from the sources and Student's t. Their costs are corrected, so that no error of
    these is counted."""

    def __init__(self, rows, kind):
        self.rows = of_kind(rows, kind)
        self.fit = self.fit_of(self.rows, lambda row: 0.0)
        self.shape = interval_model.drawn_shape(interval_model.misses(self.fit),
                                                interval_model.freedom(self.fit))

    @staticmethod
    def fit_of(rows, error2):
        rows = [r._replace(name=" ".join(r.name.split()[:3])) for r in rows]
        return interval_model.Fit(interval_model.cells_of(rows, error2))

    def term(self, name):
        mean, variance = self.fit.predict(" ".join(name.split()[:3]))
        return ([mean + z * math.sqrt(variance) for z in self.shape],
                middle([row.cost_error for row in self.rows]))


class Noise:
    """A step on as many GPUs was measured: what is left is how far two measured steps of one system
    are from one another. Too few sources measured several batches to say more."""

    @staticmethod
    def term(_):
        return [z * math.sqrt(2) * NOISE for z in interval_model.normal_shape()], NOISE


def model_of(rows, kind):
    """A kind without rows of its own has the terms of the next plainer one."""
    if "by as many" in kind:
        return Noise()
    if "anchored" not in kind:
        return Mixtures(rows, kind)
    if not of_kind(rows, kind):
        last = " by several" if "by several" in kind else "anchored"
        return model_of(rows, kind.replace(last, "").strip())
    return Effects(rows, kind)


def interval(q, reference, cost_error):
    """As study/interval/interval.c."""
    extra = max(0, cost_error ** 2 - reference ** 2)
    z = [1.64485, 0.67449, 0, 0.67449, 1.64485]
    q = [q[2] + math.copysign(math.hypot(x - q[2], zz * math.sqrt(extra)), x - q[2])
         for x, zz in zip(q, z)]
    return [min(0, q[0]), *q[1:4], max(0, q[4])]


# ---- judging, with each source left out ----

def pinball(r, low, high):
    return ((0.05 if r >= low else -0.95) * (r - low) + (0.95 if r >= high else -0.05) *
            (r - high)) / 2


def judge(rows, kinds, are_all=False):
    """(row, its interval, the constant band) of the rows of these kinds, from other sources.
    are_all: also of rows that may not judge them; no term is made from these."""
    out = []
    for source in sorted({r.source for r in rows}):
        others = [r for r in rows if r.source != source]
        mine = [r for r in rows if r.source == source and kind_of(r.name) in kinds and
                (are_all or may_judge(r, kind_of(r.name)))]
        band, models, terms = {}, {}, {}
        for row in mine:
            kind = kind_of(row.name)
            if kind not in band:
                points, n = of_sources(of_kind(others, kind))
                band[kind] = quantiles(points, n) if points else [0] * 5
                models[kind] = model_of(others, kind)
            if row.name not in terms:
                terms[row.name] = models[kind].term(row.name)
            q, reference = terms[row.name]
            out.append((row, interval(q, reference, row.cost_error), band[kind]))
    return out


def middle(xs):
    xs = sorted(xs)
    return xs[len(xs) // 2] if len(xs) % 2 else (xs[len(xs) // 2 - 1] + xs[len(xs) // 2]) / 2


def line(title, judged):
    n = len(judged)
    inside = [sum(q[a] <= row.r <= q[b] for row, q, _ in judged) / n for a, b in ((1, 3), (0, 4))]
    # 80 %: between the 5 and 25 % quantiles a normal distribution has 10 % at this part of the way
    part = (1.64485 - 1.28155) / (1.64485 - 0.67449)
    eighty = sum(q[0] + part * (q[1] - q[0]) <= row.r <= q[4] + part * (q[3] - q[4])
                 for row, q, _ in judged) / n
    width = middle([math.exp(q[4]) - math.exp(q[0]) for _, q, _ in judged])
    ours = sum(pinball(row.r, q[0], q[4]) for row, q, _ in judged) / n
    constant = sum(pinball(row.r, b[0], b[4]) for row, _, b in judged) / n
    print(f"| {title} | {n} | {len({row.source for row, _, _ in judged})} "
          f"| {100 * inside[0]:.0f} % | {100 * eighty:.0f} % | {100 * inside[1]:.0f} % "
          f"| {100 * width:.0f} % | {ours:.4f} | {constant:.4f} |")


def over_sources(title, judged, sources):
    """Every source as much, however many rows it has."""
    sums = [0.0, 0.0, 0.0]
    for source in sources:
        own = [j for j in judged if j[0].source == source]
        sums[0] += sum(q[0] <= row.r <= q[4] for row, q, _ in own) / len(own)
        sums[1] += sum(pinball(row.r, q[0], q[4]) for row, q, _ in own) / len(own)
        sums[2] += sum(pinball(row.r, b[0], b[4]) for row, _, b in own) / len(own)
    inside, ours, constant = (x / len(sources) for x in sums)
    print(f"| {title} | {len(judged)} | {len(sources)} | | | {100 * inside:.0f} % | "
          f"| {ours:.4f} | {constant:.4f} |")


def report(rows, names):
    """names: of classes to print; without, only kinds that rows may say too little for."""
    judged = judge(rows, [kind for kind in KINDS if names or kind], not names)
    print("| rows, their source left out | n | sources | in 50 % | in 80 % | in 90 % "
          "| width of 90 % | pinball | constant band |\n|---|---|---|---|---|---|---|---|---|")
    for kind in KINDS:
        these = [j for j in judged if kind_of(j[0].name) == kind]
        if not these:
            continue
        line(("all " + kind).strip(), these)
        for place in PLACES:
            for numbers in NUMBERS:
                of_place = [j for j in these if j[0].name.startswith(f"{place} {numbers} ")]
                if of_place:
                    line(f"{place} {numbers}", of_place)
        for name in names:
            of_class = [j for j in these if j[0].name == name]
            if of_class:
                line(name, of_class)
        sources = sorted({j[0].source for j in these})
        for source in sources:
            line("source " + source, [j for j in these if j[0].source == source])
        over_sources("mean over sources", these, sources)


def spreads(rows):
    """What the residuals of each kind are made of, as standard deviations: a table."""
    out = ("| what differs | place | number format and work | source | source's kind of work "
          "| source's class | rows within a source and class |\n|---|---|---|---|---|---|---|\n")
    for kind in KINDS:
        own = of_kind(rows, kind)
        if "by as many" in kind or len({r.source for r in own}) < 2:
            continue
        fit = Effects.fit_of(own, lambda row: 0.0 if "anchored" in kind else row.cost_error ** 2)
        deviations = [math.sqrt(v) for v in fit.variances] + [math.sqrt(fit.common)]
        out += (f"| {('all ' + kind).strip()} | " + " | ".join(f"{x:.3f}" for x in deviations) +
                " |\n")
    return out


# ---- which of two steps is faster ----

def pair_error(rows):
    """90 % quantile of how far apart the residuals of two steps of one source, software, model and
    number format are: so much longer one must be predicted. Every source as much."""
    alike = collections.defaultdict(list)
    for row in rows:
        if not kind_of(row.name):
            alike[row.source, row.software, row.model, row.name.split()[1]].append(row)
    pairs = []
    for members in alike.values():
        for i, a in enumerate(members):
            pairs += [a._replace(r=abs(a.r - b.r)) for b in members[:i]]
    points, at = sorted(of_sources(pairs)[0]), 0.0
    for r, w in points:
        at += w
        if at >= 0.8:
            return r
    return 0.0


# ---- the terms of the program ----

NAMES = [f"{p} {n} {w}{s}{a}" for a in ANCHORED for p in PLACES for n in NUMBERS for w in WORKS
         for s in SOFTWARE]


def replace(path, pattern, by):
    """Replaces the one place of a file that fits the pattern."""
    with open(path, encoding="utf-8") as f:
        new, n = re.subn(pattern, by, f.read())
    if n != 1:
        sys.exit(path + ": no place for terms")
    with open(path, "w", encoding="utf-8") as f:
        f.write(new)


def write(path, rows):
    """Replaces the rows between two marks of terms.yaml, and a figure in the terms.c beside it."""
    text = ""
    models = {kind: model_of(rows, kind) for kind in KINDS}
    for name in NAMES:
        own = [r for r in of_kind(rows, kind_of(name)) if r.name == name]
        q, cost_error = models[kind_of(name)].term(name)
        text += (f"  - {{class: {name},\n     q: [" + ", ".join(f"{x:.4f}" for x in q) +
                 f"], cost_error: {cost_error:.4f}, rows: {len(own)}, "
                 f"sources: {len({r.source for r in own})}}}\n")
    replace(path, r"(  # terms: made\n)(?:.*\n)*?(  # terms: end)", lambda m: m[1] + text + m[2])
    replace(path.removesuffix(".yaml") + ".c", r"return .*; /\* pair: made \*/",
            f"return {pair_error(rows):.4f}; /* pair: made */")


def main():
    arguments = sys.argv[1:]
    path, page, unsaid = None, None, {}
    if arguments[:1] == ["--write"]:
        path, arguments = arguments[1], arguments[2:]
    if arguments[:1] == ["--page"]:
        page, arguments = arguments[1], arguments[2:]
    if arguments[:1] == ["--measured"]:
        with open(arguments[1], newline="", encoding="utf-8") as f:
            unsaid = {row["id"]: frozenset(row_rules.unsaid(row)) for row in csv.DictReader(f)}
        arguments = arguments[2:]
    if not arguments or len(arguments) % 2:
        sys.exit(__doc__.split("\n\n")[1])
    rows = [r for i in range(0, len(arguments), 2)
            for r in read(arguments[i], arguments[i + 1], unsaid)]
    rows += differences(rows)
    report(rows, NAMES)
    if unsaid:
        print("\n*The same terms on all rows, also those that leave something unsaid:*\n")
        report(rows, [])
    print("\n" + spreads(rows))
    print(f"one of two steps of a model and software is slower in 90 % of pairs if predicted "
          f"{100 * (math.exp(pair_error(rows)) - 1):.1f} % slower")
    if path:
        write(path, rows)
    if page:
        interval_page.write(page.split(","), rows)


if __name__ == "__main__":
    main()
