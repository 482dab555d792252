/* results/render/markdown.c - documents as Markdown: CommonMark 0.31, and tables as in GitHub
 * Flavored Markdown 0.29, section 4.10.
 *
 * It is separate because whatever a document says must be escaped here: names come from outside.
 */
#include "config.h"

#include "results/render/render.h"

#include <string.h>

/* Escaped wherever they stand; any ASCII punctuation may be (CommonMark, section 2.4). */
static const char MARKUP[] = "\\`*_{}[]<>()#|~&!$@^";

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* What would begin a list or a rule at the beginning of a line: "-", "+", "=", and the point of
 * "1." */
static bool begins_block(const char *line, size_t at)
{
    if (at == 0)
        return strchr("-+=:", line[0]) != NULL;
    if (line[at] != '.')
        return false;
    for (size_t i = 0; i < at; i++)
        if (!is_digit(line[i]))
            return false;
    return true;
}

/* text without the blanks that indent it. */
static void put_text(FILE *f, const char *text)
{
    text += strspn(text, " ");
    for (size_t i = 0; text[i]; i++) {
        if (strchr(MARKUP, text[i]) || begins_block(text, i))
            putc('\\', f);
        putc(text[i], f);
    }
}

/* Each on a line of its own, also where it is shown: two blanks end a line. */
static void put_sentences(FILE *f, const struct fr__block *b)
{
    for (size_t i = 0; i < b->n_lines; i++) {
        put_text(f, b->lines[i]);
        fputs(i + 1 < b->n_lines ? "  \n" : "\n", f);
    }
}

/* Between fences that are longer than any run of backquotes in it; nothing in there is markup. */
static void put_drawn(FILE *f, const struct fr__block *b)
{
    size_t longest = 2;

    for (size_t i = 0; i < b->n_lines; i++)
        for (const char *s = strchr(b->lines[i], '`'); s; s = strchr(s, '`')) {
            size_t n = strspn(s, "`");

            longest = n > longest ? n : longest;
            s += n;
        }
    for (size_t i = 0; i <= longest; i++)
        putc('`', f);
    fputs("text\n", f);
    for (size_t i = 0; i < b->n_lines; i++)
        fprintf(f, "%s\n", b->lines[i]);
    for (size_t i = 0; i <= longest; i++)
        putc('`', f);
    putc('\n', f);
}

static void put_table(FILE *f, const struct fr__block *b)
{
    for (size_t c = 0; c < b->n_columns; c++) {
        fputs(c ? " | " : "| ", f);
        put_text(f, b->columns[c].title);
    }
    fputs(" |\n", f);
    for (size_t c = 0; c < b->n_columns; c++)
        fputs(b->columns[c].is_right ? "| ---: " : "| --- ", f);
    fputs("|\n", f);
    for (size_t i = 0; i < b->n_rows; i++) {
        for (size_t c = 0; c < b->n_columns; c++) {
            fputs(c ? " | " : "| ", f);
            put_text(f, b->cells[i * b->n_columns + c]);
        }
        fputs(" |\n", f);
    }
}

void fr__markdown_render(FILE *f, const struct fr__document *d)
{
    for (const struct fr__block *b = fr__document_first(d); b; b = b->next) {
        if (b != fr__document_first(d))
            putc('\n', f);
        switch (b->kind) {
        case FR__BLOCK_PART:
        case FR__BLOCK_HEADING:
            fputs(b->kind == FR__BLOCK_PART ? "## " : "### ", f);
            put_text(f, b->lines[0]);
            putc('\n', f);
            break;
        case FR__BLOCK_SENTENCES:
            put_sentences(f, b);
            break;
        case FR__BLOCK_DRAWN:
            put_drawn(f, b);
            break;
        case FR__BLOCK_TABLE:
            put_table(f, b);
            break;
        }
    }
}
