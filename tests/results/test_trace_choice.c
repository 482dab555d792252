/* tests/results/test_trace_choice.c - which tasks a trace shows, and its arrows. */
#include "config.h"

#include "tests/support/base_check.h"
#include "tests/support/hand_case.h"
#include "tests/support/json_check.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *read_all(const char *path)
{
    FILE *f = fopen(path, "rb");
    long size;
    char *text;

    ck_assert_ptr_nonnull(f);
    ck_assert_int_eq(fseek(f, 0, SEEK_END), 0);
    size = ftell(f);
    rewind(f);
    text = calloc((size_t)size + 1, 1);
    ck_assert_ptr_nonnull(text);
    ck_assert_uint_eq(fread(text, 1, (size_t)size, f), (size_t)size);
    fclose(f);
    return text;
}

/* The trace with these options, or why there is none: the caller frees what it gets. */
static char *trace_with(const struct hand *h, const char *ranks, uint32_t micro_batches)
{
    const struct fr_trace_options o = {ranks, micro_batches};
    const struct fr_record *r = h->record;
    const struct fr_results rs = {.records = &r, .n = 1, .trace = &o};
    const char *path = "test_results_choice.tmp.trace.json";
    struct fr_error err = {.text = ""};
    char *text = NULL;

    if (fr_show_file(fr_shown_run(&rs), path, NULL, &err) == FR_OK) {
        text = read_all(path);
        ck_assert(is_json(text));
    }
    unlink(path);
    return text ? text : strdup(err.text);
}

/* GPU 0's copy to GPU 1 is the only message: one arrow, its start before its end in the file. */
TEST(an_arrow_leads_from_a_send_to_its_receive)
{
    const char *from, *to, *id = NULL;
    struct hand h;
    char *text;

    make_hand(&h, 64 * MIB);
    text = trace_with(&h, NULL, 0);
    from = strstr(text, "\"flow_out\":true");
    to = strstr(text, "\"flow_in\":true");
    ck_assert(from && to && from < to);
    ck_assert_ptr_null(strstr(from + 1, "\"flow_out\""));
    ck_assert_ptr_null(strstr(to + 1, "\"flow_in\""));
    for (const char *e = json_item(json_member(text, "traceEvents"), 0); e; e = json_next_item(e)) {
        const char *bound = json_member(e, "bind_id");

        if (!bound)
            continue;
        ck_assert_uint_eq((size_t)json_number(json_member(e, "pid")), id ? 2 : 1);
        ck_assert(!id || strncmp(id, bound, 6) == 0);
        id = bound;
    }
    ck_assert_ptr_nonnull(id);
    free(text);
    free_hand(&h);
}

TEST(a_trace_shows_the_ranks_that_are_asked_for)
{
    static const struct {
        const char *ranks, *has, *lacks;
    } cases[] = {
        {"0", "\"n0.gpu0\"", "\"n0.gpu1\""},
        {"n0.gpu1", "\"n0.gpu1\"", "\"n0.gpu0\""},
        {"0,1", "\"flow_in\"", "micro_batches"},
        {"n0.gpu0..1", "\"flow_in\"", "micro_batches"},
        {"1", "\"pid\":2", "\"flow_in\""},
        {"2", "--trace-ranks", "traceEvents"},
        {"n0.gpu7", "n0.gpu", "traceEvents"},
        {"0,", "0 bytes", "traceEvents"},
        {"-1", "-1", "traceEvents"},
        {"18446744073709551616", "is", "traceEvents"},
    };
    struct hand h;

    make_hand(&h, 64 * MIB);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *text = trace_with(&h, cases[i].ranks, 0);

        ck_assert_msg(strstr(text, cases[i].has) && !strstr(text, cases[i].lacks), "%s: %.200s",
                      cases[i].ranks, text);
        free(text);
    }
    free_hand(&h);
}

int main(void)
{
    TCase *tc = tcase_create("choice");

    tcase_set_timeout(tc, 60);
    add_tests(tc);
    return run_case(tc, "results/trace choice");
}
