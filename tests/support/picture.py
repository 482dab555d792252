#!/usr/bin/env python3
"""tests/support/picture.py - what shell tests ask of a picture or a report.

    picture.py texts FILE.svg     every piece of text, each on a line
    picture.py graph FILE.svg     a drawing of boxes and wires: "nodes N" and "edges N"; each node is
                                  one box with text in it, no two boxes overlap, each edge ends at
                                  its two boxes and passes no other
    picture.py stripes FILE.svg   "striped N": boxes of several colours, which fill them
    picture.py axes FILE.svg      a chart drawn by gnuplot: "axes N"; the numbers of each axis rise
    picture.py report FILE.html   its headings, "pre: " and the command, "rows N" of its tables;
                                  each element is closed, each id is there once, each link leads to
                                  one

Exits 1 with a line on standard error if the file is not what it should be.
"""
import re
import sys
import xml.etree.ElementTree as tree
from html.parser import HTMLParser

SVG = "{http://www.w3.org/2000/svg}"


def wrong(what):
    sys.exit(f"{sys.argv[2]}: {what}")


def read_svg(path):
    try:
        root = tree.parse(path).getroot()
    except tree.ParseError as fault:
        wrong(fault)
    if root.tag != SVG + "svg":
        wrong(f"the root is <{root.tag}>")
    ids = [e.get("id") for e in root.iter() if e.get("id")]
    if len(ids) != len(set(ids)):
        wrong("an id twice")
    return root


def texts(root):
    return ["".join(t.itertext()) for t in root.iter(SVG + "text")]


# ---- drawings (results/canvas/svg.c) ----


def points(shape):
    """The corners of a rectangle, the control points of a path."""
    if shape.tag == SVG + "rect":
        x, y, w, h = (float(shape.get(k)) for k in ("x", "y", "width", "height"))
        return [(x, y), (x + w, y + h)]
    numbers = re.findall(r"-?\d+(?:\.\d+)?", shape.get("d"))
    return list(zip(map(float, numbers[::2]), map(float, numbers[1::2])))


def way_of(path):
    """Control points of cubic curves, three after the first for each piece."""
    way = points(path)
    if "L" not in path.get("d"):
        return way
    return way[:1] + [p for a, b in zip(way, way[1:]) for p in (a, b, b)]


def box_of(shapes):
    corners = [p for shape in shapes for p in points(shape)]
    xs, ys = [p[0] for p in corners], [p[1] for p in corners]
    return min(xs), min(ys), max(xs), max(ys)


def is_at(box, point):
    """On the border, but for rounded corners and how long graphviz thinks an arrow's head is."""
    x, y = point
    near = 3
    inside = box[0] + near < x < box[2] - near and box[1] + near < y < box[3] - near
    beside = box[0] - near <= x <= box[2] + near and box[1] - near <= y <= box[3] + near
    return beside and not inside


def read_nodes(root):
    boxes = {}
    for g in root.iter(SVG + "g"):
        if g.get("class") != "node":
            continue
        name = g.get("id")
        if name.startswith("key"):
            continue  # explains a colour
        boxes[name] = box_of(g.iter(SVG + "rect"))
        if not any(t.strip() for t in texts(g)):
            wrong(f"node {name} has no text")
    return boxes


def check_apart(boxes):
    standing = list(boxes.items())
    for i, (name, a) in enumerate(standing):
        for other, b in standing[:i]:
            if min(a[2], b[2]) - max(a[0], b[0]) > 1 and min(a[3], b[3]) - max(a[1], b[1]) > 1:
                wrong(f"node {name} covers {other}")


def check_passes(boxes, ends, way):
    """A line passes neither behind nor over a box that is not at its end."""
    for name, box in boxes.items():
        if name in ends:
            continue
        for first in range(0, len(way) - 3, 3):
            a, b, c, d = way[first : first + 4]
            for step in range(41):
                t, u = step / 40, 1 - step / 40
                x, y = (
                    u**3 * a[k] + 3 * u * u * t * b[k] + 3 * u * t * t * c[k] + t**3 * d[k]
                    for k in (0, 1)
                )
                if box[0] + 2 < x < box[2] - 2 and box[1] + 2 < y < box[3] - 2:
                    wrong(f"the edge {ends} passes {name}")


def graph(root):
    boxes = read_nodes(root)
    check_apart(boxes)
    n_edges = 0
    for g in root.iter(SVG + "g"):
        if g.get("class") != "edge":
            continue
        ends = g.get("data-ends").split()
        way = way_of(g.find(f".//{SVG}path"))
        if len(ends) != 2 or not all(e in boxes for e in ends):
            wrong(f"an edge of {ends}")
        n_edges += 1
        a, b = (boxes[e] for e in ends)
        check_passes(boxes, ends, way)
        if not (is_at(a, way[0]) and is_at(b, way[-1])) and not (
            is_at(b, way[0]) and is_at(a, way[-1])
        ):
            wrong(f"the edge {ends} goes from {way[0]} to {way[-1]}, its boxes are {a} and {b}")
    print(f"nodes {len(boxes)}")
    print(f"edges {n_edges}")


def stripes(root):
    """A box's stripes come before its frame."""
    n = 0
    for g in root.iter(SVG + "g"):
        rects = [float(r.get("width")) for r in g.findall(SVG + "rect")]
        if g.get("class") != "node" or len(rects) < 2:
            continue
        n += 1
        if abs(sum(rects[:-1]) - rects[-1]) > 0.02 * rects[-1]:
            wrong(f"the stripes of {g.get('id')} are {rects}")
    print(f"striped {n}")


# ---- gnuplot ----


def number(text):
    try:
        return float(text)
    except ValueError:
        return None


def runs(labels):
    """The axes among numbers on one line. Two pictures side by side, or above each other, have
    axes at the same place. An axis of a single decade may have one number: it is not counted."""
    values = [v for _, v in sorted(labels)]
    found = [[values[0]]]
    for value in values[1:]:
        if value > found[-1][-1]:
            found[-1].append(value)
        else:
            found.append([value])
    if len(found) > 2:
        wrong(f"the numbers of an axis do not rise: {values}")
    return [run for run in found if len(run) > 2]


def axes(root):
    """Numbers in one row, or one above the other, are an axis."""
    rows, columns = {}, {}
    for g in root.iter(SVG + "g"):
        label = g.find(SVG + "text")
        place = re.match(r"translate\(([-\d.]+),([-\d.]+)\)$", g.get("transform") or "")
        value = None if label is None else number("".join(label.itertext()))
        if not place or value is None:
            continue
        x, y = float(place[1]), float(place[2])
        if g.get("text-anchor") == "middle":
            rows.setdefault(y, []).append((x, value))
        elif g.get("text-anchor") == "end":
            columns.setdefault(x, []).append((-y, value))
    found = [run for a in rows.values() for run in runs(a)]
    found += [run for a in columns.values() for run in runs(a)]
    print(f"axes {len(found)}")


# ---- the report ----


class Report(HTMLParser):
    HEADINGS = ("h1", "h2", "h3", "summary")

    def __init__(self):
        super().__init__()
        self.open, self.ids, self.links, self.says, self.n_rows = [], [], [], {}, 0
        self.headings, self.kept = [], None

    def handle_starttag(self, tag, attrs):
        names = dict(attrs)
        if "id" in names:
            self.ids.append(names["id"])
        if "href" in names:
            self.links.append(names["href"])
        if tag in self.HEADINGS or tag == "pre":
            self.kept = ""
        self.n_rows += tag == "tr"
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            wrong(f"</{tag}> ends another element")
        if tag in self.HEADINGS:
            self.headings.append(self.kept)
        elif tag == "pre":
            self.headings.append("pre: " + self.kept)
        self.kept = None if tag in self.HEADINGS + ("pre",) else self.kept

    def handle_data(self, data):
        if self.kept is not None:
            self.kept += data


def report(path):
    page = Report()
    with open(path, encoding="utf-8") as f:
        page.feed(f.read())
    page.close()
    if page.open:
        wrong(f"not closed: {page.open}")
    if len(page.ids) != len(set(page.ids)):
        wrong("an id twice")
    for link in page.links:
        if link[:1] != "#" or link[1:] not in page.ids:
            wrong(f"the link {link} leads nowhere")
    print("\n".join(page.headings))
    print(f"rows {page.n_rows}")


def main():
    what, path = sys.argv[1:3]
    if what == "report":
        report(path)
        return
    root = read_svg(path)
    if what == "texts":
        print("\n".join(texts(root)))
    elif what == "graph":
        graph(root)
    elif what == "stripes":
        stripes(root)
    else:
        axes(root)


main()
