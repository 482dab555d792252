# base/csv_rows.awk - a small table of facts in CSV as rows of a C array, on standard output.
#
# awk -v head='#include "...h"' -v array='const struct x table[]' -f csv_rows.awk FILE.csv
#
# The first line names the columns, lines that begin with # are remarks. Cells have no quotes; the
# last one may have commas. The array ends with a row of NULL.
BEGIN { print "#include \"config.h\"\n" head "\n\n" array " = {" }
/^#/ || /^[ \t\r]*$/ { next }
!n_columns {
    n_columns = split($0, titles, ",")
    next
}
{
    rest = $0
    row = ""
    if (/["\\]/ || split($0, cells, ",") < n_columns) {
        printf "%s:%d: %d cells without quotes expected\n", FILENAME, FNR, n_columns > "/dev/stderr"
        exit 1
    }
    for (i = 1; i < n_columns; i++) {
        at = index(rest, ",")
        row = row "\"" substr(rest, 1, at - 1) "\", "
        rest = substr(rest, at + 1)
    }
    print "    {" row "\"" rest "\"},"
}
END {
    row = "NULL"
    for (i = 1; i < n_columns; i++)
        row = row ", NULL"
    print "    {" row "},\n};"
}
