"""tests/oracles/interval_model.py - how far a source that nobody has seen is from predictions.

Residuals r = ln(measured / predicted) of published steps come from few sources, and rows of one
source share their software and machines. What a reader asks about is a *new* source. So a residual
is taken apart (a linear model with crossed random effects):

    r = m + place + kind + g (source + source's kind + source's class + rows) + costs

    place, kind     one GPU, one machine, several machines; number format and work: common to all
    source          what a source's software and machines have in common; in a kind of work; in a
                    class
    rows            models, software and rows within a source and class; each model and software
                    counts as much, and so does each source
    g               scale of a class, from the variance of rows within sources: that is seen in
                    many rows. A class's variance is shrunk towards the common one, as far as
                    classes differ no more than their few sources explain (Smyth, Statistical
                    Applications in Genetics and Molecular Biology 3(1), 2004, section 6.2). Sources
                    of a class are taken to differ in proportion
    costs           the error that the step's own costs state, e (study/interval/cost_error.h); 0
                    for anchored steps, whose correction has its own

    variances       of the effects: restricted maximum likelihood (Patterson and Thompson,
                    Biometrika 58, 1971), by the MM algorithm (Zhou, Hu, Qiao, Cho and Zhou, J.
                    Comp. Graph. Statist. 28(2), 2019)
    prediction      the new source's row: best linear unbiased (Henderson, Biometrics 31, 1975): m,
                    place and kind as known from all sources, and the variances of all effects added
    quantiles       z = (r - prediction) / standard deviation of each source from the others, each
                    source as much (Dunn, Wasserman and Ramdas, JASA 118, 2023: prediction sets for
                    two-layer models), and as one source more Student's t, whose degrees of freedom
                    are those that the variances are known with: the predictive distribution of a
                    Dirichlet process (Ferguson, Annals of Statistics 1(2), 1973). So a source
                    unlike those seen is allowed for, less the more were seen. The shape is common
                    to all classes; it leans to the slow side

No constant is chosen: all follow from the rows.
"""
import collections
import math

LEVELS = [0.05, 0.25, 0.5, 0.75, 0.95]
ROUNDS = 60       # of the MM algorithm; each raises the likelihood
LEAST = 1e-7      # of a variance: 0.03 % of a time


# ---- special functions ----

def digamma(x):
    """Abramowitz and Stegun, Handbook of Mathematical Functions, 1964, 6.3.5 and 6.3.18."""
    out = 0.0
    while x < 10:
        out -= 1 / x
        x += 1
    y = 1 / (x * x)
    return out + math.log(x) - 1 / (2 * x) - y * (1 / 12 - y * (1 / 120 - y / 252))


def trigamma(x):
    """The same, 6.4.6 and 6.4.12."""
    out = 0.0
    while x < 10:
        out += 1 / (x * x)
        x += 1
    y = 1 / (x * x)
    return out + 1 / x + y / 2 + y / x * (1 / 6 - y * (1 / 30 - y / 42))


def student_cdf(t, freedom):
    """Of Student's t: Simpson's rule over the density, 400 steps."""
    def density(x):
        return math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2) -
                        (freedom + 1) / 2 * math.log1p(x * x / freedom)) / math.sqrt(
                            freedom * math.pi)
    step = t / 400
    total = density(0) + density(t) + sum((4 if i % 2 else 2) * density(i * step)
                                          for i in range(1, 400))
    return 0.5 + total * step / 3


def student_quantile(p, freedom):
    """By halving; 50 is beyond what 90 % of 1 degree of freedom need."""
    low, high = -50.0, 50.0
    for _ in range(40):
        mid = (low + high) / 2
        low, high = (mid, high) if student_cdf(mid, freedom) < p else (low, mid)
    return low


def inverse_trigamma(value):
    low, high = 1e-6, 1e6
    for _ in range(200):
        mid = math.sqrt(low * high)
        low, high = (mid, high) if trigamma(mid) > value else (low, mid)
    return low


# ---- matrices: lists of rows ----

def inverse(a):
    """Of a symmetric positive definite matrix, by Gauss and Jordan."""
    n = len(a)
    rows = [list(row) + [float(i == k) for k in range(n)] for i, row in enumerate(a)]
    for i in range(n):
        pivot = 1 / rows[i][i]
        top = rows[i] = [x * pivot for x in rows[i]]
        for k in range(n):
            factor = rows[k][i]
            if k != i and factor != 0:
                rows[k] = [x - factor * y for x, y in zip(rows[k], top)]
    return [row[n:] for row in rows]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


# ---- rows of a class within a source ----

def mean(xs):
    return sum(xs) / len(xs)


class Cell:
    """Rows of one source and class: y, the mean residual; their variance around it; how many
    models and software; the variance that their costs state."""

    def __init__(self, source, name, rows, error2):
        groups = collections.defaultdict(list)
        for row in rows:
            groups[row.software, row.model].append(row)
        self.source, self.name = source, name
        self.place, self.kind = name.split()[0], " ".join(name.split()[1:])
        self.n = len(groups)
        self.y = mean([mean([row.r for row in g]) for g in groups.values()])
        square = mean([mean([(row.r - self.y) ** 2 for row in g]) for g in groups.values()])
        self.variance = square * self.n / (self.n - 1) if self.n > 1 else None
        self.e2 = mean([mean([error2(row) for row in g]) for g in groups.values()])
        # (r, e^2, weight) of each row
        self.rows = [(row.r, error2(row), 1 / self.n / len(g))
                     for g in groups.values() for row in g]


def cells_of(rows, error2):
    tree = collections.defaultdict(list)
    for row in rows:
        tree[row.source, row.name].append(row)
    return [Cell(source, name, own, error2) for (source, name), own in sorted(tree.items())]


def class_variances(cells):
    """({class: variance of rows within a source}, that of a class without rows): shrunk, see above.
    A source with one model says nothing."""
    own = collections.defaultdict(list)
    for cell in cells:
        if cell.variance is not None:
            own[cell.name].append(max(cell.variance, LEAST))
    raw = {name: (mean(vs), len(vs)) for name, vs in own.items()}
    if not raw:
        return {}, 0.01
    seen = [(math.log(v) - digamma(n / 2) + math.log(n / 2), n) for v, n in raw.values()]
    middle = mean([e for e, _ in seen])
    excess = 0.0
    if len(seen) > 1:
        excess = mean([(e - middle) ** 2 * len(seen) / (len(seen) - 1) - trigamma(n / 2)
                       for e, n in seen])
    if excess <= 0:
        return {}, math.exp(middle)
    half = inverse_trigamma(excess)
    common = math.exp(middle + digamma(half) - math.log(half))
    return {name: (2 * half * common + n * v) / (2 * half + n)
            for name, (v, n) in raw.items()}, common


# ---- effects ----

# Which cells share an effect, and whether it grows with the scale of the class.
EFFECTS = [(lambda c: c.place, False), (lambda c: c.kind, False), (lambda c: c.source, True),
           (lambda c: (c.source, c.kind), True), (lambda c: (c.source, c.name), True)]
COMMON = [0, 1]  # those that a new source has, too
SOURCE = 2


class Fit:
    """The variances of the effects for these cells, and what they say of a class."""

    def __init__(self, cells, variances=None, within=None):
        self.cells = cells
        self.within, self.common = within or class_variances(cells)
        self.scale = [math.sqrt(self.of_rows(c.name) / self.common) for c in cells]
        self.fixed = [self.of_rows(c.name) / c.n + c.e2 for c in cells]
        n = len(cells)
        self.shared = [[[self.shares(e, i, k) for e in range(len(EFFECTS))] for k in range(n)]
                       for i in range(n)]
        self.variances = variances or self.likeliest()
        if len({c.source for c in cells}) == 1:
            # one source does not say how sources differ: as much as models within it, we assume
            self.variances = list(self.variances)
            self.variances[SOURCE] = max(self.variances[SOURCE], self.common)
        self.solve()

    def of_rows(self, name):
        return self.within.get(name, self.common)

    def shares(self, effect, i, k):
        """The covariance of two cells by an effect of variance 1."""
        key, grows = EFFECTS[effect]
        if key(self.cells[i]) != key(self.cells[k]):
            return 0.0
        return self.scale[i] * self.scale[k] if grows else 1.0

    def solve(self):
        """Inverse covariance, projected off the mean; the mean and its variance."""
        n = len(self.cells)
        cov = [[dot(self.variances, self.shared[i][k]) + (self.fixed[i] if i == k else 0.0)
                for k in range(n)] for i in range(n)]
        self.inverse = inverse(cov)
        self.sums = [sum(row) for row in self.inverse]
        self.mean_variance = 1 / sum(self.sums)
        ys = [c.y for c in self.cells]
        self.mean = dot(self.sums, ys) * self.mean_variance
        off = [y - self.mean for y in ys]
        self.weighted = [dot(row, off) for row in self.inverse]

    def likeliest(self):
        n, effects = len(self.cells), range(len(EFFECTS))
        pairs = [[(i, k, self.shared[i][k][e]) for i in range(n) for k in range(n)
                  if self.shared[i][k][e]] for e in effects]
        ys = [c.y for c in self.cells]
        spread = mean([(y - mean(ys)) ** 2 for y in ys])
        self.variances = [max(spread / len(EFFECTS), LEAST) for _ in effects]
        for _ in range(ROUNDS):
            self.solve()
            for e in effects:
                square = sum(self.weighted[i] * self.weighted[k] * x for i, k, x in pairs[e])
                trace = sum((self.inverse[i][k] - self.sums[i] * self.sums[k] * self.mean_variance)
                            * x for i, k, x in pairs[e])
                if trace > 0:
                    self.variances[e] = max(self.variances[e] *
                                            math.sqrt(max(square, 0.0) / trace), LEAST)
        return self.variances

    def predict(self, name):
        """Mean and variance of a row of a new source in a class, without its costs' error."""
        place, kind = name.split()[0], " ".join(name.split()[1:])
        near = [self.variances[0] * (c.place == place) + self.variances[1] * (c.kind == kind)
                for c in self.cells]
        spread = self.of_rows(name)
        weights = [dot(row, near) for row in self.inverse]
        # prediction error variance of m + place + kind
        lack = 1 - sum(weights)
        error = (self.variances[0] + self.variances[1] - dot(weights, near) +
                 lack * lack * self.mean_variance)
        new = sum(v for e, v in enumerate(self.variances) if e not in COMMON)
        return (self.mean + dot(near, self.weighted),
                max(error, 0.0) + new * spread / self.common + spread)

    def without(self, source):
        """The same variances, with a source's cells left out."""
        cells = [c for c in self.cells if c.source != source]
        return Fit(cells, self.variances, (self.within, self.common)) if cells else None


def misses(fit):
    """[[(z, weight)] of each source], predicted from the others."""
    out = []
    for source in sorted({c.source for c in fit.cells}):
        others = fit.without(source)
        if not others:
            continue
        own = [c for c in fit.cells if c.source == source]
        points = []
        for cell in own:
            m, variance = others.predict(cell.name)
            points += [((r - m) / math.sqrt(variance + e2), weight / len(own))
                       for r, e2, weight in cell.rows]
        out.append(points)
    return out


def shape(of_sources):
    """Quantiles of z at LEVELS; each source as much. Between points they are interpolated."""
    points = sorted((z, w / len(of_sources)) for points in of_sources for z, w in points)
    out, at = [], 0.0
    wanted = list(LEVELS)
    for i, (z, w) in enumerate(points):
        while wanted and at + w / 2 >= wanted[0]:
            behind = at - points[i - 1][1] / 2 if i else at
            level = wanted.pop(0)
            part = (level - behind) / (at + w / 2 - behind) if i else 1
            before = points[i - 1][0] if i else z
            out.append(before + min(max(part, 0), 1) * (z - before))
        at += w
    return out + [points[-1][0]] * len(wanted)


def freedom(fit):
    """Degrees of freedom of a new row's variance (Satterthwaite, Biometrics Bulletin 2, 1946): the
    part of sources is known from as many as there are less one, that of rows from all models."""
    n_sources = len({c.source for c in fit.cells})
    n_models = sum(c.n - 1 for c in fit.cells)
    source = sum(v for e, v in enumerate(fit.variances) if e not in COMMON)
    rows = fit.common
    return max(1.0, (source + rows) ** 2 / (source ** 2 / max(n_sources - 1, 1) +
                                            rows ** 2 / max(n_models, 1)))


def student_shape(n):
    return [student_quantile(p, n) for p in LEVELS]


def normal_shape():
    return [-1.64485, -0.67449, 0.0, 0.67449, 1.64485]


def drawn_shape(of_sources, n):
    """The shape of the sources left out and, as one more of them, that of Student's t."""
    base = [(student_quantile((i + 0.5) / 41, n), 1 / 41) for i in range(41)]
    return shape(of_sources + [base])
