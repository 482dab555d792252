# topo/devices/table.awk - device types as a C table: awk -f table.awk FILE.yaml...
#
# A file is an entry of `types` in a topology file (doc/topology.md), written one way: a key a line,
# each number with its source behind it as a comment, and `source: >-` last. Numbers are copied as
# text ("10.6Tflop/s" becomes 10.6e12), so that the compiler rounds them and no awk does. Anything
# else is refused with its line.

function fail(text)
{
    printf "%s:%d: %s\n", FILENAME, FNR, text > "/dev/stderr"
    has_failed = 1
    exit 1
}

# Between files the line that names the fault is the file's last.
function fail_file(text)
{
    printf "%s: %s\n", file, text > "/dev/stderr"
    has_failed = 1
    exit 1
}

# The C form of a number with one of the units of its kind.
function quantity(text, kind,    number, unit)
{
    if (!match(text, /^[0-9]+(\.[0-9]+)?/))
        fail("'" key "' is \"" text "\", not a number")
    number = substr(text, 1, RLENGTH)
    unit = substr(text, RLENGTH + 1)
    if (length(number) > 15)
        fail("'" key "' is \"" text "\", more than 15 characters of number")
    if (!((kind, unit) in form))
        fail("'" key "' is \"" text "\", whose unit '" unit "' is none of " units[kind])
    if (kind ~ /^(bytes|count)$/ && number !~ /^[1-9][0-9]*$/)
        fail("'" key "' is \"" text "\", not a whole number above 0")
    return sprintf(form[kind, unit], number)
}

# The C form of a text.
function quoted(text,    i, c, out)
{
    for (i = 1; i <= length(text); i++) { # awks differ in what gsub makes of backslashes
        c = substr(text, i, 1)
        out = out (c == "\\" || c == "\"" ? "\\" : "") c
    }
    return "\"" out "\""
}

function finish(    stem, i, n, needed)
{
    stem = file
    sub(/.*\//, "", stem)
    sub(/\.yaml$/, "", stem)
    n = split("name kind memory memory_bandwidth vector flops.fp32 sms source", needed, " ")
    for (i = 1; i <= n; i++)
        if (!(needed[i] in value) || value[needed[i]] == "")
            fail_file("'" needed[i] "' is missing")
    if (value["kind"] == "true" && !("launch" in value && "context" in value))
        fail_file("a GPU has no 'launch' or no 'context'")
    if (value["name"] != quoted(stem))
        fail_file("the type is named " value["name"] ", the file is not")
    print "    {"
    for (i = 1; i <= n_keys; i++)
        if (keys[i] in value && kind_of[keys[i]] !~ /^(map|text)$/)
            print "        " member[keys[i]] " = " value[keys[i]] ","
    print "        .source = " quoted(value["source"]) ","
    print "    },"
    n_types++
}

function add_key(name, c_member, kind)
{
    keys[++n_keys] = name
    member[name] = c_member
    kind_of[name] = kind
}

function add_unit(kind, unit, c_form)
{
    form[kind, unit] = c_form
    units[kind] = units[kind] (units[kind] == "" ? "" : ", ") unit
}

BEGIN {
    add_key("name", ".name", "name")
    add_key("kind", ".is_gpu", "kind")
    add_key("memory", ".mem_bytes", "bytes")
    add_key("memory_bandwidth", ".mem_Bps", "rate")
    add_key("vector", ".vector_flops_per_s", "flops")
    add_key("flops", "", "map")
    add_key("flops.fp32", ".flops_per_s[FR_FP32]", "flops")
    add_key("flops.tf32", ".flops_per_s[FR_TF32]", "flops")
    add_key("flops.fp16", ".flops_per_s[FR_FP16]", "flops")
    add_key("flops.bf16", ".flops_per_s[FR_BF16]", "flops")
    add_key("flops.fp8", ".flops_per_s[FR_FP8]", "flops")
    add_key("sms", ".n_sms", "count")
    add_key("launch", ".launch_s", "time")
    add_key("context", ".context_bytes", "bytes")
    add_key("board_power", ".board_W", "power")
    add_key("source", ".source", "text")
    add_unit("bytes", "MiB", "UINT64_C(%s) << 20")
    add_unit("bytes", "GiB", "UINT64_C(%s) << 30")
    add_unit("rate", "GB/s", "%se9")
    add_unit("rate", "TB/s", "%se12")
    add_unit("flops", "Gflop/s", "%se9")
    add_unit("flops", "Tflop/s", "%se12")
    add_unit("flops", "Pflop/s", "%se15")
    add_unit("time", "us", "%se-6")
    add_unit("power", "W", "%s")
    add_unit("count", "", "%s")
    print "/* Made by topo/devices/table.awk from topo/devices/. */"
    print "#include \"config.h\"\n"
    print "#include \"topo/internal.h\"\n"
    print "const struct fr_device_type fr__device_types[] = {"
}

FNR == 1 {
    if (file != "")
        finish()
    file = FILENAME
    split("", value)
    in_flops = in_source = 0
}

/[^ -~]/ { fail("a tab, or a character that is not ASCII") }
length($0) > 100 { fail("more than 100 characters") }

in_source && /^  [^ ]/ {
    value["source"] = value["source"] (value["source"] == "" ? "" : " ") substr($0, 3)
    next
}
in_source { fail("'source' is the last key; its lines begin with two blanks") }

/^#/ && file != "" && !("name" in value) { next }

!/^(  )?[a-z_0-9]+:/ { fail("neither 'key: value  # source' nor a comment before 'name'") }

{
    key = text = $0
    sub(/:.*/, "", key)
    sub(/^[^:]*: */, "", text)
    in_flops = in_flops && key ~ /^ /
    if (key ~ /^ / && !in_flops)
        fail("only what is under 'flops' and 'source' begins with blanks")
    if (in_flops)
        key = "flops." substr(key, 3)
    if (!(key in kind_of))
        fail("no key '" key "'")
    if (key in value)
        fail("'" key "' is given twice")
    kind = kind_of[key]
    note = ""
    if (match(text, / +# /)) {
        note = substr(text, RSTART + RLENGTH)
        text = substr(text, 1, RSTART - 1)
    }
    if (kind == "name" && text ~ /^[a-z0-9-]+$/)
        value[key] = quoted(text)
    else if (kind == "kind" && text ~ /^(gpu|cpu)$/)
        value[key] = text == "gpu" ? "true" : "false"
    else if (kind == "map" && text == "") {
        value[key] = ""
        in_flops = 1
    } else if (kind == "text" && text == ">-") {
        value[key] = ""
        in_source = 1
    } else if (kind ~ /^(name|kind|map|text)$/)
        fail("'" key "' is \"" text "\"")
    else {
        value[key] = quantity(text, kind)
        if (note == "")
            fail("'" key "' has no source behind it (# ...)")
    }
}

END {
    if (!has_failed && file != "")
        finish()
    if (!has_failed && n_types != ARGC - 1) {
        print "topo/devices/table.awk: " ARGC - 1 - n_types " files are empty" > "/dev/stderr"
        has_failed = 1
    }
    if (!has_failed) {
        print "};\n"
        print "const size_t fr__n_device_types = " n_types + 0 ";"
    }
    if (has_failed)
        exit 1
}
