/* tests/support/profile_case.h - PipeDream profiles made by hand, as text, and plans of them. */
#ifndef FR_TESTS_SUPPORT_PROFILE_CASE_H
#define FR_TESTS_SUPPORT_PROFILE_CASE_H

#include "lowering/stage_plan.h"
#include "strategies/strategies.h"

enum { PROFILE_CASE_BYTES = 16384 };

struct profile_case {
    char text[PROFILE_CASE_BYTES];
    size_t n;
};

/* Adds a node or an edge; both_ms: forward and backward together. */
void profile_case_layer(struct profile_case *c, const char *name, const char *description,
                        double both_ms, double activation_bytes, double param_bytes);
void profile_case_edge(struct profile_case *c, const char *from, const char *to);
/* Read back; the caller frees it. */
struct fr_profile *profile_case_load(const struct profile_case *c);
/* One of the data beside the checkout; NULL: not there, and says so. The caller frees it. */
struct fr_profile *profile_case_shared(const char *name);

/* As the strategy that the spec names plans it. */
enum fr_status profile_case_try(const struct fr_profile *p, const char *spec,
                                struct fr_stage_plan **out, struct fr_error *err);
/* The same; fails the test where there is no plan. The caller frees it. */
struct fr_stage_plan *profile_case_plan(const struct fr_profile *p, const char *spec);
#endif
