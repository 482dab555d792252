/* tests/fuzz/fuzz_search_axis.c - any bytes as axes of a search's space, as values of layouts and
 * as clusters: refused with a sentence, or values that give a question. */
#include "config.h"

#include "study/layouts/search.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_axis(const char *text)
{
    struct fr_search *s = fr_search_new();
    struct fr_error err = {.text = ""};

    if (s && fr_search_axis(s, text, &err) != FR_OK && !err.text[0])
        abort();
    fr_search_free(s);
    err.text[0] = '\0';
    if (fr_search_check_match(text, &err) != FR_OK && !err.text[0])
        abort();
}

static void read_clusters(const char *text)
{
    static const char *const lines[] = {"2x dgx1-v100", "2x dgx1-v100 via ib:100Gbps less n0.nic0"};
    struct fr_search_clusters *c = fr_search_clusters_new();
    struct fr_error err = {.text = ""};
    struct fr_question q, out;
    bool is_cluster = false;

    if (!c)
        return;
    if (fr_search_clusters_axis(c, text, &is_cluster, &err) != FR_OK) {
        if (!err.text[0])
            abort();
    } else {
        fr_question_init(&q);
        for (size_t i = 0; i < fr_search_clusters_count(c); i++) {
            q.topology = lines[i % 2];
            if (fr_search_clusters_question(c, i, &q, &out, &err) != FR_OK || !out.topology)
                abort();
        }
    }
    fr_search_clusters_free(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);

    if (!text)
        return 0;
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    read_axis(text);
    read_clusters(text);
    free(text);
    return 0;
}
