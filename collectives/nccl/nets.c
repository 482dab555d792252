/* collectives/nccl/nets.c - which NICs and GPUs belong together (topo.cc, search.cc). */
#include "config.h"

#include "collectives/nccl/system.h"

uint32_t fr__ns_local(const struct fr__ns *s, enum fr__ns_type type, uint32_t i,
                      enum fr__ns_type result, uint32_t locals[])
{
    unsigned least = FR__PATH_DIS;
    float most = 0;
    uint32_t n = 0;

    for (uint32_t k = 0; k < s->count[result]; k++) {
        const struct fr__ns_path *p = fr__ns_path(s, type, i, result, k);

        if (p->bw > most || (p->bw == most && p->type < least)) {
            most = p->bw;
            least = p->type;
            n = 0;
        }
        if (p->bw == most && p->type == least)
            locals[n++] = k;
    }
    return n;
}

static uint32_t mirror_bits(uint32_t value, uint32_t power)
{
    uint32_t out = 0;

    for (uint32_t mask = 1, back = power >> 1; mask < power; mask <<= 1, back >>= 1)
        if (value & mask)
            out |= back;
    return out;
}

/* The net that a GPU uses for a channel. */
static uint32_t ns_local_net(const struct fr__ns *s, uint32_t gpu, uint32_t channel)
{
    uint32_t nets[FR__NS_MOST_NODES], gpus[FR__NS_MOST_NODES], net;
    uint32_t n_nets = fr__ns_local(s, FR__NS_GPU, gpu, FR__NS_NET, nets), n_gpus;

    if (n_nets == 0)
        return FR_NONE;
    n_gpus = fr__ns_local(s, FR__NS_NET, nets[0], FR__NS_GPU, gpus);
    net = fr__ns_at(s, FR__NS_GPU, gpu)->dev;
    if (s->version >= 230 && n_gpus > 0)
        net %= n_gpus;
    if ((n_nets & (n_nets - 1)) == 0)
        net = mirror_bits(net, n_nets);
    net += channel % (n_gpus ? (n_nets + n_gpus - 1) / n_gpus : 1);
    return nets[net % n_nets];
}

uint32_t fr__ns_local_gpu(const struct fr__ns *s, uint32_t net)
{
    uint32_t gpus[FR__NS_MOST_NODES], n = fr__ns_local(s, FR__NS_NET, net, FR__NS_GPU, gpus);

    for (uint32_t channel = 0; channel < 64; channel++)
        for (uint32_t i = 0; i < n; i++)
            if (ns_local_net(s, gpus[i], channel) == net)
                return gpus[i];
    return FR_NONE;
}

static uint32_t add_net(uint32_t nets[], uint32_t n, uint32_t net)
{
    uint32_t i = 0;

    while (i < n && nets[i] != net)
        i++;
    if (i == n)
        nets[n++] = net;
    return n;
}

uint32_t fr__ns_select_nets(const struct fr__ns *s, unsigned type_inter, uint32_t gpu,
                            uint32_t nets[])
{
    uint32_t n = 0, first = gpu == FR_NONE ? 0 : gpu;
    uint32_t end = gpu == FR_NONE ? s->count[FR__NS_GPU] : gpu + 1;

    for (uint32_t g = first; g < end; g++) {
        uint32_t start = ns_local_net(s, g, 0), net = start;

        for (uint32_t channel = 1; start != FR_NONE; channel++) {
            n = add_net(nets, n, net);
            net = ns_local_net(s, g, channel);
            if (net == start || channel == FR__NS_MOST_NODES)
                break;
        }
    }
    for (unsigned type = 0; type <= type_inter; type++)
        for (uint32_t g = first; g < end; g++)
            for (uint32_t k = 0; k < s->count[FR__NS_NET]; k++)
                if (fr__ns_path(s, FR__NS_GPU, g, FR__NS_NET, k)->type == type)
                    n = add_net(nets, n, k);
    return n;
}
