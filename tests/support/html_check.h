/* tests/support/html_check.h - checks that a page is a report that loads nothing from elsewhere.
 * For tests of writers. */
#ifndef FR_TESTS_SUPPORT_HTML_CHECK_H
#define FR_TESTS_SUPPORT_HTML_CHECK_H

#include "tests/support/xml_check.h"

/* NULL when the page was well-formed (xml_check.h), nothing in it could load or run anything but
 * its own one script, and each link leads to an id of the page; else what is wrong (the tree's). */
const char *html_fault(struct xml_tree *page);
#endif
