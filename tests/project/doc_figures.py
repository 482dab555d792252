#!/usr/bin/env python3
"""Compares the figures in the documents' sentences and tables with what the commands print.

usage: tests/project/doc_figures.py [--update] [--all] SOURCE FORERUN

tests/project/doc_figures.txt says which sentence of which page rests on which command:

    run NAME COMMAND        what a command prints as JSON is known as NAME in what follows
    slow NAME COMMAND       the same; left out without --all
    page doc/search.md      the page of the sentences that follow
    text SENTENCE           must stand in the page; {EXPRESSION} is a Python expression of the
                            NAMEs, whose value stands in its place
    table COMMAND-NAME TABLE    the table of that name in the page, between <!-- table: TABLE -->
                            and <!-- end -->, is the one that the command writes with -o FILE.md

White space and line breaks do not count. --update writes the values into the pages; the words
around them must be there.

Exit status: 0 all agree; 1 some do not; 2 a line of the list cannot be read.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor


class BadList(Exception):
    pass


class Answer(dict):
    """A JSON object whose members are attributes: a.results[0].iteration_s."""
    __getattr__ = dict.__getitem__


def digits3(x):
    """Three significant digits without an exponent, as the program prints figures."""
    text = "%.3g" % x
    return "%d" % round(x) if "e" in text else text


def time(s):
    """A time as the program prints it."""
    for unit, scale in (("days", 86400), ("h", 3600), ("min", 60), ("s", 1), ("ms", 1e-3), ("us", 1e-6)):
        if s >= scale:
            return digits3(s / scale) + " " + unit
    return digits3(s * 1e9) + " ns" if s else "0 s"


def gib(n):
    return digits3(n / 2**30) + " GiB"


def percent(x, places=1):
    return "%.*f %%" % (places, 100 * x)


def spaced(n):
    """A count with a space before each group of three digits: 20 172."""
    return "{:,}".format(n).replace(",", " ")


def median(values):
    v = sorted(values)
    return (v[(len(v) - 1) // 2] + v[len(v) // 2]) / 2


def signed(x, places=0):
    """A difference as tables show it: +23 %, -8 %."""
    return "%+.*f %%" % (places, 100 * x)


def rate(x):
    """Three significant digits and no exponent: 9.70, 45.0, 2580."""
    return "%.*f" % (0 if x >= 100 else 1 if x >= 10 else 2, x)


def ms(s, places=1):
    return "%.*f" % (places, 1e3 * s)


def row(table, *cells):
    """The row of a table that begins with these cells."""
    return next(r for r in table.rows if tuple(r.values())[:len(cells)] == cells)


def row_with(rows, **cells):
    """The first row that has these values."""
    return next(r for r in rows if all(r[k] == v for k, v in cells.items()))


def isnumber(x):
    return isinstance(x, (int, float))


WORDS = dict(isnumber=isnumber, time=time, gib=gib, percent=percent, spaced=spaced, median=median, digits3=digits3, signed=signed, rate=rate, ms=ms, row=row, row_with=row_with, any=any, zip=zip,
            
             abs=abs, max=max, min=min, sum=sum, len=len, round=round, int=int, sorted=sorted)


def read_list(path):
    """The list's lines: (number, word, rest)."""
    with open(path, encoding="utf-8") as f:
        for n, line in enumerate(f, 1):
            line = line.strip()
            if line and not line.startswith("#"):
                word, _, rest = line.partition(" ")
                yield n, word, rest.strip()


def run_all(commands, forerun, folder):
    """NAME -> (answer, path of the Markdown): each command once, as many at a time as cores."""
    env = dict(os.environ, PATH=os.path.dirname(os.path.abspath(forerun)) + os.pathsep +
               os.environ["PATH"])

    def run(item):
        name, command = item
        page = os.path.join(folder, name + ".md")
        words = " -o " + page if command.startswith("forerun reproduce ") else ""
        done = subprocess.run(command + " --json" + words, shell=True, env=env, cwd=folder,
                              capture_output=True, text=True, check=False)
        if done.returncode not in (0, 3):
            return name, None, command + ": " + done.stderr.strip()
        return name, (json.loads(done.stdout, object_hook=Answer), page), None

    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        results = list(pool.map(run, commands.items()))
    return {n: a for n, a, _ in results if a}, [e for _, _, e in results if e]


def as_pattern(sentence):
    """The sentence with any figures, any white space: a pattern with a group a figure."""
    parts = re.split(r"\{[^{}]*\}", sentence)
    spaces = [r"\s+".join(re.escape(w) for w in re.split(r"\s+", p)) for p in parts]
    return r"([-+]?\d+(?:\.\d+)?(?:[ \n]\d{3})*(?:\s+(?:%|s|ms|us|min|h|days|GiB)(?=\W))?)".join(spaces)


def check_sentence(page, sentence, answers, update):
    """The page, with the sentence's figures renewed, and what is wrong with it, or None."""
    expressions = re.findall(r"\{([^{}]*)\}", sentence)
    names = {n: a[0] for n, a in answers.items()}
    values = [str(eval(e, {"__builtins__": {}, **WORDS, **names})) for e in expressions]
    found = re.search(as_pattern(sentence), page)
    wanted = re.sub(r"\{[^{}]*\}", "%s", sentence.replace("%", "%%")) % tuple(values)
    if not found:
        return page, "no such sentence: " + wanted
    out, end, wrong = [], 0, False
    for k, value in enumerate(values, 1):
        same = found.group(k).split() == value.split()
        wrong = wrong or not same
        out += [page[end:found.start(k)], found.group(k) if same else value]
        end = found.end(k)
    if not wrong:
        return page, None
    if update:
        return "".join(out) + page[end:], None
    return page, "says: %s\n  is:   %s" % (" ".join(found.group(0).split()), wanted)


def table_of(path, name):
    with open(path, encoding="utf-8") as f:
        found = re.search(r"<!-- table: %s -->\n+((?:\|.*\n)+)" % re.escape(name), f.read())
    return found and found.group(1)


def check_table(page, name, made, update):
    pattern = r"(<!-- table: %s -->\n+)((?:\|.*\n)*)(\n*<!-- end -->)" % re.escape(name)
    found = re.search(pattern, page)
    if not found:
        return page, "no table '%s'" % name
    if not made:
        return page, "the command makes no table '%s'" % name
    if found.group(2) == made:
        return page, None
    if update:
        return page[:found.start(2)] + made + page[found.end(2):], None
    old, new = found.group(2).splitlines(), made.splitlines()
    lines = ["  - " + a + "\n  + " + b for a, b in zip(old, new) if a != b]
    return page, "table '%s' is another:\n%s" % (name, "\n".join(lines[:5] or ["  other length"]))


def main(arguments):
    update, every = "--update" in arguments, "--all" in arguments
    source, forerun = [a for a in arguments if not a.startswith("--")]
    path = os.path.join(source, "tests/project/doc_figures.txt")
    lines = list(read_list(path))
    commands, slow = {}, set()
    for _, word, rest in lines:
        if word in ("run", "slow"):
            name, _, command = rest.partition(" ")
            if word == "slow" and not every:
                slow.add(name)
            else:
                commands[name] = command.strip()
    pages, n, page = {}, 0, None
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(os.path.abspath(os.path.join(source, "examples")), os.path.join(folder, "examples"))
        answers, wrong = run_all(commands, forerun, folder)
        for number, word, rest in lines:
            if word == "page":
                page = os.path.join(source, rest)
                with open(page, encoding="utf-8") as f:
                    pages.setdefault(page, f.read())
                continue
            if word in ("run", "slow"):
                continue
            if word not in ("text", "table") or not page:
                raise BadList("%s:%d: '%s' is no word of the list" % (path, number, word))
            used = set(re.findall(r"[a-z]\w*", " ".join(re.findall(r"\{([^{}]*)\}", rest))
                                  if word == "text" else rest.split()[0]))
            if used & slow or not used & set(commands) <= set(answers):
                continue
            n += 1
            if word == "text":
                pages[page], fault = check_sentence(pages[page], rest, answers, update)
            else:
                name, table = rest.split()
                pages[page], fault = check_table(pages[page], table, table_of(answers[name][1], table),
                                                 update)
            if fault:
                wrong.append("%s: %s" % (os.path.relpath(page, source), fault))
    for name, text in pages.items() if update else ():
        with open(name, "w", encoding="utf-8") as f:
            f.write(text)
    for w in wrong:
        print("FAILED", w)
    print("%d sentences and tables of the documents, %d wrong" % (n, len(wrong)))
    return 1 if wrong or not n else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except BadList as fault:
        print(fault)
        sys.exit(2)
