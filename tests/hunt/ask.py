"""tests/hunt/ask.py - runs forerun, reads its answers, and judges what every run must keep.

Whatever is asked, a run ends with status 0, 1, 2 or 3. A refusal (1, 2) is one sentence on standard
error and nothing on standard output; an answer (0, 3) is well-formed JSON.
"""
import dataclasses
import json
import math
import os
import re
import resource
import shlex
import subprocess

LIMIT_S = 120  # of CPU; ten times as long by the clock, since machines are shared
FAULTS = re.compile(r"runtime error|Sanitizer|Assertion|stack smashing|free\(\)|core dumped")


@dataclasses.dataclass
class Violation:
    """What was found; question, when not None, is the one to shrink."""
    invariant: str
    sentence: str
    commands: list
    question: object = None


class Refused(Exception):
    """The program does not answer this question; the sentence says why."""


class Ask:
    """Asks one binary; keeps the answers of one question's variants, and what they violate."""

    def __init__(self, program, source, folder):
        self.folder, self.source = folder, source
        self.program, self.environment = real_program(program)
        self.answers = {}
        self.found = []
        self.refused = None
        self.judges = []  # functions of (ask, question, answer) for each simulated answer

    def begin(self):
        self.answers.clear()
        self.found = []

    def command(self, verb, args):
        return shlex.join(["forerun", verb, *args])

    def violate(self, invariant, sentence, commands, question=None):
        self.found.append(Violation(invariant, sentence, commands, question))

    def run(self, verb, args, again=False):
        """Status, standard output and standard error; asked once, unless again."""
        key = (verb, *args)
        if again or key not in self.answers:
            try:
                done = subprocess.run([self.program, *verb.split(), *args], capture_output=True,
                                      cwd=self.source, env=self.environment,
                                      timeout=10 * LIMIT_S, stdin=subprocess.DEVNULL, check=False,
                                      preexec_fn=limit_cpu)
                got = done.returncode, done.stdout.decode("utf-8", "replace"), \
                    done.stderr.decode("utf-8", "replace")
            except subprocess.TimeoutExpired:
                got = None, "", f"no answer after {10 * LIMIT_S} s"
            if again:
                return got
            self.answers[key] = got
        return self.answers[key]

    def json(self, verb, args, question=None):
        """The answer as values. Refused: there is none. What is wrong with the run is found."""
        status, out, err = self.run(verb, args)
        command = [self.command(verb, args)]
        if status not in (0, 1, 2, 3) or FAULTS.search(err):
            self.violate("ends-well", f"status {status}: {err.strip()[-300:]}", command, question)
            raise Refused(err)
        if status in (1, 2):
            lines = err.splitlines()
            if out or len(lines) != 1 or not re.match(r"(forerun|.*:\d+): \S", err) or \
                    re.search(r"\(null\)|\bnan\b|%[sdz]|the plan has \d+ fault", err):
                self.violate("refuses-in-a-sentence", f"status {status}, {len(out)} bytes of "
                             f"output, {len(lines)} lines: {err.strip()[:300]}", command, question)
            if "deadlock" in err:
                self.violate("plans-end", err.strip()[:300], command, question)
            raise Refused(err.strip())
        if status == 3 and not out and err.startswith("forerun: no plan: ") and err.count("\n") < 2:
            raise Refused(err.strip())
        try:
            return status, parsed(out)
        except ValueError as error:
            self.violate("json-is-well-formed", f"{error}", command, question)
            raise Refused("no JSON") from error

    def simulate(self, question):
        """The answer of simulate; everything that must hold of one answer is looked at."""
        args = [*question.arguments(self.folder), "--json", "-q", "--no-advice", "--no-timing"]
        known = ("simulate", *args) in self.answers
        status, answer = self.json("simulate", args, question)
        if not known:
            for judge in self.judges:
                for invariant, sentence in judge(self, question, status, answer):
                    self.violate(invariant, sentence, [self.shown(question)], question)
        return answer

    def shown(self, question):
        return self.command("simulate", question.arguments(self.folder))


def limit_cpu():
    """The program ends with SIGXCPU when it has computed so long."""
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT_S, LIMIT_S))


def parsed(text):
    """JSON without what JSON has not: NaN, Infinity, the same key twice."""
    def constant(word):
        raise ValueError(f"JSON has no {word}")

    def pairs(items):
        if len({k for k, _ in items}) != len(items):
            raise ValueError(f"a key twice among {[k for k, _ in items]}")
        return dict(items)
    return json.loads(text, parse_constant=constant, object_pairs_hook=pairs)


def real_program(program):
    """The program that libtool's wrapper script would run, and the environment it needs: the script
    takes as long as a small question."""
    program = os.path.abspath(program)
    environment = {**os.environ, "LC_ALL": "C"}
    environment.pop("COLUMNS", None)
    libs = os.path.join(os.path.dirname(program), ".libs")
    for name in ("lt-forerun", "forerun"):
        inner = os.path.join(libs, name)
        if os.access(inner, os.X_OK) and os.path.exists(os.path.join(libs, "libforerun.so")):
            environment["LD_LIBRARY_PATH"] = libs + ":" + environment.get("LD_LIBRARY_PATH", "")
            return inner, environment
    return program, environment


def close(a, b, tolerance=1e-9):
    return math.isclose(a, b, rel_tol=tolerance, abs_tol=1e-15)
