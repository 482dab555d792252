/* papers/fastt/parts.h - what the experiments of FastT share: models, machines, questions. */
#ifndef FR_PAPERS_FASTT_PARTS_H
#define FR_PAPERS_FASTT_PARTS_H

#include "papers/parts/build.h"

#define FR__FASTT_SERVER "dgx1-v100"
#define FR__FASTT_SLIM_CPU "dp:sync=ps-cpu,pull=start"
#define FR__FASTT_SLIM_GPU0 "dp:sync=ps-gpu0,pull=start"
#define FR__FASTT_SPLIT "os-dpos:referee=belief,replicas=ignore"
#define FR__FASTT_DPOS "dpos:referee=belief"

struct fr__fastt_model {
    const char *name, *workload;
    uint32_t batch, batch_per_gpu, seq_len; /* strong, weak scaling */
    enum fr_optimizer optimizer;
    const char *published_splits; /* Table 6 */
};
enum { FR__FASTT_N_MODELS = 9 };
extern const struct fr__fastt_model fr__fastt_models[FR__FASTT_N_MODELS];

struct fr__fastt_place {
    const char *title, *topology;
    size_t n_gpus;
    bool is_spread;
};
/* 2, 4 and 8 GPUs of a server, 4 of each of two. */
extern const struct fr__fastt_place fr__fastt_strong[4];

struct fr_question fr__fastt_question(const struct fr__fastt_model *m,
                                      const struct fr__fastt_place *p, bool is_weak);
enum fr_status fr__fastt_ask(struct fr__repro *b, struct fr_question q, const char *strategy,
                             const struct fr__repro_answer **out, struct fr_error *err);
/* Slim's two ways: variables on the CPU, on GPU 0; parameters are pulled when a step begins. */
enum fr_status fr__fastt_ask_slim(struct fr__repro *b, struct fr_question q,
                                  const struct fr__repro_answer *out[2], struct fr_error *err);
/* NaN is slower than anything. */
const struct fr__repro_answer *fr__fastt_faster(const struct fr__repro_answer *a,
                                                const struct fr__repro_answer *b);

struct fr_repro_cell fr__fastt_number(double value);
struct fr_repro_cell fr__fastt_word(const char *text);
struct fr_repro_cell fr__fastt_time(const struct fr__repro_answer *a);

enum fr_status fr__fastt_scaling(struct fr__repro *b, bool is_weak, struct fr_error *err);
/* The band of what FastT may have been compared with. */
enum fr_status fr__fastt_baselines(struct fr__repro *b, struct fr_error *err);
#endif
