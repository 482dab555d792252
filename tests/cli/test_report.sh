#!/bin/sh
# tests/cli/test_report.sh - the report in a browser: its policy admits its own script and nothing
# else, and it draws without a complaint. The browser's part is skipped where there is no chromium.
. "${srcdir:-.}/tests/support/command.sh"

forerun simulate -w alexnet -t dgx1-v100 -g 4 -b 64 -s pp -o run.html --no-timing >/dev/null
cp run.html first.html
forerun simulate -w alexnet -t dgx1-v100 -g 4 -b 64 -s pp -o run.html --no-timing >/dev/null
forerun compare -w lenet -t dgx1-v100 -g 2 -b 64 -o comparison.html >/dev/null
check "the_same_command_gives_the_same_bytes" cmp -s run.html first.html
check "a_report_has_its_sections_once" drawn report run.html \
    "alexnet on 4 of 8 GPUs of dgx1-v100, strategy pp" sensitivities Timeline "Memory over time" \
    "critical path (326 tasks)" "its longest tasks" links devices "How far to trust this" \
    "where the compute times come from" "The same again"
check "the_command_is_there_to_be_typed_again" drawn report run.html \
    "pre: forerun simulate -w alexnet -t dgx1-v100 -g 4 -b 64 -s pp -o run.html --no-timing"
check "a_comparison_has_its_sections_once" drawn report comparison.html \
    "lenet on 2 of 8 GPUs of dgx1-v100" "Over time, to one scale" single dp mp pp
# shellcheck disable=SC2016 # the shell that runs it again is another one
forerun simulate -w lenet -t dgx1-v100 -g 1 -s single -o "it's \$(here).html" >/dev/null
check "what_a_shell_would_read_is_quoted" drawn report "it's \$(here).html" \
    "pre: forerun simulate -w lenet -t dgx1-v100 -g 1 -s single -o 'it'\\''s \$(here).html'"

# The policy names the script by its hash, which a change of the script changes.
if command -v openssl >/dev/null; then
    hash=$(awk '/^<script>$/ { is_in = 1; printf "\n"; next } /^<\/script>$/ { is_in = 0 } is_in' \
        run.html | openssl dgst -sha256 -binary | openssl base64)
    check "the_policy_admits_the_script ($hash)" grep -qF "script-src 'sha256-$hash'" run.html
else
    echo "SKIP openssl is not here: the script's hash"
fi

# What the browser makes of a page: its console in log, the document after its script in dom.
render() {
    timeout 60 chromium --headless --no-sandbox --disable-gpu --user-data-dir="$work/chromium" \
        --enable-logging=stderr --dump-dom "file://$work/$1" >dom 2>log
}

if ! command -v chromium >/dev/null; then
    echo "SKIP chromium is not here: what a browser makes of it"
elif ! render run.html || ! [ -s dom ]; then
    echo "SKIP chromium does not start here"
else
    for page in run comparison; do
        render "$page.html"
        check "${page}_has_nothing_to_complain_about" sh -c '! grep -q CONSOLE log'
        check "${page}_ran_its_script" grep -q '<body class="js">' dom
        check "${page}_moved_its_hints" grep -q 'data-tip=' dom
    done
    # the same page without its policy, and keys pressed on its first picture
    sed -e 's|<meta http-equiv="Content-Security-Policy"[^>]*>||' -e 's|</body>|<script src="keys.js"></script></body>|' \
        run.html >keys.html
    cat >keys.js <<'END'
var figure = document.querySelector('figure.time'), said = [];
['+', 'ArrowRight', '-', '0', 'n', 'n', 'p', 'Escape', '+', '+', '+'].forEach(function (key) {
    figure.dispatchEvent(new KeyboardEvent('keydown', {key: key, bubbles: true}));
    var view = figure.querySelector('svg.zoom').getAttribute('viewBox').split(' ');
    said.push(key + ' ' + Math.round(view[0]) + ' ' + Math.round(view[2]));
    said.push('at ' + figure.querySelectorAll('.at').length + ' tip ' +
        document.getElementById('tip').textContent.split('\n').length);
});
said.push('numbers ' + figure.querySelectorAll('.numbers:not([display])').length);
document.body.setAttribute('data-said', said.join('; '));
END
    render keys.html
    check "keys_zoom_and_pan" grep -q 'data-said="+ 188 625; .*ArrowRight 313 625; .*- 0 1000; .*0 0 1000' dom
    check "keys_step_through_boxes_and_say_what_they_are" grep -q 'n 0 1000; at 1 tip 4' dom
    check "escape_leaves_the_boxes" grep -q 'Escape 0 1000; at 0' dom
    check "closer_boxes_have_their_numbers" grep -q 'numbers 1"' dom
    # another script, as a name that was not escaped would bring it
    sed 's|</main>|<script>document.body.id = "broken"</script></main>|' run.html >other.html
    render other.html
    check "another_script_is_not_run" sh -c '! grep -q "id=\"broken\"" dom && grep -q CONSOLE log'
fi
finish
