/* tests/support/report_check.h - checks that a report shows what its records hold. For tests of the
 * report.
 *
 * The page is read as a tree. Each number in it is compared with the record's, each picture with
 * the plan and the run. All functions fail the test if something is wrong.
 */
#ifndef FR_TESTS_SUPPORT_REPORT_CHECK_H
#define FR_TESTS_SUPPORT_REPORT_CHECK_H

#include "results/results.h"
#include "tests/support/xml_check.h"

/* The headings of the page in order, h1 to h3 and those of what is folded away, are `headings`,
 * which ends with NULL. */
void check_outline(struct xml_tree *page, const char *const headings[]);
/* The key figures, tables and pictures of each record that the page has a section of, the table
 * that compares them, each bar, and each axis. */
void check_report(struct xml_tree *page, const struct fr_results *rs);

/* ---- report_pictures.c ---- */

/* The timeline in the section: a lane for each device shown, a box for each task on its lane at its
 * time (or one for several, which says how many), and a key of the colours that are there and no
 * others. Returns how many tasks the boxes stand for. */
size_t check_timeline(struct xml_tree *page, const struct xml_node *section,
                      const struct fr_record *r, size_t most_lanes);
/* The memory charts: each names its devices and the most they hold; areas inside the chart; the
 * key. */
void check_memory_charts(struct xml_tree *page, const struct xml_node *section,
                         const struct fr_record *r);
#endif
