/* results/charts/script.c - writes a chart as a script for gnuplot, and has it drawn.
 *
 * It is separate from gnuplot.c, which runs any script and knows no chart. Keys are drawn piece by
 * piece where measure.c has placed them: gnuplot's own are clipped by what is beside them.
 */
#include "config.h"

#include "base/error.h"
#include "base/file.h"
#include "base/units.h"
#include "results/charts/chart.h"
#include "results/charts/gnuplot.h"
#include "results/parts/colours.h"
#include "results/parts/lanes.h"
#include "results/parts/palette.h"

#include <math.h>
#include <string.h>

struct script {
    FILE *f;
    struct fr__chart *chart;
    bool is_grey;
};

static const struct {
    const char *ending, *large, *small;
} terminals[] = {
    {".png", "set terminal pngcairo noenhanced size 1600,900 font 'Sans,12'\n",
     "set terminal pngcairo noenhanced size 1020,500 font 'Sans,10'\n"},
    {".svg",
     "set terminal svg noenhanced size 1600,900 font 'Arial,12' fontscale 1.35 background "
     "'#FFFFFF'\n",
     "set terminal svg noenhanced size 1020,500 font 'Arial,10' fontscale 1.35 background "
     "'#FFFFFF'\n"},
    {".pdf", "set terminal pdfcairo noenhanced size 32cm,18cm font 'Sans,12'\n",
     "set terminal pdfcairo noenhanced size 27cm,13.2cm font 'Sans,10'\n"},
};
enum { N_TERMINALS = sizeof(terminals) / sizeof(terminals[0]), MOST_TEXT = 150, MOST_TITLE = 100 };
enum { N_DASHES = 5 }; /* that gnuplot has */

/* ---- pieces ---- */

/* A number and a blank. */
static void number(const struct script *s, double x)
{
    char buf[40];

    if (isfinite(x))
        fprintf(s->f, "%s ", fr__format_double(x, buf, sizeof(buf)));
    else
        fputs("NaN ", s->f);
}

static void colour(const struct script *s, const char *key, const char *rgb)
{
    char grey[8];

    fprintf(s->f, " %s rgb '%s'", key, s->is_grey ? fr__colour_grey(rgb, grey) : rgb);
}

/* Lines of text become strings that are joined. */
static void text(const struct script *s, const char *what, size_t most)
{
    char line[512];
    const char *end;

    for (; (end = strchr(what, '\n')) && (size_t)(end - what) < sizeof(line); what = end + 1) {
        snprintf(line, sizeof(line), "%.*s", (int)(end - what), what);
        fr__gnuplot_string(s->f, line, most);
        fputs(".\"\\n\".", s->f);
    }
    fr__gnuplot_string(s->f, what, most);
}

static const char *by_name(enum fr__chart_by by)
{
    return by == FR__BY_AXIS ? "first " : by == FR__BY_PANEL ? "graph " : "screen ";
}

static void place(const struct script *s, double x, enum fr__chart_by x_by, double y,
                  enum fr__chart_by y_by)
{
    fputs(by_name(x_by), s->f);
    number(s, x);
    fprintf(s->f, ", %s", by_name(y_by));
    number(s, y);
}

static void screen(const struct script *s, double x, double y)
{
    place(s, x / s->chart->wide, FR__BY_PICTURE, y / s->chart->high, FR__BY_PICTURE);
}

static void write_note(const struct script *s, const struct fr__chart_note *n, size_t most)
{
    static const char *const aligns[] = {
        [FR__CENTRE] = "center", [FR__FROM] = "left", [FR__UP_TO] = "right"};
    char grey[8];

    fputs("set label ", s->f);
    fr__gnuplot_string(s->f, n->text, most);
    fputs(" at ", s->f);
    place(s, n->x, n->x_by, n->y, n->y_by);
    fputs(aligns[n->align], s->f);
    if (n->right != 0 || n->up != 0)
        fprintf(s->f, " offset %g,%g", n->right, n->up);
    fprintf(s->f, " font ',%u'", n->points ? n->points : 12);
    if (n->on)
        colour(s, "tc", fr__ink_on(s->is_grey ? fr__colour_grey(n->on, grey) : n->on));
    else
        colour(s, "tc", n->colour ? n->colour : FR__COLOUR_TEXT);
    fputs(" front\n", s->f);
}

static void write_line(const struct script *s, const struct fr__chart_line *l)
{
    fputs("set arrow from ", s->f);
    place(s, l->x0, l->x_by, l->y0, l->y_by);
    fputs("to ", s->f);
    place(s, l->x1, l->x_by, l->y1, l->y_by);
    fprintf(s->f, "%s%s lw %g", l->has_head ? "head filled size graph 0.006,18" : "nohead",
            l->is_dashed ? " dt 2" : "", l->width > 0 ? l->width : 1);
    colour(s, "lc", l->colour);
    fprintf(s->f, " %s\n", l->is_behind ? "back" : "front");
}

/* ---- series ---- */

static unsigned point_type(enum fr__chart_shape shape)
{
    static const unsigned types[FR__N_SHAPES] = {7, 9, 5, 6, 8, 4, 2};

    return types[shape];
}

static size_t columns_of(enum fr__chart_mark mark)
{
    return mark == FR__BOXES || mark == FR__ARROWS ? 4 : mark == FR__RANGES ? 3 : 2;
}

static void write_rows(const struct script *s, const struct fr__chart_series *series, size_t i)
{
    fprintf(s->f, "$rows%zu << FORERUN_END\n", i);
    for (size_t k = 0; k < series->n; k++) {
        for (size_t c = 0; c < columns_of(series->style.mark); c++)
            number(s, series->rows[k][c]);
        putc('\n', s->f);
    }
    fputs("FORERUN_END\n", s->f);
}

/* How a line is broken: in grey, lines that would differ in colour differ in that. */
static unsigned dash_of(const struct script *s, const struct fr__chart_style *y)
{
    unsigned i = 0;

    if (y->is_dashed || !s->is_grey)
        return y->is_dashed ? 2 : 1;
    while (i < FR__PALETTE && strcmp(fr__palette(i), y->colour) != 0)
        i++;
    return i < FR__PALETTE ? 1 + i % N_DASHES : 1;
}

static void write_stroke(const struct script *s, const struct fr__chart_style *y)
{
    fprintf(s->f, " lw %g dt %u", y->width > 0 ? y->width : 1.5, dash_of(s, y));
}

static void write_point_style(const struct script *s, const struct fr__chart_style *y)
{
    fprintf(s->f, " pt %u ps %g", point_type(y->shape), y->size > 0 ? y->size : 0.8);
}

static void write_with(const struct script *s, const struct fr__chart_style *y)
{
    static const char *const withs[] = {
        [FR__BOXES] = "1:3:1:2:3:4 with boxxyerror",
        [FR__LINE] = "1:2 with lines",
        [FR__STEPS] = "1:2 with steps",
        [FR__AREA] = "1:2 with fillsteps",
        [FR__POINTS] = "1:2 with points",
        [FR__LINE_POINTS] = "1:2 with linespoints",
        [FR__ARROWS] = "1:3:($2-$1):($4-$3) with vectors filled head size graph 0.008, 20",
        [FR__RANGES] = "1:2:2:3 with yerrorbars ps 0",
    };

    fputs(withs[y->mark], s->f);
    if (y->mark == FR__BOXES || y->mark == FR__AREA) {
        colour(s, "fc", y->colour);
        fputs(y->edge ? " fs solid 1 border" : " fs solid 1 noborder", s->f);
        if (y->edge)
            colour(s, "lc", y->edge);
        return;
    }
    write_stroke(s, y);
    if (y->mark == FR__POINTS || y->mark == FR__LINE_POINTS)
        write_point_style(s, y);
    colour(s, "lc", y->colour);
}

static void write_series(const struct script *s, const struct fr__panel *p)
{
    const char *separator = "plot ";
    size_t n = 0;

    for (const struct fr__chart_series *x = p->series; x; x = x->next)
        if (x->n > 0)
            write_rows(s, x, n++);
    n = 0;
    for (const struct fr__chart_series *x = p->series; x; x = x->next) {
        if (x->n == 0)
            continue;
        fprintf(s->f, "%s$rows%zu using ", separator, n++);
        write_with(s, &x->style);
        fputs(" notitle", s->f);
        separator = ", \\\n ";
    }
    fputs(n == 0 ? "plot NaN notitle\n" : "\n", s->f);
}

/* ---- keys ---- */

static void write_sample_box(const struct script *s, double x, double low, double high,
                             const char *rgb)
{
    fputs("set object rect from ", s->f);
    screen(s, x + 4, low);
    fputs("to ", s->f);
    screen(s, x + FR__KEY_SWATCH, high);
    fputs("front", s->f);
    colour(s, "fc", rgb);
    fputs(" fs solid 1 noborder\n", s->f);
}

/* The sample of an entry, from x on around y. */
static void write_sample(const struct script *s, const struct fr__chart_style *y, double x,
                         double at)
{
    double high = s->chart->is_small ? 4.5 : 6;

    if (y->mark == FR__BOXES || y->mark == FR__AREA) {
        write_sample_box(s, x, at - high, at + high, y->colour);
        if (y->stripe)
            write_sample_box(s, x, at - high, at - high / 2, y->stripe);
        return;
    }
    if (y->mark != FR__POINTS) {
        fputs("set arrow from ", s->f);
        screen(s, x, at);
        fputs("to ", s->f);
        screen(s, x + FR__KEY_SWATCH, at);
        fputs(y->mark == FR__ARROWS ? "head filled size screen 0.006,20" : "nohead", s->f);
        write_stroke(s, y);
        colour(s, "lc", y->colour);
        fputs(" front\n", s->f);
    }
    if (y->mark == FR__POINTS || y->mark == FR__LINE_POINTS) {
        fputs("set label '' at ", s->f);
        screen(s, x + FR__KEY_SWATCH / 2.0, at);
        fputs("point", s->f);
        write_point_style(s, y);
        colour(s, "lc", y->colour);
        fputs(" front\n", s->f);
    }
}

static void write_key(const struct script *s, const struct fr__panel *p)
{
    struct fr__key_item items[FR__KEY_ITEMS];
    size_t n = fr__panel_key(p, items);

    for (size_t i = 0; i < n; i++) {
        const struct fr__chart_series *of = items[i].series;

        if (of)
            write_sample(s, &of->style, items[i].x, items[i].y);
        write_note(s,
                   &(struct fr__chart_note){.text = of ? of->style.title : p->key_title,
                                            .x = (items[i].x + (of ? FR__KEY_SWATCH + 8 : 0)) /
                                                 s->chart->wide,
                                            .y = items[i].y / s->chart->high,
                                            .x_by = FR__BY_PICTURE,
                                            .y_by = FR__BY_PICTURE,
                                            .align = FR__FROM,
                                            .points = s->chart->is_small ? 9 : 12,
                                            .colour = of ? NULL : FR__COLOUR_QUIET},
                   MOST_TEXT);
    }
}

/* ---- axes ---- */

static void write_ticks(const struct script *s, const struct fr__chart_axis *a, const char *name)
{
    fprintf(s->f, "set %stics nomirror scale %s (", name, a->is_named ? "0" : "0.5,0.25");
    for (size_t i = 0; i < a->n_ticks; i++) {
        bool is_minor = a->ticks[i].text[0] == '\0' && !a->hides_numbers;

        fputs(i ? "," : "", s->f);
        text(s, a->ticks[i].text, a->is_slanted ? 72 : 40);
        putc(' ', s->f);
        number(s, a->ticks[i].at);
        fputs(is_minor ? "1" : "", s->f);
    }
    fprintf(s->f, ")%s", a->is_slanted ? " rotate by 40 right" : "");
    if (a->points)
        fprintf(s->f, " font ',%u'", a->points);
    colour(s, "tc", FR__COLOUR_TEXT);
    putc('\n', s->f);
}

static void write_label(const struct script *s, const struct fr__chart_axis *a, const char *name)
{
    if (!a->label)
        return;
    fprintf(s->f, "set %slabel ", name);
    text(s, a->label, MOST_TEXT);
    colour(s, "tc", FR__COLOUR_TEXT);
    putc('\n', s->f);
}

static void write_axis(const struct script *s, const struct fr__chart_axis *a, const char *name)
{
    fprintf(s->f, "set %srange [", name);
    number(s, a->low);
    putc(':', s->f);
    number(s, a->high);
    fputs("]\n", s->f);
    if (a->log > 0)
        fprintf(s->f, "set logscale %s %g\n", name, a->log);
    if (a->has_grid)
        fprintf(s->f, "set grid %stics lt 1 lc rgb '#E6E6E6'\n", name);
    write_label(s, a, name);
    if (a->n_ticks > 0)
        write_ticks(s, a, name);
    else
        fprintf(s->f, "unset %stics\n", name);
}

/* ---- panels ---- */

static void write_title(const struct script *s, const struct fr__panel *p)
{
    struct fr__chart_note heading;

    if (fr__panel_heading(p, &heading))
        write_note(s, &heading, MOST_TEXT);
}

static void write_margins(const struct script *s, const struct fr__panel *p)
{
    struct fr__panel_place at = fr__panel_place(p);
    const double sides[4] = {at.left, at.right, at.bottom, at.top};

    for (unsigned i = 0; i < 4; i++) {
        fprintf(s->f, "set %cmargin at screen ", "lrbt"[i]);
        number(s, sides[i]);
        putc('\n', s->f);
    }
}

static void write_panel(const struct script *s, struct fr__panel *p)
{
    static const char *const frames[] = {
        [FR__FRAME_CORNER] = "set border 3 lc rgb '#BBBBBB'\n",
        [FR__FRAME_BELOW] = "set border 1 lc rgb '#BBBBBB'\n",
        [FR__FRAME_NONE] = "unset border\n",
    };

    fr__panel_settle(p);
    write_margins(s, p);
    fputs("unset grid\nunset logscale\nunset xlabel\nunset ylabel\nunset x2tics\nunset x2label\n",
          s->f);
    fputs(frames[p->frame], s->f);
    write_axis(s, &p->x, "x");
    write_axis(s, &p->y, "y");
    if (p->top_axis.n_ticks > 0)
        write_axis(s, &p->top_axis, "x2");
    write_title(s, p);
    for (const struct fr__chart_line *l = p->lines; l; l = l->next)
        write_line(s, l);
    for (const struct fr__chart_note *n = p->notes; n; n = n->next)
        write_note(s, n, MOST_TEXT);
    write_key(s, p);
    write_series(s, p);
    fputs("unset label\nunset arrow\nunset object\n", s->f);
}

/* Text at a place of the picture. */
static void write_words(const struct script *s, const char *words, double x, double y,
                        unsigned points, bool is_quiet)
{
    if (!words)
        return;
    write_note(s,
               &(struct fr__chart_note){.text = words,
                                        .x = x,
                                        .y = y,
                                        .x_by = FR__BY_PICTURE,
                                        .y_by = FR__BY_PICTURE,
                                        .align = x < 0.5 ? FR__FROM : FR__UP_TO,
                                        .points = points,
                                        .colour = is_quiet ? FR__COLOUR_QUIET : NULL},
               is_quiet ? MOST_TEXT : MOST_TITLE);
}

static void write_heading(const struct script *s)
{
    const struct fr__chart *c = s->chart;

    if (c->is_small) {
        write_words(s, c->title, 0.015, 0.955, 15, false);
        write_words(s, c->subtitle, 0.015, 0.908, 9, true);
        return;
    }
    write_words(s, c->title, 0.03, 0.965, 17, false);
    write_words(s, c->subtitle, 0.03, 0.928, 12, true);
    write_words(s, c->remark, 0.97, 0.965, 12, true);
}

void fr__chart_script(struct fr__chart *c, bool is_grey, FILE *script)
{
    struct script s = {.f = script, .chart = c, .is_grey = is_grey};

    fputs("unset key\nset multiplot\n", script);
    write_heading(&s);
    for (size_t i = 0; i < c->n_panels; i++)
        write_panel(&s, &c->panels[i]);
    fputs("unset multiplot\n", script);
}

/* ---- files ---- */

static const char *terminal_of(const struct fr__chart *c, const char *ending)
{
    for (size_t i = 0; i < N_TERMINALS; i++)
        if (strcmp(terminals[i].ending, ending) == 0)
            return c->is_small ? terminals[i].small : terminals[i].large;
    return NULL;
}

bool fr__chart_has_ending(const char *ending)
{
    for (size_t i = 0; i < N_TERMINALS; i++)
        if (strcmp(terminals[i].ending, ending) == 0)
            return true;
    return false;
}

static enum fr_status draw(struct fr__chart *c, FILE *picture, const char *ending,
                           const struct fr_context *ctx, struct fr_error *err)
{
    FILE *script;
    enum fr_status st;

    FR_TRY(fr__gnuplot_script(&script, err));
    fputs(terminal_of(c, ending), script);
    fr__chart_script(c, ctx && ctx->is_grey, script);
    st = c->is_out_of_memory ? fr__fail_nomem(err) : fr__gnuplot_run(script, picture, ctx, err);
    fclose(script);
    return st;
}

enum fr_status fr__chart_finish(struct fr__chart *c, enum fr_status st, FILE *picture,
                                const char *ending, const struct fr_context *ctx,
                                struct fr_error *err)
{
    if (!c && st == FR_OK)
        st = fr__fail_nomem(err);
    if (st == FR_OK)
        st = draw(c, picture, ending, ctx, err);
    fr__chart_free(c);
    return st;
}

enum fr_status fr__chart_draw(FILE *picture, fr__chart_fn *chart, const void *answer,
                              const char *ending, const struct fr_context *ctx,
                              struct fr_error *err)
{
    struct fr__chart *c = fr__chart_new();
    enum fr_status st = c ? chart(c, answer, err) : FR_OK;

    return fr__chart_finish(c, st, picture, strrchr(ending, '.'), ctx, err);
}

enum fr_status fr__chart_save(struct fr__chart *c, const char *path, const struct fr_context *ctx,
                              struct fr_error *err)
{
    struct fr__out out;
    enum fr_status st = fr__out_open(&out, path, err);

    if (st != FR_OK) {
        fr__chart_free(c);
        return st;
    }
    st = fr__chart_finish(c, FR_OK, out.f, strrchr(path, '.'), ctx, err);
    if (st == FR_OK)
        return fr__out_commit(&out, err);
    fr__out_abort(&out);
    return st;
}
