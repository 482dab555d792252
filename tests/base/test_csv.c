/* tests/base/test_csv.c - CSV rows, their positions, and what is refused. */
#include "config.h"

#include "base/csv.h"
#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "tests/support/base_check.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct fr__csv_column columns[] = {
    {"id", true}, {"name", false}, {"flops", true}, {NULL, false}};

/* What came in, one line a row: "line:col[text] ..." */
struct seen {
    char text[2048];
    size_t n_rows, n_refused;
};

static enum fr_status see(void *user, const struct fr__cell cells[], struct fr_error *err)
{
    struct seen *s = user;
    double flops;

    s->n_rows++;
    for (size_t i = 0; i < 3; i++) {
        size_t used = strlen(s->text);

        snprintf(s->text + used, sizeof(s->text) - used, "%u:%u[%s]%s", cells[i].loc.line,
                 cells[i].loc.col, cells[i].text, i < 2 ? " " : "\n");
    }
    if (strcmp(cells[2].text, "12x") == 0) {
        s->n_refused++;
        return fr__cell_number(&cells[2], "flops", 0, 1e30, &flops, err);
    }
    return FR_OK;
}

static enum fr_status read_text(const char *text, size_t len, struct seen *s, struct fr_error *err)
{
    memset(s, 0, sizeof(*s));
    return fr__csv_read_text(text, len, "ops.csv", columns, see, s, err);
}

static void assert_rows(const char *text, const char *expected)
{
    struct fr_error err = {0};
    struct seen s;

    if (read_text(text, strlen(text), &s, &err) != FR_OK)
        ck_abort_msg("%u:%u: %s", err.line, err.col, err.text);
    ck_assert_str_eq(s.text, expected);
}

TEST(cells_come_in_the_order_of_the_columns_with_their_places)
{
    assert_rows("id,name,flops\n1,a,2\n", "2:1[1] 2:3[a] 2:5[2]\n");
    assert_rows("flops,id,name\n1,a,2\n", "2:3[a] 2:5[2] 2:1[1]\n");
    assert_rows("id,flops\n1,2\n33,4\n", "2:1[1] 2:1[] 2:3[2]\n3:1[33] 3:1[] 3:4[4]\n");
}

TEST(a_header_alone_has_no_rows)
{
    assert_rows("id,name,flops", "");
    assert_rows("id,name,flops\n", "");
    assert_rows("id,name,flops\r\n\r\n", "");
}

TEST(line_ends_may_be_lf_or_crlf_and_the_last_may_lack)
{
    assert_rows("id,name,flops\r\n1,a,2\r\n3,b,4", "2:1[1] 2:3[a] 2:5[2]\n3:1[3] 3:3[b] 3:5[4]\n");
    assert_rows("id,name,flops\r1,a,2\r3,b,4", "2:1[1] 2:3[a] 2:5[2]\n3:1[3] 3:3[b] 3:5[4]\n");
    assert_rows("\n\nid,name,flops\n\n1,a,2\n\r\n\n3,b,4",
                "5:1[1] 5:3[a] 5:5[2]\n8:1[3] 8:3[b] 8:5[4]\n");
}

TEST(a_mark_of_byte_order_is_skipped)
{
    assert_rows("\xef\xbb\xbfid,name,flops\n1,a,2\n", "2:1[1] 2:3[a] 2:5[2]\n");
}

TEST(quoted_cells_may_hold_commas_quotes_and_lines)
{
    assert_rows("id,name,flops\n1,\"a,\"\"b\"\"\",2\n", "2:1[1] 2:3[a,\"b\"] 2:13[2]\n");
    assert_rows("id,name,flops\n1,\"a\nb,\r\nc\",2\n3,d,4\n",
                "2:1[1] 2:3[a\nb,\r\nc] 4:4[2]\n5:1[3] 5:3[d] 5:5[4]\n");
    assert_rows("id,name,flops\n\"\n1\",a,2\n", "2:1[\n1] 3:4[a] 3:6[2]\n");
    assert_rows("\"id\",\"name\",\"flops\"\n\"\",\"\",\"\"", "2:1[] 2:4[] 2:7[]\n");
}

TEST(empty_cells_and_blanks_are_kept)
{
    assert_rows("id,name,flops\n,,\n", "2:1[] 2:2[] 2:3[]\n");
    assert_rows("id,name,flops\n 1 ,\t, 2", "2:1[ 1 ] 2:5[\t] 2:7[ 2]\n");
}

/* A column counts bytes: the two characters before the last cell are two and three bytes long. */
TEST(columns_count_bytes)
{
    assert_rows("id,name,flops\n1,\xc3\xa9\xe2\x82\xac,2\n",
                "2:1[1] 2:3[\xc3\xa9\xe2\x82\xac] 2:9[2]\n");
}

#define H "id,name,flops\n"

TEST(bad_files_are_refused_at_the_place)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "ops.csv:1:1: no header row, expected one such as id,flops"},
        {"\n\r\n", "ops.csv:1:1: no header row, expected one such as id,flops"},
        {"\xef\xbb\xbf", "ops.csv:1:1: no header row, expected one such as id,flops"},
        {"id,nmae,flops\n", "ops.csv:1:4: column 'nmae' is not known, did you mean 'name'?"},
        {"id,names,flops\n", "ops.csv:1:4: column 'names' is not known, did you mean 'name'?"},
        {"id,zzzzzz\n", "ops.csv:1:4: column 'zzzzzz' is not known, the columns are id name flops"},
        {"id, name,flops\n", "ops.csv:1:4: column ' name' is not known, did you mean 'name'?"},
        {"id,,flops\n", "ops.csv:1:4: column 2 has no name"},
        {"id,flops,\n", "ops.csv:1:10: column 3 has no name"},
        {"id,flops,id\n", "ops.csv:1:10: column 'id' appears twice, first at line 1 column 1"},
        {"id,name\n", "ops.csv:1:1: column 'flops' is missing"},
        {"\n\nname", "ops.csv:3:1: column 'id' is missing"},
        {H "1,a\n", "ops.csv:2:1: the row has 2 cells, the header 3"},
        {H "1\n", "ops.csv:2:1: the row has 1 cell, the header 3"},
        {H "1,a,2\n3,b,4,5,6\n", "ops.csv:3:7: the row has 5 cells, the header 3"},
        {H "1,a,2,\n", "ops.csv:2:7: the row has 4 cells, the header 3"},
        {H "1,a,2\n \n", "ops.csv:3:1: the row has 1 cell, the header 3"},
        {H "1,a,12x\n", "ops.csv:2:5: 'flops' is \"12x\", not a number"},
        {H "1,\"a\nb\",12x\n2,a,12x\n", "ops.csv:3:4: 'flops' is \"12x\", not a number"},
        {H "1,\"a,2\n3,b,4\n", "ops.csv:2:3: the quote that opens here is never closed"},
        {H "1,a,\"", "ops.csv:2:5: the quote that opens here is never closed"},
        {"\"", "ops.csv:1:1: the quote that opens here is never closed"},
        {H "1,a\"b,2\n",
         "ops.csv:2:4: a quote inside a cell or text after its closing quote; quote the whole cell "
         "and write \"\" for a quote in it"},
        {H "1,\"a\"b,2\n",
         "ops.csv:2:6: a quote inside a cell or text after its closing quote; quote the whole cell "
         "and write \"\" for a quote in it"},
        {H "1,\"a\" ,2\n",
         "ops.csv:2:6: a quote inside a cell or text after its closing quote; quote the whole cell "
         "and write \"\" for a quote in it"},
        {H "1,\"a\r\nb\"x,2\n",
         "ops.csv:3:3: a quote inside a cell or text after its closing quote; quote the whole cell "
         "and write \"\" for a quote in it"},
        {H "1,\xff,2\n", "ops.csv:2:3: byte 0xff is not UTF-8 text"},
        {H "1,a\xc3,2\n", "ops.csv:2:4: byte 0xc3 is not UTF-8 text"},
        {H "1,a,2\xe2\x82", "ops.csv:2:6: byte 0xe2 is not UTF-8 text"},
        {H "1,\xc0\x80,2\n", "ops.csv:2:3: byte 0xc0 is not UTF-8 text"},
        {H "1,\xed\xa0\x80,2\n", "ops.csv:2:3: byte 0xed is not UTF-8 text"},
        {H "1,\xf4\x90\x80\x80,2\n", "ops.csv:2:3: byte 0xf4 is not UTF-8 text"},
        {"\xff\xfei", "ops.csv:1:1: byte 0xff is not UTF-8 text"},
        {"i\xff", "ops.csv:1:2: byte 0xff is not UTF-8 text"},
        {H "1,a,12x\n\xff", "ops.csv:2:5: 'flops' is \"12x\", not a number"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fr_error err = {0};
        struct seen s;

        ck_assert_int_eq(read_text(cases[i].text, strlen(cases[i].text), &s, &err), FR_EPARSE);
        assert_message(&err, cases[i].message);
        ck_assert_int_eq(err.code, FR_EPARSE);
    }
}

TEST(a_nul_byte_is_refused)
{
    static const char text[] = H "1,a\0b,2\n";
    struct fr_error err;
    struct seen s;

    ck_assert_int_eq(read_text(text, sizeof(text) - 1, &s, &err), FR_EPARSE);
    assert_message(&err, "ops.csv:2:4: byte 0x00 is not text");
}

TEST(a_failed_row_ends_the_reading)
{
    static const char text[] = H "1,a,12x\n2,b,12x\n3,c,4\n";
    struct fr_error err;
    struct seen s;

    ck_assert_int_eq(read_text(text, strlen(text), &s, &err), FR_EPARSE);
    ck_assert_uint_eq(s.n_rows, 1);
}

/* A row of n cells under a header of three. */
static enum fr_status read_wide_row(size_t n, struct fr_error *err)
{
    char text[1024] = H;
    size_t used = strlen(text);
    struct seen s;

    for (size_t i = 0; i + 1 < n; i++)
        text[used++] = ',';
    text[used++] = '\n';
    return read_text(text, used, &s, err);
}

TEST(a_row_of_more_than_256_cells_is_refused_at_the_257th)
{
    struct fr_error err;

    ck_assert_int_eq(read_wide_row(256, &err), FR_EPARSE);
    assert_message(&err, "ops.csv:2:4: the row has 256 cells, the header 3");
    ck_assert_int_eq(read_wide_row(257, &err), FR_EPARSE);
    assert_message(&err, "ops.csv:2:257: a row has more than 256 cells");
}

/* A name of n bytes, quoted or not. */
static enum fr_status read_long_cell(size_t n, bool is_quoted, struct fr_error *err)
{
    char *text = malloc(n + 64);
    size_t used = (size_t)sprintf(text, H "1,%s", is_quoted ? "\"" : "");
    struct seen s;
    enum fr_status st;

    memset(text + used, 'x', n);
    used += n;
    used += (size_t)sprintf(text + used, "%s,2\n", is_quoted ? "\"" : "");
    st = read_text(text, used, &s, err);
    free(text);
    return st;
}

TEST(a_cell_larger_than_a_mebibyte_is_refused_where_it_starts)
{
    struct fr_error err;

    ck_assert_int_eq(read_long_cell(1 << 20, false, &err), FR_OK);
    ck_assert_int_eq(read_long_cell((1 << 20) + 1, false, &err), FR_EPARSE);
    assert_message(&err, "ops.csv:2:3: the cell that starts here is larger than 1 MiB");
    ck_assert_int_eq(read_long_cell(3 << 20, true, &err), FR_EPARSE);
    assert_message(&err, "ops.csv:2:3: the cell that starts here is larger than 1 MiB");
}

/* ---- files ---- */

static const char file_name[] = "test_base_csv.tmp";

static void write_file(const char *text, size_t len)
{
    FILE *f = fopen(file_name, "wb");

    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fwrite(text, 1, len, f), len);
    ck_assert_int_eq(fclose(f), 0);
}

static enum fr_status count_row(void *user, const struct fr__cell cells[], struct fr_error *err)
{
    uint64_t *n = user, id;

    FR_TRY(fr__cell_count(&cells[0], "id", 0, UINT64_MAX, &id, err));
    ck_assert_uint_eq(id, *n);
    ck_assert_uint_eq(cells[0].loc.line, *n + 2);
    ck_assert_str_eq(cells[1].text, "\xe2\x82\xac");
    (*n)++;
    return FR_OK;
}

/* Rows of eight bytes and a euro sign: it falls across the blocks that the file is read in. */
TEST(a_file_read_in_blocks_is_as_from_memory)
{
    enum { ROWS = 30000 };
    char *text = malloc(ROWS * 32);
    size_t used = (size_t)sprintf(text, H);
    struct fr_error err;
    uint64_t n = 0;

    for (int i = 0; i < ROWS; i++)
        used += (size_t)sprintf(text + used, "%d,\xe2\x82\xac,2\n", i);
    write_file(text, used);
    free(text);
    ck_assert_int_eq(fr__csv_read(file_name, columns, count_row, &n, &err), FR_OK);
    ck_assert_uint_eq(n, ROWS);
    unlink(file_name);
}

TEST(a_character_cut_by_the_end_of_the_file_is_refused)
{
    static const char text[] = H "1,\xe2\x82";
    struct fr_error err;
    struct seen s = {0};

    write_file(text, strlen(text));
    ck_assert_int_eq(fr__csv_read(file_name, columns, see, &s, &err), FR_EPARSE);
    assert_message(&err, "test_base_csv.tmp:2:3: byte 0xe2 is not UTF-8 text");
    unlink(file_name);
}

TEST(what_is_no_file_is_refused)
{
    struct fr_error err;
    struct seen s = {0};

    ck_assert_int_eq(fr__csv_read("no/such.csv", columns, see, &s, &err), FR_ENOENT);
    assert_message(&err, "no/such.csv: cannot open: No such file or directory");
    ck_assert_int_eq(fr__csv_read("/", columns, see, &s, &err), FR_EPARSE);
    assert_message(&err, "/: is a folder, expected a file");
}

TEST(written_cells_read_back)
{
    static const char *const texts[] = {"",    "a",        "a,b",  "\"",   "a\nb", "\r",     " a",
                                        "a\t", "\xc3\xa9", "=1+1", "+a",   "-a,b", "@\"a\"", "'=a",
                                        "''@", "'a",       "-",    "-1.5", "it's", "=\n"};
    enum { N = sizeof(texts) / sizeof(texts[0]) };
    struct fr_error err;
    char *text;
    size_t len;

    for (size_t i = 0; i < N; i++) {
        char expected[64];
        struct seen s;
        FILE *f = fopen(file_name, "wb");

        ck_assert_ptr_nonnull(f);
        fputs(H "1,", f);
        ck_assert(fr__csv_write_cell(f, texts[i]));
        fputs(",", f);
        ck_assert_int_eq(fclose(f), 0);
        ck_assert_int_eq(fr__read_file(file_name, 1000, &text, &len, &err), FR_OK);
        ck_assert_int_eq(read_text(text, len, &s, &err), FR_OK);
        snprintf(expected, sizeof(expected), "2:1[1] 2:3[%s] ", texts[i]);
        ck_assert_int_eq(strncmp(s.text, expected, strlen(expected)), 0);
        free(text);
    }
    unlink(file_name);
}

TEST(texts_that_a_spreadsheet_would_run_are_guarded_and_numbers_are_not)
{
    static const struct {
        const char *text, *written;
    } cases[] = {{"=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"},
                 {"+1,2", "\"'+1,2\""},
                 {"-x", "'-x"},
                 {"@SUM(A1)", "'@SUM(A1)"},
                 {"'=1", "''=1"},
                 {"-1.5e-3", "-1.5e-3"},
                 {"+7", "+7"},
                 {"-", "-"},
                 {"a=b", "a=b"},
                 {"'quoted'", "'quoted'"}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *text = NULL;
        size_t len;
        FILE *f = fr__text_open(&text, &len);

        ck_assert_ptr_nonnull(f);
        ck_assert(fr__csv_write_cell(f, cases[i].text));
        ck_assert(fr__text_close(f, &text));
        ck_assert_str_eq(text, cases[i].written);
        free(text);
    }
}

TEST(control_characters_are_refused)
{
    struct fr_error err = {0};
    struct seen s;
    static const char escape[] = H "1,a\x1b[2J,\n", c1[] = H "1,a\xc2\x9b,\n";

    ck_assert_int_eq(read_text(escape, sizeof(escape) - 1, &s, &err), FR_EPARSE);
    assert_message(&err, "ops.csv:2:4: byte 0x1b is not text");
    ck_assert_int_eq(read_text(c1, sizeof(c1) - 1, &s, &err), FR_EPARSE);
    assert_message(&err, "ops.csv:2:4: byte 0xc2 is not text");
}

int main(void)
{
    TCase *tc = tcase_create("csv");

    add_tests(tc);
    return run_case(tc, "csv");
}
