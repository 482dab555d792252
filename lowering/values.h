/* lowering/values.h - values of a strategy's options, from text. */
#ifndef FR_LOWERING_VALUES_H
#define FR_LOWERING_VALUES_H

#include "lowering/lowering.h"

enum { FR__MAX_WORD = 512 }; /* bytes of a name or a value, terminator included */

/* A copy of the text up to one of the stops. */
struct fr__word {
    char text[FR__MAX_WORD];
};
/* Reads a word and moves *at behind it. what: named in the message; room: most bytes, terminator
 * included. FR_EUSAGE: it is longer. */
enum fr_status fr__word_read(const char **at, const char *stops, const char *what, size_t room,
                             struct fr__word *out, struct fr_error *err);

struct fr__values_parsing {
    const char *owner;               /* the strategy's name, for messages */
    const struct fr_option *options; /* ends with a NULL name */
    struct fr_option_values *values;
    size_t n_text; /* bytes of values->text that are taken */
};
/* Gives all options their defaults; values that follow replace them. */
enum fr_status fr__values_begin(struct fr__values_parsing *p, const char *owner,
                                const struct fr_option *options, struct fr_option_values *values,
                                struct fr_error *err);
/* FR_EUSAGE, FR_EPARSE, FR_ERANGE: the text is no value of that option. */
enum fr_status fr__value_parse(struct fr__values_parsing *p, size_t option, const char *text,
                               struct fr_error *err);
/* The values of a strategy whose user gave none. */
enum fr_status fr__values_default(const char *owner, const struct fr_option *options,
                                  struct fr_option_values *values, struct fr_error *err);
#endif
