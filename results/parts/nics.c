/* results/parts/nics.c - the NICs of machines, in the words of tables and reports.
 *
 * It is separate because answers about runs, sweeps, searches and collectives all say them alike.
 */
#include "config.h"

#include "results/parts/nics.h"

#include "results/parts/number.h"
#include "study/answer/figures.h"
#include "study/sweep/state.h"

#include <stdio.h>
#include <string.h>

enum { NUMBER = 32 };

const char *fr__nics_text(const struct fr_topo_nics nics[], size_t n, char buf[FR__NICS_TEXT])
{
    size_t used = 0;

    buf[0] = '\0';
    for (size_t i = 0; i < n && used < FR__NICS_TEXT; i++) {
        const struct fr_topo_nics *k = &nics[i];
        char rate[NUMBER], host[NUMBER], more[3 * NUMBER] = "", machines[NUMBER] = "";

        if (k->host_Bps > 0)
            snprintf(more, sizeof(more), ", PCIe %s GB/s (%s limits)",
                     fr__plain(1e-9 * k->host_Bps, host, sizeof(host)),
                     fr__nics_wait_for_pcie(k) ? "PCIe" : "the network");
        if (n > 1)
            snprintf(machines, sizeof(machines), " in %u machine%s", (unsigned)k->n_machines,
                     k->n_machines == 1 ? "" : "s");
        used += (size_t)snprintf(buf + used, FR__NICS_TEXT - used, "%s%u x %s Gbit/s%s%s",
                                 i ? "; " : "", (unsigned)k->n_a_machine,
                                 fr__plain(8e-9 * k->rate_Bps, rate, sizeof(rate)), more, machines);
    }
    return buf;
}

/* Whether all topologies of the sweep that have NICs have the same. */
static bool are_alike(const struct fr_sweep *s)
{
    char first[FR__NICS_TEXT] = "", text[FR__NICS_TEXT];

    for (size_t i = 0; i < s->n_nics; i++) {
        fr__nics_text(s->nics[i].kinds, s->nics[i].n, text);
        if (text[0] && first[0] && strcmp(text, first) != 0)
            return false;
        if (!first[0])
            memcpy(first, text, sizeof(text));
    }
    return true;
}

const char *fr__sweep_nics_text(const struct fr_sweep *s, size_t i, char buf[FR__NICS_TEXT])
{
    char text[FR__NICS_TEXT];
    bool is_first = true, has_one = are_alike(s);

    buf[0] = '\0';
    for (size_t k = 0; k < i; k++)
        is_first = is_first && s->nics[k].n == 0;
    if (s->nics[i].n == 0 || (has_one && !is_first))
        return buf;
    fr__nics_text(s->nics[i].kinds, s->nics[i].n, text);
    if (has_one)
        snprintf(buf, FR__NICS_TEXT, "NICs of a machine: %.900s", text);
    else
        snprintf(buf, FR__NICS_TEXT, "NICs of a machine of %.200s: %.700s", s->nics[i].topology,
                 text);
    return buf;
}
