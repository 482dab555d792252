# tests/support/command.sh - what tests of the command share; they read it with ".". Leaves them in
# an empty folder of their own; $source is the project's, $forerun the command. Each check's name is
# a sentence; the summary line is Check's.
set -u
unset COLUMNS # a terminal's width, which cuts tables
build=$(pwd)
source=$(cd "${srcdir:-.}" && pwd)
. "${srcdir:-.}/tests/support/direct.sh"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

n_checks=0
n_failures=0
status=0

# run ARGUMENT...: output in out and err, exit status in status
run() {
    status=0
    "$forerun" "$@" > out 2> err < /dev/null || status=$?
}

# check NAME CONDITION...: the condition is a command
check() {
    name=$1
    shift
    n_checks=$((n_checks + 1))
    if ! "$@"; then
        n_failures=$((n_failures + 1))
        echo "FAIL: $name (exit status $status)"
        test ! -e out || sed 's/^/  out: /' out | head -n 5
        test ! -e err || sed 's/^/  err: /' err | head -n 5
    fi
}

skip() {
    echo "skipped: $1"
}

exits() { test "$status" -eq "$1"; }
says() { grep -q -e "$1" out; }
lacks() { ! grep -q -e "$1" out; }
succeeds() { test "$status" -eq 0 && test ! -s err; }
# fails STATUS TEXT: one line, which has the text, and nothing else
fails() {
    test "$status" -eq "$1" && test ! -s out && test "$(wc -l < err)" -eq 1 &&
        grep -q -e "^forerun: .*$2" err
}

# drawn WHAT FILE [LINE...]: tests/support/picture.py WHAT finds nothing wrong with the file, and
# each LINE is there once among what it prints.
drawn() {
    if ! command -v python3 > /dev/null; then
        skip "no python3: $2 is not read"
        return 0
    fi
    told=$(python3 "$source/tests/support/picture.py" "$1" "$2") || return 1
    shift 2
    for line; do
        test "$(printf '%s\n' "$told" | grep -c -x -F -e "$line")" -eq 1 || {
            echo "  not there once: $line"
            return 1
        }
    done
}

# The script ends with this.
finish() {
    percent=100
    test "$n_failures" -eq 0 || percent=$((100 * (n_checks - n_failures) / n_checks))
    echo "$percent%: Checks: $n_checks, Failures: $n_failures, Errors: 0"
    test "$n_failures" -eq 0
}
