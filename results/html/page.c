/* results/html/page.c - the frame of the report: head, style, script.
 *
 * It is separate because it alone holds the text that the build makes of report.css and report.js.
 */
#include "config.h"

#include "results/html/html.h"
#include "results/parts/lanes.h"
#include "results/html/report_text.h" /* made from report.css and report.js */

#define N_OF(array) (sizeof(array) / sizeof((array)[0]))

/* The script runs only when its SHA-256 is the one that the policy names (Content Security Policy
 * Level 3, W3C, section 2.3.1): no other one can, however it came in. tests/cli/test_report.sh
 * works it out again and says what it must be. */
#define SCRIPT_HASH "sha256-ob3mh+KbgHiZkEl/x0xL5/jpkvbUtihMSQxtRKalFBc="

void fr__html_begin(FILE *f, const char *title)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
          "style-src 'unsafe-inline'; script-src '" SCRIPT_HASH "'\">\n"
          "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>",
          f);
    fr__markup_text(f, title);
    fputs("</title>\n<style>\n", f);
    for (size_t i = 0; i < N_OF(report_style); i++)
        fprintf(f, "%s\n", report_style[i]);
    for (unsigned c = 0; c < FR__N_CATEGORIES; c++)
        fprintf(f, ".c%u{fill:%s}\n", c, fr__category_colour((enum fr__category)c));
    fputs("</style>\n</head>\n<body>\n<main>\n", f);
}

void fr__html_end(FILE *f)
{
    fprintf(f, "<p class=\"note\">forerun %s</p>\n</main>\n<script>\n", fr_version());
    for (size_t i = 0; i < N_OF(report_script); i++)
        fprintf(f, "%s\n", report_script[i]);
    fputs("</script>\n</body>\n</html>\n", f);
}
