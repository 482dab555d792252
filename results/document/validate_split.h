/* results/document/validate_split.h - a part of the document of a validation. */
#ifndef FR_RESULTS_DOCUMENT_VALIDATE_SPLIT_H
#define FR_RESULTS_DOCUMENT_VALIDATE_SPLIT_H

#include "results/document/document.h"
#include "study/validate/validate.h"

/* What is off by software; with_lines, also each line and change. Nothing where no rows differ in
 * one thing alone. */
void fr__say_split(struct fr__document *doc, const struct fr_validation *v, bool with_lines);
#endif
