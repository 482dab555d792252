/* study/store/digest.h - 64-bit digests of texts: checksums of lines, fingerprints of inputs.
 *
 * FNV-1a (G. Fowler, L. C. Noll, K.-P. Vo, D. Eastlake, draft-eastlake-fnv). It protects against
 * torn lines and changed files, not against forgery.
 */
#ifndef FR_STUDY_STORE_DIGEST_H
#define FR_STUDY_STORE_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#define FR__DIGEST_START UINT64_C(0xcbf29ce484222325)
enum { FR__DIGEST_HEX = 17 }; /* sixteen digits and the end */

uint64_t fr__digest(uint64_t so_far, const void *data, size_t n);
uint64_t fr__digest_text(uint64_t so_far, const char *text); /* with its end; NULL is fine */
uint64_t fr__digest_count(uint64_t so_far, uint64_t x);
uint64_t fr__digest_number(uint64_t so_far, double x);
const char *fr__digest_hex(uint64_t digest, char buf[FR__DIGEST_HEX]);
#endif
