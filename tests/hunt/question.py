"""tests/hunt/question.py - a question to forerun as plain values, which can be changed and shrunk.

A question has a workload, a cluster, a strategy and options. Workloads and clusters that are drawn
at random are files; their names come from their content, so that the same question always has the
same command.
"""
import dataclasses
import hashlib
import os


@dataclasses.dataclass(frozen=True)
class Words:
    """A name with options, as forerun reads them: gpt:layers=2,hidden=64."""
    name: str
    options: tuple = ()

    def __str__(self):
        if not self.options:
            return self.name
        return self.name + ":" + ",".join(f"{k}={v}" for k, v in self.options)

    def get(self, key, otherwise=None):
        return dict(self.options).get(key, otherwise)

    def put(self, **values):
        """The same with these options; a value of None takes one away. _ stands for -."""
        have = dict(self.options)
        for key, value in values.items():
            key = key.replace("_", "-")
            if value is None:
                have.pop(key, None)
            else:
                have[key] = value
        return Words(self.name, tuple(have.items()))

    def text(self, _folder):
        return str(self)


def written(folder, stem, ending, content):
    """The path of a file with that content, which is made where it is not there."""
    name = f"{stem}-{hashlib.sha1(content.encode()).hexdigest()[:8]}.{ending}"
    path = os.path.join(folder, name)
    if not os.path.exists(path):
        beside = f"{path}.{os.getpid()}"
        with open(beside, "w", encoding="utf-8") as f:
            f.write(content)
        os.replace(beside, path)
    return path


@dataclasses.dataclass(frozen=True)
class Tasks:
    """A graph of tasks: rows of a name, a time in seconds, and (name, bytes) of what is before."""
    rows: tuple

    name = "tasks"

    def get(self, _key, otherwise=None):
        """As of a model: it has no options."""
        return otherwise

    def text(self, folder):
        lines = ["task,time,after"]
        for name, time_s, after in self.rows:
            lines.append(f"{name},{time_s!r}," + " ".join(f"{n}:{b}" for n, b in after))
        return written(folder, "tasks", "csv", "\n".join(lines) + "\n")


@dataclasses.dataclass(frozen=True)
class Placed:
    """The strategy placement with a file: rows of an op or a pattern, a device and an order."""
    rows: tuple
    options: tuple = ()

    name = "placement"

    get = Words.get

    def put(self, **values):
        """The same with these options; the file stays."""
        return Placed(self.rows, Words(self.name, self.options).put(**values).options)

    def renamed(self, new):
        """The same for tasks of other names."""
        return Placed(tuple((new(op), *rest) for op, *rest in self.rows), self.options)

    def text(self, folder):
        lines = ["op,device,order"] + [",".join(str(cell) for cell in row) for row in self.rows]
        path = written(folder, "placement", "csv", "\n".join(lines) + "\n")
        return str(Words(self.name, self.options + (("file", path),)))


@dataclasses.dataclass(frozen=True)
class Plain:
    """Machines without hardware, as graphs of tasks use them; via: rate and latency, or None."""
    machines: int
    via: str = None

    gpus = property(lambda self: self.machines)

    def text(self, _folder):
        return f"{self.machines} machines" + (f" via {self.via}" if self.via else "")


@dataclasses.dataclass(frozen=True)
class Stock:
    """So many machines that forerun knows, with so many GPUs each."""
    machine: str  # a preset, or box:4xa40 where {} stands for the GPUs
    each: int
    count: int = 1
    via: str = None

    gpus = property(lambda self: self.count * self.each)

    def text(self, _folder):
        machine = self.machine.format(self.each)
        if self.count == 1 and not self.via:
            return machine
        return f"{self.count}x {machine}" + (f" via {self.via}" if self.via else "")


@dataclasses.dataclass(frozen=True)
class Mixed:
    """Machines of several kinds: 1x dgx1-v100 + 2x box:4xa40."""
    kinds: str
    gpus: int
    via: str
    machines = 1  # it is not made smaller

    def text(self, _folder):
        return f"{self.kinds} via {self.via}"


@dataclasses.dataclass(frozen=True)
class Drawn:
    """A cluster in a file: machines of GPUs around one switch, NICs around another.

    All figures are of one GPU, link or NIC. Its GPUs are no known type, so that their rates can be
    changed one by one."""
    count: int
    each: int
    tflops: float
    memory_GBps: float
    memory_GiB: float
    launch_us: float
    link_GBps: float
    link_us: float
    nic_GBps: float
    nic_us: float
    kind: str = "nvlink"
    prefix: str = ""  # of all names
    turned: bool = False  # links stand in the opposite order

    gpus = property(lambda self: self.count * self.each)

    def text(self, folder):
        p = self.prefix
        lines = [
            "name: drawn", "source: drawn at random", "types:",
            f"  - {{name: {p}drawn-gpu, kind: gpu, memory: {self.memory_GiB!r}GiB, "
            f"memory_bandwidth: {self.memory_GBps!r}GB/s, vector: {self.tflops!r}Tflop/s, "
            f"flops: {{fp32: {self.tflops!r}Tflop/s, fp16: {2 * self.tflops!r}Tflop/s, bf16: "
            f"{2 * self.tflops!r}Tflop/s}}, sms: 64, launch: {self.launch_us!r}us}}",
            "machines:", f"  - count: {self.count}", "    vertices:",
            f"      - {{name: {p}cpu0, kind: cpu, type: 2x-epyc-7742}}",
            f"      - {{name: {p}hub, kind: {'nvswitch' if self.kind == 'nvlink' else 'pcie'}}}",
            f"      - {{name: {p}root, kind: pcie}}", f"      - {{name: {p}nic0, kind: nic}}"]
        for i in range(self.each):
            lines.append(f"      - {{name: {p}gpu{i}, kind: gpu, type: {p}drawn-gpu}}")
        lines += ["    links:",
                  f"      - {{from: {p}cpu0, to: {p}root, kind: cpu, bandwidth: 200GB/s, "
                  "latency: 0.125us}",
                  f"      - {{from: {p}nic0, to: {p}root, kind: pcie, bandwidth: "
                  f"{2 * self.nic_GBps!r}GB/s, latency: {self.link_us!r}us}}",
                  f"      - {{from: {p}hub, to: {p}root, kind: pcie, bandwidth: "
                  f"{self.link_GBps!r}GB/s, latency: {self.link_us!r}us}}"]
        gpus = [f"      - {{from: {p}gpu{i}, to: {p}hub, kind: {self.kind}, bandwidth: "
                f"{self.link_GBps!r}GB/s, latency: {self.link_us!r}us}}" for i in range(self.each)]
        lines += reversed(gpus) if self.turned else gpus
        lines += ["switches:", f"  - {{name: {p}tor}}", "links:"]
        for i in range(self.count):
            lines.append(f"  - {{from: n{i}.{p}nic0, to: {p}tor, kind: net, bandwidth: "
                         f"{self.nic_GBps!r}GB/s, latency: {self.nic_us!r}us}}")
        return written(folder, "cluster", "yaml", "\n".join(lines) + "\n")


@dataclasses.dataclass(frozen=True)
class Question:
    """What is asked; options are pairs of a flag and its value, None for a flag without one."""
    workload: object
    cluster: object
    strategy: object  # Words or Placed
    options: tuple = ()

    def but(self, **changes):
        return dataclasses.replace(self, **changes)

    def option(self, flag, otherwise=None):
        return dict(self.options).get(flag, otherwise)

    def put(self, **values):
        """The same with these options: batch=8 is -b 8; None takes one away, "" has no value."""
        have = dict(self.options)
        for key, value in values.items():
            flag = {"batch": "-b", "gpus": "-g"}.get(key, "--" + key.replace("_", "-"))
            if value is None:
                have.pop(flag, None)
            else:
                have[flag] = None if value == "" else str(value)
        return self.but(options=tuple(have.items()))

    def planned_as(self, **values):
        """The same with these options of the strategy."""
        return self.but(strategy=self.strategy.put(**values))

    def gpus(self):
        return int(self.option("-g") or self.cluster.gpus)

    def is_tasks(self):
        return isinstance(self.workload, Tasks)

    def arguments(self, folder, strategies=None):
        """The command line behind the verb; strategies instead of the question's own."""
        args = ["-w", self.workload.text(folder), "-t", self.cluster.text(folder)]
        for flag, value in self.options:
            args += [flag] if value is None else [flag, value]
        if not any(flag == "--recipe" for flag, _ in self.options):
            args += ["--recipe", "none"]  # the usual software is another one for another layout
        for strategy in [self.strategy] if strategies is None else strategies:
            args += ["-s", strategy if isinstance(strategy, str) else strategy.text(folder)]
        return args
