/* tests/fuzz/fuzz_job.c - libFuzzer: any bytes as a job file are facts, settings and notes, or an
 * error with a place, never a crash. The first byte says which syntax.
 *
 * Built and run as tests/fuzz/fuzz_csv.c says.
 */
#include "config.h"

#include "jobfile/read.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(struct fr_job *j)
{
    const struct fr_job_summary *m = fr_job_summary(j);
    size_t n = 0;
    struct fr_error err;

    for (size_t i = 0; i < m->n_facts; i++)
        if (!fr_job_fact(j, i)->value ||
            fr_job_fact_value(j, fr_job_fact(j, i)->name) != fr_job_fact(j, i)->value)
            abort();
    for (unsigned v = 0; v < FR_N_JOB_VERDICTS; v++)
        n += m->n[v];
    if (n != m->n_arguments)
        abort();
    if (fr_job_ask(j, &(struct fr_job_ask){.has_workload = false}, &err) != FR_OK &&
        (fr_job_setting(j, &n), n > 0))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"a.sh", "a.yaml", "a.json", "a.toml"};
    const char *value = "X=8";
    struct fr_error err = {.code = FR_OK};
    struct fr_job *j = NULL;
    struct fr__shell_text text;
    struct fr_job_options o = {.n_files = 1, .values = &value, .n_values = 1};

    if (size == 0)
        return 0;
    text = (struct fr__shell_text){names[data[0] % 4], (const char *)data + 1, size - 1};
    o.files = &text.name;
    o.is_lenient = data[0] & 4;
    if (fr__job_read_texts(&j, &o, &text, &err) == FR_OK)
        check(j);
    else if (err.code == FR_OK || j)
        abort();
    fr_job_free(j);
    return 0;
}
