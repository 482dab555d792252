/* workloads/passes/gather.h - parameters that the replicas share out: gathered unit by unit, as
 * PyTorch FSDP and ZeRO's third level do.
 *
 * It rewrites the training graph of one rank. For each unit (workloads/passes/units.h) it adds
 *
 *     an all_gather of the unit's parameters before its forward ops, freed after them;
 *     the same before its backward ops, freed after them, unless the first one is kept;
 *     a reduce_scatter of its gradients after its backward ops, whose result the updates read.
 *
 * Where several groups of replicas share alike (PyTorch's HSDP), an all_reduce of the parts over
 * the groups follows each reduce_scatter, and the updates read its result.
 *
 * Units may be the modules of a layer, as in DeepSpeed (fr__units_by_module). Then a gather waits
 * until the module that is `prefetch` before its own begins, also where a layer runs again first:
 * each module of it is gathered when it runs again, and kept until its backward pass.
 *
 * With packs, parameters are copied out of what was gathered before the first op reads them, and
 * gradients into what will be scattered: a read and a write of each, beside no other kernel of the
 * rank. Their memory is not counted, as each copy frees what it was made from.
 *
 * What belongs to no unit is the root: gathered once and kept until its backward pass is over.
 * Parts of experts and of all else travel apart, for other ranks share them. Sums of gradients of
 * tied parameters come before the reduce_scatter; they become ordinary ops (add).
 *
 * Order. Gathers go one after the other. With prefetch n the gather of unit k + 1 + n waits for
 * the end of unit k, so at most n + 1 units are gathered; backward likewise, in the order of the
 * backward pass, from the end of the forward pass on. A unit's backward ops wait until the
 * gradients of the unit two before have left, so two units of whole gradients are there at most.
 *
 * ZeRO's second level keeps parameters whole: then there are reduce_scatters alone, of buckets of
 * gradients in the order in which they are complete. A bucket is closed as soon as it has
 * bucket_bytes of parameters (in a graph that will be cut: with each unit). The first op that
 * writes a gradient of a bucket waits until the bucket two before has left. At both levels
 * nothing runs beside a reduce_scatter without overlap (DeepSpeed,
 * deepspeed/runtime/zero/stage_1_and_2.py, reduce_independent_p_g_buckets_and_remove_grads, with
 * overlap_comm or not).
 *
 * Source:  Y. Zhao et al., PyTorch FSDP, VLDB 2023, sections 3.1 to 3.4; PyTorch 2.4,
 *          torch/distributed/_composable/fsdp (one message a unit, root kept, order; copies:
 *          _fsdp_collectives.py, foreach_all_gather_copy_out, foreach_reduce_scatter_copy_in); S.
 *          Rajbhandari et al., ZeRO, SC 2020, section 5.3. Modules: DeepSpeed 0.3,
 *          deepspeed/runtime/zero/stage3.py, PartitionedParameterCoordinator (fetch_sub_module,
 *          prefetch_next_sub_modules).
 * Ignores: padding of parts to equal sizes; that a gather of the next micro-batch can start before
 *          the end of this one.
 */
#ifndef FR_WORKLOADS_PASSES_GATHER_H
#define FR_WORKLOADS_PASSES_GATHER_H

#include "workloads/passes/shard.h"
#include "workloads/passes/units.h"

enum { FR__GATHER_DENSE, FR__GATHER_EXPERTS, FR__N_GATHER_SETS };

struct fr__gather_problem {
    const struct fr_graph *graph;      /* one rank's training graph */
    const struct fr__sharded *sharded; /* that made it; NULL: it is not split */
    size_t n_axes;                     /* of `sharded` */
    const struct fr__units *units;     /* of the graph */
    uint32_t ranks[FR__N_GATHER_SETS]; /* that share the parameters; 1: they are not shared */
    uint32_t copies;                   /* groups of so many that share alike; 1: all are one */
    uint32_t prefetch;                 /* units */
    bool reshards;                     /* gathered again for the backward pass */
    bool keeps_last;       /* but the unit that runs last, whose backward pass comes at once */
    bool packs;            /* parameters and gradients are copied out of and into messages */
    bool are_modules;      /* the units are modules: gathers wait for the beginning of others */
    bool keeps_parameters; /* they are whole on each rank: gradients alone are shared out, */
    uint64_t bucket_bytes; /* so many bytes of parameters together, */
    bool overlaps;         /* beside the rest of the backward pass */
    /* The graph will be cut into stages of a pipeline: each layer of the root is gathered by
     * itself, and so are tied parameters in each unit that reads them. */
    bool is_cut;
    /* For each byte of parameters in the graph: bytes of a weight in a message, of a gathered
     * weight in memory (copies that are made of it too), of a gradient. */
    double sent, kept, gradient;
    /* [n_ops] bytes of the gathered weights of each owner in memory, instead of `kept`; NULL */
    const double *kept_of;
};

/* Makes the graph and its messages: those of `sharded` and the new ones, with FR__AXIS_REPLICAS,
 * FR__AXIS_EXPERT_REPLICAS or FR__AXIS_COPIES. All of *out is of the new graph, but out->from,
 * which is the op of the graph that `sharded` was made from. The caller frees it with
 * fr__sharded_free(). FR_EUSAGE: no op updates parameters; FR_ENOMEM. O(ops + edges). */
enum fr_status fr__gather(struct fr__sharded *out, const struct fr__gather_problem *in,
                          struct fr_error *err);

#endif
