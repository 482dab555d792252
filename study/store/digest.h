/* study/store/digest.h - 64-bit digests of texts: checksums of lines, fingerprints of inputs.
 *
 * FNV-1a from FR__FNV_START on (base/hash.h). It protects against torn lines and changed files, not
 * against forgery.
 */
#ifndef FR_STUDY_STORE_DIGEST_H
#define FR_STUDY_STORE_DIGEST_H

#include "base/hash.h"

uint64_t fr__digest_text(uint64_t so_far, const char *text); /* with its end; NULL is fine */
uint64_t fr__digest_number(uint64_t so_far, double x);
#endif
