"""tests/oracles/row_rules.py - what published rows leave blank, what software made them, and what
they do not say.

Three tables, so that each assumption stands once, with its reason. In each the first line whose
patterns all match a row decides. No line was chosen by the error of a prediction; where a reason
was found after a first look at predictions, the line says so.
"""
import collections
import re

# column of training.csv; patterns of id, framework, model and notes (re.search, any case); the
# value; why
Blank = collections.namedtuple("Blank", "column id framework model notes value why")
BLANKS = [
    Blank("seq_len", "", "", "BioBERT", "fine-tun", "128",
          "NVIDIA DeepLearningExamples, TensorFlow BERT, biobert/scripts/ner_bc5cdr-chem.sh: "
          "seq_length 128"),
    Blank("seq_len", "", "", "BERT", "SQuAD|fine-tun", "384",
          "NVIDIA DeepLearningExamples, scripts/run_squad.sh of PyTorch and TensorFlow: "
          "max_seq_length 384; Lambda runs a fork of it, PaddlePaddle's page names the same task"),
    Blank("seq_len", "", "", "BERT.*SQuAD", "", "384", "as above, where the model's name says it"),
    Blank("seq_len", "", "", "GNMT|Transformer \\(big\\)", "", "27",
          "an assumption: mean tokens of a WMT English-German sentence"),
    Blank("gpu_mem_gb", "", "", "", "", "80",
          "A100: dgx-a100-80g, since most rows that say it have 80; no row here is near either"),
    Blank("precision", "", "PyTorch", "", "", "fp32",
          "the framework's default; on A100 and newer tf32, PyTorch's default for convolutions and "
          "NGC's for products (found after a first look: rates passed the fp32 peak)"),
    Blank("precision", "^VTRS", "", "", "", "fp16",
          "Megatron-DeepSpeed's scripts; rates pass tf32's peak"),
    Blank("precision", "", "", "", "", "fp32", "the framework's default"),
    Blank("nodes", "", "", "", "", "1", "one machine"),
    Blank("inter_link", "^BSA", "", "", "", "ib:50Gbps",
          "`via ib:X` is a rate of each network card. Jean Zay's machines have four Omni-Path "
          "links of 100 Gbit/s, shared here over the eight cards of our machine"),
    Blank("inter_link", "^TFB", "", "", "p2.8xlarge", "eth:10Gbps",
          "AWS's list of EC2 P2 instances: 10 Gbit/s for p2.8xlarge; our preset is a p2.16xlarge, "
          "with twice that, so half of it is taken of each machine"),
    Blank("inter_link", "", "", "", "", "",
          "the preset's own cards: a DGX-1 has four, a DGX A100 eight; a machine in a cloud may "
          "have one, so that a rate a machine there must not be given as X"),
]

# What software made a row: patterns of id, framework, model, notes and precision; the recipe
# (forerun recipe list), with what was said beside it, "" where none is known; why
Software = collections.namedtuple("Software", "id framework model notes precision recipe why")
SOFTWARE = [
    Software("^DLE", "^TensorFlow", "BioBERT", "fine-tun", "FP32", "nvidia-tf-bert --fuse small-ops",
             "biobert/scripts/biobert_finetune_train_benchmark.sh: two epochs, as the page's rows, "
             "with --use_xla under fp16 alone (found after a look at predictions, when ELECTRA's "
             "script had said the same)"),
    Software("^DLE", "^TensorFlow", "BERT", "", "", "nvidia-tf-bert",
             "the scripts of the rows' own page; XLA is their default"),
    Software("^DLE", "^TensorFlow", "ELECTRA", "", "AMP|FP16|mixed", "tf-horovod-xla",
             "scripts/run_squad.sh: --amp --xla"),
    Software("^DLE", "^TensorFlow", "ELECTRA", "", "", "tf-horovod",
             "scripts/run_squad.sh: without amp no --xla"),
    Software("^DLE", "^TensorFlow", "ResNet", "", "", "tf-horovod-xla",
             "the scripts of the rows' own page, with --xla in their commands"),
    Software("^DLE", "^PyTorch", "BERT-Large$", "grad_accum=|includes gradient accumulation",
             "", "nvidia-pytorch-bert", "pre-training: run_pretraining.py"),
    Software("^DLE|^LAM", "^PyTorch", "BERT", "", "AMP|FP16|mixed", "nvidia-squad-amp",
             "fine-tuning: run_squad.py with fp16; Lambda runs a fork of it"),
    Software("^DLE|^LAM", "^PyTorch", "BERT", "", "", "nvidia-squad-fp32",
             "fine-tuning: run_squad.py without fp16; Lambda runs a fork of it"),
    Software("^DLE", "^PaddlePaddle", "BERT.*SQuAD", "", "", "nvidia-paddle-bert",
             "the scripts of the rows' own page"),
    Software("^DLE", "^PaddlePaddle", "BERT", "SQuAD|fine-tun", "", "nvidia-paddle-bert",
             "as above, where the notes say it"),
    Software("^DLE|^LAM", "^PyTorch", "Transformer", "", "", "nvidia-transformer",
             "the pages' scripts; their batches differ in length"),
    Software("^DLE|^LAM", "^PyTorch", "GNMT", "", "", "nvidia-gnmt",
             "the pages' scripts, which cast the model as a whole under amp"),
    Software("^DLE|^LAM", "^PyTorch", "", "", "", "nvidia-apex",
             "the pages' scripts take apex's DistributedDataParallel; Lambda runs a fork of them"),
    Software("^DLE", "^MXNet", "ResNet", "", "AMP|FP16|mixed", "nvidia-mxnet-fp16",
             "the scripts of the rows' own page: runner fuses batch norms under float16"),
    Software("^DLE", "^MXNet", "", "", "", "mxnet-horovod", "the scripts of the rows' own page"),
    Software("^CSC", "^PyTorch", "", "", "", "pytorch-ddp", "the rows name DDP"),
]

# What a row does not say, of four things that a question with a recipe does say. Patterns of id,
# framework, model, notes, gpus, nodes and gpu (re.search, any case); why. A row without a line says
# it. A prediction cannot be judged by a row that may be of another question. So such rows judge
# only questions that leave the software open (no recipe), whose unknowns include this.
#   link      how GPUs are joined, and whether the software uses it
#   software  which release
#   rate      of steps in a row, after those that set things up
#   length    tokens of a sample as computed, padding and all
Unsaid = collections.namedtuple("Unsaid", "what id framework model notes gpus nodes gpu why")
UNSAID = [
    Unsaid("link", "^LAM", "", "", "", "^(?!1$)", "", "",
           "cloud machines named by their GPUs alone. And of the scripts (lambdal/deeplearning-"
           "benchmark, pytorch/scripts/benchmark_pytorch.sh) some versions set NCCL_P2P_DISABLE=1 "
           "for all but BERT, so that sums pass through the host's memory, older and newer ones do "
           "not, and no row says by which it was made"),
    Unsaid("link", "^CSC", "", "", "", "", "^(?!1$)", "",
           "four GPUs a machine, whose network the page does not name; ours is a DGX's"),
    Unsaid("link", "^TFB", "", "", "GCE", "^(?!1$)", "", "",
           "n1-standard-32-k80x8 is a virtual machine: which boards share a PCIe switch is not "
           "said"),
    Unsaid("software", "^LAM", "", "", "", "", "", "",
           "its README names the container last tested (22.09), not the one of a row; the results "
           "were made over years"),
    Unsaid("rate", "^LAM", "", "BERT", "", "", "", "",
           "the fork's run_squad.py divides 100 steps by the time since the first one began, and "
           "runs 101: what cuDNN, cuBLAS and NCCL set up is counted"),
    Unsaid("length", "", "", "GNMT|Transformer \\(big\\)", "", "", "", "",
           "rates count tokens of sentences, and how far batches are padded is not said; 27 tokens "
           "a sentence is our assumption"),
    Unsaid("link", "^LLMF", "", "", "", "", "^(?!1$)", "H100",
           "the tables of A100 name their network, those of H100 do not"),
]

# Rows that are no measurements; their order is judged, their error is not
LAWS = {"VTRS": "linear in the number of micro-batches to 1e-9 in all 288 series of three or more: "
                "a law evaluated"}


def matches(line, row):
    """Whether all patterns of a line are found in the row."""
    return all(re.search(getattr(line, key), row[key], re.I)
               for key in ("id", "framework", "model", "notes", "precision", "gpus", "nodes",
                           "gpu")
               if hasattr(line, key))


def blank(row, column):
    """What the row says, or what stands for a blank; None: no line."""
    if row[column]:
        return row[column]
    for line in BLANKS:
        if line.column == column and matches(line, row):
            return line.value
    return None


def recipe(row):
    """The recipe of the row's software, or ""."""
    for line in SOFTWARE:
        if matches(line, row):
            return line.recipe
    return ""


def unsaid(row):
    """What a row of training.csv does not say: {what: why}, empty if nothing."""
    out = {}
    for line in UNSAID:
        if line.what not in out and matches(line, row):
            out[line.what] = line.why
    return out
