/* tests/jobfile/test_job_shell.c - what a script would run, word by word, and what is refused. */
#include "config.h"

#include "jobfile/shell.h"
#include "tests/support/base_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OUT = 1 << 14 };

static struct fr__arena *arena;

static void make_arena(void)
{
    arena = fr__arena_new();
    ck_assert_ptr_nonnull(arena);
}

static void free_arena(void)
{
    fr__arena_free(arena);
}

static enum fr_status read_text(const char *text, struct fr__shell *out, struct fr_error *err)
{
    const struct fr__shell_text file = {"a.sh", text, strlen(text)};
    const struct fr__shell_value value = {"GIVEN", "7"};
    const struct fr__shell_input in = {&file, 1, &value, 1};

    *err = (struct fr_error){.code = FR_OK};
    return fr__shell_read(arena, &in, out, err);
}

/* All commands: words between blanks, commands between "; ". */
static const char *run(const char *text)
{
    struct fr__shell s;
    struct fr_error err;
    char *out = fr__arena_alloc(arena, OUT, 1);
    size_t used = 0;

    ck_assert_ptr_nonnull(out);
    if (read_text(text, &s, &err) != FR_OK)
        ck_abort_msg("%s: %u:%u: %s", text, err.line, err.col, err.text);
    for (size_t i = 0; i < s.n_commands; i++)
        for (size_t k = 0; k < s.commands[i].n; k++)
            used += (size_t)snprintf(out + used, OUT - used, "%s%s",
                                     k   ? " "
                                     : i ? "; "
                                         : "",
                                     s.commands[i].words[k].text);
    return out;
}

TEST(words_are_quoted_and_expanded)
{
    static const struct {
        const char *script, *runs;
    } cases[] = {
        {"", ""},
        {"run --a 1", "run --a 1"},
        {"X=4\nrun --a $X --b=${X}8", "run --a 4 --b=48"},
        {"X='a  b'; run \"$X\" $X", "run a  b a b"},
        {"run a\\\n  b # c", "run a b"},
        {"run ${X:-8} ${Y-9} ${Z:=3} $Z", "run 8 9 3 3"},
        {"X=1; run ${X:+yes} ${Y:+no} end", "run yes end"},
        {"X=; run \"${X:-8}\" ${X-9} e", "run 8 e"},
        {"A=8; B=4; run $((A*$B + 2*(3-1))) $((7/2)) $((7%4)) $((2**5))", "run 36 3 3 32"},
        {"X=model.tar.gz; run ${X%.gz} ${X%%.*} ${X#*.} ${X##*.}", "run model.tar model tar.gz gz"},
        {"X=Ab; run ${X,,} ${X^^} ${#X}", "run ab AB 2"},
        {"run 'a $X' \"b \\$X\"", "run a $X b $X"},
        {"X=1 Y=2; run $X$Y", "run 12"},
        {"X=a; X+=b; run $X", "run ab"},
        {"GIVEN=8; run $GIVEN", "run 7"},
        {"export A=1 B='2 3'; run $A $B", "run 1 2 3"},
        {"run > log 2>&1 --a", "run --a"},
        {"run | tee log && more", "run; tee log; more"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        ck_assert_str_eq(run(cases[i].script), cases[i].runs);
}

TEST(arrays_keep_their_words)
{
    ck_assert_str_eq(run("A=(--x 1 # one\n  --y \"2 3\")\nrun ${A[@]}"), "run --x 1 --y 2 3");
    ck_assert_str_eq(run("A=(a); A+=(b c); run ${#A[@]} ${A[1]} \"${A[*]}\""), "run 3 b a b c");
    ck_assert_str_eq(run("A=(1 2); A=(\"${A[@]}\" 3); run ${A[@]}"), "run 1 2 3");
}

TEST(conditions_choose_what_runs)
{
    static const struct {
        const char *script, *runs;
    } cases[] = {
        {"if [ 1 = 1 ]; then run a; else run b; fi", "run a"},
        {"X=fp8\nif [[ \"$X\" == fp* ]] && [[ 2 -gt 1 ]]; then run a; fi", "run a"},
        {"if [[ $X = a ]]; then run a; else run b; fi", "run b"},    /* only the run knows */
        {"if [[ -z \"$X\" ]]; then run a; else run b; fi", "run a"}, /* nobody set it */
        {"if [ -z $X ]; then exit 1; fi; run b", "run b"},           /* somebody will */
        {"X=$(date); if [ -n $X ]; then run a; else run b; fi", "run b"},
        {"X=3; if [ $X -lt 3 ]; then run a; elif [ $X -eq 3 ]; then run b; else run c; fi",
         "run b"},
        {"X=7b; case $X in 13b) run a;; 7b|8b) run b;; *) run c;; esac", "run b"},
        {"for i in 1 2; do run $i; done", "run 1; run 2"},
        {"while true; do run a; done; run b", "run b"},
        {"for ((i=0; i<3; i++)); do run $i; done; run b", "run b"},
        {"f() { run $1; }\nf 3", "run 3"},
        {"[ 1 = 2 ] && run a; [ 1 = 2 ] || run b", "run b"},
        {"if [ 1 = 1 ] || [ 1 = 2 ]; then run a; fi", "run a"},
        {"if (( 3 > 2 )); then run a; fi", "run a"},
        {"run a; exit 0; run b", "run a"},
        {"if ! [ 1 = 2 ]; then run a; fi", "run a"},
        {"(run a); { run b; }", "run a; run b"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        ck_assert_str_eq(run(cases[i].script), cases[i].runs);
}

TEST(texts_within_texts_are_read)
{
    ck_assert_str_eq(run("C='python t.py --a 1'; eval $C"), "python t.py --a 1");
    ck_assert_str_eq(run("A=2; srun bash -c \"python t.py --a $A\""), "python t.py --a 2");
    ck_assert_str_eq(run("sbatch <<EOF\nsrun python t.py --a ${GIVEN}\nEOF\nrun b"),
                     "sbatch; srun python t.py --a 7; run b");
    ck_assert_str_eq(run("ssh host \"cd x; python t.py --a 1\""), "python t.py --a 1");
}

TEST(a_document_for_a_file_is_kept)
{
    struct fr__shell s;
    struct fr_error err;

    ck_assert_int_eq(read_text("S=3\ncat <<EOF > ds.json\n{\"stage\": $S}\nEOF\n", &s, &err),
                     FR_OK);
    ck_assert_uint_eq(s.n_made, 1);
    ck_assert_str_eq(s.made[0].name.text, "ds.json");
    ck_assert_str_eq(s.made[0].body.text, "{\"stage\": 3}\n");
}

TEST(what_only_the_run_knows_has_a_name)
{
    struct fr__shell s;
    struct fr_error err;
    const struct fr__shell_word *w;

    ck_assert_int_eq(read_text("N=$(nproc)\nrun --a $N \\\n --b ${HOME}/x $1", &s, &err), FR_OK);
    ck_assert_uint_eq(s.n_commands, 1);
    w = s.commands[0].words;
    ck_assert_str_eq(w[2].unknown, "N");
    ck_assert_str_eq(w[4].unknown, "HOME");
    ck_assert_str_eq(w[4].text, "?/x");
    ck_assert_str_eq(w[5].unknown, "1");
    ck_assert_ptr_null(w[3].unknown);
}

TEST(a_word_knows_where_it_was_written)
{
    struct fr__shell s;
    struct fr_error err;
    const struct fr__shell_word *w;

    ck_assert_int_eq(read_text("A=\"--x 1 \\\n --y 2\"\nrun $A z", &s, &err), FR_OK);
    w = s.commands[0].words;
    ck_assert_uint_eq(w[0].loc.line, 3);
    ck_assert_uint_eq(w[3].loc.line, 2); /* --y */
    ck_assert_uint_eq(w[3].loc.col, 2);
    ck_assert_uint_eq(w[5].loc.line, 3); /* z */
    ck_assert_uint_eq(w[5].loc.col, 8);
}

TEST(slurm_says_how_many_nodes_there_are)
{
    ck_assert_str_eq(run("#SBATCH --nodes=4\n#SBATCH -N 4\nrun $SLURM_NNODES"), "run 4");
}

TEST(broken_scripts_are_refused_where_they_break)
{
    static const struct {
        const char *script;
        unsigned line, col;
    } cases[] = {
        {"run 'a", 1, 5},
        {"a\nrun \"b", 2, 5},
        {"A=(1 2", 1, 3},
        {"if [ 1 = 1 ]; then run", 1, 1},
        {"case x in a) run", 1, 1},
        {"run ${X", 1, 7},
        {"run $((1+", 1, 8},
        {"run )", 1, 5},
        {"cat <<EOF\nx\n", 1, 10},
        {"for i in 1; do run", 1, 1},
        {"{ run", 1, 1},
        {"[[ 1 == 2", 1, 1},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fr__shell s;
        struct fr_error err;

        ck_assert_msg(read_text(cases[i].script, &s, &err) == FR_EPARSE, "%s", cases[i].script);
        ck_assert_msg(err.line == cases[i].line && err.col == cases[i].col, "%s: %u:%u: %s",
                      cases[i].script, err.line, err.col, err.text);
    }
}

/* Text that grows with each line, blocks in blocks, a function that calls itself. */
TEST(growth_and_depth_are_bounded)
{
    char *text = malloc(1 << 16);
    struct fr__shell s;
    struct fr_error err;
    size_t n;

    ck_assert_ptr_nonnull(text);
    n = (size_t)sprintf(text, "X=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n");
    for (int i = 0; i < 40; i++)
        n += (size_t)sprintf(text + n, "X=$X$X\n");
    ck_assert_int_eq(read_text(text, &s, &err), FR_ERANGE);
    memset(text, '(', 2000);
    text[2000] = '\0';
    ck_assert_int_eq(read_text(text, &s, &err), FR_EPARSE);
    ck_assert_int_eq(read_text("f() { f; }\nf", &s, &err), FR_EPARSE);
    ck_assert_int_eq(read_text("X='eval $X'; eval $X", &s, &err), FR_EPARSE);
    free(text);
}

int main(void)
{
    TCase *tc = tcase_create("job_shell");

    tcase_add_checked_fixture(tc, make_arena, free_arena);
    add_tests(tc);
    return run_case(tc, "job_shell");
}
