/* tests/jobfile/test_job_toml.c - TOML trees, their positions, and what is refused. */
#include "config.h"

#include "jobfile/toml.h"
#include "tests/support/base_check.h"

#include <stdio.h>
#include <string.h>

enum { OUT = 4096 };

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

/* The tree on one line: {key:value ...}, [value ...]. */
static void draw(const struct fr__yaml *node, char *buf, size_t n)
{
    size_t used = 0;

    if (node->key)
        used += (size_t)snprintf(buf, n, "%s:", node->key);
    if (node->kind == FR__YAML_SCALAR) {
        snprintf(buf + used, n - used, "<%s>", node->text);
        return;
    }
    used += (size_t)snprintf(buf + used, n - used, "%s", node->kind == FR__YAML_MAP ? "{" : "[");
    for (size_t i = 0; i < node->n; i++) {
        used += (size_t)snprintf(buf + used, n - used, "%s", i ? " " : "");
        draw(node->items[i], buf + used, n - used);
        used += strlen(buf + used);
    }
    snprintf(buf + used, n - used, "%s", node->kind == FR__YAML_MAP ? "}" : "]");
}

static void assert_tree(const char *text, const char *expected)
{
    const struct fr__yaml *root = NULL;
    struct fr_error err;
    char buf[OUT];

    if (fr__toml_load_text(arena, text, strlen(text), "a.toml", &root, &err) != FR_OK)
        ck_abort_msg("%s: %u:%u: %s", text, err.line, err.col, err.text);
    draw(root, buf, sizeof(buf));
    ck_assert_str_eq(buf, expected);
}

TEST(tables_and_values_become_a_tree)
{
    assert_tree("", "{}");
    assert_tree("a = 1 # one\n b.c = true\n", "{a:<1> b:{c:<true>}}");
    assert_tree("[x]\na = 2_000\n[x.y]\nb = \"s\"\n", "{x:{a:<2_000> y:{b:<s>}}}");
    assert_tree("[[l]]\na=1\n[[l]]\na=2\n", "{l:[{a:<1>} {a:<2>}]}");
    assert_tree("a = [1, 2,\n # three\n 3,]\n", "{a:[<1> <2> <3>]}");
    assert_tree("a = {b = 1, c = [\"x\"]}\n", "{a:{b:<1> c:[<x>]}}");
    assert_tree("\"q k\" = 1e-3\r\n'l' = -1\n", "{q k:<1e-3> l:<-1>}");
    assert_tree("a = []\n[b]\n", "{a:[] b:{}}");
}

TEST(strings_lose_their_quotes)
{
    assert_tree("a = \"\\t\\\"\\u00e9\\U0001F600\"", "{a:<\t\"\xc3\xa9\xf0\x9f\x98\x80>}");
    assert_tree("a = 'C:\\n'", "{a:<C:\\n>}");
    assert_tree("a = \"\"\"\nx\n\\\n   y\"\"\"\n", "{a:<x\ny>}");
    assert_tree("a = '''x'y'''", "{a:<x'y>}");
    assert_tree("a = ''", "{a:<>}");
}

TEST(keys_know_where_they_stand)
{
    static const char text[] = "# c\n[t]\n  key = 5\n";
    const struct fr__yaml *root = NULL, *key;
    struct fr_error err;

    ck_assert_int_eq(fr__toml_load_text(arena, text, strlen(text), "a.toml", &root, &err), FR_OK);
    key = fr__yaml_get(fr__yaml_get(root, "t"), "key");
    ck_assert_uint_eq(key->key_loc.line, 3);
    ck_assert_uint_eq(key->key_loc.col, 3);
    ck_assert_uint_eq(key->loc.col, 9);
}

TEST(broken_documents_are_refused_where_they_break)
{
    static const struct {
        const char *text;
        unsigned line, col;
    } cases[] = {
        {"a", 1, 2},
        {"a = ", 1, 5},
        {"a = 1 2", 1, 7},
        {"a = \"x\n", 1, 5},
        {"a = 1\na = 2\n", 2, 1},
        {"[x]\n[x]\n", 2, 2},
        {"a = [1 2]", 1, 8},
        {"[x\n", 1, 3},
        {"a = 1\n[a]\n", 2, 2},
        {"a = {b=1", 1, 9},
        {"a = \"\\q\"", 1, 7},
        {"a = \"\\ud800\"", 1, 12},
        {"x = 1\n[[x]]", 2, 3},
        {"= 1", 1, 1},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct fr__yaml *root = NULL;
        struct fr_error err = {.code = FR_OK};
        enum fr_status st =
            fr__toml_load_text(arena, cases[i].text, strlen(cases[i].text), "a.toml", &root, &err);

        ck_assert_msg(st == FR_EPARSE, "%s", cases[i].text);
        ck_assert_msg(err.line == cases[i].line && err.col == cases[i].col, "%s: %u:%u: %s",
                      cases[i].text, err.line, err.col, err.text);
    }
}

TEST(depth_and_number_are_bounded)
{
    static char text[1 << 18];
    const struct fr__yaml *root = NULL;
    struct fr_error err;
    size_t n;

    n = (size_t)snprintf(text, sizeof(text), "a = ");
    memset(text + n, '[', 100);
    text[n + 100] = '\0';
    ck_assert_int_eq(fr__toml_load_text(arena, text, n + 100, "a", &root, &err), FR_EPARSE);
    n = (size_t)snprintf(text, sizeof(text), "a = [");
    while (n + 2 < sizeof(text)) {
        text[n++] = '1';
        text[n++] = ',';
    }
    ck_assert_int_eq(fr__toml_load_text(arena, text, n, "a", &root, &err), FR_EPARSE);
    ck_assert_ptr_nonnull(strstr(err.text, "more than"));
}

int main(void)
{
    TCase *tc = tcase_create("job_toml");

    tcase_add_checked_fixture(tc, make_arena, free_arena);
    add_tests(tc);
    return run_case(tc, "job_toml");
}
