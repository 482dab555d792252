# results/html/embed.awk - a text file as an array of C strings: awk -v name=ARRAY -f embed.awk FILE.
# Blanks before a line, empty lines, and lines that are a comment as a whole are left out.
BEGIN { print "static const char *const " name "[] = {" }
{
    sub(/^[ \t]+/, "")
    if ($0 == "" || /^\/\// || /^\/\*.*\*\/$/)
        next
    text = ""
    for (i = 1; i <= length($0); i++) { # awks differ in what gsub makes of backslashes
        c = substr($0, i, 1)
        text = text (c == "\\" || c == "\"" ? "\\" : "") c
    }
    print "    \"" text "\","
}
END { print "};" }
