#!/usr/bin/env python3
"""tests/hunt/hunt.py - asks random questions, and holds answers against what is always true.

usage: tests/hunt/hunt.py FORERUN [-n QUESTIONS] [-s SEED] [-j JOBS] [--only NUMBER] [--check NAME]
                          [--keep FOLDER] [--no-shrink]

Each question is drawn from the seed and its number: a workload, a cluster, a strategy and options.
Its answer must keep the rules of bounds.py; then it is asked again with something changed, and the
two answers must agree as same.py, better.py, verbs.py, choices.py and parts.py say. What violates a
rule is shrunk to a smaller question that still does, and printed with the rule, the two figures,
and the commands; files that the commands name are put into FOLDER (hunt-found).

--only asks one question of a seed, with all checks; --check asks with one check alone, by the name
of its function.

Exit status: 0 nothing was violated; 1 something was; 2 wrong usage.
"""
import argparse
import collections
import multiprocessing
import os
import random
import re
import resource
import shutil
import sys
import tempfile
import time
import traceback

import better
import bounds
import choices
import draw
import parts
import same
import shrink
import verbs
from ask import Ask, Refused

CHECKS = {}
for group in (same, better, verbs, choices, parts):
    CHECKS.update(group.CHECKS)
EACH = 2  # checks a question, beside those of one answer
MOST_SHRUNK = 4  # of one rule, by one worker


def judge(ask, question, check, seed):
    """Asks the question, then makes the check; what was found. ask.refused: why it is refused."""
    ask.begin()
    try:
        try:
            ask.simulate(question)
        except Refused as why:
            ask.refused = str(why)
            raise
        check(ask, question, random.Random(seed))
    except Refused:
        pass
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        ask.violate("answers-have-their-figures", f"{type(error).__name__} {error} at "
                    f"{os.path.basename(where.filename)}:{where.lineno}", [ask.shown(question)],
                    question)
    return ask.found


def smallest(ask, found, check, seed):
    def violates(question):
        for other in judge(ask, question, check, seed):
            if other.invariant == found.invariant and other.question is not None:
                return other
        return None
    return shrink.shrink(violates, found.question) or found


def drawn_checks(rng):
    names = list(CHECKS)
    weights = [CHECKS[c] for c in names]
    chosen = []
    while len(chosen) < EACH:
        one = rng.choices(names, weights)[0]
        if one not in chosen:
            chosen.append(one)
    return chosen


class Worker:
    """One process's part of a campaign."""

    def __init__(self, options, folder):
        self.options = options
        self.ask = Ask(options.forerun, options.source, folder)
        self.ask.judges = bounds.JUDGES
        self.shrunk = collections.Counter()

    def answer(self, number):
        """Number, whether it was refused, and the violations of one question."""
        seed = f"{self.options.seed}:{number}"
        rng = random.Random(seed)
        question = draw.question(rng)
        checks = drawn_checks(rng)
        if self.options.only is not None:
            checks = list(CHECKS)
        if self.options.check:
            checks = [c for c in CHECKS if c.__name__ == self.options.check]
        found = []
        self.ask.refused = None
        for check in checks:
            for violation in judge(self.ask, question, check, seed):
                if violation.invariant in [v.invariant for v in found]:
                    continue
                if violation.question is not None and self.may_shrink(violation):
                    violation = smallest(self.ask, violation, check, seed)
                found.append(violation)
        return number, self.ask.refused, [(v.invariant, v.sentence, v.commands) for v in found]

    def may_shrink(self, violation):
        self.shrunk[violation.invariant] += 1
        return not self.options.no_shrink and self.shrunk[violation.invariant] <= MOST_SHRUNK


worker = None


def begin(options, folder):
    global worker  # one a process, made when it starts
    worker = Worker(options, folder)


def answer(number):
    return worker.answer(number)


def keep_files(commands, folder, keep):
    """The commands with the paths of files that will still be there."""
    kept = []
    for command in commands:
        for name in re.findall(re.escape(folder) + r"/([\w.-]+)", command):
            os.makedirs(keep, exist_ok=True)
            shutil.copy(os.path.join(folder, name), os.path.join(keep, name))
        kept.append(command.replace(folder, keep))
    return kept


def report(results, options, folder):
    """Prints what was violated as it comes, each shrunk question once; the number of violations."""
    violated, refusals, printed = collections.Counter(), collections.Counter(), set()
    asked = 0
    for number, refused, found in results:
        asked += 1
        if refused:
            refusals[re.sub(r"'[^']*'|\"[^\"]*\"|[\d.]+", "#", refused)[:70]] += 1
        for invariant, sentence, commands in found:
            violated[invariant] += 1
            if tuple(commands) in printed:
                continue
            printed.add(tuple(commands))
            print(f"VIOLATED {invariant}, question {number}: {sentence}")
            for command in keep_files(commands, folder, options.keep):
                print("  " + command, flush=True)
    print(f"{asked} questions of seed {options.seed}, "
          f"{sum(refusals.values())} refused, {sum(violated.values())} violations")
    for invariant, count in sorted(violated.items()):
        print(f"  {count:5} {invariant}")
    if options.verbose:
        for sentence, count in refusals.most_common(30):
            print(f"  {count:5} refused: {sentence}")
    return sum(violated.values())


def parse(arguments):
    parser = argparse.ArgumentParser(description="asks random questions and judges the answers")
    parser.add_argument("forerun")
    parser.add_argument("-n", "--questions", type=int, default=5000)
    parser.add_argument("-s", "--seed", default="1")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", type=int)
    parser.add_argument("--check", choices=[c.__name__ for c in CHECKS])
    parser.add_argument("--keep", default="hunt-found")
    parser.add_argument("--no-shrink", action="store_true")
    parser.add_argument("-v", "--verbose", action="store_true")
    options = parser.parse_args(arguments)
    here = os.path.dirname(os.path.abspath(__file__))
    options.source = os.path.dirname(os.path.dirname(here))
    options.keep = os.path.abspath(options.keep)
    return options


def main():
    options = parse(sys.argv[1:])
    numbers = [options.only] if options.only is not None else range(options.questions)
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        if options.jobs == 1 or len(numbers) == 1:
            begin(options, folder)
            bad = report(map(answer, numbers), options, folder)
        else:
            with multiprocessing.Pool(options.jobs, begin, (options, folder)) as pool:
                bad = report(pool.imap(answer, numbers, chunksize=5), options, folder)
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    cpu_s = sum(u.ru_utime + u.ru_stime for u in used)
    print(f"{cpu_s:.0f} s of CPU time, {time.monotonic() - begun:.0f} s", file=sys.stderr)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
