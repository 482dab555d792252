/* tests/results/test_program.c - other programs are watched, and what they draw is looked at. */
#include "config.h"

#include "results/parts/program.h"
#include "tests/support/base_check.h"

#include <string.h>
#include <time.h>

static double now_s(void)
{
    struct timespec t;

    ck_assert_int_eq(clock_gettime(CLOCK_MONOTONIC, &t), 0);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Runs a shell script as the program; err says what became of it. */
static enum fr_status draw(const char *script, enum fr__picture picture,
                           const struct fr_context *ctx, struct fr_error *err)
{
    char shell[] = "sh", option[] = "-c", text[512];
    char *const argv[] = {shell, option, text, NULL};
    const struct fr__program p = {
        .argv = argv, .instead = "draw by hand", .picture = picture, .most_silent_s = 0.4};
    FILE *input = NULL, *output = NULL;
    enum fr_status st;

    ck_assert_int_lt(snprintf(text, sizeof(text), "%s", script), (int)sizeof(text));
    ck_assert_int_eq(fr__program_file(&input, err), FR_OK);
    ck_assert_int_eq(fr__program_file(&output, err), FR_OK);
    fputs("plot\n", input);
    st = fr__program_run(&p, input, output, ctx, err);
    fclose(input);
    fclose(output);
    return st;
}

TEST(a_whole_picture_is_taken)
{
    static const struct {
        const char *script;
        enum fr__picture picture;
    } cases[] = {
        {"printf '<?xml version=\"1.0\"?><svg>x</svg>\\n\\n'", FR__PICTURE_SVG},
        {"printf '<svg/></svg>'", FR__PICTURE_SVG},
        {"printf '%%PDF-1.5 x %%%%EOF\\n'", FR__PICTURE_PDF},
        {"printf '\\211PNG\\r\\n\\032\\n data IEND\\256B`\\202'", FR__PICTURE_PNG},
        /* longer than a block, and written in pieces */
        {"printf '<svg>'; head -c 99999 /dev/zero | tr '\\0' a; printf '</s'; sleep 0.1; printf "
         "'vg>'",
         FR__PICTURE_SVG},
        /* one that leaves a process behind that holds its output */
        {"printf '<svg/></svg>'; sleep 30 & exit 0", FR__PICTURE_SVG},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fr_error err = {.text = ""};

        ck_assert_msg(draw(cases[i].script, cases[i].picture, NULL, &err) == FR_OK, "%zu: %s", i,
                      err.text);
    }
}

TEST(what_is_no_picture_of_the_format_is_refused)
{
    static const struct {
        const char *script;
        enum fr__picture picture;
        const char *said;
    } cases[] = {
        {"exit 0", FR__PICTURE_PNG, "sh ended well but drew nothing: no reason given"},
        {"echo why >&2", FR__PICTURE_SVG, "sh ended well but drew nothing: why"},
        {"echo text", FR__PICTURE_PDF, "sh ended well, but what it drew is no whole PDF"},
        {"printf '<svg>x'", FR__PICTURE_SVG, "what it drew is no whole SVG"},
        {"printf '%%PDF-1.5 x'", FR__PICTURE_PDF, "what it drew is no whole PDF"},
        {"printf '\\211PNG\\r\\n\\032\\n data'", FR__PICTURE_PNG, "what it drew is no whole PNG"},
        {"printf '<svg/></svg>'", FR__PICTURE_PNG, "what it drew is no whole PNG"},
        {"printf '<svg/></svg>'; echo bad >&2; exit 3", FR__PICTURE_SVG, "sh failed: bad"},
        {"kill -9 $$", FR__PICTURE_SVG, "sh failed: no reason given"},
        {"exit 127", FR__PICTURE_SVG, "sh is not installed; draw by hand"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fr_error err = {.text = ""};

        ck_assert_int_eq(draw(cases[i].script, cases[i].picture, NULL, &err), FR_EIO);
        ck_assert_msg(strstr(err.text, cases[i].said) != NULL, "%zu: %s", i, err.text);
    }
}

/* By itself, and when somebody cancels, also where it ignores that it is asked to end. */
TEST(a_program_that_does_not_end_is_ended)
{
    static const char *const scripts[] = {
        "sleep 30",
        "trap '' TERM INT HUP; sleep 30; sleep 30",
        "trap '' TERM INT HUP; exec >/dev/null; sleep 30; sleep 30",
        "trap '' TERM INT HUP; sleep 30 & sleep 30",
    };
    volatile int is_cancelled = 1;
    const struct fr_context cancelled = {.cancel = &is_cancelled};

    for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++) {
        struct fr_error err = {.text = ""};
        double start_s = now_s();

        ck_assert_int_eq(draw(scripts[i], FR__PICTURE_SVG, NULL, &err), FR_EIO);
        ck_assert_str_eq(err.text, "sh did not end: it wrote nothing for 0.4 s and was stopped");
        ck_assert_int_eq(draw(scripts[i], FR__PICTURE_SVG, &cancelled, &err), FR_ECANCELLED);
        ck_assert_double_lt(now_s() - start_s, 15);
    }
}

int main(void)
{
    TCase *tc = tcase_create("program");

    tcase_set_timeout(tc, 120);
    add_tests(tc);
    return run_case(tc, "results/program");
}
