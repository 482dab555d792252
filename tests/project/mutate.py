#!/usr/bin/env python3
"""Changes the engine and the solver in one place at a time and asks the tests whether they notice.

usage: tests/project/mutate.py [-j N] [--check | -l] [--sample N [--seed S]] [WORD...]

Copies the source tree that this script stands in to a temporary folder (one for each of N builds
side by side), and for each mutation of mutations.py rebuilds what it changes and runs the programs of TESTS
until one fails. A mutation that none notices has SURVIVED: a test is missing. With WORDs only
mutations whose file or text holds one of them are tried; --sample tries N of these, the same ones
for the same seed; -l lists them. --check builds nothing and says whether each mutation still fits
one place of the source, which it must.

Exit status: 0 all caught; 1 some survived, or a mutation does not fit the source any more.
"""
import argparse
import hashlib
import os
import queue
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

from mutations import EQUIVALENT, MUTATIONS, OWN_TESTS, TESTS

MARK = re.compile(r"\{\{(.*?) => (.*?)\}\}")
LEFT_OUT = shutil.ignore_patterns(".git", "build", "build-*", "autom4te.cache", ".deps", ".libs",
                                  "*.o", "*.lo", "*.la", "Makefile", "config.status", "config.h",
                                  "stamp-h1")
MOST_MEMORY = 4 << 30  # of a test gone wild


class Misfit(Exception):
    """A mutation or a tree that cannot be used."""


class Files:
    """The C files of a source tree by their names."""

    def __init__(self, source):
        self.source = source
        self.paths = {}
        for folder, folders, names in os.walk(source):
            folders[:] = sorted(f for f in folders if f[0] != "." and not f.startswith("build"))
            for name in names:
                if name.endswith((".c", ".h")):
                    path = os.path.relpath(os.path.join(folder, name), source)
                    self.paths.setdefault(name, []).append(path)

    def find(self, name):
        """The path of the one file of that name, below a folder of the name that stands before."""
        folder, base = os.path.split(name)
        found = [p for p in self.paths.get(base, [])
                 if not folder or folder in p.split(os.sep)[:-1]]
        if len(found) != 1:
            said = "no such file" if not found else "several: " + ", ".join(found)
            raise Misfit(f"{name}: {said}")
        return found[0]

    def test(self, name):
        """The path of a test program's source."""
        folder, base = os.path.split(name)
        return self.find(os.path.join(folder, f"test_{base}.c"))

    def read(self, name):
        with open(os.path.join(self.source, self.find(name)), encoding="utf-8") as f:
            return f.read()


def apply(text, spec):
    """The text with the mutation in it and the line it stands on."""
    mark = MARK.search(spec)
    if not mark:
        raise Misfit("a mutation without {{is => becomes}}")
    before, after = spec[:mark.start()], spec[mark.end():]
    old = before + mark[1] + after
    if text.count(old) != 1:
        raise Misfit(f"found {text.count(old)} times instead of once: bring mutate.py up to date")
    at = text.index(old)
    return (text[:at] + before + mark[2] + after + text[at + len(old):],
            text.count("\n", 0, at + len(before)) + 1)


def shown(spec):
    """A mutation in one line."""
    return " ".join(spec.split())


def describe(status, output, limit_s):
    """How a test program failed, or None."""
    named = re.search(r":[FE]:[^:]*:([^:]*):", output)
    said = [line for line in output.splitlines() if "fixture:" in line or "ssert" in line]
    if status == 0:
        return None
    if status == -signal.SIGXCPU:
        return f"no end within {limit_s} s"
    if named:
        return named[1]
    if said:
        return said[-1][:70]
    return signal.strsignal(-status) if status < 0 else f"status {status}"


class Tree:
    """A copy of the sources, built, in which tests are built again and run."""

    def __init__(self, folder, limit_s):
        self.folder = folder
        self.limit_s = limit_s
        self.files = Files(folder)

    @classmethod
    def build(cls, source, folder, n_jobs):
        """Copies, configures and builds, and takes the time of each test."""
        shutil.copytree(source, folder, ignore=LEFT_OUT, symlinks=True)
        tree = cls(folder, {})
        tree.call(["./configure", "--quiet", "--disable-shared", "CFLAGS=-O1"])
        tree.call(["make", "-s", f"-j{n_jobs}", *map(tree.program, TESTS)])
        for test in TESTS:
            failure, cpu_s = tree.run(test, 300)
            if failure:
                raise Misfit(f"fails without any mutation: {failure}")
            tree.limit_s[test] = 2 + int(2 * cpu_s)
        return tree

    def copy(self, folder):
        shutil.copytree(self.folder, folder, symlinks=True)
        return Tree(folder, self.limit_s)

    def program(self, test):
        return self.files.test(test)[:-len(".c")]

    def call(self, command):
        done = subprocess.run(command, cwd=self.folder, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
        if done.returncode:
            said = "\n".join(done.stdout.splitlines()[-4:])
            raise Misfit(f"{' '.join(command)} failed:\n{said}")

    def run(self, test, limit_s):
        """(how the test failed or None, CPU seconds). Limits are of CPU time: they hold on a busy
        machine, too."""
        def set_limits():
            resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
            resource.setrlimit(resource.RLIMIT_CPU, (limit_s, limit_s + 1))

        with tempfile.TemporaryFile("w+", errors="replace") as said:
            p = subprocess.Popen(["./" + self.program(test)], cwd=self.folder, stdout=said,
                                 stderr=subprocess.STDOUT, preexec_fn=set_limits,
                                 env={**os.environ, "CK_FORK": "no", "srcdir": "."})
            _, status, used = os.wait4(p.pid, 0)
            p.returncode = os.waitstatus_to_exitcode(status)  # there is nothing left to wait for
            said.seek(0)
            output = said.read()
        failure = describe(p.returncode, output, limit_s)
        return failure and f"{test}: {failure}", used.ru_utime + used.ru_stime

    def try_one(self, mutation):
        """How it was caught, or None."""
        _, name, spec = mutation
        path = os.path.join(self.folder, self.files.find(name))
        text = self.files.read(name)
        mutated, _ = apply(text, spec)
        try:
            with open(path, "w", encoding="utf-8") as f:
                f.write(mutated)
            for test in sorted(TESTS, key=lambda t: t != OWN_TESTS.get(name)):
                self.call(["make", "-s", self.program(test)])
                failure, _ = self.run(test, self.limit_s[test])
                if failure:
                    return failure
            return None
        finally:
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)


def work(tree, mutations, jobs, results):
    """One thread: takes mutations until none is left."""
    while True:
        try:
            i = jobs.get_nowait()
        except queue.Empty:
            return
        try:
            results[i] = tree.try_one(mutations[i])
            if not results[i]:
                print(f"SURVIVED: {mutations[i][1]} {shown(mutations[i][2])}", flush=True)
        except (Misfit, OSError) as e:
            results[i] = e


def try_all(source, mutations, n_jobs):
    """How each was caught: a sentence, None, or the exception that prevented a try."""
    results = [Misfit("not tried")] * len(mutations)
    jobs = queue.Queue()
    for i in range(len(mutations)):
        jobs.put(i)
    with tempfile.TemporaryDirectory() as folder:
        first = Tree.build(source, os.path.join(folder, "0"), n_jobs)
        trees = [first] + [first.copy(os.path.join(folder, str(i)))
                           for i in range(1, min(n_jobs, len(mutations)))]
        threads = [threading.Thread(target=work, args=(tree, mutations, jobs, results))
                   for tree in trees]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    return results


def report(mutations, lines, results):
    """Prints the table; the number of mutations that were not caught."""
    n_bad = 0
    print(f"\n{'kind':10}  {'place':26}  mutation\n{'':40}caught by")
    for (kind, name, spec), line, caught in zip(mutations, lines, results):
        n_bad += not isinstance(caught, str)
        caught = f"UNUSABLE: {caught}" if isinstance(caught, Exception) else caught or "SURVIVED"
        print(f"{kind:10}  {name + ':' + str(line):26}  {shown(spec)}\n{'':40}{caught}")
    n_signs = sum(kind == "sign" for kind, _, _ in mutations)
    print(f"\n{len(mutations)} mutations, {n_signs} of them signs: "
          f"{len(mutations) - n_bad} caught, {n_bad} survived or unusable")
    return n_bad


def report_equivalent():
    print(f"\n{len(EQUIVALENT)} more change nothing that a test could see:")
    for name, spec, why in EQUIVALENT:
        print(f"{name:18}  {shown(spec)}\n{'':20}{why}")


def places(files, mutations):
    """The line of each; None where it does not fit, which is said."""
    lines = []
    for _, name, spec in mutations:
        try:
            lines.append(apply(files.read(name), spec)[1])
        except Misfit as e:
            lines.append(None)
            print(f"UNUSABLE: {name} {shown(spec)}: {e}", flush=True)
    return lines


def check(files):
    """Whether all mutations, files and tests are there, whatever else was asked for."""
    everything = MUTATIONS + [("equivalent", name, spec) for name, spec, _ in EQUIVALENT]
    n_bad = places(files, everything).count(None)
    for test in TESTS:
        try:
            files.test(test)
        except Misfit as e:
            n_bad += 1
            print(e)
    for name, test in OWN_TESTS.items():
        if test not in TESTS or not any(name == m[1] for m in MUTATIONS):
            n_bad += 1
            print(f"{name} has no mutation, or no test of its own")
    print(f"{len(everything)} mutations in all, {n_bad} things that do not fit")
    return 1 if n_bad else 0


def sample(mutations, n, seed):
    """n of them. Which ones does not depend on the others much: a new mutation replaces one."""
    def rank(mutation):
        return hashlib.sha256(f"{seed} {mutation[1]} {mutation[2]}".encode()).digest()
    taken = sorted(mutations, key=rank)[:n]
    return [m for m in mutations if m in taken]


def source_of_this_script():
    folder = os.path.dirname(os.path.abspath(__file__))
    while not os.path.exists(os.path.join(folder, "configure.ac")):
        if folder == os.path.dirname(folder):
            raise Misfit("no configure.ac above this script")
        folder = os.path.dirname(folder)
    return folder


def options_of_command_line():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("-j", type=int, default=os.cpu_count(), metavar="N",
                        help="builds at a time")
    parser.add_argument("-l", action="store_true", help="list the mutations")
    parser.add_argument("--check", action="store_true",
                        help="only say whether every mutation fits the source")
    parser.add_argument("--sample", type=int, metavar="N", help="try N of them")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="which N")
    parser.add_argument("word", nargs="*", help="only mutations with one of these")
    return parser.parse_args()


def main():
    options = options_of_command_line()
    source = source_of_this_script()
    files = Files(source)
    if options.check:
        return check(files)
    mutations = [m for m in MUTATIONS
                 if not options.word or any(w in m[1] or w in m[2] for w in options.word)]
    if options.sample is not None:
        mutations = sample(mutations, options.sample, options.seed)
    if options.l:
        for kind, name, spec in mutations:
            print(f"{kind:10}  {name:20}  {shown(spec)}")
        return 0
    lines = places(files, mutations)
    if None in lines or not mutations:
        return 1
    try:
        results = try_all(source, mutations, max(1, options.j))
    except Misfit as e:
        print(f"no tests to run: {e}", file=sys.stderr)
        return 1
    n_bad = report(mutations, lines, results)
    report_equivalent()
    return 1 if n_bad else 0


if __name__ == "__main__":
    sys.exit(main())
