/* results/render/markdown.c - documents as Markdown: CommonMark 0.31, and tables as in GitHub
 * Flavored Markdown 0.29, section 4.10.
 *
 * It is separate because whatever a document says must be escaped here: names come from outside.
 */
#include "config.h"

#include "results/render/render.h"

#include <string.h>

/* Escaped wherever they stand; any ASCII punctuation may be (CommonMark, section 2.4). */
static const char MARKUP[] = "\\`*_[]<>#|~&$";

static bool is_blank(char c)
{
    return c == ' ' || c == '\0';
}

/* Where the mark is that would make a list, a rule or a heading of the line: "- ", "+ ", "---",
 * "===", "1. ", "1) "; strlen(line): nowhere. */
static size_t mark_of_block(const char *line)
{
    size_t n = strspn(line, "0123456789");

    if (n == 0 && line[0] && strchr("-+=", line[0]))
        return is_blank(line[1]) || line[1] == line[0] ? 0 : strlen(line);
    if (n > 0 && (line[n] == '.' || line[n] == ')') && is_blank(line[n + 1]))
        return n;
    return strlen(line);
}

static void put_escaped(FILE *f, const char *text, size_t mark)
{
    for (size_t i = 0; text[i]; i++) {
        if (strchr(MARKUP, text[i]) || i == mark)
            putc('\\', f);
        putc(text[i], f);
    }
}

/* In a heading or a cell. */
static void put_text(FILE *f, const char *text)
{
    put_escaped(f, text, strlen(text));
}

/* Each on a line of its own, also where it is shown: two blanks end a line. */
static void put_sentences(FILE *f, const struct fr__block *b)
{
    for (size_t i = 0; i < b->n_lines; i++) {
        const char *line = b->lines[i] + strspn(b->lines[i], " "); /* text is indented, not this */

        put_escaped(f, line, mark_of_block(line));
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
        case FR__BLOCK_PICTURE:
            break;
        }
    }
}
