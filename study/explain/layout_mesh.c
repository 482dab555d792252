/* study/explain/layout_mesh.c - ranks, axes and groups of a mesh, the links that join neighbours,
 * and the names of all of these.
 *
 * It is separate because pictures and tables of a mesh need it without a run.
 */
#include "config.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/units.h"
#include "study/explain/layout_parts.h"

#include <string.h>

enum { MOST_ROUTES = 64, NUMBER = 32 };

/* ---- ranks ---- */

uint32_t fr__layout_coord(const struct fr_layout_axis *a, uint32_t rank)
{
    return rank / a->stride % a->size;
}

uint32_t fr__layout_rank(const struct fr_layout *l, uint32_t stage_rank)
{
    for (size_t a = 0; a < l->n_axes; a++)
        if (l->axes[a].is_stages)
            return stage_rank * l->axes[a].stride;
    return 0;
}

/* Joins the names of the axes of one mesh along which the ranks of a group differ. false: these
 * axes do not make the group. */
static bool name_in(const struct fr_layout *l, bool of_experts, const uint32_t rank_of_device[],
                    const struct fr_plan *plan, uint32_t group, char name[FR__LAYOUT_AXIS])
{
    uint32_t n = fr_plan_group_size(plan, group), product = 1;
    size_t used = 0;

    name[0] = '\0';
    for (size_t a = 0; a < l->n_axes; a++) {
        const struct fr_layout_axis *x = &l->axes[a];
        bool differs = false;
        uint32_t first = rank_of_device[fr_plan_group_device(plan, group, 0)];

        if (x->is_of_experts != of_experts || x->size < 2 || first == FR_NONE)
            continue;
        for (uint32_t i = 1; i < n && !differs; i++) {
            uint32_t rank = rank_of_device[fr_plan_group_device(plan, group, i)];

            if (rank == FR_NONE)
                return false;
            differs = fr__layout_coord(x, rank) != fr__layout_coord(x, first);
        }
        if (!differs)
            continue;
        product *= x->size;
        if (used < FR__LAYOUT_AXIS)
            used += (size_t)snprintf(name + used, FR__LAYOUT_AXIS - used, "%s%s", used ? "-" : "",
                                     x->name);
    }
    return product == n;
}

void fr__layout_name_group(const struct fr_layout *l, const uint32_t rank_of_device[],
                           const struct fr_plan *plan, uint32_t group, bool is_of_experts,
                           char name[FR__LAYOUT_AXIS])
{
    char axes[FR__LAYOUT_AXIS];

    if (is_of_experts && name_in(l, true, rank_of_device, plan, group, name))
        return;
    if (name_in(l, false, rank_of_device, plan, group, name) ||
        name_in(l, true, rank_of_device, plan, group, name))
        return;
    /* a part of an axis: the two ends of a pipeline */
    name_in(l, false, rank_of_device, plan, group, axes);
    if (axes[0])
        snprintf(name, FR__LAYOUT_AXIS, "%u of %.10s", fr_plan_group_size(plan, group), axes);
    else
        snprintf(name, FR__LAYOUT_AXIS, "%u ranks", fr_plan_group_size(plan, group));
}

/* ---- counts ---- */

void fr__layout_count(struct fr__layout_run *r)
{
    const struct fr__layout_kind *most = NULL;

    for (size_t i = 0; i + 1 < r->n_kinds; i++)
        if (!most || r->kinds[i].n_units > most->n_units)
            most = &r->kinds[i];
    for (size_t i = 0; i < r->n_sums; i++) {
        struct fr__layout_sum *s = &r->sums[i];

        for (size_t m = 0; most && m < most->n_messages; m++) {
            const struct fr__layout_message *x = &r->messages[most->first_message + m];

            s->a_layer += x->n_ranks == s->n_ranks && strcmp(x->axis, s->axis) == 0 &&
                          strcmp(fr_collective_kind_name(x->kind), s->what) == 0;
        }
        s->a_micro_batch =
            r->layout->n_micros > 1 || s->a_layer ? s->a_step / r->layout->n_micros : 0;
    }
}

/* ---- links ---- */

static const struct fr_link *narrowest(const struct fr_topo *t, const uint32_t links[], size_t n)
{
    const struct fr_link *best = NULL;

    for (size_t i = 0; i < n; i++)
        if (!best || t->links[links[i]].bw_Bps < best->bw_Bps)
            best = &t->links[links[i]];
    return best;
}

static enum fr_status look_at_axis(struct fr__layout_link *out, const struct fr_layout *l,
                                   const struct fr_layout_axis *a, const struct fr_topo *t,
                                   struct fr_router *router, struct fr_error *err)
{
    size_t n_routes = 0;

    for (uint32_t rank = 0; rank < l->n_ranks; rank++) {
        uint32_t src = l->devices[rank], dst;
        bool is_inside;
        const struct fr_link **narrow, *link;
        const uint32_t *links;
        size_t n_links;

        if (fr__layout_coord(a, rank) + 1 >= a->size)
            continue;
        dst = l->devices[rank + a->stride];
        is_inside = t->devices[src].machine == t->devices[dst].machine;
        out->n_hops++;
        out->n_inside += is_inside;
        narrow = is_inside ? &out->inside : &out->outside;
        if (*narrow && n_routes++ >= MOST_ROUTES)
            continue;
        FR_TRY(fr_router_path(router, src, dst, &links, &n_links, err));
        link = narrowest(t, links, n_links);
        for (size_t i = 0; i < n_links; i++)
            out->is_network |= t->links[links[i]].kind == FR_LINK_NET;
        if (link && (!*narrow || link->bw_Bps < (*narrow)->bw_Bps))
            *narrow = link;
    }
    return FR_OK;
}

enum fr_status fr__layout_find_links(struct fr__layout_run *r, const struct fr_topo *topo,
                                     struct fr_error *err)
{
    const struct fr_layout *l = r->layout;
    struct fr__layout_link *links = fr__arena_alloc(r->arena, l->n_axes + 1, sizeof(*links));
    struct fr_router *router;
    enum fr_status st = FR_OK;

    if (!links)
        return fr__fail_nomem(err);
    FR_TRY(fr_router_new(&router, topo, err));
    for (size_t a = 0; a < l->n_axes && st == FR_OK; a++)
        if (l->axes[a].size > 1)
            st = look_at_axis(&links[a], l, &l->axes[a], topo, router, err);
    fr_router_free(router);
    r->links = links;
    r->topo = topo;
    return st;
}

/* ---- names ---- */

const char *fr__layout_link_name(const struct fr_link *link, bool is_network, char *buf, size_t n)
{
    static const char *const kinds[FR_N_LINK_KINDS] = {[FR_LINK_NVLINK] = "NVLink",
                                                       [FR_LINK_PCIE] = "PCIe",
                                                       [FR_LINK_CPU] = "between sockets",
                                                       [FR_LINK_NET] = "network"};
    char rate[NUMBER];

    fr__format_rate(link->bw_Bps, rate, sizeof(rate));
    if (is_network && link->kind != FR_LINK_NET)
        snprintf(buf, n, "network, %s (%s)", rate, kinds[link->kind]);
    else
        snprintf(buf, n, "%s, %s", kinds[link->kind], rate);
    return buf;
}

const char *fr__layout_weights(const struct fr__layout_run *r, const struct fr_layout_op *op,
                               char *buf, size_t n)
{
    size_t used = 0;

    snprintf(buf, n, "%s", r->graph->ops[op->op].param_bytes > 0 ? "whole" : "");
    for (size_t i = 0; i < op->n_splits && used < n; i++)
        if (op->splits[i].divides_weights)
            used += (size_t)snprintf(buf + used, n - used, "%s%s: %s", used ? ", " : "",
                                     r->layout->axes[op->splits[i].axis].name, op->splits[i].loop);
    if (r->layout->zero >= 3 && buf[0] && used < n)
        snprintf(buf + used, n - used, "%sreplicas: parts", used ? ", " : "");
    return buf;
}

const char *fr__layout_output(const struct fr__layout_run *r, const struct fr_layout_op *op,
                              char *buf, size_t n)
{
    size_t used = 0;

    snprintf(buf, n, "whole");
    for (size_t i = 0; i < op->n_splits && used < n; i++) {
        const struct fr_layout_split *s = &op->splits[i];
        const char *axis = r->layout->axes[s->axis].name;

        if (s->output == FR_LAYOUT_WHOLE)
            continue;
        used += (size_t)snprintf(buf + used, n - used, "%s%s: ", used ? ", " : "", axis);
        if (used < n && s->output == FR_LAYOUT_SPLIT)
            used += (size_t)snprintf(buf + used, n - used, "S(%u)", s->dim);
        else if (used < n)
            used += (size_t)snprintf(buf + used, n - used, "P");
    }
    return buf;
}

const char *fr__layout_shape(const struct fr__layout_run *r, const struct fr_layout_op *op,
                             char *buf, size_t n)
{
    const struct fr_op *x = &r->graph->ops[op->op];
    const struct fr_tensor *t = x->n_tensors ? &r->graph->tensors[x->first_tensor] : NULL;
    size_t used = 0;

    buf[0] = '\0';
    for (unsigned d = 0; t && d < t->n_dims && used < n; d++) {
        double extent = t->dims[d];

        if (d == 0 && t->scales)
            extent *= (double)r->layout->micro_batch / r->graph->batch;
        used += (size_t)snprintf(buf + used, n - used, "%s%.0f", d ? ", " : "[", extent);
    }
    if (used && used < n)
        snprintf(buf + used, n - used, "]");
    return buf;
}

const char *fr__layout_kind_name(const struct fr__layout_run *r, const struct fr__layout_kind *k,
                                 char *buf, size_t n)
{
    if (k->n_units == 0)
        snprintf(buf, n, r->layout->n_units ? "outside the layers" : "of the model");
    else if (k->n_units == 1)
        snprintf(buf, n, "%s", r->layout->units[k->first]);
    else
        snprintf(buf, n, "%s and %u more alike", r->layout->units[k->first], k->n_units - 1);
    return buf;
}

const char *fr__layout_op_name(const struct fr__layout_run *r, const struct fr__layout_kind *k,
                               uint32_t op)
{
    const char *name = r->graph->ops[op].name;
    size_t n = k->n_units ? strlen(r->layout->units[k->first]) : 0;

    return n > 0 && strncmp(name, r->layout->units[k->first], n) == 0 && name[n] == '.'
               ? name + n + 1
               : name;
}
