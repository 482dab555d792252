# study/recipes/texts.awk - the shipped recipes as C strings, on standard output.
#
# awk -f texts.awk FILE.yaml...
FNR == 1 {
    if (NR > 1)
        print "    },"
    else
        print "#include \"config.h\"\n#include \"study/recipes/recipes.h\"\n" \
            "const struct fr__recipe_text fr__recipe_texts[] = {"
    name = FILENAME
    sub(/.*\//, "", name)
    sub(/\.yaml$/, "", name)
    print "    {\"" name "\","
}
{
    gsub(/\\/, "\\\\")
    gsub(/"/, "\\\"")
    print "     \"" $0 "\\n\""
}
END { print "    },\n    {NULL, NULL},\n};" }
