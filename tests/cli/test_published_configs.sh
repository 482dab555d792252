#!/bin/sh
# tests/cli/test_published_configs.sh - public config.json files: parameters, and those that a token
# meets, to the last one. The files and their counts lie beside the tree; a clone has small ones of
# its own in tests/workloads/test_decoders.c.
. "${srcdir:-.}/tests/support/command.sh"
data=$source/../shared/data/configs

# counts FILE TOTAL ACTIVE: what graph show says of the file
counts() {
    run graph show "$data/$1" -b 1 --json
    active=$(sed -n 's/^  "active_params": \(.*\),$/\1/p' out)
    total=$(sed -n 's/^  "params": \(.*\),$/\1/p' out)
    test "$total" = "$2" && test "${active:-$total}" = "$3"
}

if [ -e "$data/truth.csv" ]; then
    # file,family,parameters,active_parameters: the first columns hold no comma
    n=0
    while IFS=, read -r file _ total active _; do
        case $file in */config.json) ;; *) continue ;; esac
        if "$forerun" graph show "$data/$file" -b 1 --json 2>err >/dev/null; then
            n=$((n + 1))
            check "parameters_of_$(dirname "$file" | tr -c 'a-z0-9\n' _)" \
                counts "$file" "$total" "${active:-$total}"
        else
            check "what_is_not_read_says_why_$(dirname "$file" | tr -c 'a-z0-9\n' _)" \
                grep -qE "config.json:[0-9]+:[0-9]+: " err
        fi
    done <"$data/truth.csv"
    check "most_of_them_are_read" test "$n" -ge 40
    run graph show "$data/deepseek-v3-671b/config.json:mtp=1" -b 1 --json
    # two norms of 7168, the product 14336 x 7168, a layer with experts, a norm; embedding and head
    # are the model's own
    check "a_prediction_module_adds_its_own" says '^  "params": 682636472320,$'
else
    echo "SKIP: no public configurations in $data"
fi
finish
