#!/bin/sh
# tests/project/test_rooms.sh - counts the lines of C outside tests/ by room (a folder in a layer)
# and by layer, prints them, and fails if a room holds more than 13 % of them: then it holds more
# than one subject.
. "${srcdir:-.}/tests/support/command.sh"

# "lines room" of each file; a layer's loose files are a room of their own
(cd "$source" && find . -name '*.[ch]' ! -path './tests/*' ! -path './build*' ! -path './forerun-*' \
    ! -path './*.c.new' -exec wc -l {} +) | awk '$2 != "total" && split($2, part, "/") > 2 {
        room = part[2] (part[4] == "" ? "" : "/" part[3])
        print $1, part[2], room
    }' > files
awk '{ files[$3]++; lines[$3] += $1; all += $1 }
     END { for (r in lines) printf "%s %d %d %.1f\n", r, files[r], lines[r], 100 * lines[r] / all }' \
    files | sort > rooms
awk '{ files[$2]++; lines[$2] += $1; all += $1; n++ }
     END { for (l in lines) printf "%-12s %5d files %7d lines %5.1f %%\n", l, files[l], lines[l],
                                   100 * lines[l] / all
           printf "%-12s %5d files %7d lines\n", "zz all", n, all }' files | sort | sed 's/^zz all/all   /'
sort -rnk3 rooms | head -n 5 | awk '{ printf "%-24s %5d files %7d lines %5.1f %%\n", $1, $2, $3, $4 }'

check "there_are_rooms" test "$(wc -l < rooms)" -gt 20
check "no_room_holds_more_than_13_percent_of_the_lines" awk '$4 > 13 { exit 1 }' rooms
finish
