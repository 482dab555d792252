/* collectives/grid.c - see grid.h.
 *
 * The places next to place 0 say what the sides can be: along a side of k places with stride s they
 * are s and, where the side is closed, (k - 1) s. Sides that explain all of them are tried, and
 * taken if every place has such neighbours.
 */
#include "config.h"

#include "collectives/grid.h"

enum { MOST_SIDES = 8, MOST_NEIGHBOURS = 2 * MOST_SIDES };

struct search {
    uint32_t n, most, least; /* least: links of the shortest route */
    fr__hops_fn *hops;
    void *user;
    uint32_t near[MOST_NEIGHBOURS], n_near; /* places next to place 0, in order */
    uint32_t dims[MOST_SIDES], n_dims;
    bool is_closed[MOST_SIDES];
};

static bool is_next(const struct search *s, uint32_t a, uint32_t b)
{
    uint32_t n = s->hops(s->user, a, b);

    return n > 0 && n <= s->least;
}

/* false: more than a grid can have. */
static bool find_near(struct search *s)
{
    for (uint32_t v = 1; v < s->n; v++) {
        if (!is_next(s, 0, v))
            continue;
        if (s->n_near == 2 * s->most)
            return false;
        s->near[s->n_near++] = v;
    }
    return true;
}

static bool is_near(const struct search *s, uint32_t v)
{
    for (uint32_t i = 0; i < s->n_near; i++)
        if (s->near[i] == v)
            return true;
    return false;
}

/* How many neighbours a place has by the sides, and whether it has each of them. */
static bool has_neighbours(const struct search *s, uint32_t place, uint32_t *n)
{
    uint32_t stride = 1;

    *n = 0;
    for (uint32_t d = 0; d < s->n_dims; stride *= s->dims[d++]) {
        uint32_t at = place / stride % s->dims[d], last = s->dims[d] - 1;
        bool is_around = s->is_closed[d] && s->dims[d] > 2;

        *n += (at < last || is_around ? 1u : 0u) + (at > 0 || is_around ? 1u : 0u);
        if ((at < last && !is_next(s, place, place + stride)) ||
            (at == last && is_around && !is_next(s, place, place - last * stride)))
            return false;
    }
    return true;
}

static bool has_no_others(const struct search *s, uint32_t place, uint32_t expected)
{
    uint32_t n = 0;

    for (uint32_t v = 0; v < s->n && n <= expected; v++)
        n += v != place && is_next(s, place, v);
    return n == expected;
}

/* All places have their neighbours; the first, the last and one in the middle no others. */
static bool is_grid(const struct search *s)
{
    for (uint32_t place = 0; place < s->n; place++) {
        bool is_sample = place == 0 || place == s->n / 2 || place == s->n - 1;
        uint32_t n;

        if (!has_neighbours(s, place, &n) || (is_sample && !has_no_others(s, place, n)))
            return false;
    }
    return true;
}

/* Adds sides outwards until they multiply to n. */
static bool add_sides(struct search *s, uint32_t stride)
{
    if (stride == s->n)
        return s->n_dims > 1 && is_grid(s);
    if (s->n_dims == s->most || !is_near(s, stride))
        return false;
    for (uint32_t k = 2; k <= s->n / stride; k++) {
        uint32_t outer = stride * k;

        if (s->n % outer != 0 || (outer < s->n && !is_near(s, outer)))
            continue;
        s->dims[s->n_dims] = k;
        s->is_closed[s->n_dims] = k > 2 && is_near(s, (k - 1) * stride);
        s->n_dims++;
        if (add_sides(s, outer))
            return true;
        s->n_dims--;
    }
    return false;
}

uint32_t fr__grid_find(uint32_t n, fr__hops_fn *hops, void *user, uint32_t most, uint32_t dims[])
{
    struct search s = {.n = n, .hops = hops, .user = user};

    s.most = most < MOST_SIDES ? most : MOST_SIDES;
    if (n < 4 || s.most < 2)
        return 0;
    s.least = hops(user, 0, 1);
    if (s.least == 0 || !find_near(&s) || !add_sides(&s, 1))
        return 0;
    for (uint32_t d = 0; d < s.n_dims; d++)
        dims[d] = s.dims[d];
    return s.n_dims;
}

struct nodes {
    fr__hops_fn *hops;
    void *user;
    uint32_t per_node;
};

static uint32_t hops_of_nodes(void *user, uint32_t from, uint32_t to)
{
    const struct nodes *n = user;

    return n->hops(n->user, from * n->per_node, to * n->per_node);
}

void fr__grid_sides(struct fr__schedule *s, fr__hops_fn *hops, void *user)
{
    bool is_inside = s->per_node > 1 && s->per_node < s->n;
    struct nodes nodes = {hops, user, is_inside ? s->per_node : 1};
    uint32_t n_nodes = s->n / nodes.per_node, n = 0;

    if (s->algorithm->is_on_grid)
        n = fr__grid_find(n_nodes, hops_of_nodes, &nodes, FR__MOST_DIMS - 1, s->dims + is_inside);
    s->n_dims = n;
    if (!is_inside)
        return;
    s->dims[0] = s->per_node;
    s->n_dims = n + 1;
    if (n == 0) {
        s->dims[1] = n_nodes;
        s->n_dims = 2;
    }
}

bool fr__grid_is_cyclic(const struct fr__schedule *s)
{
    bool is_inside = s->per_node > 1 && s->per_node < s->n;

    return !s->algorithm->is_on_grid || s->per_node == s->n || s->n_dims <= 1u + is_inside;
}
