/* tests/base/test_yaml.c - YAML trees, their positions, and what is refused. */
#include "config.h"

#include "base/yaml.h"
#include "tests/support/base_check.h"

#include <stdio.h>
#include <string.h>

/* One arena a test, made and freed around it. */
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

static const struct fr__yaml *load(const char *text)
{
    const struct fr__yaml *root = NULL;
    struct fr_error err;

    if (fr__yaml_load_text(arena, text, strlen(text), "a.yaml", &root, &err) != FR_OK)
        ck_abort_msg("%u:%u: %s", err.line, err.col, err.text);
    return root;
}

/* The tree on one line: {key:value ...}, [value ...], each with its line:col. */
static void draw(const struct fr__yaml *node, char *buf, size_t n)
{
    size_t used;

    if (node->key) {
        snprintf(buf, n, "%u:%u'%s'=", node->key_loc.line, node->key_loc.col, node->key);
        n -= strlen(buf);
        buf += strlen(buf);
    }
    used = (size_t)snprintf(buf, n, "%u:%u", node->loc.line, node->loc.col);
    if (node->kind == FR__YAML_SCALAR) {
        snprintf(buf + used, n - used, "<%s>", node->text);
        return;
    }
    for (size_t i = 0; i < node->n; i++) {
        used = strlen(buf);
        snprintf(buf + used, n - used, "%s", i ? " " : node->kind == FR__YAML_MAP ? "{" : "[");
        used = strlen(buf);
        draw(node->items[i], buf + used, n - used);
    }
    used = strlen(buf);
    snprintf(buf + used, n - used, "%s", node->kind == FR__YAML_MAP ? "}" : "]");
}

static void assert_tree(const char *text, const char *expected)
{
    char buf[1024];

    draw(load(text), buf, sizeof(buf));
    ck_assert_str_eq(buf, expected);
}

TEST(maps_lists_and_scalars_keep_their_places)
{
    assert_tree("a: 1\nb: x y\n", "1:1{1:1'a'=1:4<1> 2:1'b'=2:4<x y>}");
    assert_tree("a:\n  - 1\n  - b: 2\n", "1:1{1:1'a'=2:3[2:5<1> 3:5{3:5'b'=3:8<2>}]}");
    assert_tree("{a: [1, 2], b: {}}\n", "1:1{1:2'a'=1:5[1:6<1> 1:9<2>] 1:13'b'=1:16}}");
    assert_tree("[]", "1:1]");
    assert_tree("x", "1:1<x>");
    assert_tree("\xef\xbb\xbf"
                "a: 1\r\nb: 2",
                "1:1{1:1'a'=1:4<1> 2:1'b'=2:4<2>}");
}

/* libyaml counts characters; e-acute and the euro sign are two and three bytes. */
TEST(columns_count_bytes)
{
    assert_tree("\xc3\xa9: \xe2\x82\xac\n\xe2\x82\xac: [\xc3\xa9, 1]",
                "1:1{1:1'\xc3\xa9'=1:5<\xe2\x82\xac> 2:1'\xe2\x82\xac'=2:6[2:7<\xc3\xa9> "
                "2:11<1>]}");
}

TEST(scalars_stay_text)
{
    assert_tree("a: 0x10\nb: ~\nc:\nd: 'it''s'\ne: \"\\u20ac\"\n",
                "1:1{1:1'a'=1:4<0x10> 2:1'b'=2:4<~> 3:1'c'=3:3<> 4:1'd'=4:4<it's> "
                "5:1'e'=5:4<\xe2\x82\xac>}");
    assert_tree("a: |\n  x\n  y\nb: 1", "1:1{1:1'a'=1:4<x\ny\n> 4:1'b'=4:4<1>}");
}

TEST(comments_and_document_marks_are_fine)
{
    assert_tree("# c\n---\na: 1 # d\n...\n", "3:1{3:1'a'=3:4<1>}");
}

static const struct {
    const char *text, *message;
} bad_documents[] = {
    {"", "a.yaml:1:1: the document is empty, expected lines such as \"key: value\""},
    {"# only a comment\n",
     "a.yaml:1:1: the document is empty, expected lines such as \"key: value\""},
    {"---\n", "a.yaml:1:1: the document is empty, expected lines such as \"key: value\""},
    {"a: 1\na: 2\n", "a.yaml:2:1: key 'a' appears twice, first at line 1 column 1"},
    {"x:\n  b: 1\n  c: 1\n  b: 2\n  c: 2\n  b: 3\n",
     "a.yaml:4:3: key 'b' appears twice, first at line 2 column 3"},
    {"{a: 1, 'a': 2}", "a.yaml:1:8: key 'a' appears twice, first at line 1 column 2"},
    {"z: 1\ny: 1\ny: 1\nz: 1\n", "a.yaml:3:1: key 'y' appears twice, first at line 2 column 1"},
    {"a: &x 1\n", "a.yaml:1:4: an anchor (&) is not supported here"},
    {"a: &x [1]\n", "a.yaml:1:4: an anchor (&) is not supported here"},
    {"a: &x {}\n", "a.yaml:1:4: an anchor (&) is not supported here"},
    {"&x a: 1\n", "a.yaml:1:1: an anchor (&) is not supported here"},
    {"a: *x\n", "a.yaml:1:4: an alias (*) is not supported here"},
    {"*x : 1\n", "a.yaml:1:1: an alias (*) is not supported here"},
    {"a: !!str 1\n", "a.yaml:1:4: a tag (!) is not supported here"},
    {"a: !x [1]\n", "a.yaml:1:4: a tag (!) is not supported here"},
    {"a: ! 1\n", "a.yaml:1:4: a tag (!) is not supported here"},
    {"!!map {a: 1}\n", "a.yaml:1:1: a tag (!) is not supported here"},
    {"a: 1\n---\nb: 2\n", "a.yaml:2:1: a second document, expected one only"},
    {"a: 1\n...\n---\n", "a.yaml:3:1: a second document, expected one only"},
    {"? [1]\n: 2\n", "a.yaml:1:3: a list or map as a key, expected plain text"},
    {"{{a: 1}: 2}\n", "a.yaml:1:2: a list or map as a key, expected plain text"},
    {"a: \"x\\0y\"\n", "a.yaml:1:4: a NUL character in a text"},
    {"a: \xff\n", "a.yaml:1:4: byte 0xff is not UTF-8 text"},
    {"a: 1\nb: \xc3\xa9\xc3\n", "a.yaml:2:6: byte 0xc3 is not UTF-8 text"},
    {"\xff\xfe"
     "a",
     "a.yaml:1:1: byte 0xff is not UTF-8 text"},
    {"a: 1\nb: \xc3\xa9\x01\n", "a.yaml:2:6: byte 0x01 is not text"},
    {"a: 1\nb: \"\\e[2J\"\n", "a.yaml:2:4: a control character in a text"},
    {"a: [1, 2\n", "a.yaml:2:1: not YAML: while parsing a flow sequence, did not find expected "
                   "',' or ']'"},
    {"a: {b: 1\n", "a.yaml:2:1: not YAML: while parsing a flow mapping, did not find expected "
                   "',' or '}'"},
    {"a: 'x\n", "a.yaml:2:1: not YAML: while scanning a quoted scalar, found unexpected end of "
                "stream"},
    {"a: b: c\n", "a.yaml:1:5: not YAML: mapping values are not allowed in this context"},
    {"a: 1\n b: 2\n", "a.yaml:2:3: not YAML: mapping values are not allowed in this context"},
    {"\ta: 1\n", "a.yaml:1:1: not YAML: while scanning for the next token, found character "
                 "that cannot start any token"},
    {"a: @x\n", "a.yaml:1:4: not YAML: while scanning for the next token, found character "
                "that cannot start any token"},
    {"a: 1\n- 2\n", "a.yaml:2:1: not YAML: while parsing a block mapping, did not find "
                    "expected key"},
    {"%YAML 9.9\n---\na: 1\n", "a.yaml:1:1: not YAML: found incompatible YAML document"},
    {"a: \"\\q\"\n", "a.yaml:1:5: not YAML: while parsing a quoted scalar, found unknown "
                     "escape character"},
};

TEST(bad_documents_are_refused_at_the_place)
{
    for (size_t i = 0; i < sizeof(bad_documents) / sizeof(bad_documents[0]); i++) {
        const struct fr__yaml *root = NULL;
        struct fr_error err = {0};

        ck_assert_int_eq(fr__yaml_load_text(arena, bad_documents[i].text,
                                            strlen(bad_documents[i].text), "a.yaml", &root, &err),
                         FR_EPARSE);
        assert_message(&err, bad_documents[i].message);
        ck_assert_ptr_null(root);
    }
}

TEST(a_nul_byte_is_refused)
{
    static const char text[] = "a: 1\nb: \0";
    const struct fr__yaml *root = NULL;
    struct fr_error err;

    ck_assert_int_eq(fr__yaml_load_text(arena, text, sizeof(text) - 1, "a.yaml", &root, &err),
                     FR_EPARSE);
    assert_message(&err, "a.yaml:2:4: byte 0x00 is not text");
}

TEST(nesting_stops_at_32_levels)
{
    char text[128];
    const struct fr__yaml *root = NULL;
    struct fr_error err;

    memset(text, '[', 33);
    memset(text + 33, ']', 33);
    /* from the second bracket on: 32 levels */
    ck_assert_int_eq(fr__yaml_load_text(arena, text + 1, 64, "a.yaml", &root, &err), FR_OK);
    ck_assert_int_eq(fr__yaml_load_text(arena, text, 66, "a.yaml", &root, &err), FR_EPARSE);
    assert_message(&err, "a.yaml:1:33: nested deeper than 32 levels");
}

/* A list of n items "1," on one line. */
static enum fr_status load_wide(size_t n, struct fr_error *err)
{
    char *text = malloc(2 * n + 2);
    const struct fr__yaml *root;
    enum fr_status st;

    text[0] = '[';
    for (size_t i = 0; i < n; i++)
        memcpy(text + 1 + 2 * i, "1,", 2);
    text[1 + 2 * n] = ']';
    st = fr__yaml_load_text(arena, text, 2 * n + 2, "a.yaml", &root, err);
    free(text);
    return st;
}

TEST(more_than_a_million_values_are_refused)
{
    struct fr_error err;

    ck_assert_int_eq(load_wide(999999, &err), FR_OK); /* and the list itself */
    ck_assert_int_eq(load_wide(1000000, &err), FR_EPARSE);
    /* the list is the first value, so the millionth item is one too many, 2 bytes an item */
    assert_message(&err, "a.yaml:1:2000000: more than a million values");
}

TEST(a_text_over_16_mib_is_refused)
{
    size_t n = (16u << 20) + 1;
    char *text = malloc(n);
    const struct fr__yaml *root;
    struct fr_error err;

    memset(text, '\n', n);
    ck_assert_int_eq(fr__yaml_load_text(arena, text, n, "a.yaml", &root, &err), FR_ERANGE);
    assert_message(&err, "a.yaml: is larger than 16 MiB");
    free(text);
}

TEST(a_missing_file_is_named)
{
    const struct fr__yaml *root;
    struct fr_error err;

    ck_assert_int_eq(fr__yaml_load(arena, "no/such.yaml", &root, &err), FR_ENOENT);
    assert_message(&err, "no/such.yaml: cannot open: No such file or directory");
}

TEST(a_loaded_file_keeps_a_copy_of_its_name)
{
    char name[] = "test_base_yaml.tmp";
    const struct fr__yaml *root;
    struct fr_error err;
    FILE *f = fopen(name, "wb");

    ck_assert_ptr_nonnull(f);
    fputs("a: 1\n", f);
    ck_assert_int_eq(fclose(f), 0);
    ck_assert_int_eq(fr__yaml_load(arena, name, &root, &err), FR_OK);
    remove(name);
    name[0] = 'X';
    ck_assert_str_eq(root->loc.file, "test_base_yaml.tmp");
    ck_assert_str_eq(root->items[0]->loc.file, "test_base_yaml.tmp");
}

TEST(a_child_is_found_by_its_key)
{
    const struct fr__yaml *map = load("a: 1\nb: 2\n");

    ck_assert_str_eq(fr__yaml_get(map, "b")->text, "2");
    ck_assert_ptr_null(fr__yaml_get(map, "c"));
    ck_assert_ptr_null(fr__yaml_get(load("{}"), "a"));
}

TEST(the_wrong_kind_is_named)
{
    const struct fr__yaml *map = load("a: 1\nb: [2]\n");
    struct fr_error err;

    ck_assert_int_eq(fr__yaml_expect(map, FR__YAML_MAP, "'x'", &err), FR_OK);
    ck_assert_int_eq(fr__yaml_expect(map->items[1], FR__YAML_MAP, "'b'", &err), FR_EPARSE);
    assert_message(&err, "a.yaml:2:4: 'b' is a list, expected a map (\"key: value\")");
    ck_assert_int_eq(fr__yaml_expect(map->items[0], FR__YAML_LIST, "'a'", &err), FR_EPARSE);
    assert_message(&err, "a.yaml:1:4: 'a' is a single value, expected a list");
}

TEST(unknown_keys_are_named_with_the_nearest)
{
    static const char *const known[] = {"nodes", "links", NULL};
    const struct fr__yaml *map = load("nodes: 1\n  \nlnks: 2\nfoo: 3\n");
    struct fr_error err;

    ck_assert_int_eq(fr__yaml_only(map, known, &err), FR_EPARSE);
    assert_message(&err, "a.yaml:3:1: key 'lnks' is not known, did you mean 'links'?");
    ck_assert_int_eq(fr__yaml_only(load("links: 1\n"), known, &err), FR_OK);
    ck_assert_int_eq(fr__yaml_only(load("{}"), known, &err), FR_OK);
}

TEST(a_text_has_a_fallback_or_is_required)
{
    const struct fr__yaml *map = load("\na: 1\nb: []\n");
    const char *text = NULL;
    struct fr_loc loc;
    struct fr_error err;

    ck_assert_int_eq(fr__yaml_text(map, "a", NULL, &text, &loc, &err), FR_OK);
    ck_assert_str_eq(text, "1");
    ck_assert_uint_eq(loc.line, 2);
    ck_assert_uint_eq(loc.col, 4);
    ck_assert_int_eq(fr__yaml_text(map, "c", "5", &text, NULL, &err), FR_OK);
    ck_assert_str_eq(text, "5");
    ck_assert_int_eq(fr__yaml_text(map, "c", NULL, &text, &loc, &err), FR_EPARSE);
    assert_message(&err, "a.yaml:2:1: key 'c' is missing");
    ck_assert_int_eq(fr__yaml_text(map, "b", "5", &text, &loc, &err), FR_EPARSE);
    assert_message(&err, "a.yaml:3:4: 'b' is a list, expected a single value");
}

int main(void)
{
    TCase *tc = tcase_create("yaml");

    tcase_add_checked_fixture(tc, make_arena, free_arena);
    add_tests(tc);
    return run_case(tc, "yaml");
}
