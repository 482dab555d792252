/* tests/support/html_check.h - is this a well-formed report? For tests of writers. */
#ifndef FR_TESTS_HTML_CHECK_H
#define FR_TESTS_HTML_CHECK_H

/* NULL when every element of the page is closed in order, every attribute quoted, every & begins an
 * entity, and no element, attribute or address is there that could load or run anything but the
 * page's own script; else what is wrong, with the place (static storage). This is stricter than HTML
 * and right for what the report writes. */
const char *html_fault(const char *text);
#endif
