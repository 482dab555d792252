# calibrate/files/tables.awk - C tables of the shipped device and system files, on standard output.
#
# awk -f tables.awk -v kind=devices|systems SOURCE.c... FILE.yaml...
#
# A run would otherwise spend most of its time on parsing them. The C sources give the order of
# names: of the features that trees ask about, of a system's parameters. This reads only the layout
# that `forerun calibrate fit` writes; tests/calibrate/test_shipped.c compares each table with its
# file, read by the library's own parser.
function text(v) {
    if (v ~ /^'/) {
        v = substr(v, 2, length(v) - 2)
        gsub(/''/, "'", v)
    }
    gsub(/\\/, "\\\\", v)
    gsub(/"/, "\\\"", v)
    return "\"" v "\""
}
function number(v) { return v ~ /[.e]/ ? v : v ".0" }
function constant(prefix, v) {
    v = toupper(v)
    gsub(/-/, "_", v)
    return prefix v
}
function hash(v) { return "UINT64_C(0x" substr(v, 2, 16) ")" }
function list(v, into) {
    gsub(/[][ ]/, "", v)
    return split(v, into, ",")
}
function misses(v,    f, n, i, out) {
    gsub(/[{} ]/, "", v)
    n = split(v, f, /[:,]/)
    for (i = 1; i < n; i += 2)
        out = out (f[i] == "rows" ? ".n = " f[i + 1] : ", ." f[i] " = " number(f[i + 1]))
    return "{" out "}"
}
# Adds a parameter [value, error] at that place (it may be empty: the next one).
function pair(at, v,    f) {
    list(v, f)
    values = values at number(f[1]) ", "
    errors = errors at number(f[2]) ", "
}
function start_pairs() { values = errors = "" }
function fail(what) {
    print FILENAME ":" FNR ": " what > "/dev/stderr"
    has_failed = 1
    exit 1
}

# ---- devices ----

function print_values(v,    f, n, i, line) {
    n = list(v, f)
    printf "static const float values_%d_%d[] = {\n", n_files, n_curves
    for (i = 1; i <= n; i++) {
        line = line "R(" f[i] "), "
        if (i % 16 == 0 || i == n) {
            print "    " line
            line = ""
        }
    }
    print "};"
    return n
}
function print_trees(v,    f, n, i, s, k, at) {
    n = list(v, f) / 32
    split(splits, s, ",")
    at = 1
    printf "static const struct fr__tree trees_%d_%d[] = {\n", n_files, n_curves
    for (i = 0; i < n; i++) {
        printf "    {{"
        for (k = 0; k < 5; k++) {
            if (!((class, s[at]) in place))
                fail("\"" s[at] "\" is no feature of class " class)
            printf "{%d, %s}, ", place[class, s[at]], number(s[at + 1])
            at += 2
        }
        printf "},\n     {"
        for (k = 1; k <= 32; k++)
            printf "%s, ", f[32 * i + k]
        print "}},"
    }
    print "};"
    return n
}
function end_curve() {
    if (!is_in_curve)
        return
    curves = curves "    {.info = {" info ".parameters = {" values "}, .errors = {" errors "}},\n"
    curves = curves "     .machine = {" machine "},\n     " shape "},\n"
    is_in_curve = 0
}
function device(path, v,    f, n) {
    if (path == "/curves/-/class") {
        end_curve()
        is_in_curve = 1
        n_curves++
        class = v
        machine = shape = axes = ""
        n_axes = 0
        start_pairs()
        info = ".op_class = " constant("FR_CURVE_", v) ", "
    } else if (path == "/curves/-/dtype")
        info = info ".dtype = " constant("FR_", v) ",\n              "
    else if (path ~ /^\/curves\/-\/(gpus|source)$/)
        info = info "." key " = " text(v) ",\n              "
    else if (path == "/curves/-/data_hash")
        info = info ".data_hash = " hash(v) ", "
    else if (path == "/curves/-/rows_fitted")
        info = info ".n_fitted = " v ",\n              "
    else if (path ~ /^\/curves\/-\/(held_out|repeats)$/)
        info = info "." key " = " misses(v) ",\n              "
    else if (path ~ /^\/curves\/-\/(n_sms|peak_flops_per_s|mem_Bps)$/)
        machine = machine "." key " = " number(v) ", "
    else if (path ~ /^\/curves\/-\/parameters\/./)
        pair("", v)
    else if (path == "/curves/-/residual/axes/-") {
        list(v, f)
        axes = axes "{" number(f[1]) ", " number(f[2]) ", " f[3] "}, "
    } else if (path == "/curves/-/residual/thousandths") {
        n = print_values(v)
        shape = sprintf(".residual = {.axes = {%s}, .n_values = %d, .values = values_%d_%d}", axes,
                        n, n_files, n_curves)
        info = info sprintf(".n_residuals = %d, ", n)
    } else if (path == "/curves/-/trees/range") {
        list(v, f)
        range = ".low = " f[1] ", .high = " f[2]
    } else if (path == "/curves/-/trees/splits") {
        gsub(/[][ ]/, "", v)
        splits = v
    } else if (path == "/curves/-/trees/thousandths") {
        n = print_trees(v)
        shape = sprintf(".trees = {.n = %d, .trees = trees_%d_%d, %s}", n, n_files, n_curves, range)
        info = info sprintf(".n_residuals = %d, ", 32 * n)
    } else if (path == "/device")
        name = text(v)
    else if (path ~ /^\/launch\/./)
        launch(v)
    else if (path ~ /^\/interference\/./)
        interference(path, v)
    else if (v != "")
        fail("what this line says is in no table")
}
function common(v) {
    if (key == "gpus" || key == "source")
        return "." key " = " text(v) ", "
    return key == "data_hash" ? "." key " = " hash(v) ", " : ""
}
function launch(v,    f) {
    if (launches == "")
        start_pairs()
    if (common(v) == "") {
        sub(/_s$/, "", key)
        pair("[" constant("FR_LAUNCH_", key) "] = ", v)
    }
    launches = launches common(v)
    launch_pairs = ".time_s = {" values "}, .error_s = {" errors "}"
}
function interference(path, v,    f) {
    slowdowns = slowdowns common(v)
    if (path ~ /\/of$/)
        of = constant("FR_BESIDE_", v)
    else if (path ~ /\/beside$/)
        slowed = slowed "[" of "][" constant("FR_BESIDE_", v) "] = {"
    else if (path ~ /\/factor$/) {
        list(v, f)
        slowed = slowed ".factor = " number(f[1]) ", .error = " number(f[2])
    } else if (path ~ /\/rows_fitted$/)
        slowed = slowed ", .n_fitted = " v
    else if (path ~ /\/held_out$/)
        slowed = slowed ", .held_out = " misses(v) "}, "
}
function end_device() {
    end_curve()
    if (n_curves)
        printf "static const struct fr__shipped_curve curves_%d[] = {\n%s};\n", n_files, curves
    if (launches != "")
        printf "static const struct fr_launches launches_%d = {%s%s};\n", n_files, launches,
               launch_pairs
    if (slowdowns != "")
        printf "static const struct fr_slowdowns slowdowns_%d = {%s.of = {%s}};\n", n_files,
               slowdowns, slowed
    table = table sprintf("    {%s, %s, %s, %d, %s, %s},\n", text(file), name,
                          n_curves ? "curves_" n_files : "NULL", n_curves,
                          launches != "" ? "&launches_" n_files : "NULL",
                          slowdowns != "" ? "&slowdowns_" n_files : "NULL")
    curves = launches = slowdowns = slowed = ""
    n_curves = 0
}

# ---- systems ----

function way_of(path) {
    split(path, parts, "/")
    return parts[3]
}
function held_out(v) {
    judged = judged "[" constant("FR_SYSTEM_", key) "] = " misses(v) ",\n        "
}
# {op: all-reduce, gpus: 8, first: 10, thousandths: [1, 2]}
function correction(v,    f, knots, out) {
    gsub(/[{} ]/, "", v)
    knots = v
    sub(/,thousandths:.*$/, "", v)
    sub(/^.*thousandths:/, "", knots)
    split(v, f, /[:,]/)
    out = "{" constant("FR_SYSTEM_", f[2]) ", " f[4] ", " f[6]
    n = list(knots, f)
    gsub(/[][]/, "", knots)
    n_corrections++
    return out ", " n ", {" knots "}}"
}
function end_judged(    out) {
    out = ".held_out = {" judged "}, "
    judged = ""
    return out
}
function system_file(path, v) {
    if (path == "/system" || path == "/source")
        top = top (key == "system" ? ".name" : ".source") " = " text(v) ",\n     "
    else if (path == "/data_hash")
        top = top ".data_hash = " hash(v) ",\n     "
    else if (path ~ /^\/one_node\/(gpus|rows_fitted)$/)
        one = one (key == "gpus" ? ".most_gpus" : ".n_fitted") " = " v ", "
    else if (path == "/one_node/gpu_counts") {
        n = list(v, f)
        one = one ".gpu_counts = 0"
        for (i = 1; i <= n; i++)
            one = one " | UINT64_C(1) << " (f[i] - 1)
        one = one ", "
    } else if (path ~ /^\/(one_node|several_nodes)\/held_out\/./)
        held_out(v)
    else if (path == "/one_node/parameters") {
        one = one end_judged()
        start_pairs()
    } else if (path ~ /^\/one_node\/parameters\/./) {
        if (!(("parameters", key) in place))
            fail("'" key "' is no parameter of a system")
        pair("[" place["parameters", key] "] = ", v)
        if (key ~ /^(ll_base_s|nvls_base_s|all_to_all_small_base_s)$/)
            one = one ".has_" (key ~ /^ll/ ? "rings" : key ~ /^nvls/ ? "nvls" : "all_to_all") \
                  " = true, "
        one_pairs = ".parameters = {" values "}, .errors = {" errors "}, "
    } else if (path == "/one_node/corrections/-")
        corrections = corrections correction(v) ",\n        "
    else if (path ~ /^\/several_nodes\/(gpus|nodes|rows_fitted)$/)
        several = several (key == "rows_fitted" ? ".n_fitted" : ".most_" key) " = " v ", "
    else if (path == "/several_nodes/choice") {
        gsub(/[{} ]/, "", v)
        gsub(/ll128:/, "has_ll128:", v)
        gsub(/:/, " = ", v)
        gsub(/,/, ", .", v)
        several = several ".choice = {." v "}, "
        has_choice = 1
    } else if (path ~ /^\/several_nodes\/[a-z0-9_]+$/ && v == "" && key != "held_out")
        start_pairs()
    else if (path ~ /^\/several_nodes\/all_to_all\/./) {
        pair("", v)
        across = ".has_all_to_all = true, .all_to_all = {" values "}, .all_to_all_errors = {" \
                 errors "}, "
    } else if (path ~ /^\/several_nodes\/[a-z0-9_]+\/./) {
        pair("", v)
        way = way_of(path)
        if (!(way in way_values))
            ways[++n_ways] = way
        way_values[way] = values
        way_errors[way] = errors
    } else if (path ~ /^\/links\/-\/(link|source)$/) {
        if (key == "link")
            links = links (links == "" ? "" : "}},\n        ") "{.name = " text(v)
        else
            links = links ", .source = " text(v)
        n_links += key == "link"
    } else if (path == "/links/-/data_hash")
        links = links ", .data_hash = " hash(v)
    else if (path == "/links/-/rows_fitted")
        links = links ", .n_fitted = " v
    else if (path == "/links/-/held_out")
        links = links ", .held_out = " misses(v)
    else if (path == "/links/-/parameters")
        start_pairs()
    else if (path ~ /^\/links\/-\/parameters\/./) {
        pair("", v)
        if (key == "knee_power")
            links = links ",\n         .parameters = {" values "}, .errors = {" errors
    } else if (v != "" && v != "{}")
        fail("what this line says is in no table")
}
function end_nodes(    i, way, has, all, wrong) {
    for (i = 1; i <= n_ways; i++) {
        way = constant("FR_SYSTEM_", ways[i])
        has = has "[" way "] = true, "
        all = all "[" way "] = {" way_values[ways[i]] "},\n        "
        wrong = wrong "[" way "] = {" way_errors[ways[i]] "},\n        "
    }
    several = several end_judged() across
    if (n_ways)
        several = several (has_choice ? ".has_way = {" has "}, " : "") ".ways = {" all \
                  "}, .way_errors = {" wrong "}"
    return "\n     .nodes = {" several "},"
}
function end_system() {
    if (n_corrections)
        one_pairs = one_pairs ".n_corrections = " n_corrections ", .corrections = {" \
                    corrections "},"
    table = table "    {" text(file) ",\n     {" top one one_pairs
    if (several != "")
        table = table end_nodes()
    if (n_links)
        table = table "\n     .n_links = " n_links ", .links = {" links "}}"
    table = table (n_links ? "}}},\n" : "}},\n")
    top = one = one_pairs = several = across = links = corrections = ""
    n_links = n_ways = has_choice = n_corrections = 0
    split("", way_values)
}

# ---- lines ----

function put(path, v) {
    if (kind == "devices")
        device(path, v)
    else
        system_file(path, v)
}
function end_file() {
    if (!n_files)
        return
    if (kind == "devices")
        end_device()
    else
        end_system()
}
# One "key: value", or an item of a list of lists; two spaces a level.
function line_of(s,    level, i, path, v) {
    match(s, /^ */)
    level = RLENGTH / 2
    s = substr(s, RLENGTH + 1)
    if (s ~ /^- /) {
        keys[level++] = "-"
        s = substr(s, 3)
    }
    key = s ~ /^[[{]/ ? "" : substr(s, 1, index(s, ":") - 1)
    keys[level] = key
    v = key == "" ? s : substr(s, length(key) + 2)
    sub(/^ /, "", v)
    if (v !~ /^'/)
        sub(/ *#.*$/, "", v)
    for (i = 0; i < level; i++)
        path = path "/" keys[i]
    put(key == "" ? path : path "/" key, v)
}

BEGIN {
    print "/* Made by calibrate/files/tables.awk from the files in calibrate/" kind "/. */"
    print "#include \"calibrate/files/shipped.h\"\n"
    if (kind == "devices")
        print "#define R(thousandths) ((float)((thousandths) / 1000.0))"
    n_files = 0
}
FILENAME ~ /\.c$/ {
    if ($0 ~ /^    \.name = "/)
        owner = substr($3, 2, index($3, "\",") - 2)
    if ($0 ~ /^static const char \*const parameter_names\[/)
        owner = "parameters"
    if ($0 ~ /feature_names = \{/ || $0 ~ /^static const char \*const parameter_names\[/) {
        is_names = 1
        n_names = 0
        sub(/.*= /, "")
    }
    if (!is_names)
        next
    is_last = index($0, "}") > 0
    gsub(/[{}; ]/, "")
    n = split($0, names, ",")
    for (i = 1; i <= n; i++)
        if (names[i] != "")
            place[owner, substr(names[i], 2, length(names[i]) - 2)] = n_names++
    is_names = !is_last
    next
}
FNR == 1 {
    end_file()
    n_files++
    file = FILENAME
    sub(/.*\//, "", file)
    sub(/\.yaml$/, "", file)
}
/^#/ || /^ *$/ { next }
is_open { sub(/^ +/, "") }
{
    whole = is_open ? whole $0 : $0
    is_open = whole ~ /: \[[^]]*$/
    if (!is_open)
        line_of(whole)
}
END {
    if (has_failed)
        exit 1
    end_file()
    if (kind == "devices")
        print "const struct fr__shipped_device fr__shipped_devices[] = {"
    else
        print "const struct fr__shipped_system fr__shipped_systems[] = {"
    printf "%s};\nconst size_t fr__n_shipped_%s = %d;\n", table, kind, n_files
}
