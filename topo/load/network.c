/* topo/load/network.c - the kinds of network that join machines, and the text that names one.
 *
 * The rate is the user's word: it is taken whole, so write what a large message gets. The latency
 * is the wire's and the adapter's; the PCIe links on both sides have their own.
 */
#include "config.h"

#include "base/units.h"
#include "topo/load/fabric.h"

#include <stdio.h>
#include <string.h>

struct kind {
    const char *name;
    double latency_s; /* NIC to NIC */
    double hop_s;     /* a switch: of the product briefs and the paper that `source` names */
    const char *source;
};

static const struct kind kinds[] = {
    {"ib", 0.7e-6, 0.09e-6,
     "latency: 2.7 us from GPU to GPU (NCCL src/graph/tuning.cc, ring LL over a network; 2.68 us "
     "by "
     "ib_write_lat on NDR) less four PCIe links of 0.5 us"},
    {"roce", 0.91e-6, 0.3e-6,
     "latency: InfiniBand's and 0.21 us for an Ethernet switch (Mellanox SN2700, 300 ns, against "
     "SB7700, 90 ns: product briefs)"},
    {"slingshot", 0.96e-6, 0.35e-6,
     "latency: InfiniBand's and 0.26 us for a Rosetta switch (De Sensi and others, SC 2020, "
     "section II: "
     "350 ns, against SB7700's 90 ns: product brief)"},
    {"eth", 30.91e-6, 0.3e-6,
     "latency: RoCE's and 15 us for the kernel's network stack on each side (Rumble et al., HotOS "
     "2011, table 1)"},
};

enum { N_KINDS = sizeof(kinds) / sizeof(kinds[0]), PIECE = 64 };

/* Copies [from, to) if it fits; false: longer than any rate or time is. */
static bool cut(char piece[PIECE], const char *from, const char *to)
{
    size_t n = (size_t)(to - from);

    if (n >= PIECE)
        return false;
    memcpy(piece, from, n);
    piece[n] = '\0';
    return true;
}

static const struct kind *find_kind(const char *name)
{
    for (size_t i = 0; i < N_KINDS; i++)
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    return NULL;
}

enum fr_status fr__network_kind(struct fr__network *out, const char *name, struct fr_loc loc,
                                struct fr_error *err)
{
    const struct kind *kind = find_kind(name);
    char excerpt[FR__EXCERPT];

    if (!kind)
        return fr__fail(err, FR_EPARSE, loc,
                        "the network is of kind '%s', one of ib, roce, slingshot, eth expected",
                        fr__excerpt(name, excerpt));
    out->kind = kind->name;
    out->latency_s = kind->latency_s / 2; /* two links from NIC to NIC */
    out->hop_s = kind->hop_s;
    out->source = kind->source;
    return FR_OK;
}

/* The first word is neither a kind nor, since it came here, a fabric. */
static enum fr_status fail_unknown(const char *name, struct fr_loc loc, struct fr_error *err)
{
    const char *names[N_KINDS + FR__N_SHAPES];
    char hint[128], excerpt[FR__EXCERPT];
    size_t n = 0;

    for (; n < N_KINDS; n++)
        names[n] = kinds[n].name;
    for (; fr__fabric_shape_name(n - N_KINDS); n++)
        names[n] = fr__fabric_shape_name(n - N_KINDS);
    return fr__fail(err, FR_EPARSE, loc,
                    "the network is of kind '%s', one of ib, roce, slingshot, eth expected, or a "
                    "fabric such as rails or leaf-spine%s",
                    fr__excerpt(name, excerpt),
                    fr__did_you_mean(name, names, n, hint, sizeof(hint)));
}

enum fr_status fr__network_parse(struct fr__network *out, const char *text, struct fr_loc loc,
                                 struct fr_error *err)
{
    const char *colon = strchr(text, ':'), *end = text + strlen(text), *comma;
    char name[PIECE], rate[PIECE], latency[PIECE];

    if (!colon)
        return fr__fail(err, FR_EPARSE, loc,
                        "the network is '%s', a kind and a rate like ib:100Gbps expected", text);
    comma = strchr(colon, ',');
    if (!cut(name, text, colon) || !cut(rate, colon + 1, comma ? comma : end) ||
        (comma && !cut(latency, comma + 1, end)))
        return fr__fail(err, FR_EPARSE, loc, "the network '%.40s...' is too long", text);
    if (!find_kind(name))
        return fail_unknown(name, loc, err);
    if (comma && strchr(latency, '='))
        return fr__fail(err, FR_EPARSE, loc,
                        "'%s' is an option of fabrics, and %s is one switch; a fabric with it is "
                        "one like leaf-spine:%s,%s",
                        latency, name, rate, latency);
    FR_TRY(fr__network_kind(out, name, loc, err));
    out->text = text;
    FR_TRY(fr__parse_rate(rate, "the network's rate", loc, &out->bw_Bps, err));
    if (comma)
        FR_TRY(fr__parse_time(latency, "the network's latency", loc, &out->latency_s, err));
    if (comma)
        out->latency_s /= 2;
    if (!(out->bw_Bps > 0))
        return fr__fail(err, FR_ERANGE, loc, "the network's rate is 0");
    if (comma)
        out->source = "latency: as given";
    return FR_OK;
}

bool fr__network_is_same(const struct fr__network *a, const struct fr__network *b)
{
    return a->kind == b->kind && a->bw_Bps == b->bw_Bps && a->latency_s == b->latency_s;
}
