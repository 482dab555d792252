#!/usr/bin/env python3
"""Finds files, and folders, of the library that call each other in a circle.

usage: tests/project/circles.py BUILD LAYER...

Reads the symbols of the archives .libs/libLAYER.a in the folder of a build, so every object counts,
tested or not. A circle that is not among EXPLAINED below is an error.

Exit status: 0 none but those; 1 others; 77 there are no archives.
"""
import os
import subprocess
import sys

# What calls back, and why that is left so.
EXPLAINED = {
    # an event-driven engine and its parts call each other back (sim/engine.h)
    ("sim", "sim/analysis", "sim/collectives", "sim/network"),
    # device files hold what a fit found of launches and of work side by side: one file reads,
    # writes and fits each of these
    ("calibrate/files", "calibrate/fit"),
    # a script holds scripts (eval, functions, here-documents), and a word holds words: ${X:-$Y}
    ("jobfile/shell", "jobfile/shell_command", "jobfile/shell_files"),
    ("jobfile/shell_parameters", "jobfile/shell_words"),
    # a question names a recipe, which must be there; a recipe is a list of a question's settings
    ("study/question", "study/recipes"),
}


def object_names(build, layer):
    """Basename of an object -> path of its source without ending, for the objects of one layer."""
    names = {}
    for folder, _, files in os.walk(os.path.join(build, layer)):
        for f in files:
            if f.endswith(".lo"):
                path = os.path.relpath(os.path.join(folder, f[:-3]), build)
                names.setdefault(f[:-3] + ".o", []).append(path)
    return names


def symbols(build, layers):
    """Who defines each symbol, and what each file needs."""
    defined, needed = {}, {}
    for layer in layers:
        path_of = {}
        for name, paths in object_names(build, layer).items():
            for path in paths:
                obj = os.path.join(build, os.path.dirname(path), ".libs", name)
                if not os.path.exists(obj):
                    obj = os.path.join(build, path + ".o")
                path_of[obj] = path
        # one start for a layer: those of a thousand objects took nearly all of the test's time
        out = subprocess.run(["nm", "-A", "-P", "--", *path_of], capture_output=True, text=True,
                             check=False)
        for line in out.stdout.splitlines():
            obj, symbol, kind = line.split()[:3]
            if not symbol.startswith("fr_"):
                continue
            path = path_of[obj.rstrip(":")]
            if kind == "U":
                needed.setdefault(path, set()).add(symbol)
            elif kind in "TDRBC":
                defined[symbol] = path
    return defined, needed


def circles(graph):
    """Strongly connected components of several nodes (R. Tarjan, SIAM J. Comput. 1(2), 1972)."""
    index, low, stack, on_stack, found = {}, {}, [], set(), []

    def visit(v):
        index[v] = low[v] = len(index)
        stack.append(v)
        on_stack.add(v)
        for w in sorted(graph.get(v, ())):
            if w not in index:
                visit(w)
                low[v] = min(low[v], low[w])
            elif w in on_stack:
                low[v] = min(low[v], index[w])
        if low[v] == index[v]:
            part = []
            while not part or part[-1] != v:
                part.append(stack.pop())
                on_stack.discard(part[-1])
            if len(part) > 1:
                found.append(tuple(sorted(part)))

    sys.setrecursionlimit(10000)
    for v in sorted(graph):
        if v not in index:
            visit(v)
    return found


def main():
    build, layers = sys.argv[1], sys.argv[2:]
    defined, needed = symbols(build, layers)
    if not defined:
        print("SKIP no objects in", build)
        return 77
    status = 0
    for what, key in (("files", lambda f: f), ("folders", os.path.dirname)):
        graph, why = {}, {}
        for f, wanted in needed.items():
            for s in wanted:
                a, b = key(f), key(defined.get(s, f))
                if a != b:
                    graph.setdefault(a, set()).add(b)
                    why.setdefault((a, b), set()).add(s)
        for circle in circles(graph):
            if circle in EXPLAINED:
                continue
            status = 1
            print("circle of", what, *circle)
            for pair in sorted(why):
                if pair[0] in circle and pair[1] in circle:
                    print("  ", pair[0], "->", pair[1] + ":", *sorted(why[pair])[:5])
    return status


sys.exit(main())
