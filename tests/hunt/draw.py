"""tests/hunt/draw.py - draws small questions of all strategies, machines, models and options.

Most of what is drawn makes sense, so that few questions are refused. All comes from one random
generator, so that a seed and a number give the same question.
"""
from question import Drawn, Mixed, Placed, Plain, Question, Stock, Tasks, Words

SCHEDULES = ("gpipe 1f1b eager-1f1b interleaved-1f1b moe-overlap looped-bfs "
             "interleaved-zero-bubble zb-h1 zb-h2 zb-v zb-v-auto v-half v-min dualpipe dualpipe-v "
             "chimera pipedream pipedream-2bw pipemare").split()
SEVERAL_STAGES = ("interleaved-1f1b", "moe-overlap", "looped-bfs", "interleaved-zero-bubble")
LISTS = "heft cpop mcp etf fifo critical-path random".split()
RECIPES = ("default default usual megatron-lm megatron-core megatron-bridge deepspeed "
           "deepspeed-zero3 pytorch-ddp pytorch-compile torchtitan "
           "synchronous synchronous-overlap oneflow nvidia-apex tf-horovod llm-foundry "
           "deepspeed-zero3-2021 mxnet-horovod nvidia-pytorch-bert nvidia-transformer nvidia-gnmt "
           "nvidia-tf-bert nvidia-paddle-bert nvidia-mxnet-fp16 nvidia-squad-amp nvidia-squad-fp32 "
           "tf-horovod-xla tf-slim tf1").split()
TUNED = "gpt llama mixtral decoder gpt-neox".split()
NAMED = ("lenet alexnet vgg11 resnet18 resnet34 densenet121 inception-v3 gnmt-2 "
         "transformer-base").split()
CARDS = "t4 rtx2080ti v100-pcie-16gb a100-pcie-40gb a40 a10g l4 rtx4090 h100-pcie-80gb p4".split()
PRESETS = (("dgx1-p100", 8), ("dgx1-v100", 8), ("p3.16xlarge", 8), ("dgx2", 16),
           ("dgx-a100-40g", 8), ("dgx-a100-80g", 8), ("hgx-h100", 8), ("hgx-b200", 8),
           ("gh200-quad", 4), ("p2.16xlarge", 16), ("dgx1-v100-32g", 8), ("hgx-h200", 8),
           ("gb200-nvl72", 72))
NETWORKS = ("ib:100Gbps", "ib:400Gbps", "eth:10Gbps", "eth:25Gbps", "roce:100Gbps",
            "slingshot:200Gbps")


def some(rng, part):
    return rng.random() < part


DECODERS = (
    {"kv_heads": 4, "qk_norm": 1},
    {"kv_heads": 4, "q_rank": 64, "kv_rank": 32, "rope_width": 32, "nope_width": 32, "value_width": 64},
    {"kv_heads": 4, "mixers": "wf", "window": 32, "sinks": 1},
    {"kv_heads": 4, "experts": 8, "chosen": 2, "dense_first": 1},
    {"kv_heads": 4, "mixers": "mf", "ssm_heads": 8, "ssm_width": 32, "ssm_state": 16,
     "ssm_groups": 4, "ssm_chunk": 32},
)


def transformer(rng):
    """A small one; sizes are multiples that tensor and context parallelism can divide."""
    family = rng.choice(["gpt", "gpt", "llama", "bert", "mixtral", "t5", "vit", "gpt-neox",
                         "transformer", "decoder", "decoder"])
    heads = rng.choice([4, 8])
    size = {"layers": rng.choice([2, 3, 4, 6, 8]), "hidden": 64 * heads * rng.choice([1, 1, 2]),
            "heads": heads}
    if family in ("llama", "mixtral"):
        size |= {"kv_heads": rng.choice([heads, 4]), "ffn": size["hidden"] * rng.choice([2, 4])}
    if family in ("t5", "gpt-neox", "transformer", "vit"):
        size["ffn"] = size["hidden"] * 4
    if family == "vit":
        return Words(family, tuple((size | {"patch": 16}).items()))
    if family == "mixtral":
        size["experts"] = rng.choice([4, 8])
    if family == "decoder":
        size |= {"ffn": size["hidden"] * 2} | rng.choice(DECODERS)
    size |= {"seq": rng.choice([64, 128, 256]), "vocab": rng.choice([512, 1024, 8192])}
    return Words(family, tuple(size.items()))


def model(rng):
    if some(rng, 0.62):
        return transformer(rng)
    if some(rng, 0.15):
        return Words("rnnlm", (("layers", rng.choice([1, 2])), ("hidden", rng.choice([64, 128])),
                               ("vocab", 1000)))
    if some(rng, 0.08):
        return Words(rng.choice(["examples/gnmt-head", "examples/stages/graph.txt"]))
    return Words(rng.choice(NAMED[:5] if some(rng, 0.75) else NAMED))


def tasks(rng):
    rows = []
    for i in range(rng.randint(3, 14)):
        before = rng.sample(range(i), min(i, rng.choice([0, 1, 1, 2, 3])))
        after = tuple((f"t{b}", rng.choice([0, 1, 4, 16]) * 125000000) for b in sorted(before))
        rows.append((f"t{i}", rng.randint(1, 32) / 8, after))
    return Tasks(tuple(rows))


def cluster(rng):
    kind = rng.random()
    if kind < 0.3:
        return Drawn(count=rng.choice([1, 1, 2, 3, 4]), each=rng.choice([1, 2, 2, 4]),
                     tflops=float(rng.choice([8, 16, 64])),
                     memory_GBps=float(rng.choice([512, 1024])),
                     memory_GiB=float(rng.choice([2, 8, 32])), launch_us=float(rng.choice([0, 4])),
                     link_GBps=float(rng.choice([8, 16, 64])), link_us=rng.choice([0.5, 2.0]),
                     nic_GBps=float(rng.choice([1, 4, 16])), nic_us=rng.choice([0.5, 8.0]),
                     kind=rng.choice(["nvlink", "pcie"]))
    if kind < 0.65:
        each = rng.choice([1, 1, 2, 4, 8])
        card = rng.choice(CARDS)
        extra = rng.choice(["", "", ",switch=2", ",nics=2"]) if each > 1 else ""
        if each > 1 and card in ("a40", "a100-pcie-40gb") and some(rng, 0.3):
            extra += ",bridge"
        count = rng.choice([1, 2, 3, 4, 4, 8])
        via = rng.choice(NETWORKS) if some(rng, 0.7) or count > 1 else None
        if count == 4 and some(rng, 0.3):
            via = rng.choice(["torus:100Gbps,dims=2x2", "ring:100Gbps", "full:100Gbps",
                              "mesh:25Gbps,dims=4", "leaf-spine:100Gbps,machines=2,over=2:1",
                              "dragonfly:100Gbps,machines=1,routers=2"])
        return Stock("box:{}x" + card + extra, each, count, via if count > 1 else None)
    if kind < 0.7:
        return mixed(rng)
    preset, each = rng.choice(PRESETS)
    count = rng.choice([1, 1, 1, 2, 2, 4])
    via = None
    if count > 1 and some(rng, 0.5):
        via = rng.choice(NETWORKS + ("rails", "rails:spine"))
    return Stock(preset, each, count, via)


def mixed(rng):
    """Machines of two kinds."""
    kinds = rng.sample([("dgx1-p100", 8), ("dgx1-v100", 8), ("dgx-a100-80g", 8), ("hgx-h100", 8),
                        ("box:2xt4", 2), ("box:4xa40", 4), ("box:1xrtx4090", 1)], 2)
    counts = [rng.choice([1, 1, 2]), 1]
    return Mixed(" + ".join(f"{n}x {name}" for n, (name, _) in zip(counts, kinds)),
                 sum(n * each for n, (_, each) in zip(counts, kinds)),
                 rng.choice(["ib:100Gbps", "eth:25Gbps"]))


def divisor(rng, n, most):
    """A power of two that divides n, at most so large; 1 is often it."""
    fit = [d for d in (1, 2, 4, 8) if n % d == 0 and d <= most]
    return rng.choice(fit + [1])


def hybrid(rng, work, gpus, batch):
    """Degrees that divide the GPUs, and options that go with them."""
    s = {}
    left = gpus
    named = dict(work.options)
    if "heads" in named and work.name != "vit":
        s["tp"] = divisor(rng, left, min(4, int(named.get("kv_heads", 8)), int(named["heads"])))
        left //= s["tp"]
        if work.name not in ("t5", "transformer", "bert") and some(rng, 0.2):
            s["cp"] = divisor(rng, left, 2)
            left //= s["cp"]
    s["pp"] = divisor(rng, left, min(4, int(named.get("layers", 4))))
    left //= s["pp"]
    if work.name == "mixtral" and some(rng, 0.6):
        s["ep"] = divisor(rng, left, 4)
    s = {k: v for k, v in s.items() if v > 1}
    if left > 1 or some(rng, 0.1):
        s["dp"] = left
        if some(rng, 0.6):
            s["zero"] = rng.choice([1, 1, 2, 3, 3] if s.get("pp", 1) == 1 else [1, 1, 2])
        if s.get("zero") == 3:
            for key, values in (("gather", ["module"]), ("prefetch", [0, 2]), ("reshard", [0]),
                                ("packs", [1]), ("shard-group", [2]), ("keep-last", [1]),
                                ("cast-gathered", [1])):
                if some(rng, 0.2) and (key != "shard-group" or left % 2 == 0):
                    s[key] = rng.choice(values)
        elif s.get("zero") and some(rng, 0.2):
            s["overlap-gather"] = 1
        if some(rng, 0.2):
            s["overlap"] = 0
        if some(rng, 0.2):
            s["bucket"] = rng.choice(["1MiB", "10MB", "100MB"])
    if s.get("tp"):
        if some(rng, 0.4):
            s["sp"] = 1
            if some(rng, 0.3):
                s["tp-overlap"] = 1
            elif some(rng, 0.3):
                s["keep-gathered"] = 1
        if some(rng, 0.2):
            s["tp-async"] = 0
        if some(rng, 0.1):
            s["vocab-parallel"] = 0
    if s.get("cp") and some(rng, 0.5):
        s["cp-comm"] = rng.choice(["ring", "ulysses"])
    if s.get("pp"):
        pipeline(rng, s, batch // max(left, 1), int(named.get("layers", 8)))
        if some(rng, 0.3):
            s["cut"] = "layers"
    elif some(rng, 0.3):
        s["micro"] = divisor(rng, batch // max(left, 1), 4)
    if some(rng, 0.25):
        s["recompute"] = rng.choice(["selective", "full", 1, 2, "layernorm", "core_attn+layernorm",
                                     "mlp+layernorm", "moe+layernorm", "moe_act+mla_up_proj",
                                     "budget:0.5", "budget:0.1"])
        if some(rng, 0.3):
            s["early-stop"] = 1
    for key, values, part in (("tie", [0], 0.08), ("adds", [1, 3], 0.08), ("passes", [2, 3], 0.08)):
        if some(rng, part):
            s[key] = rng.choice(values)
    if s.get("tp") and s.get("pp") and not s.get("sp") and some(rng, 0.3):
        s["scatter-gather"] = 1
    if s.get("ep"):
        if some(rng, 0.3):
            s["dispatch"] = rng.choice(["skew:1.5", "zipf:0.5"])
        if some(rng, 0.3):
            s["etp"] = 1
    if some(rng, 0.1):
        s["map"] = rng.choice(["megatron-dp", "deepspeed", "torchtitan", "calculon"])
    return Words("hybrid", tuple(s.items()))


def pipeline(rng, s, samples, layers, gpus=0):
    """A schedule with the parts and micro-batches that it takes, of so many samples a replica."""
    if some(rng, 0.6):  # the last three update the weights on the way
        whole = "stages" in s and s["stages"] == gpus
        s["schedule"] = rng.choice(SCHEDULES if whole else SCHEDULES[:-3])
        if "stages" not in s and s["schedule"] in ("dualpipe", "chimera"):
            s["schedule"] = "1f1b"  # hybrid has no two copies of the model
    if s.get("schedule") in SEVERAL_STAGES or some(rng, 0.1) and "schedule" not in s:
        s["virtual"] = 2 if some(rng, 0.8) or layers < 3 * s.get("pp", s.get("stages", 2)) else 3
    if some(rng, 0.7):
        s["micro"] = divisor(rng, max(samples, 1), max(samples // 4, 1))


def strategy(rng, work, gpus, batch):
    kind = rng.random()
    if kind < 0.42:
        return hybrid(rng, work, gpus, batch)
    if kind < 0.62:
        s = {}
        for key, values in (("sync", ["ps-cpu", "ps-gpu0", "ps-sharded"]), ("overlap", [0]),
                            ("bucket", ["1MiB", "100MiB"]), ("accumulate", [2]),
                            ("step", ["bucket"]), ("passes", [2]), ("adds", [3]),
                            ("first", ["1MiB"]), ("copies-in", [2]), ("copies-out", [2]),
                            ("copies-on", ["comm"]), ("bucket-ops", [3]), ("pull", ["start"])):
            if some(rng, 0.25 if key in ("sync", "overlap", "accumulate") else 0.12) and \
                    (key in ("overlap", "accumulate", "adds") or
                     bool(s.get("sync")) == (key == "pull")):
                s[key] = rng.choice(values)
        if not (s.get("copies-in") or s.get("copies-out")):
            s.pop("copies-on", None)
        return Words("dp", tuple(s.items()))
    if kind < 0.8:
        s = {}
        s["stages"] = divisor(rng, gpus, 4) if some(rng, 0.5) else gpus if gpus <= 4 else 4
        if s["stages"] > gpus or gpus % s["stages"]:
            s["stages"] = gpus
        pipeline(rng, s, batch * s["stages"] // gpus, int(work.get("layers", 8)), gpus)
        return Words("pp", tuple(s.items()))
    if kind < 0.9:
        return Words(rng.choice(["single", "mp"]))
    if kind < 0.95:
        return Words("pipedream", tuple(o for o in (("flush", 1), ("straight", 1),
                                                    ("mode", "paper"), ("compression", 0))
                                        if some(rng, 0.15)))
    small = work.name in ("lenet", "rnnlm", "alexnet")
    name = rng.choice(["dpos", "os-dpos"] + LISTS if small else LISTS)
    return Words(name, (("start", rng.choice(["dp", "model"])),)
                 if name not in ("random", "exact") and some(rng, 0.2) else ())


NARROW = ("h100", "h200", "gh200", "b200", "gb200", "l4", "rtx4090")


def formats(rng, q):
    """A number-format recipe, where all GPUs have units for it and the strategy adds its casts."""
    machine = q.cluster.machine if isinstance(q.cluster, Stock) else ""
    if q.strategy.name != "hybrid" or not any(name in machine for name in NARROW):
        return q
    names = ["fp8-delayed", "fp8-current", "fp8-blockwise"]
    if "b200" in machine:
        names += ["mxfp8", "mxfp4", "nvfp4", "mxfp8", "nvfp4"]
    return q.put(precision=rng.choice(names))


def options(rng, q):
    """At most a few besides the batch."""
    image = q.workload.name in NAMED[:7] or q.workload.name == "vit"
    choices = (("precision", ["fp16", "bf16", "amp", "bf16", "tf32", "fp8"], 0.35),
               ("optimizer", ["adam", "momentum", "adam", "adam-8bit", "lion", "adafactor",
                              "adafactor-momentum", "muon", "shampoo", "soap"], 0.5),
               ("order", ["fifo", "strict", "control", "random", "tic", "tac"], 0.12),
               ("network", ["analytic"], 0.08), ("channels", ["1", "2"], 0.06),
               ("collectives", ["expanded", "closed"], 0.12),
               ("collective-algorithm", ["ring", "tree", "halving-doubling", "hierarchical"], 0.05),
               ("recipe", RECIPES, 0.08),
               ("fuse", ["bias-activation", "xla", "inductor", "torch-norms"], 0.05),
               ("alloc", ["start"], 0.05), ("memory", ["liveness"], 0.08),
               ("costs", ["datasheet"], 0.12), ("jitter", ["0.1", "lognormal:0.5"], 0.04),
               ("interference", ["none", "1.2", "published"], 0.06),
               ("gpu-variation", ["0.015"], 0.04), ("iterations", ["2", "3"], 0.06),
               ("zero-grad", ["zero"], 0.05), ("host-op", ["20us"], 0.04),
               ("input-rate", ["100"], 0.03), ("protocol", ["LL", "LL128", "Simple"], 0.04),
               ("nccl-version", ["2.18", "2.20"], 0.03), ("length-variation", ["0.057"], 0.04),
               ("device-jitter", ["0.1"], 0.03), ("host-step", ["1ms"], 0.03),
               ("host-speed", ["0.5"], 0.03), ("host-process", ["machine"], 0.03),
               ("transport", ["sockets"], 0.03),
               ("host-sync", ["sum", "norm+step"], 0.03),
               ("update", ["torch-adamw-loop", "torch-adam-fused", "tf2-adamweightdecay+tf-clip",
                           "mxnet-sgd+gluonnlp-norm"], 0.05),
               ("power-limit", ["150W", "300W", "500W"], 0.03))
    for name, values, part in choices:
        if some(rng, part):
            q = q.put(**{name.replace("-", "_"): rng.choice(values)})
    if image and some(rng, 0.1):
        q = q.put(layout="nhwc")
    if q.workload.name in TUNED and some(rng, 0.12):
        q = q.put(tune=rng.choice(["lora:rank=4,targets=all", "lora:rank=8,targets=all,dropout=0.1",
                                   "qlora:rank=4", "qlora:rank=4,double=0", "freeze:train=head",
                                   "freeze:parts=embed", "prompt:tokens=8"]))
    return formats(rng, q) if some(rng, 0.3) else q


def placed_tasks(rng, work, machines):
    """Each task on a machine; where orders are said, they are those of the rows, which are sound."""
    says_order = some(rng, 0.5)
    return Placed(tuple((name, f"m{rng.randint(1, machines)}", i if says_order else "")
                        for i, (name, _, _) in enumerate(work.rows)))


def placed_layers(rng, work, where, gpus):
    """A transformer's layers on GPUs of the first machine, the rest beside the first of them."""
    each = min(gpus, where.each)
    rows = [("*", "n0.gpu0", "")]
    for layer in range(int(work.get("layers"))):
        rows.append((f"layer{layer}.*", f"n0.gpu{rng.randrange(each)}", ""))
    return Placed(tuple(rows), (("start", "model"),) if some(rng, 0.2) else ())


def task_question(rng):
    machines = rng.choice([1, 2, 2, 3, 3, 4])
    via = rng.choice([None, "1GB/s", "250MB/s", "1GB/s,2ms"])
    planner = rng.choice(LISTS + ["exact", "dpos", "os-dpos", "single"])
    work = tasks(rng)
    q = Question(work, Plain(machines, via), placed_tasks(rng, work, machines)
                 if some(rng, 0.12) else Words(planner))
    if some(rng, 0.3):
        q = q.put(network="analytic", order="strict")
    return q


def question(rng):
    if some(rng, 0.15):
        return task_question(rng)
    work, where = model(rng), cluster(rng)
    gpus = where.gpus
    fewer = None
    if gpus > 16 or some(rng, 0.3):
        fits = [g for g in (1, 2, 3, 4, 8, 16) if g <= gpus]
        gpus = fewer = rng.choice(fits)
    batch = gpus * rng.choice([1, 2, 4, 4, 8])
    if some(rng, 0.05):
        batch += 1
    if isinstance(where, Drawn) and work.name in ("gpt", "bert", "llama") and some(rng, 0.08):
        planner = placed_layers(rng, work, where, gpus)
    else:
        planner = strategy(rng, work, gpus, batch)
    q = Question(work, where, planner).put(batch=batch)
    if fewer:
        q = q.put(gpus=fewer)
    return options(rng, q)
