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

# Jiang et al., 2024, section 1: of 47 G parameters a token meets 13 G
run graph show mixtral-8x7b -b 1 --seq-len 64
check "what_meets_a_token_is_a_line" says '^  active        12.88 G (12879925248) meet a token$'
run graph show gpt2-small -b 1
check "where_all_do_there_is_none" sh -c '! grep -q "^  active" out'
cat >config.json <<'END'
{"model_type": "llama", "hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 1,
 "num_attention_heads": 2, "vocab_size": 20, "max_position_embeddings": 16}
END
run graph show config.json:attention=unfused --json
check "options_may_stand_behind_the_path" says '"softmax": '
run graph show config.json:mtp=1,no=1
check "of_the_model_that_it_becomes" fails 2 "model 'llama' has no option 'mtp'"

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
