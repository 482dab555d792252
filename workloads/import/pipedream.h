/* workloads/import/pipedream.h - a PipeDream profile (graph.txt) between its text and our graph. */
#ifndef FR_WORKLOADS_IMPORT_PIPEDREAM_H
#define FR_WORKLOADS_IMPORT_PIPEDREAM_H

#include "base/arena.h"
#include "workloads/workloads.h"

enum fr__profile_role {
    FR__PROFILE_LAYER,
    FR__PROFILE_INPUT,  /* has no backward pass; its time is loading and warm-up */
    FR__PROFILE_VIEW,   /* shows its input under another shape or name: no work, no bytes */
    FR__PROFILE_NUMBER, /* reads a shape, not data: no gradient */
};

struct fr__profile_node {
    const char *id, *desc; /* "node4", "Conv2d(3, 64, kernel_size=(11, 11), ...)" */
    struct fr_loc loc;
    double forward_s, backward_s;
    double both_s; /* forward + backward, added before they were scaled */
    double activation_bytes, parameter_bytes; /* as they stand there, not rounded; all outputs */
    const char *line;                         /* as it stands there, without a stage */
    uint64_t param_bytes;
    uint32_t first_size, n_sizes; /* its outputs in sizes */
    enum fr_op_kind kind;
    enum fr__profile_role role;
};

/* in_src[in_first[v]] .. in_src[in_first[v + 1] - 1]: what node v reads, in file order. */
struct fr__profile {
    const char *name; /* the path */
    struct fr__profile_node *nodes;
    uint64_t *sizes; /* bytes of each output */
    uint32_t *in_first, *in_src;
    uint32_t (*edges)[2]; /* [n_edges] in file order: from, to */
    size_t n_nodes, n_sizes, n_edges;
};

/* What the profile does not say, worked out from its sizes. */
struct fr__profile_shape {
    uint32_t batch;
    uint32_t seq_len;      /* 0: not known */
    bool is_batch_assumed; /* nothing in the file tells it */
};

/* Kind and role of a layer, by the first word of its description. */
void fr__profile_classify(struct fr__profile_node *node);
bool fr__profile_is_in_place(const struct fr__profile_node *node);
/* The k of "__getitem__(k)", 0 when there is none. */
uint32_t fr__profile_item(const struct fr__profile_node *node);
void fr__profile_infer(const struct fr__profile *p, struct fr__profile_shape *out);
/* Forward flops (2 a multiply-add) of layers whose description tells them, else 0. */
double fr__profile_flops(const struct fr__profile *p, const struct fr__profile_node *node,
                         const struct fr__profile_shape *shape);
/* How many tensors hold its parameters. */
uint32_t fr__profile_n_params(const struct fr__profile_node *node);

/* Reads the text; everything lives in the arena. */
enum fr_status fr__profile_parse(struct fr__arena *a, const char *text, size_t len,
                                 const char *name, struct fr__profile *out, struct fr_error *err);
/* "vgg16" for ".../vgg16/graph.txt", "my" for "my.txt"; in the arena. */
enum fr_status fr__profile_name(struct fr__arena *scratch, const char *path, const char **out,
                                struct fr_error *err);
enum fr_status fr__profile_to_graph(const struct fr__profile *p, struct fr_graph **out,
                                    struct fr_error *err);
#endif
