#!/usr/bin/env python3
"""Reads a Markdown file of a document and prints its words, one a line.

usage: tests/support/markdown.py FILE.md

The file must be what results/render/markdown.c writes: each row of a table has as many cells as its
head, fences are closed, and no markup is left but its own. The words are those that a terminal shows
in the same order, save for colons at the end of headings and tables that have no titles.

Exit status: 0 well formed; 1 not, and why.
"""
import re
import sys

FENCE = re.compile(r"(`{3,})text$")


def cells_of(line):
    """The cells of a row, parted where no backslash stands before the bar."""
    return re.split(r"(?<!\\)(?:\\\\)*\|", line)[1:-1]


def plain(text):
    """Text without its escapes; an unescaped mark of emphasis, a link or a tag is a fault."""
    bare = re.sub(r"\\.", "", text)
    if re.search(r"[`*_\[\]<>]", bare):
        sys.exit("markup is not escaped: " + text)
    return re.sub(r"\\(.)", r"\1", text)


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        lines = f.read().split("\n")
    if lines.pop() != "":
        sys.exit("the last line has no end")
    words, fence, width = [], None, 0
    for line in lines:
        if fence:
            if line == fence:
                fence = None
            else:
                words += line.split()
            continue
        begun = FENCE.match(line)
        if begun:
            fence = begun.group(1)
        elif line.startswith("|"):
            if re.fullmatch(r"(\| (---|---:) )+\|", line):
                continue
            cells = cells_of(line)
            if width and len(cells) != width:
                sys.exit("%d cells, %d in the head: %s" % (len(cells), width, line))
            width = len(cells)
            for cell in cells:
                words += plain(cell).split()
        else:
            width = 0
            words += plain(re.sub(r"^#{2,3} ", "", line)).split()
    if fence:
        sys.exit("a fence is not closed")
    print("\n".join(words))


if __name__ == "__main__":
    main()
