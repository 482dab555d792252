/* api/verbs/table.c - the verbs, in the order in which help shows them. */
#include "config.h"

#include "api/verbs/verbs.h"
#include "base/error.h"

#include <stdio.h>
#include <string.h>

/* ---- formats of files ---- */

struct format {
    const char *ending, *summary;
};

static const char *format_at(const struct format rows[], size_t n, size_t i, const char **summary)
{
    if (i >= n)
        return NULL;
    *summary = rows[i].summary;
    return rows[i].ending;
}

/* Of reproduce: papers differ in what they have. */
static const char *tables_format(size_t i, const char **summary)
{
    static const struct format rows[] = {{".csv", "the tables"},
                                         {".json", "what --json prints"},
                                         {".md", "what a terminal shows, as Markdown"},
                                         {".png", "a picture, by gnuplot, where there is one"},
                                         {".svg", "a picture, by gnuplot, where there is one"},
                                         {".pdf", "a picture, by gnuplot, where there is one"}};

    return format_at(rows, sizeof(rows) / sizeof(rows[0]), i, summary);
}

/* Of calibrate fit. */
static const char *device_format(size_t i, const char **summary)
{
    static const struct format rows[] = {{".yaml", "the fitted device or system"}};

    return format_at(rows, sizeof(rows) / sizeof(rows[0]), i, summary);
}

/* ---- the table ---- */

static const struct fr__verb verbs[] = {
    {.name = "simulate",
     .arguments = "-w WORKLOAD [-t TOPOLOGY] -s STRATEGY | --job FILE [-t TOPOLOGY]",
     .summary = "time and memory of one training iteration",
     .examples =
         "  forerun simulate -w vgg19 -t dgx1-v100 -g 4 -b 64 -s dp\n"
         "  forerun simulate -w vgg19 -t dgx1-v100 -s dp:sync=ring,bucket=25MiB "
         "-o vgg19.trace.json\n"
         "  forerun simulate -w gpt2-small -t \"2x dgx1-v100 via ib:100Gbps\" -B 1 -O adam "
         "-s dp --json\n"
         "  forerun simulate -w mygraph.txt -s 'pipedream:machines=8x2,bandwidth=30GB/s;25Gbps' "
         "-o stages.txt\n"
         "  forerun simulate --job mytrain.sh -t \"4x hgx-h100 via ib:400Gbps\"\n",
     .options = OPTIONS_COMMON | OPTIONS_MANIFEST | OPTIONS_STRICT | OPTIONS_SOFTWARE |
                OPTIONS_JOB | OPTIONS_SHAPE | OPTIONS_PROBLEM | OPTIONS_RUN | OPTIONS_ANSWER |
                OPTIONS_FILES | OPTIONS_JSON | OPTIONS_ADVICE | OPTIONS_WHOLE,
     .kind = FR_KIND_RUN,
     .run = fr__verb_simulate},
    {.name = "compare",
     .arguments = "-w WORKLOAD -t TOPOLOGY [-s STRATEGY]...",
     .summary = "several strategies side by side (without -s: all)",
     .examples = "  forerun compare -w vgg19 -t dgx1-v100 -g 4 -b 64\n"
                 "  forerun compare -w vgg19 -t dgx1-v100 -g 4 -s single -s dp "
                 "-s dp:overlap=0 -o vgg19.png\n"
                 "  forerun compare -w vgg19 -t dgx1-v100 -g 4 -b 64 -o report.html\n"
                 "  forerun compare -w gpt3-1.3b -t dgx-a100-80g -b 8 -O adam -s dp -s pp "
                 "--tokens 26B --price 2.5\n"
                 "  forerun compare -w vgg19 -t dgx1-v100 -g 4 -b 64 -s dp -s pp --explain\n",
     .options = OPTIONS_COMMON | OPTIONS_MANIFEST | OPTIONS_STRICT | OPTIONS_SHAPE |
                OPTIONS_PROBLEM | OPTIONS_RUN | OPTIONS_ANSWER | OPTIONS_FILES | OPTIONS_JSON |
                OPTIONS_WHOLE | OPTIONS_COMPARE,
     .kind = FR_KIND_RUN,
     .run = fr__verb_compare},
    {.name = "diff",
     .arguments = "A.json B.json",
     .summary = "why one answer takes longer than another: by part, op, place and link",
     .examples = "  forerun simulate -w vgg19 -t dgx1-v100 -g 4 -b 64 -s dp -o a.json\n"
                 "  forerun simulate -w vgg19 -t dgx1-v100 -g 4 -b 64 -s pp -o b.json\n"
                 "  forerun diff a.json b.json\n"
                 "  forerun diff a.json b.json -o two.svg --json\n",
     .options = OPTIONS_COMMON | OPTIONS_FILES | OPTIONS_JSON | OPTIONS_DIFF,
     .n_arguments = 2,
     .kind = FR_KIND_DIFFERENCE,
     .run = fr__verb_diff},
    {.name = "explain",
     .arguments = "-w WORKLOAD -t TOPOLOGY -s STRATEGY...",
     .summary = "how a planner came to its plan, step by step; pipelines side by side",
     .examples =
         "  forerun explain -w examples/ten-tasks -t examples/ten-tasks/processors.yaml -s dpos\n"
         "  forerun explain -w vgg19 -t dgx1-v100 -g 2 -b 64 -s os-dpos --ops 10\n"
         "  forerun explain -w alexnet -t dgx1-v100 -g 2 -b 64 -s os-dpos:start=model "
         "-o plan.svg -o plan.graph.svg\n"
         "  forerun explain -w vgg19 -t dgx1-v100 -g 4 -b 128 -s pp:schedule=1f1b "
         "-s pp:schedule=zb-h1 -o two.svg\n"
         "  forerun explain -w gpt2-small -t \"2x hgx-h100 via ib:400Gbps\" -B 2 "
         "-s hybrid:tp=4,pp=2 -o it.mesh.svg\n"
         "  forerun explain -w lenet -t dgx1-v100 -g 2 -b 64 -s dpos --op \"conv1 of replica "
         "2\"\n",
     .options = OPTIONS_COMMON | OPTIONS_SHAPE | OPTIONS_PROBLEM | OPTIONS_COSTS | OPTIONS_JSON |
                OPTIONS_EXPLAIN,
     .kind = FR_KIND_EXPLANATION,
     .run = fr__verb_explain},
    {.name = "sweep",
     .arguments = "-w WORKLOAD -t TOPOLOGY",
     .summary = "a grid of questions: what fits, what is best, what it costs",
     .examples =
         "  forerun sweep -w vgg19 -w resnet50 -t dgx1-v100 -t dgx-a100-80g -g 1,2,4,8 "
         "-B 16,32,64 \\\n"
         "      -s dp -s pp --price v100=2.5,a100=4 --deadline 30days --samples 1e9\n"
         "  forerun sweep -w all -t all -B 16..64x2 --store zoo.sqlite -o zoo.csv -o zoo.svg\n"
         "  forerun sweep -w gpt2-xl -t dgx-a100-80g -g 8 -b 64,128 --shard 1/2 --store 1.sqlite\n",
     .options = OPTIONS_COMMON | OPTIONS_SHAPE | OPTIONS_PROBLEM | OPTIONS_RUN | OPTIONS_ANSWER |
                OPTIONS_FILES | OPTIONS_JSON | OPTIONS_SWEEP,
     .kind = FR_KIND_SWEEP,
     .run = fr__verb_sweep},
    {.group = "sweep",
     .name = "merge",
     .arguments = "OUT IN...",
     .summary = "put the stores of several shards into one",
     .examples = "  forerun sweep merge whole.sqlite my1.sqlite my2.sqlite\n",
     .options = OPTIONS_COMMON,
     .n_arguments = 2,
     .has_more_arguments = true,
     .run = fr__verb_sweep_merge},
    {.name = "search",
     .arguments = "-w WORKLOAD -t TOPOLOGY -b BATCH",
     .summary = "the best layout: degrees, micro-batch, schedule, sharding, recomputation",
     .examples = "  forerun search -w gpt2-medium -t dgx-a100-80g -b 64 -p bf16 -O adam --top 3\n"
                 "  forerun search -w gpt3-175b -t \"128x dgx-a100-80g\" -b 1536 -O adam --top 5 "
                 "--within 5% \\\n"
                 "      --price 2.5 -o layouts.csv -o frontier.svg\n"
                 "  forerun search -w llama3-8b -t \"4x hgx-h100\" -b 128 -O adam --fix tp=2 "
                 "--fix zero=1 --print-flags megatron\n",
     .options = OPTIONS_COMMON | OPTIONS_MANIFEST | OPTIONS_JOB | OPTIONS_SHAPE | OPTIONS_PROBLEM |
                OPTIONS_RUN | OPTIONS_FILES | OPTIONS_JSON | OPTIONS_WHOLE | OPTIONS_SEARCH,
     .kind = FR_KIND_SEARCH,
     .run = fr__verb_search},
    {.name = "fit",
     .arguments = "--job FILE -t TOPOLOGY",
     .summary = "whether a job fits, how fast it is, and which layouts near it take less",
     .examples = "  forerun fit --job examples/jobs/pretrain_llama.sh -t hgx-h100 "
                 "--set SLURM_NNODES=1 \\\n"
                 "      --tokens 1T --price 2.5\n",
     .options = OPTIONS_COMMON | OPTIONS_MANIFEST | OPTIONS_STRICT | OPTIONS_SOFTWARE |
                OPTIONS_JOB | OPTIONS_SHAPE | OPTIONS_PROBLEM | OPTIONS_RUN | OPTIONS_ANSWER |
                OPTIONS_FILES | OPTIONS_JSON | OPTIONS_WHOLE,
     .kind = FR_KIND_FIT,
     .run = fr__verb_fit},
    {.name = "learn",
     .arguments = "-w WORKLOAD -t TOPOLOGY [-s STRATEGY]",
     .summary = "FastT's pre-training: learn costs by trying strategies, round by round",
     .examples = "  forerun learn -w vgg19 -t dgx1-v100 -g 2 -b 64\n"
                 "  forerun learn -w vgg19 -t dgx1-v100 -g 2 -b 64 --jitter 0.03 -o rounds.png\n"
                 "  forerun learn -w vgg16 -t dgx1-v100 -g 2 -b 64 -s dpos --profiles 5 "
                 "--drift 1:2@1500\n",
     .options = OPTIONS_COMMON | OPTIONS_SHAPE | OPTIONS_PROBLEM | OPTIONS_RUN | OPTIONS_LEARN |
                OPTIONS_FILES | OPTIONS_JSON,
     .kind = FR_KIND_LEARNING,
     .run = fr__verb_learn},
    {.name = "comm",
     .arguments = "COLLECTIVE | list",
     .summary = "a collective over a range of sizes, as nccl-tests prints it",
     .examples = "  forerun comm all-reduce -t \"8x hgx-h100\" -b 8 -e 4G -f 4\n"
                 "  forerun comm all-reduce -t hgx-h100 -g 4 -e 64M --protocol Simple --json\n"
                 "  forerun comm all-to-all -t \"4x dgx-a100-80g\" -e 64M --collective-algorithm "
                 "hierarchical-pairwise\n"
                 "  forerun comm all-reduce -t \"8x dgx-a100-80g\" -d half --sizes 1M,25M --links\n"
                 "  forerun comm all-reduce -t \"2x hgx-h100\" -b 1K -e 64M -f 4 "
                 "--collective-algorithm auto,tree,ring -o curves.svg\n"
                 "  forerun comm all-reduce -t dgx1-v100 -g 4 -e 1M --explain -o rounds.svg\n",
     .options = OPTIONS_COMMON | OPTIONS_GPUS | OPTIONS_COSTS | OPTIONS_JSON | OPTIONS_COMM,
     .n_arguments = 1,
     .kind = FR_KIND_CURVES,
     .run = fr__verb_comm},
    {.group = "topo",
     .name = "list",
     .arguments = "",
     .summary = "the presets and the known device types",
     .examples = "  forerun topo list\n",
     .options = OPTIONS_COMMON,
     .run = fr__verb_topo_list},
    {.group = "topo",
     .name = "show",
     .arguments = "TOPOLOGY",
     .summary = "devices and links with their numbers and sources",
     .examples = "  forerun topo show dgx1-v100\n"
                 "  forerun topo show \"2x dgx1-v100 via ib:100Gbps\" --json\n",
     .options = OPTIONS_COMMON | OPTIONS_JSON,
     .n_arguments = 1,
     .run = fr__verb_topo_show},
    {.group = "topo",
     .name = "import",
     .arguments = "FILE",
     .summary = "a machine of another tool: NCCL, nvidia-smi, hwloc, SimGrid, ASTRA-sim, TACCL",
     .examples = "  forerun topo import nccl-topo.xml\n"
                 "  forerun topo import smi-topo.txt --gpu-type h200-sxm-141gb -o box.yaml\n",
     .options = OPTIONS_COMMON | OPTIONS_JSON | OPTIONS_EXCHANGE | OPTIONS_IMPORT,
     .n_arguments = 1,
     .run = fr__verb_topo_import},
    {.group = "topo",
     .name = "export",
     .arguments = "TOPOLOGY",
     .summary = "a cluster as YAML, or as a SimGrid platform (.xml)",
     .examples = "  forerun topo export \"4x dgx-a100-80g\" -o cluster.yaml -o cluster.xml\n",
     .options = OPTIONS_COMMON | OPTIONS_EXCHANGE,
     .n_arguments = 1,
     .run = fr__verb_topo_export},
    {.group = "topo",
     .name = "draw",
     .arguments = "TOPOLOGY",
     .summary = "a picture of a cluster (.svg .png .pdf; DOT text without -o)",
     .examples = "  forerun topo draw dgx1-v100 -o dgx1.svg\n"
                 "  forerun topo draw \"4x dgx-a100-80g\" -o cluster.png\n",
     .options = OPTIONS_COMMON | OPTIONS_PICTURE,
     .n_arguments = 1,
     .run = fr__verb_topo_draw},
    {.group = "topo",
     .name = "time",
     .arguments = "TOPOLOGY COLLECTIVE SIZE...",
     .summary = "how long a collective takes: simulated by messages, by formula, as measured",
     .examples = "  forerun topo time dgx-a100-80g all-reduce 1MiB 64MiB\n"
                 "  forerun topo time \"2x hgx-b200\" all-to-all 64MiB --json\n"
                 "  forerun topo time \"2x dgx1-v100\" broadcast 500MB -g 2 --spread\n",
     .options = OPTIONS_COMMON | OPTIONS_GPUS | OPTIONS_COSTS | OPTIONS_JSON,
     .n_arguments = 3,
     .has_more_arguments = true,
     .run = fr__verb_topo_time},
    {.group = "topo",
     .name = "check",
     .arguments = "TOPOLOGY",
     .summary = "find mistakes in a topology",
     .examples = "  forerun topo check mycluster.yaml\n",
     .options = OPTIONS_COMMON,
     .n_arguments = 1,
     .run = fr__verb_topo_check},
    {.group = "graph",
     .name = "list",
     .arguments = "",
     .summary = "the models of the zoo",
     .examples = "  forerun graph list\n",
     .options = OPTIONS_COMMON,
     .run = fr__verb_graph_list},
    {.group = "graph",
     .name = "show",
     .arguments = "WORKLOAD",
     .summary = "parameters, FLOPs and ops of a training graph (--layers, -v: each layer, op)",
     .examples = "  forerun graph show vgg19 -b 64\n"
                 "  forerun graph show lenet -b 1 --layers\n"
                 "  forerun graph show bert-base --fuse bias-activation+bias-dropout-add\n"
                 "  forerun graph show gpt:layers=2,hidden=64,heads=2,seq=16,vocab=100 --json\n",
     .options = OPTIONS_COMMON | OPTIONS_SHAPE | OPTIONS_JSON | OPTIONS_LAYERS,
     .n_arguments = 1,
     .run = fr__verb_graph_show},
    {.group = "graph",
     .name = "draw",
     .arguments = "WORKLOAD",
     .summary = "a picture of a training graph (.svg .png .pdf; DOT text without -o)",
     .examples = "  forerun graph draw resnet50 -o resnet50.svg\n"
                 "  forerun graph draw bert-base --layer layer0 --ops -o layer0.svg\n"
                 "  forerun graph draw vgg19 --layer fc6 --ops --phase forward --phase backward\n",
     .options = OPTIONS_COMMON | OPTIONS_SHAPE | OPTIONS_OPS | OPTIONS_PICTURE,
     .n_arguments = 1,
     .run = fr__verb_graph_draw},
    {.group = "graph",
     .name = "check",
     .arguments = "WORKLOAD",
     .summary = "find mistakes in a workload",
     .examples = "  forerun graph check myprofile/\n",
     .options = OPTIONS_COMMON | OPTIONS_SHAPE,
     .n_arguments = 1,
     .run = fr__verb_graph_check},
    {.group = "graph",
     .name = "export",
     .arguments = "WORKLOAD FOLDER",
     .summary = "write a workload as a native folder",
     .examples = "  forerun graph export vgg19 vgg19-workload\n",
     .options = OPTIONS_COMMON | OPTIONS_SHAPE,
     .n_arguments = 2,
     .run = fr__verb_graph_export},
    {.group = "graph",
     .name = "random",
     .arguments = "layered|fork-join|erdos-renyi[:KEY=VALUE,...]",
     .summary = "a random task graph: tasks, width, density, time, ccr, bandwidth, seed",
     .examples = "  forerun graph random layered:tasks=50,width=5,ccr=0.5,seed=7 -o dag.csv\n"
                 "  forerun graph random fork-join:tasks=41,width=4\n",
     .options = OPTIONS_COMMON | OPTIONS_RANDOM,
     .n_arguments = 1,
     .run = fr__verb_graph_random},
    {.group = "job",
     .name = "show",
     .arguments = "FILE...",
     .summary = "what a launch script or configuration asks for, argument by argument",
     .examples = "  forerun job show examples/jobs/pretrain_llama.sh\n"
                 "  forerun job show examples/jobs/pretrain_llama.sh --set TP=4 --json\n",
     .options = OPTIONS_COMMON | OPTIONS_JOB_READ | OPTIONS_FILES | OPTIONS_JSON,
     .n_arguments = 1,
     .has_more_arguments = true,
     .kind = FR_KIND_JOB,
     .run = fr__verb_job_show},
    {.group = "recipe",
     .name = "list",
     .arguments = "",
     .summary = "what training software does beside the model (--recipe)",
     .examples = "  forerun recipe list\n",
     .options = OPTIONS_COMMON,
     .run = fr__verb_recipe_list},
    {.group = "recipe",
     .name = "show",
     .arguments = "NAME|FILE",
     .summary = "the values of a recipe, each with its source",
     .examples = "  forerun recipe show pytorch-ddp\n",
     .options = OPTIONS_COMMON,
     .n_arguments = 1,
     .run = fr__verb_recipe_show},
    {.group = "recipe",
     .name = "fit",
     .arguments = "FILE.csv",
     .summary = "a recipe of your own from a few measured steps; rows without a time are asked",
     .examples = "  forerun recipe fit steps.csv -o mine.yaml\n"
                 "  forerun simulate -w bert-base -t dgx1-v100 -b 256 -s dp --recipe mine.yaml\n",
     .options = OPTIONS_COMMON | OPTIONS_COSTS | OPTIONS_FILES | OPTIONS_JSON,
     .n_arguments = 1,
     .kind = FR_KIND_RECIPE_FIT,
     .run = fr__verb_recipe_fit},
    {.group = "schedule",
     .name = "list",
     .arguments = "",
     .summary = "the pipeline schedules",
     .examples = "  forerun schedule list\n",
     .options = OPTIONS_COMMON,
     .run = fr__verb_schedule_list},
    {.group = "schedule",
     .name = "show",
     .arguments = "NAME|file:PATH",
     .summary = "what each device does in which order; with --times, how long it takes",
     .examples =
         "  forerun schedule show interleaved-1f1b --ranks 4 --virtual 2 --micro-batches 8\n"
         "  forerun schedule show zb-h1 --ranks 4 --micro-batches 8 --times F=1,I=1,W=1,comm=0\n"
         "  forerun schedule show gpipe --ranks 2 --micro-batches 4 --backward ascending "
         "--json\n",
     .options = OPTIONS_COMMON | OPTIONS_SCHEDULE | OPTIONS_SCHEDULE_COMMS | OPTIONS_JSON,
     .n_arguments = 1,
     .run = fr__verb_schedule_show},
    {.group = "schedule",
     .name = "draw",
     .arguments = "NAME|file:PATH...",
     .summary = "schedules over time, under one another (text without -o)",
     .examples =
         "  forerun schedule draw 1f1b --ranks 4 --micro-batches 8\n"
         "  forerun schedule draw gpipe 1f1b interleaved-1f1b zb-h1 zb-v dualpipe --ranks 4 "
         "--micro-batches 8 \\\n      --one-model -o six.svg\n",
     .options = OPTIONS_COMMON | OPTIONS_SCHEDULE | OPTIONS_SCHEDULE_DRAW,
     .n_arguments = 1,
     .has_more_arguments = true,
     .kind = FR_KIND_SCHEDULES,
     .run = fr__verb_schedule_draw},
    {.group = "schedule",
     .name = "check",
     .arguments = "NAME|file:PATH...",
     .summary = "what is missing, or waits in a circle; else makespan, bubble and what is held",
     .examples = "  forerun schedule check zb-v --ranks 4 --micro-batches 8\n"
                 "  forerun schedule check file:mine.csv --times F=1,B=2,comm=0.25\n",
     .options = OPTIONS_COMMON | OPTIONS_SCHEDULE,
     .n_arguments = 1,
     .has_more_arguments = true,
     .run = fr__verb_schedule_check},
    {.name = "validate",
     .arguments = "FILE.csv",
     .summary = "predictions against a table of measurements",
     .examples = "  forerun validate measured.csv\n"
                 "  forerun validate measured.csv --all -o scatter.png -o rows.csv\n"
                 "  forerun validate measured.csv --costs datasheet --json\n",
     .options = OPTIONS_COMMON | OPTIONS_VALIDATE | OPTIONS_FILES | OPTIONS_JSON,
     .n_arguments = 1,
     .kind = FR_KIND_VALIDATION,
     .run = fr__verb_validate},
    {.name = "reproduce",
     .arguments = "list | PAPER | FILE.yaml [FOLDER]",
     .summary = "run the experiments of a paper: its figures, ours, the difference",
     .examples = "  forerun reproduce list\n"
                 "  forerun reproduce fastt\n"
                 "  forerun reproduce pipedream\n"
                 "  forerun reproduce examples/papers/mine.yaml\n"
                 "  forerun reproduce fastt -o gains.svg -o fastt.order.svg -o fastt.csv --json\n",
     .options = OPTIONS_COMMON | OPTIONS_FILES | OPTIONS_JSON,
     .n_arguments = 1,
     .has_more_arguments = true,
     .format = tables_format,
     .run = fr__verb_reproduce},
    {.group = "calibrate",
     .name = "fit",
     .arguments = "DATA... {-d DEVICE --gpu GPU | --system NAME} -o FILE.yaml",
     .summary = "fit cost curves to measured kernels, or a machine's collectives and links",
     .examples = "  forerun calibrate fit gemm.csv -d a100-sxm4-80gb --gpu "
                 "\"NVIDIA A100-SXM4-80GB\" -o a100.yaml\n"
                 "  forerun calibrate fit all_reduce_perf.log alltoall_perf.log --system mine "
                 "-o mine.yaml\n",
     .options = OPTIONS_COMMON | OPTIONS_DEVICE | OPTIONS_FILES,
     .n_arguments = 1,
     .has_more_arguments = true,
     .format = device_format,
     .run = fr__verb_calibrate_fit},
    {.group = "calibrate",
     .name = "check",
     .arguments = "DATA... {-d NAME|PATH | --system NAME|PATH}",
     .summary = "compare curves with measurements that no fit has used",
     .examples = "  forerun calibrate check gemm.csv -d a100-sxm4-80gb\n"
                 "  forerun calibrate check mine.csv -d a100-sxm4-80gb --gpu \"My A100\" --all "
                 "--json\n"
                 "  forerun calibrate check mine.csv -d a100-sxm4-80gb -o pictures\n",
     .options = OPTIONS_COMMON | OPTIONS_DEVICE | OPTIONS_ROWS | OPTIONS_JSON | OPTIONS_FITS,
     .n_arguments = 1,
     .has_more_arguments = true,
     .run = fr__verb_calibrate_check},
    {.group = "calibrate",
     .name = "show",
     .arguments = "[NAME|PATH]",
     .summary = "the shipped device files, or the curves of one with their errors",
     .examples = "  forerun calibrate show\n"
                 "  forerun calibrate show h100-sxm5-80gb\n"
                 "  forerun calibrate show k80-die\n",
     .options = OPTIONS_COMMON,
     .has_more_arguments = true,
     .run = fr__verb_calibrate_show},
    {.name = "completion",
     .arguments = "bash | zsh",
     .summary = "a script that completes commands, options and names in your shell",
     .examples = "  eval \"$(forerun completion bash)\"\n"
                 "  forerun completion zsh > ~/.zfunc/_forerun\n",
     .options = OPTIONS_COMMON,
     .n_arguments = 1,
     .run = fr__verb_completion},
};

const struct fr__verb *fr__verbs(size_t *n)
{
    *n = sizeof(verbs) / sizeof(verbs[0]);
    return verbs;
}

const char *fr__verb_name(const struct fr__verb *v, char *buf, size_t size)
{
    snprintf(buf, size, "%s%s%s", v->group ? v->group : "", v->group ? " " : "", v->name);
    return buf;
}

const struct fr__verb *fr__verb_find(const char *group, const char *name)
{
    for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
        bool same_group =
            group ? verbs[i].group && strcmp(verbs[i].group, group) == 0 : verbs[i].group == NULL;

        if (same_group && strcmp(verbs[i].name, name) == 0)
            return &verbs[i];
    }
    return NULL;
}

enum fr_status fr__verb_unknown(const char *group, const char *word, struct fr_error *err)
{
    const char *names[sizeof(verbs) / sizeof(verbs[0])];
    size_t n = 0;
    char hint[128];

    for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
        bool is_here = !group || (verbs[i].group && strcmp(verbs[i].group, group) == 0);

        if (is_here)
            names[n++] = !group && verbs[i].group ? verbs[i].group : verbs[i].name;
    }
    return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "'%s' is no command of 'forerun%s%s'%s", word,
                    group ? " " : "", group ? group : "",
                    fr__did_you_mean(word, names, n, hint, sizeof(hint)));
}
