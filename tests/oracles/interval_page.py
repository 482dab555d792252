"""tests/oracles/interval_page.py - the tables of doc/trust.md and doc/evidence/ranges.md,
from judged rows.

It is separate from interval_terms.py, which judges them, so that what a page shows of them is
chosen in one place.
"""
import math
import re
import sys

import interval_terms

NUMBERS = {"fp32": "fp32 or tf32", "half": "16 bits or fewer"}
PLACES = {"one-gpu": "one GPU", "one-machine": "GPUs of one machine", "machines": "several machines"}

# (title, kind, patterns that a class's name has)
CLASSES = [(f"{PLACES[p]}, {NUMBERS[n]}", "", (p, n)) for p in PLACES for n in NUMBERS]
CLASSES += [("**all**", "", ()), ("**all, recipe given**", "recipe", ())]
CLASSES += [(f"one machine, recipe given, {NUMBERS[n]}", "recipe", ("one-machine", n))
            for n in NUMBERS]
CLASSES += [("**their one-GPU step measured, all**", "anchored", ())]
CLASSES += [(f"{'with convolutions' if w == 'convolutions' else 'without'}, {NUMBERS[n]}",
             "anchored", (n, w)) for w in ("convolutions", "products") for n in NUMBERS]
CLASSES += [("**with it and a recipe, all**", "recipe anchored", ()),
            ("**their step on fewer GPUs measured (not one)**", "anchored by several", ()),
            ("with it and a recipe", "recipe anchored by several", ()),
            ("**their step on as many GPUs measured, another batch**", "anchored by as many", ())]
SOURCES = [("all", ""), ("recipe given", "recipe"), ("their one-GPU step measured", "anchored"),
           ("with it and a recipe", "recipe anchored")]
WIDER = [("recipe given", "recipe"), ("their one-GPU step measured", "anchored"),
         ("with it and a recipe", "recipe anchored"),
         ("their step on fewer GPUs measured", "anchored by several")]


def chosen(judged, kind, words=()):
    return [j for j in judged if interval_terms.kind_of(j[0].name) == kind and
            all(word in j[0].name.split()[:3] for word in words)]


def cells(own):
    """rows, sources, in 50 %, in 90 %, width, loss, loss of the constant range"""
    n = len(own)
    half, most = [sum(q[a] <= row.r <= q[b] for row, q, _ in own) / n for a, b in ((1, 3), (0, 4))]
    width = interval_terms.middle([math.exp(q[4]) - math.exp(q[0]) for _, q, _ in own])
    ours, constant = [sum(interval_terms.pinball(j[0].r, j[k][0], j[k][4]) for j in own) / n
                      for k in (1, 2)]
    return (f"{n} | {len({j[0].source for j in own})} | {100 * half:.0f} % | {100 * most:.0f} % "
            f"| {100 * width:.0f} % | {ours:.4f} | {constant:.4f}")


HEAD = ("| question | rows | sources | in 50 % | in 90 % | width | pinball | constant |\n"
        "|---|---|---|---|---|---|---|---|\n")


def classes(judged):
    return HEAD + "".join(f"| {title} | {cells(own)} |\n" for title, kind, words in CLASSES
                          for own in [chosen(judged, kind, words)] if own)


def wider(judged):
    return HEAD + "".join(f"| {title} | {cells(own)} |\n" for title, kind in WIDER
                          for own in [chosen(judged, kind)] if own)


def sources(judged):
    out = "| question | in 90 % | pinball | constant |\n|---|---|---|---|\n"
    for title, kind in SOURCES:
        own = chosen(judged, kind)
        names = sorted({j[0].source for j in own})
        sums = [0.0, 0.0, 0.0]
        for name in names:
            of = [j for j in own if j[0].source == name]
            sums[0] += sum(q[0] <= row.r <= q[4] for row, q, _ in of) / len(of)
            for k in (1, 2):
                sums[k] += sum(interval_terms.pinball(j[0].r, j[k][0], j[k][4])
                               for j in of) / len(of)
        if names:
            out += (f"| {title} | {100 * sums[0] / len(names):.0f} % | {sums[1] / len(names):.4f} "
                    f"| {sums[2] / len(names):.4f} |\n")
    return out


def put(page, name, table):
    """The page with a table between its marks."""
    page, n = re.subn(rf"(<!-- {name}: made by interval_terms.py -->\n)(?:.*\n)*?"
                      rf"(<!-- {name}: end -->)", lambda m: f"{m[1]}\n{table}\n{m[2]}", page)
    if n != 1:
        sys.exit(f"the page has no place for the table '{name}'")
    return page


def write(paths, rows):
    """Puts each table where its marks are, in one of the pages."""
    judged = interval_terms.judge(rows, interval_terms.KINDS)
    everything = interval_terms.judge(rows, [kind for _, kind in WIDER], True)
    tables = {"classes": classes(judged), "sources": sources(judged), "unsaid": wider(everything),
              "spreads": interval_terms.spreads(rows)}
    for path in paths:
        with open(path, encoding="utf-8") as f:
            page = f.read()
        for name in [name for name in tables if f"<!-- {name}: " in page]:
            page = put(page, name, tables.pop(name))
        with open(path, "w", encoding="utf-8") as f:
            f.write(page)
    assert not tables, f"no page has marks for {', '.join(tables)}"
