/* strategies/lower/parameter_server.h - synchronous data parallelism through parameter servers.
 *
 * Each worker pushes every owner's gradient to the server that holds it, as soon as it is complete;
 * the server sums what has come from all workers, updates, and every worker pulls the new parameters
 * once its backward pass is done. A worker that is the server itself moves nothing. Or workers pull when
 * an iteration begins, as TensorFlow reads remote variables: an op waits for its own parameters alone, and
 * the forward pass runs while later ones come; the iteration ends with the last update. A server sends
 * the parameters to a worker one after the other, in the order in which they are updated or, at the
 * beginning, in that of the model.
 * Source: M. Li et al., Scaling Distributed Machine Learning with the Parameter Server, OSDI 2014
 * (synchronous mode); traffic as in Y. Jiang et al., BytePS, OSDI 2020, section 2: a worker moves the
 * model once each way, the servers together n times each way for n workers.
 */
#ifndef FR_STRATEGIES_PARAMETER_SERVER_H
#define FR_STRATEGIES_PARAMETER_SERVER_H

#include "strategies/lower/replica.h"

enum fr__server_place {
    FR__SERVER_CPU,    /* the CPU of the first device's machine */
    FR__SERVER_GPU0,   /* the first device */
    FR__SERVER_SHARDED /* all devices: the largest owner first, to the least loaded */
};

struct fr__server_options {
    enum fr__server_place place;
    bool overlap;        /* pushes start during the backward pass */
    bool pulls_at_start; /* of an iteration, not after updates */
};

/* shares: [n_devices] samples of each worker. */
enum fr_status fr__plan_parameter_server(struct fr__placer *pl, const struct fr__server_options *o,
                                         const struct fr__share shares[], struct fr_error *err);

#endif
