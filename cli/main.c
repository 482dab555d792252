/* cli/main.c - the command: finds the verb, runs it, turns its status into an exit status. The
 * program's main function is in start.c, so that a test can call the command as a function. */
#include "config.h"

#include "base/error.h"
#include "base/machine.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/running/mpi.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct verb verbs[] = {
    {.name = "simulate",
     .arguments = "-w WORKLOAD [-t TOPOLOGY] -s STRATEGY",
     .summary = "time and memory of one training iteration",
     .examples =
         "  forerun simulate -w vgg19 -t dgx1-v100 -g 4 -b 64 -s dp\n"
         "  forerun simulate -w vgg19 -t dgx1-v100 -s dp:sync=ring,bucket=25MiB "
         "-o vgg19.trace.json\n"
         "  forerun simulate -w gpt2-small -t \"2x dgx1-v100 via ib:100Gbps\" -B 1 -O adam "
         "-s dp --json\n"
         "  forerun simulate -w mygraph.txt -s 'pipedream:machines=8x2,bandwidth=30GB/s;25Gbps' "
         "-o stages.txt\n",
     .options = OPTIONS_COMMON | OPTIONS_SHAPE | OPTIONS_PROBLEM | OPTIONS_RUN | OPTIONS_ANSWER |
                OPTIONS_FILES | OPTIONS_JSON | OPTIONS_ADVICE | OPTIONS_WHOLE,
     .format = fr_results_format,
     .run = cli_simulate},
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
     .options = OPTIONS_COMMON | OPTIONS_SHAPE | OPTIONS_PROBLEM | OPTIONS_RUN | OPTIONS_ANSWER |
                OPTIONS_FILES | OPTIONS_JSON | OPTIONS_WHOLE | OPTIONS_COMPARE,
     .format = fr_results_format,
     .run = cli_compare},
    {.name = "diff",
     .arguments = "A.json B.json",
     .summary = "why one answer takes longer than another: by part, op, place and link",
     .examples = "  forerun simulate -w vgg19 -t dgx1-v100 -g 4 -b 64 -s dp -o a.json\n"
                 "  forerun simulate -w vgg19 -t dgx1-v100 -g 4 -b 64 -s pp -o b.json\n"
                 "  forerun diff a.json b.json\n"
                 "  forerun diff a.json b.json -o two.svg --json\n",
     .options = OPTIONS_COMMON | OPTIONS_FILES | OPTIONS_JSON | OPTIONS_DIFF,
     .n_arguments = 2,
     .format = fr_difference_format,
     .run = cli_diff},
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
     .run = cli_explain},
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
     .format = fr_sweep_format,
     .run = cli_sweep},
    {.group = "sweep",
     .name = "merge",
     .arguments = "OUT IN...",
     .summary = "put the stores of several shards into one",
     .examples = "  forerun sweep merge whole.sqlite my1.sqlite my2.sqlite\n",
     .options = OPTIONS_COMMON,
     .n_arguments = 2,
     .has_more_arguments = true,
     .run = cli_sweep_merge},
    {.name = "search",
     .arguments = "-w WORKLOAD -t TOPOLOGY -b BATCH",
     .summary = "the best layout: degrees, micro-batch, schedule, sharding, recomputation",
     .examples = "  forerun search -w gpt2-medium -t dgx-a100-80g -b 64 -p bf16 -O adam --top 3\n"
                 "  forerun search -w gpt3-175b -t \"128x dgx-a100-80g\" -b 1536 -O adam --top 5 "
                 "--within 5% \\\n"
                 "      --price 2.5 -o layouts.csv -o frontier.svg\n"
                 "  forerun search -w llama3-8b -t \"4x hgx-h100\" -b 128 -O adam --fix tp=2 "
                 "--fix zero=1 --print-flags megatron\n",
     .options = OPTIONS_COMMON | OPTIONS_SHAPE | OPTIONS_PROBLEM | OPTIONS_RUN | OPTIONS_FILES |
                OPTIONS_JSON | OPTIONS_WHOLE | OPTIONS_SEARCH,
     .format = cli_tables_format,
     .run = cli_search},
    {.name = "learn",
     .arguments = "-w WORKLOAD -t TOPOLOGY [-s STRATEGY]",
     .summary = "FastT's pre-training: learn costs by trying strategies, round by round",
     .examples = "  forerun learn -w vgg19 -t dgx1-v100 -g 2 -b 64\n"
                 "  forerun learn -w vgg19 -t dgx1-v100 -g 2 -b 64 --jitter 0.03 -o rounds.png\n"
                 "  forerun learn -w vgg16 -t dgx1-v100 -g 2 -b 64 -s dpos --profiles 5 "
                 "--drift 1:2@1500\n",
     .options = OPTIONS_COMMON | OPTIONS_SHAPE | OPTIONS_PROBLEM | OPTIONS_RUN | OPTIONS_LEARN |
                OPTIONS_FILES | OPTIONS_JSON,
     .format = fr_learning_format,
     .run = cli_learn},
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
     .run = cli_comm},
    {.group = "topo",
     .name = "list",
     .arguments = "",
     .summary = "the presets and the known device types",
     .examples = "  forerun topo list\n",
     .options = OPTIONS_COMMON,
     .run = cli_topo_list},
    {.group = "topo",
     .name = "show",
     .arguments = "TOPOLOGY",
     .summary = "devices and links with their numbers and sources",
     .examples = "  forerun topo show dgx1-v100\n"
                 "  forerun topo show \"2x dgx1-v100 via ib:100Gbps\" --json\n",
     .options = OPTIONS_COMMON | OPTIONS_JSON,
     .n_arguments = 1,
     .run = cli_topo_show},
    {.group = "topo",
     .name = "import",
     .arguments = "FILE",
     .summary = "a machine of another tool: NCCL, nvidia-smi, hwloc, SimGrid, ASTRA-sim, TACCL",
     .examples = "  forerun topo import nccl-topo.xml\n"
                 "  forerun topo import smi-topo.txt --gpu-type h200-sxm-141gb -o box.yaml\n",
     .options = OPTIONS_COMMON | OPTIONS_JSON | OPTIONS_EXCHANGE | OPTIONS_IMPORT,
     .n_arguments = 1,
     .run = cli_topo_import},
    {.group = "topo",
     .name = "export",
     .arguments = "TOPOLOGY",
     .summary = "a cluster as YAML, or as a SimGrid platform (.xml)",
     .examples = "  forerun topo export \"4x dgx-a100-80g\" -o cluster.yaml -o cluster.xml\n",
     .options = OPTIONS_COMMON | OPTIONS_EXCHANGE,
     .n_arguments = 1,
     .run = cli_topo_export},
    {.group = "topo",
     .name = "draw",
     .arguments = "TOPOLOGY",
     .summary = "a picture of a cluster (.svg .png .pdf; DOT text without -o)",
     .examples = "  forerun topo draw dgx1-v100 -o dgx1.svg\n"
                 "  forerun topo draw \"4x dgx-a100-80g\" -o cluster.png\n",
     .options = OPTIONS_COMMON | OPTIONS_PICTURE,
     .n_arguments = 1,
     .run = cli_topo_draw},
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
     .run = cli_topo_time},
    {.group = "topo",
     .name = "check",
     .arguments = "TOPOLOGY",
     .summary = "find mistakes in a topology",
     .examples = "  forerun topo check mycluster.yaml\n",
     .options = OPTIONS_COMMON,
     .n_arguments = 1,
     .run = cli_topo_check},
    {.group = "graph",
     .name = "list",
     .arguments = "",
     .summary = "the models of the zoo",
     .examples = "  forerun graph list\n",
     .options = OPTIONS_COMMON,
     .run = cli_graph_list},
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
     .run = cli_graph_show},
    {.group = "graph",
     .name = "draw",
     .arguments = "WORKLOAD",
     .summary = "a picture of a training graph (.svg .png .pdf; DOT text without -o)",
     .examples = "  forerun graph draw resnet50 -o resnet50.svg\n"
                 "  forerun graph draw bert-base --layer layer0 --ops -o layer0.svg\n"
                 "  forerun graph draw vgg19 --layer fc6 --ops --phase forward --phase backward\n",
     .options = OPTIONS_COMMON | OPTIONS_SHAPE | OPTIONS_OPS | OPTIONS_PICTURE,
     .n_arguments = 1,
     .run = cli_graph_draw},
    {.group = "graph",
     .name = "check",
     .arguments = "WORKLOAD",
     .summary = "find mistakes in a workload",
     .examples = "  forerun graph check myprofile/\n",
     .options = OPTIONS_COMMON | OPTIONS_SHAPE,
     .n_arguments = 1,
     .run = cli_graph_check},
    {.group = "graph",
     .name = "export",
     .arguments = "WORKLOAD FOLDER",
     .summary = "write a workload as a native folder",
     .examples = "  forerun graph export vgg19 vgg19-workload\n",
     .options = OPTIONS_COMMON | OPTIONS_SHAPE,
     .n_arguments = 2,
     .run = cli_graph_export},
    {.group = "graph",
     .name = "random",
     .arguments = "layered|fork-join|erdos-renyi[:KEY=VALUE,...]",
     .summary = "a random task graph: tasks, width, density, time, ccr, bandwidth, seed",
     .examples = "  forerun graph random layered:tasks=50,width=5,ccr=0.5,seed=7 -o dag.csv\n"
                 "  forerun graph random fork-join:tasks=41,width=4\n",
     .options = OPTIONS_COMMON | OPTIONS_RANDOM,
     .n_arguments = 1,
     .run = cli_graph_random},
    {.group = "recipe",
     .name = "list",
     .arguments = "",
     .summary = "what training software does beside the model (--recipe)",
     .examples = "  forerun recipe list\n",
     .options = OPTIONS_COMMON,
     .run = cli_recipe_list},
    {.group = "recipe",
     .name = "show",
     .arguments = "NAME|FILE",
     .summary = "the values of a recipe, each with its source",
     .examples = "  forerun recipe show pytorch-ddp\n",
     .options = OPTIONS_COMMON,
     .n_arguments = 1,
     .run = cli_recipe_show},
    {.group = "schedule",
     .name = "list",
     .arguments = "",
     .summary = "the pipeline schedules",
     .examples = "  forerun schedule list\n",
     .options = OPTIONS_COMMON,
     .run = cli_schedule_list},
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
     .run = cli_schedule_show},
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
     .run = cli_schedule_draw},
    {.group = "schedule",
     .name = "check",
     .arguments = "NAME|file:PATH...",
     .summary = "what is missing, or waits in a circle; else makespan, bubble and what is held",
     .examples = "  forerun schedule check zb-v --ranks 4 --micro-batches 8\n"
                 "  forerun schedule check file:mine.csv --times F=1,B=2,comm=0.25\n",
     .options = OPTIONS_COMMON | OPTIONS_SCHEDULE,
     .n_arguments = 1,
     .has_more_arguments = true,
     .run = cli_schedule_check},
    {.name = "validate",
     .arguments = "FILE.csv",
     .summary = "predictions against a table of measurements",
     .examples = "  forerun validate measured.csv\n"
                 "  forerun validate measured.csv --all -o scatter.png -o rows.csv\n"
                 "  forerun validate measured.csv --costs datasheet --json\n",
     .options = OPTIONS_COMMON | OPTIONS_VALIDATE | OPTIONS_FILES | OPTIONS_JSON,
     .n_arguments = 1,
     .format = fr_validation_format,
     .run = cli_validate},
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
     .format = cli_tables_format,
     .run = cli_reproduce},
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
     .format = cli_device_format,
     .run = cli_calibrate_fit},
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
     .run = cli_calibrate_check},
    {.group = "calibrate",
     .name = "show",
     .arguments = "[NAME|PATH]",
     .summary = "the shipped device files, or the curves of one with their errors",
     .examples = "  forerun calibrate show\n"
                 "  forerun calibrate show h100-sxm5-80gb\n"
                 "  forerun calibrate show k80-die\n",
     .options = OPTIONS_COMMON,
     .has_more_arguments = true,
     .run = cli_calibrate_show},
    {.name = "completion",
     .arguments = "bash | zsh",
     .summary = "a script that completes commands, options and names in your shell",
     .examples = "  eval \"$(forerun completion bash)\"\n"
                 "  forerun completion zsh > ~/.zfunc/_forerun\n",
     .options = OPTIONS_COMMON,
     .n_arguments = 1,
     .run = cli_completion},
};

enum { N_VERBS = sizeof(verbs) / sizeof(verbs[0]) };

/* The verb of that name in the group (NULL: outside of any), or NULL. */
static const struct verb *find_verb(const char *group, const char *name)
{
    for (size_t i = 0; i < N_VERBS; i++) {
        bool same_group =
            group ? verbs[i].group && strcmp(verbs[i].group, group) == 0 : verbs[i].group == NULL;

        if (same_group && strcmp(verbs[i].name, name) == 0)
            return &verbs[i];
    }
    return NULL;
}

static bool is_group(const char *name)
{
    for (size_t i = 0; i < N_VERBS; i++)
        if (verbs[i].group && strcmp(verbs[i].group, name) == 0)
            return true;
    return false;
}

static enum fr_status fail_unknown(const char *group, const char *word, struct fr_error *err)
{
    const char *names[N_VERBS];
    size_t n = 0;
    char hint[128];

    for (size_t i = 0; i < N_VERBS; i++) {
        bool is_here = !group || (verbs[i].group && strcmp(verbs[i].group, group) == 0);

        if (is_here)
            names[n++] = !group && verbs[i].group ? verbs[i].group : verbs[i].name;
    }
    return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "'%s' is no command of 'forerun%s%s'%s", word,
                    group ? " " : "", group ? group : "",
                    fr__did_you_mean(word, names, n, hint, sizeof(hint)));
}

static bool is_help(const char *word)
{
    return strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0 || strcmp(word, "help") == 0;
}

/* "help", "help simulate --all", "help topo show", "help --man topo", "help hybrid": words behind
 * "help". */
static enum fr_status help_on(int n, char *const words[], struct fr_error *err)
{
    bool is_whole = cli_wants_whole_help(n, words);
    const struct verb *v;

    n -= is_whole && strcmp(words[n - 1], "--all") == 0;
    v = n > 1 ? find_verb(words[0], words[1]) : NULL;

    if (n > 1 && strcmp(words[0], "--man") == 0)
        return cli_print_man(stdout, verbs, N_VERBS, words[1]) ? FR_OK
                                                               : fail_unknown(NULL, words[1], err);
    if (!v && n > 0)
        v = find_verb(NULL, words[0]);
    if (v)
        cli_print_verb_help(stdout, v, is_whole);
    else if (n == 0)
        cli_print_help(stdout, verbs, N_VERBS);
    else if (!is_group(words[0]))
        return cli_print_word_help(stdout, words[0]) ? FR_OK : fail_unknown(NULL, words[0], err);
    else if (n > 1)
        return fail_unknown(words[0], words[1], err);
    else
        cli_print_group_help(stdout, verbs, N_VERBS, words[0]);
    return FR_OK;
}

/* A question that needs more memory than the machine has is refused, by its plan's size if that is
 * known, and otherwise when an allocation fails: the system never has to end the process. */
static void limit_memory(struct session *s)
{
    double bytes = s->options.memory_bytes > 0 ? s->options.memory_bytes : fr__machine_free_bytes();

    if (!isfinite(bytes))
        return;
    s->context.memory_bytes = bytes;
    fr__machine_limit(bytes);
}

static enum fr_status run_verb(const struct verb *v, struct session *s, int argc,
                               char *const argv[], struct fr_error *err)
{
    struct progress progress;
    enum fr_status st;

    if (v->options & OPTIONS_SWEEP) {
        s->options.sweep = fr_sweep_new();
        if (!s->options.sweep)
            return fr__fail_nomem(err);
    }
    for (int i = 0; i < argc && cli_wants_whole_help(argc, argv); i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            cli_print_verb_help(stdout, v, true);
            return FR_OK;
        }
    FR_TRY(cli_parse_options(&s->options, v, argc, argv, err));
    if (s->options.help) {
        cli_print_verb_help(stdout, v, false);
        return FR_OK;
    }
    if (s->options.version) {
        printf("forerun %s\n", fr_version());
        return FR_OK;
    }
    FR_TRY(cli_check_overwrite(&s->options, argc, argv, err));
    cli_catch_signals();
    cli_progress_init(&progress, s->options.quiet);
    s->context = (struct fr_context){.seed = s->options.question.run.seed,
                                     .cancel = cli_cancel_flag(),
                                     .progress = cli_progress,
                                     .progress_user = &progress,
                                     .is_grey = s->options.grey};
    limit_memory(s);
    st = v->run(s, err);
    cli_progress_end(&progress);
    return st;
}

static enum fr_status dispatch(struct session *s, int argc, char *const argv[],
                               struct fr_error *err)
{
    const struct verb *v;

    if (argc < 2)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "no command given, try 'forerun --help'");
    if (is_help(argv[1]))
        return help_on(argc - 2, argv + 2, err);
    if (argc > 2 && strcmp(argv[1], "completion") == 0 && strcmp(argv[2], "words") == 0) {
        cli_complete(verbs, N_VERBS, argc - 3, argv + 3);
        return FR_OK;
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
        printf("forerun %s\n", fr_version());
        return FR_OK;
    }
    v = argc > 2 ? find_verb(argv[1], argv[2]) : NULL;
    if (v)
        return run_verb(v, s, argc - 3, argv + 3, err);
    v = find_verb(NULL, argv[1]);
    if (v)
        return run_verb(v, s, argc - 2, argv + 2, err);
    if (!is_group(argv[1]))
        return fail_unknown(NULL, argv[1], err);
    if (argc < 3)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "'forerun %s' needs a command, try 'forerun %s --help'", argv[1], argv[1]);
    if (is_help(argv[2])) {
        cli_print_group_help(stdout, verbs, N_VERBS, argv[1]);
        return FR_OK;
    }
    return fail_unknown(argv[1], argv[2], err);
}

static int exit_status(enum fr_status st)
{
    switch (st) {
    case FR_EPARSE:
    case FR_ERANGE:
    case FR_EUSAGE:
    case FR_ENOENT:
    case FR_EUNSUPPORTED:
        return CLI_USAGE;
    case FR_ENOROOM:
        return CLI_NO_MEMORY;
    case FR_OK:
        return CLI_DONE;
    case FR_EIO:
    case FR_ENOMEM:
    case FR_EDEADLOCK:
    case FR_ECHECK:
    case FR_ECANCELLED:
        break;
    }
    return CLI_FAILED;
}

/* Says with a bare "out of memory" how much there was. */
static void explain_memory(const struct session *s, struct fr_error *err)
{
    char limit[32];

    if (err->code == FR_ENOMEM && s->context.memory_bytes > 0 &&
        strcmp(err->text, "out of memory") == 0)
        snprintf(err->text, sizeof(err->text),
                 "out of memory: this command may take %s; --memory-limit sets how much",
                 fr__format_bytes(s->context.memory_bytes, limit, sizeof(limit)));
}

static int run_command(struct session *s, int argc, char *argv[])
{
    bool is_silent;
    struct fr_error err = {.code = FR_OK};
    enum fr_status st;
    char *command, **words;

    fr_init();
    fr_question_init(&s->options.question);
    s->options.most_ops = 40;
    s->options.n_best = 10;
    s->options.within_frac = 0;
    s->options.flags_of = FR_N_FRAMEWORKS;
    fr_learn_options_init(&s->options.learning);
    s->options.question.command = command = cli_command_line(argc, argv);
    words = cli_find_examples(argc, argv);
    st = command && words ? dispatch(s, argc, words, &err) : fr__fail_nomem(&err);
    free(command);
    is_silent = s->options.sweep && cli_mpi_is_follower(); /* the first of them has said it */
    fr_sweep_free(s->options.sweep);
    cli_free_words(words);
    /* a full disk shows only when the last bytes leave */
    if (st == FR_OK && (fflush(stdout) != 0 || ferror(stdout)))
        st = fr__fail(&err, FR_EIO, FR_NOWHERE, "cannot write to standard output: %s",
                      strerror(errno));
    if (st == FR_OK)
        return s->status == CLI_DONE && s->lacks_file ? CLI_FAILED : s->status;
    if (is_silent) /* mpirun would end the first before it has said it */
        return CLI_DONE;
    explain_memory(s, &err);
    cli_say_error(&err);
    return cli_signal_caught() && st == FR_ECANCELLED ? 128 + cli_signal_caught() : exit_status(st);
}

int cli_main(int argc, char *argv[])
{
    struct session *s = calloc(1, sizeof(*s)); /* too large for a small stack */
    int status;

    if (!s) {
        fputs("forerun: out of memory\n", stderr);
        return CLI_FAILED;
    }
    status = run_command(s, argc, argv);
    free(s);
    return status;
}
