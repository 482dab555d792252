#!/usr/bin/env python3
"""tests/oracles/large_rows.py - published steps of large models as rows for `forerun validate`.

usage: large_rows.py training.csv > rows.csv

One table of rules turns a row into a question. It was written before the first prediction of these
rows, but for one: LMX-0002 had been asked by hand, and no rule was changed for what it said. Two
rules came after a look: pipelines are cut into stages of as many layers (cut=layers), as all these
code bases do, where stages had been cut by time; and rows that need more than the peak FLOP/s of
the GPU are left out. Two more corrected what a source says and a rule had misread: torchtitan's
"selective" and BigScience's number format of the last day. The rules of `beside` were added when
the program could ask for them, after a look at rows that were too slow; they say what the public
scripts of these runs say. No constant of the program is fitted to
any of the rows. A row without a rule is left out and counted on standard error, by reason; a row
that `hybrid` refuses stays in, and `validate` counts it.

    flagged     SUSPECT, CHECK or WARNING in the notes: left out (as the data's own README asks)
    model       MODELS: zoo's free shapes, cut where the notes say "N layers"; else the layers,
                hidden, heads of the notes. Squared ReLU of width f: a gated layer of width 2f/3,
                which has the same weights and FLOPs. Heads not printed: as another row of the
                source has them for this width, else hidden/128. Vocabulary not printed: SOURCES.
                Not in the zoo: left out
    attention   flash from Megatron-Core on; SC21, BigScience and vTrain: unfused. llm-foundry: the
                first generation (attn_impl=triton, the default of the script of these rows,
                scripts/train/benchmarking/submit_benchmarks.py, found after a look at rows that
                were too slow for long sequences); torchtitan: the second (PyTorch's own)
    peak        a step with more model FLOP than PEAKS allows in its time: left out
    machine     MACHINES by GPU and memory, GPUs of the row counted from the first machine on; its
                own network cards unless SOURCES has a network. Of GB200's racks 64 GPUs each, as
                public launch scripts for them have it (--segment=16)
    precision   BF16 and mixtures with it: bf16; FP8 of any scaling: fp8; FP16, and blank: fp16, as
                all codes of these rows use 16 bits. FP4: left out
    degrees     tp, pp, cp, ep, etp, dp of the row; missing: 1, dp: the rest of the GPUs. fsdp over
                1 or zero=3: zero=3. "yes" and "not stated": left out
    micro       batch_per_gpu; blank: MICRO (run_table_1.sh of SC21), else 1
    schedule    vp, or MICRO: interleaved with that many parts; NA, 1 or blank: 1f1b, no parts;
                stages of as many layers. Nemotron4-340B says NA in one release, and 12 in those
                before and after, as in NeMo's model_configs_h100.csv: 12. MegaScale: what the
                notes say
    recompute, sp, zero, overlap: SOURCES, one line a code base: what its scripts set, as far as
                published. What no source states is the default of that code base: sp and the
                distributed optimizer in Megatron-Core, neither before; no recomputation there, full
                before; gradients overlap in NeMo and torch's DDP, not in DeepSpeed's pipeline.
                torchtitan's "selective" is not Megatron's: it runs every second layer again, or
                of each layer every second product (torchtitan,
                parallelisms/parallelize_llama.py); both are taken as every second layer
    beside      what else runs beside products. Megatron-LM's README of its H100 rows: parameters
                are gathered in the next forward pass, tensor messages overlap their products.
                NeMo 2 and Megatron-Bridge (nemo/lightning/pytorch/callbacks/
                megatron_comm_overlap.py; recipes' pretrain_performance_optimizations): likewise,
                with buckets of 128 Mi parameters. dgxc of before v25.04, and NeMo 24.07 (NeMo 1;
                *-synth.yaml, grok1_314b.yaml): parameters likewise, tensor messages not. MegaScale
                (its paper, section 3.2): both
    rate        iteration_ms, else batch x seq / tokens a second (of a GPU: x GPUs), else FLOP of
                the step / FLOP/s: CONVENTIONS
                FSDP's checkpoints are PyTorch's, which stop early (2.1 on)
    fp8         weights, their transposes and states as NeMo and Transformer Engine keep them
                (recipe=fp8-nemo): all rows in fp8 are of that code base
    memory      allocated (LMX): --memory liveness; nvidia-smi's (all others): --memory device
    fine-tuning LoRA and packed sequences: left out; we do not know the lengths, and freeze nothing
    VTRS        not measurements (linear in the micro-batches to 1e-9): only their order is judged
"""
import collections
import csv
import re
import sys

COLUMNS = ["id", "workload", "topology", "gpus", "strategy", "global_batch", "precision", "options",
           "iteration_s", "peak_bytes", "notes"]

# What a name stands for: kind, layers, hidden, heads, kv_heads, ffn, vocabulary. Llama: the papers'
# tables; GPT-3 and Nemotron: NeMo's configurations, whose printed FLOP/s a token's rate they match;
# Grok-1: its release; MPT: llm-foundry's configurations, whose parameters they match.
MODELS = [
    (r"LLAMA2-7B", ("llama", 32, 4096, 32, 32, 11008, 32000)),
    (r"LLAMA2?[- ]?2?[- ]13B", ("llama", 40, 5120, 40, 40, 13824, 32000)),
    (r"LLAMA[- ]?2[- ]70B", ("llama", 80, 8192, 64, 8, 28672, 32000)),
    (r"LLAMA ?3(\.1)?[-_ ]8B", ("llama", 32, 4096, 32, 8, 14336, 128256)),
    (r"LLAMA ?3(\.1)?[-_ ]70B", ("llama", 80, 8192, 64, 8, 28672, 128256)),
    (r"LLAMA ?3(\.1)?[-_ ]405B", ("llama", 126, 16384, 128, 8, 53248, 128256)),
    (r"GPT-?3[- ]5B", ("gpt", 24, 4096, 32, 32, 0, 51200)),
    (r"GPT-?3[- ]20B", ("gpt", 44, 6144, 48, 48, 0, 51200)),
    (r"GPT(-?3)?[- ]175B", ("gpt", 96, 12288, 96, 96, 0, 51200)),
    (r"NEMOTRON-8B", ("llama", 32, 4096, 32, 32, 16384 * 2 // 3, 256000)),
    (r"NEMOTRON4?-15B", ("llama", 32, 6144, 48, 8, 24576 * 2 // 3, 256000)),
    (r"NEMOTRON-22B", ("llama", 40, 6144, 48, 48, 24576 * 2 // 3, 256000)),
    (r"NEMOTRON4?-340B", ("llama", 96, 18432, 96, 8, 73728 * 2 // 3, 256000)),
    (r"GROK-1 314B", ("mixtral", 64, 6144, 48, 8, 32768, 131072)),
    (r"MIXTRAL-8X7B", ("mixtral", 32, 4096, 32, 8, 14336, 32000)),
    (r"MPT-125M", ("gpt", 12, 768, 12, 12, 0, 50368)),
    (r"MPT-350M", ("gpt", 24, 1024, 16, 16, 0, 50368)),
    (r"MPT-760M", ("gpt", 24, 1536, 12, 12, 0, 50368)),
    (r"MPT-1B", ("gpt", 24, 2048, 16, 16, 0, 50368)),
    (r"MPT-3B", ("gpt", 32, 2560, 20, 20, 0, 50368)),
    (r"MPT-7B", ("gpt", 32, 4096, 32, 32, 0, 50368)),
    (r"MPT-13B", ("gpt", 40, 5120, 40, 40, 0, 50368)),
    (r"MPT-30B", ("gpt", 48, 7168, 56, 56, 0, 50368)),
    (r"MPT-70B", ("gpt", 80, 8192, 64, 64, 0, 50368)),
]

MACHINES = {("A100", "40"): ("dgx-a100-40g", 8), ("A100", ""): ("dgx-a100-80g", 8),
            ("A100", "80"): ("dgx-a100-80g", 8), ("H100", ""): ("hgx-h100", 8),
            ("H200", ""): ("hgx-h200", 8), ("B200", ""): ("hgx-b200", 8),
            ("GB200", ""): ("gb200-nvl72", 72), ("V100", ""): ("dgx2", 16)}

# A code base, by id and notes: recompute, sp with tp, zero, overlap, attention, vocabulary, FLOP/s
# convention, network. Megatron-LM of SC21 has its own reducer without overlap above 18B
# (run_table_1.sh). Its ZeRO-3 is DeepSpeed's: gathers by module, overlap_comm on
# (ZERO3_OPTIMIZATION_OVERLAP_COMM_DEFAULT), Megatron's checkpoint, which runs all again. torchtitan
# runs FSDP2, which copies out of and into messages. Jean Zay has four Omni-Path links of
# 100 Gbit/s a node, shared out here over the eight cards of our machine. LMX: "no communication
# overlap" in the notes.
Source = collections.namedtuple(
    "Source", "ids recompute sp zero overlap attention vocab flop network")
SOURCES = [
    Source(r"MEG-000[1-4]", "full", 0, 0, 1, "unfused", 51200, "sc21", ""),
    Source(r"MEG", "full", 0, 0, 0, "unfused", 51200, "sc21", ""),
    Source(r"LMS", "full", 0, 0, 0, "unfused", 51200, "sc21", ""),
    Source(r"LMM-000", "none", 1, 1, 1, "flash", 131072, "full", ""),
    Source(r"LMM", "full", 0, 0, 0, "unfused", 51200, "sc21", ""),
    Source(r"LMX", "none", 1, 1, 0, "flash", 128256, "full", ""),
    Source(r"BSA", "full", 0, 1, 0, "unfused", 250880, "sc21", "ib:50Gbps"),
    Source(r"LMT-0004", "none", 1, 1, 1, "flash", 51200, "full", ""),
    Source(r"LM[DNPBLT]|NEMO", "none", 1, 1, 1, "flash", 51200, "full", ""),
    Source(r"BSV", "full", 0, 0, 0, "unfused", 51200, "sc21", ""),
    Source(r"LLMF", "none", 0, 3, 1, "flash-1", 50368, "full", ""),
    Source(r"TT|LMA", "none", 0, 3, 1, "flash-2", 0, "full", ""),
    Source(r"VTRS", "full", 0, 0, 0, "unfused", 50257, "sc21", ""),
]

# Megatron-LM of 2021 and branches of it, where nothing runs beside a message of a tensor group
# (megatron/mpu/layers.py: copy_to_tensor_model_parallel_region, then F.linear)
BEFORE_2022 = (r"MEG-000[1-4]", r"MEG", r"LMS", r"BSA", r"BSV", r"VTRS")

# Stages send each other a part from each rank of a tensor group: SC21, section 4.1; DeepSpeed,
# deepspeed/runtime/pipe/engine.py, is_pipe_partitioned
IN_PARTS = (r"MEG-000[1-4]", r"MEG", r"LMS", r"BSA", r"BSV")

# Dense FLOP/s of a GPU by precision, 1e12 (data sheets); a row that needs more contradicts itself
PEAKS = {"A100": (312, 312), "H100": (989, 1979), "B200": (2250, 4500), "GB200": (2450, 4900),
         "V100": (125, 125)}

# SC21 table 1: micro-batch and parts of the model a pipeline rank (run_table_1.sh)
MICRO = {"MEG-0001": (16, 1), "MEG-0002": (16, 1), "MEG-0003": (16, 1), "MEG-0004": (8, 1),
         "MEG-0005": (4, 1), "MEG-0006": (2, 3), "MEG-0007": (2, 2), "MEG-0008": (1, 2),
         "MEG-0009": (1, 3), "MEG-0010": (1, 1)}

# Sequence lengths that torchtitan's page leaves out: its configurations
LENGTHS = {"TT": {"Llama 2": 4096, "Llama 3": 8192}}


class LeftOut(Exception):
    """Why a row has no rule."""


def source_of(row):
    """The line of its code base."""
    for source in SOURCES:
        if re.match(source.ids, row["id"]):
            return source
    raise LeftOut("not a large model's row")


def length_of(row):
    """Tokens a sequence."""
    if row["seq_len"]:
        return int(row["seq_len"])
    for name, length in LENGTHS.get(row["id"].split("-")[0], {}).items():
        if row["model"].startswith(name):
            return length
    raise LeftOut("no sequence length")


def shape_of(row, source, heads_of):
    """kind, layers, hidden, heads, kv_heads, ffn, vocabulary."""
    model, notes = row["model"], row["notes"]
    cut = re.search(r"(?:cut to )(\d+) layers|; (\d+) layers", notes + "; " + model)
    if model.startswith("llama3_70b"):
        model = "LLAMA3-70B"
    said = {k: re.search(k + r"=(\d+)", notes) for k in ("layers", "hidden", "heads", "NHEADS")}
    if said["layers"] and said["hidden"]:
        layers, hidden = int(said["layers"][1]), int(said["hidden"][1])
        heads = said["heads"] or said["NHEADS"]
        heads = int(heads[1]) if heads else heads_of.get((source.ids, hidden), hidden // 128)
        return ("gpt", layers, hidden, heads, heads, 0, source.vocab)
    for pattern, shape in MODELS:
        if re.match(pattern, model.upper()):
            if not cut:
                return shape
            return (shape[0], int(cut[1] or cut[2])) + shape[2:]
    if "not in table" in notes or source.ids == "BSA":
        raise LeftOut("layers or width not printed")
    raise LeftOut("no such model in the zoo: " + re.split(r" cut| SFT", model)[0])


def workload(shape, source, seq):
    """A free shape of the zoo."""
    kind, layers, hidden, heads, kv_heads, ffn, vocab = shape
    text = f"{kind}:layers={layers},hidden={hidden},heads={heads}"
    if kind != "gpt":
        text += f",kv_heads={kv_heads},ffn={ffn}"
    return text + f",seq={seq},vocab={vocab},attention={source.attention}"


def machine(row, source):
    """The preset, and as many of it as the GPUs fill."""
    found = MACHINES.get((row["gpu"], row["gpu_mem_gb"])) or MACHINES.get((row["gpu"], ""))
    if row["id"].startswith("BSV"):
        raise LeftOut("no preset with four V100")
    if not found:
        raise LeftOut("no preset with this GPU: " + row["gpu"])
    n = -(-int(row["gpus"]) // gpus_of(found))
    if n == 1:
        return found[0]
    return f"{n}x {found[0]}" + (f" via {source.network}" if source.network else "")


def gpus_of(found):
    """GPUs that a job takes of a machine: of a rack of 18 trays 16 (Slurm's --segment=16)."""
    return 64 if found[1] == 72 else found[1]


def devices(row):
    """Options that name the GPUs, where a job does not take them from the first one on."""
    found = MACHINES.get((row["gpu"], row["gpu_mem_gb"])) or MACHINES.get((row["gpu"], ""))
    racks = int(row["gpus"]) // 64
    if found[1] != 72 or racks < 2:
        return ""
    return " --devices " + ",".join(f"n{18 * i}..{18 * i + 15}.gpu0..3" for i in range(racks))


def precision(row):
    """Number formats in our words."""
    said = row["precision"].upper()
    if "FP4" in said:
        raise LeftOut("precision: fp4")
    if "FP8" in said:
        return "fp8"
    if row["id"].startswith("BSA") and "date 02-28" in row["notes"]:
        return "bf16"
    return "bf16" if "BF16" in said else "fp16"


def degrees(row, source):
    """tp, pp, cp, ep, etp, dp, and the stage of sharding."""
    said = dict(re.findall(r"(\w+)=(\w+)", row["strategy"]))
    if "yes" in said.values() or "not stated" in row["strategy"] or not said:
        raise LeftOut("degrees not stated")
    d = {k: int(said.get(k, 1)) for k in ("tp", "pp", "cp", "ep", "etp")}
    d["dp"] = int(row["gpus"]) // (d["tp"] * d["pp"] * d["cp"])
    if d["tp"] * d["pp"] * d["cp"] * d["dp"] != int(row["gpus"]):
        raise LeftOut("degrees do not multiply to the GPUs")
    zero = source.zero
    if int(said.get("fsdp", 0)) > 1 or said.get("fsdp") == "1" or said.get("zero") == "3":
        zero = 3
    vp = said.get("vp", "")
    if "Nemotron4-340B" in row["model"] and vp == "NA":
        vp = "12"
    chunks = re.search(r"interleaved 1F1B with (\d+) chunks", row["notes"])
    if chunks:
        vp = chunks[1]
    return d, zero, int(vp) if vp.isdigit() else 1


def beside(row, has_tensor_messages):
    """Words for what runs beside products; see the head."""
    release = re.search(r"v(\d+\.\d+)", row["source"])
    if row["id"].startswith("LMD") and float(release[1]) < 25.04 or "24.07" in row["framework"]:
        return ["overlap-gather=1"]
    if not re.match("LMM-000|LMT-0004|LM[DNPB]|NEMO", row["id"]):
        return []
    words = ["overlap-gather=1"] + ["tp-overlap=1"] * has_tensor_messages
    return words + ["bucket=256MiB"] * bool(re.match("LM[DNPB]|NEMO", row["id"]))


def recompute_of(row, source, n_layers):
    """What the notes say, else the code base; n_layers: of a stage."""
    if "act_ckpt=True" in row["notes"] or "activation checkpointing: full" in row["notes"]:
        return "full"
    if "activation checkpointing: selective" in row["notes"]:
        return n_layers // 2
    return source.recompute


def strategy(row, source, n_layers, is_of_experts):
    """`hybrid` with all that the table says."""
    d, zero, parts = degrees(row, source)
    micro = int(float(row["batch_per_gpu"])) if row["batch_per_gpu"] else 1
    if row["id"] in MICRO:
        micro, parts = MICRO[row["id"]]
    words = [f"{k}={v}" for k, v in d.items() if k != "etp" and (v > 1 or k == "dp")]
    words.append(f"micro={micro}")
    if d["tp"] > 1 and source.sp:
        words.append("sp=1")
    if d["pp"] > 1:
        words += [f"virtual={parts}" if parts > 1 else "schedule=1f1b", "cut=layers"]
    words += beside(row, d["tp"] > 1 and source.sp)
    recompute = recompute_of(row, source, n_layers // d["pp"])
    is_deepspeed = source.ids == "LMS" and zero == 3
    overlap = 1 if is_deepspeed else source.overlap
    if d["tp"] > 1 and source.ids in BEFORE_2022:
        words.append("tp-async=0")
    if d["tp"] > 1 and d["pp"] > 1 and source.ids in IN_PARTS:
        words.append("scatter-gather=1")
    words += [f"recompute={recompute}", f"zero={zero}", f"overlap={overlap}", "fold=1"]
    if row["id"].startswith("TT") and zero == 3:
        words.append("packs=1")
    if is_deepspeed:
        words.append("gather=module")
    elif recompute != "none" and zero == 3:
        words.append("early-stop=1")
    if precision(row) == "fp8":
        words.append("recipe=fp8-nemo")
    if is_of_experts:
        words.append(f"etp={d['etp']}")
    return "hybrid:" + ",".join(words)


def flop_of_step(row, source, shape, seq):
    """What a printed FLOP/s counts: SC21's formula with the recomputed forward pass; 6 N + 12 L h s
    a token, N without the input embedding (NeMo to 25.07, Megatron-Core, papers); or 6 N alone."""
    kind, layers, hidden, heads, kv_heads, ffn, vocab = shape
    tokens = float(row["global_batch"]) * seq
    if source.flop == "sc21":
        return 96 * tokens * layers * hidden**2 * (
            1 + seq / (6 * hidden) + vocab / (16 * layers * hidden))
    weights = 12 * hidden**2
    if kind != "gpt":
        weights = hidden * (2 * hidden + 2 * hidden * kv_heads / heads + 3 * ffn)
    if source.flop == "weights":
        return tokens * 6 * (layers * weights + vocab * hidden)
    return tokens * (6 * (layers * weights + vocab * hidden) + 12 * layers * hidden * seq)


def seconds(row, source, shape, seq):
    """Time of a step."""
    if row["iteration_ms"]:
        return float(row["iteration_ms"]) / 1e3
    unit, gpus = row["throughput_unit"], int(row["gpus"])
    if not row["throughput"]:
        raise LeftOut("no time and no rate")
    rate = float(row["throughput"]) * (gpus if "per GPU" in unit else 1)
    if unit.startswith("tokens/s"):
        return float(row["global_batch"]) * seq / rate
    if row["id"] == "LMT-0003":
        raise LeftOut("FLOP/s of unknown convention, at a length where it counts twofold")
    if "TFLOP/s" in unit:
        return flop_of_step(row, source, shape, seq) / (rate * 1e12)
    raise LeftOut("rate: " + unit)


def convert(row, heads_of):
    """One row of the output."""
    source = source_of(row)
    if re.search("SUSPECT|CHECK|WARNING", row["notes"]):
        raise LeftOut("flagged in the data")
    if re.search("LoRA|packed sequences", row["model"] + row["notes"]):
        raise LeftOut("fine-tuning: LoRA or packed sequences")
    place = machine(row, source)
    degrees(row, source)  # left out for these before anything else
    number = precision(row)
    seq = length_of(row)
    shape = shape_of(row, source, heads_of)
    said = strategy(row, source, shape[1], shape[0] == "mixtral")
    if not row["global_batch"]:
        raise LeftOut("no batch")
    allocated = row["id"].startswith("LMX")
    time = seconds(row, source, shape, seq)
    flop = flop_of_step(row, source._replace(flop="weights"), shape, seq)
    if flop > time * int(row["gpus"]) * PEAKS[row["gpu"]][number == "fp8"] * 1e12:
        raise LeftOut("faster than the GPU's peak")
    peak = float(row["peak_mem_gb"]) * 2**30 if row["peak_mem_gb"] else ""
    return {"id": row["id"], "workload": workload(shape, source, seq), "topology": place,
            "gpus": row["gpus"], "strategy": said, "global_batch": int(float(row["global_batch"])),
            "precision": number,
            "options": "-O adam" + (" --memory liveness" if allocated else "") + devices(row),
            "iteration_s": repr(time),
            "peak_bytes": repr(peak) if peak else "", "notes": row["framework"]}


def printed_heads(rows):
    """Heads by source and width, where a row has them: the first such row's."""
    found = {}
    for row in rows:
        said = re.search(r"hidden=(\d+).*(?:heads|NHEADS)=(\d+)", row["notes"])
        for source in SOURCES:
            if said and re.match(source.ids, row["id"]):
                found.setdefault((source.ids, int(said[1])), int(said[2]))
    return found


def main():
    with open(sys.argv[1], newline="", encoding="utf-8") as f:
        rows = list(csv.DictReader(f))
    out = csv.DictWriter(sys.stdout, COLUMNS, lineterminator="\n")
    left_out = collections.Counter()
    heads_of = printed_heads(rows)
    out.writeheader()
    for row in rows:
        try:
            out.writerow(convert(row, heads_of))
        except LeftOut as why:
            left_out[row["id"].split("-")[0] + ": " + str(why)] += 1
    for why, n in sorted(left_out.items()):
        if not why.endswith("not a large model's row"):
            print(f"{n:5d} left out: {why}", file=sys.stderr)


if __name__ == "__main__":
    main()
