/* study/difference/asked.c - reads the question that an answer's JSON keeps.
 *
 * It is separate because it reads a file that may come from anywhere: every value goes through the
 * same setters as options of the command, and what is not a setting is refused.
 */
#include "config.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/units.h"
#include "base/yaml.h"
#include "study/difference/difference.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct box {
    struct fr_asked asked;
    struct fr__arena *arena; /* texts that the question points to */
};

/* "a.json#2" as path and number; 0: no number. */
static enum fr_status split_path(struct fr__arena *arena, const char *text, const char **path,
                                 uint64_t *number, struct fr_error *err)
{
    const char *mark = strrchr(text, '#');

    *path = text;
    *number = 0;
    if (!mark || access(text, F_OK) == 0)
        return FR_OK;
    FR_TRY(fr__parse_count(mark + 1, "the number behind '#'", FR_NOWHERE, 1, 1000000, number, err));
    *path = fr__arena_strndup(arena, text, (size_t)(mark - text));
    return *path ? FR_OK : fr__fail_nomem(err);
}

/* The answer in the document: the top, or one of "results". */
static enum fr_status find_answer(const struct fr__yaml *top, const char *text, uint64_t number,
                                  const struct fr__yaml **out, struct fr_error *err)
{
    const struct fr__yaml *results;

    FR_TRY(fr__yaml_expect(top, FR__YAML_MAP, "an answer", err));
    results = fr__yaml_get(top, "results");
    if (!results) {
        *out = top;
        return number <= 1
                   ? FR_OK
                   : fr__fail(err, FR_EUSAGE, FR_NOWHERE, "'%s': the file holds one answer", text);
    }
    FR_TRY(fr__yaml_expect(results, FR__YAML_LIST, "'results'", err));
    if (number > results->n || (number == 0 && results->n != 1))
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "'%s': the file holds %zu answers, name one as FILE.json#1", text,
                        results->n);
    *out = results->items[number ? number - 1 : 0];
    return fr__yaml_expect(*out, FR__YAML_MAP, "an answer", err);
}

static enum fr_status read_settings(struct fr_question *q, const struct fr__yaml *answer,
                                    struct fr_error *err)
{
    const struct fr__yaml *map = fr__yaml_get(answer, "question");

    if (!map)
        return fr__fail(err, FR_EPARSE, answer->loc,
                        "no \"question\": expected a file that 'forerun simulate --json' or "
                        "'compare --json' wrote");
    FR_TRY(fr__yaml_expect(map, FR__YAML_MAP, "'question'", err));
    for (size_t i = 0; i < map->n; i++) {
        struct fr_error why = {.code = FR_OK};

        FR_TRY(fr__yaml_expect(map->items[i], FR__YAML_SCALAR, "a setting", err));
        if (fr_question_set(q, map->items[i]->key, map->items[i]->text, &why) != FR_OK)
            return fr__fail(err, FR_EPARSE, map->items[i]->loc, "%s", why.text);
        FR_TRY(fr_question_refuse_code(q, map->items[i]->loc, err));
    }
    return FR_OK;
}

static enum fr_status read_time(double *out, const struct fr__yaml *answer, struct fr_error *err)
{
    const struct fr__yaml *time = fr__yaml_get(answer, "iteration_s");

    if (!time || time->kind != FR__YAML_SCALAR || strcmp(time->text, "null") == 0)
        return FR_OK;
    return fr__parse_number(time->text, "'iteration_s'", time->loc, 0, 1e30, out, err);
}

static enum fr_status load(struct box *b, const char *text, struct fr_error *err)
{
    const struct fr__yaml *top = NULL, *answer = NULL;
    const char *path = NULL;
    uint64_t number = 0;

    FR_TRY(split_path(b->arena, text, &path, &number, err));
    FR_TRY(fr__yaml_load(b->arena, path, &top, err));
    FR_TRY(find_answer(top, text, number, &answer, err));
    FR_TRY(read_settings(&b->asked.question, answer, err));
    return read_time(&b->asked.iteration_s, answer, err);
}

enum fr_status fr_asked_load(struct fr_asked **out, const char *path, struct fr_error *err)
{
    struct box *b = calloc(1, sizeof(*b));
    enum fr_status st;

    if (!b)
        return fr__fail_nomem(err);
    b->asked.priv = b;
    b->asked.iteration_s = -1;
    fr_question_init(&b->asked.question);
    b->arena = fr__arena_new();
    st = b->arena ? load(b, path, err) : fr__fail_nomem(err);
    if (st == FR_OK)
        *out = &b->asked;
    else
        fr_asked_free(&b->asked);
    return st;
}

void fr_asked_free(struct fr_asked *a)
{
    struct box *b = a ? a->priv : NULL;

    if (!b)
        return;
    fr__arena_free(b->arena);
    free(b);
}
