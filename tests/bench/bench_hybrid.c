/* tests/bench/bench_hybrid.c - questions about large models, from their names to the record.
 *
 * Folded, a stage is planned once, however many ranks it has; unfolded, each of 1024 GPUs is. The
 * peak of a row is that of the process so far, so that the largest comes last.
 */
#include "config.h"

#include "study/study.h"
#include "tests/bench/bench.h"

#include <stdlib.h>

struct job {
    const char *name;
    struct fr_question question;
    size_t n_tasks;
};

static double ask(void *arg)
{
    struct job *j = arg;
    struct fr_record *r;
    struct fr_error err;
    double begin_s = bench_cpu_s();

    if (fr_answer(&j->question, NULL, &r, &err) != FR_OK)
        exit(EXIT_FAILURE);
    j->n_tasks = r->n_tasks;
    fr_record_free(r);
    return bench_cpu_s() - begin_s;
}

static void bench(const char *name, const char *workload, const char *topology, uint32_t batch,
                  const char *strategy, int rounds)
{
    struct job j = {.name = name};
    struct bench_row row = {.name = name, .unit = "tasks"};

    fr_question_init(&j.question);
    j.question.workload = workload;
    j.question.topology = topology;
    j.question.strategy = strategy;
    j.question.global_batch = batch;
    j.question.dtype = FR_BF16;
    j.question.optimizer = FR_ADAM;
    row.cpu_s = bench_median(ask, &j, rounds);
    row.size = (double)j.n_tasks;
    bench_print(&row);
}

int main(void)
{
    fr_init();
    bench("llama3-405b on 16384 GPUs", "llama3-405b", "2048x hgx-h100 via ib:400Gbps", 2048,
          "hybrid:tp=8,pp=16,micro=1,sp=1,zero=1", 3);
    bench("gpt3-175b on 1024 GPUs", "gpt3-175b", "128x dgx-a100-80g via ib:200Gbps", 1536,
          "hybrid:tp=8,pp=16,micro=1", 3);
    bench("gpt3-13b, 1024 unfolded", "gpt3-13b", "128x dgx-a100-80g via ib:200Gbps", 1024,
          "hybrid:tp=8,pp=4,dp=32,fold=0", 1);
    return EXIT_SUCCESS;
}
