/* topo/load/box.c - reads and builds a machine of PCIe cards, "box:8xa40,switch=4,bridge". */
#include "config.h"

#include "base/units.h"
#include "topo/load/box.h"

#include <stdio.h>
#include <string.h>

enum { MAX_CARDS = 16, MAX_SOCKETS = 2, PIECE = 64 };

static const char before[] = "box:";

bool fr__box_is(const char *word)
{
    return strncmp(word, before, sizeof(before) - 1) == 0;
}

/* ---- reading ---- */

static enum fr_status read_count(const char *text, const char *what, uint64_t max, uint32_t *out,
                                 struct fr_error *err)
{
    uint64_t n = 0;

    FR_TRY(fr__parse_count(text, what, FR_NOWHERE, 1, max, &n, err));
    *out = (uint32_t)n;
    return FR_OK;
}

/* ", did you mean 'rtx3090'?" over the cards, "" where none is near. */
static enum fr_status fail_unknown(const char *type, struct fr_error *err)
{
    const char *names[64];
    char excerpt[FR__EXCERPT], hint[256];
    size_t n = 0;

    for (size_t i = 0; n < 64 && fr__gpu_facts_at(i); i++)
        if (fr_device_type_find(fr__gpu_facts_at(i)->type))
            names[n++] = fr__gpu_facts_at(i)->type;
    return fr__fail(err, FR_ENOENT, FR_NOWHERE, "no device type '%s' for a box%s",
                    fr__excerpt(type, excerpt),
                    fr__did_you_mean(type, names, n, hint, sizeof(hint)));
}

static enum fr_status find_card(struct fr__box *box, const char *type, struct fr_error *err)
{
    for (size_t i = 0; fr__gpu_facts_at(i); i++)
        if (strcmp(fr__gpu_facts_at(i)->type, type) == 0 && fr_device_type_find(type))
            box->card = fr__gpu_facts_at(i);
    if (!box->card)
        return fail_unknown(type, err);
    if (box->card->join != FR__JOIN_NONE)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "%s is no PCIe card: its boards are presets ('forerun topo list'), or a "
                        "file of your own",
                        type);
    return FR_OK;
}

/* "8xa40" */
static enum fr_status read_cards(struct fr__box *box, const char *text, struct fr_error *err)
{
    size_t n = strcspn(text, "x");
    char number[PIECE], excerpt[FR__EXCERPT];

    if (!text[n] || n == 0 || n >= sizeof(number))
        return fr__fail(err, FR_EPARSE, FR_NOWHERE,
                        "the box has \"%s\", cards like 8xa40 expected after 'box:'",
                        fr__excerpt(text, excerpt));
    snprintf(number, sizeof(number), "%.*s", (int)n, text);
    FR_TRY(read_count(number, "the number of cards of a box", MAX_CARDS, &box->n_cards, err));
    return find_card(box, text + n + 1, err);
}

static enum fr_status read_option(struct fr__box *box, const char *text, struct fr_error *err)
{
    char excerpt[FR__EXCERPT];

    if (strncmp(text, "switch=", 7) == 0)
        return read_count(text + 7, "switch of a box", MAX_CARDS, &box->per_switch, err);
    if (strncmp(text, "sockets=", 8) == 0)
        return read_count(text + 8, "sockets of a box", MAX_SOCKETS, &box->n_sockets, err);
    if (strncmp(text, "nics=", 5) == 0)
        return read_count(text + 5, "nics of a box", MAX_CARDS, &box->n_nics, err);
    if (strcmp(text, "bridge") != 0)
        return fr__fail(
            err, FR_EPARSE, FR_NOWHERE,
            "a box has no option '%s', one of switch=, sockets=, nics=, bridge expected",
            fr__excerpt(text, excerpt));
    if (!box->card->link)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "%s takes no NVLink bridge", box->card->type);
    box->has_bridges = true;
    return FR_OK;
}

enum fr_status fr__box_parse(struct fr__box *out, const char *word, struct fr_error *err)
{
    const char *text = word + sizeof(before) - 1;

    *out = (struct fr__box){.n_nics = 1};
    for (bool is_first = true; is_first || *text; is_first = false) {
        size_t n = strcspn(text, ",");
        char piece[PIECE], excerpt[FR__EXCERPT];

        if (n >= sizeof(piece))
            return fr__fail(err, FR_ERANGE, FR_NOWHERE, "\"%s\" of a box is too long",
                            fr__excerpt(text, excerpt));
        snprintf(piece, sizeof(piece), "%.*s", (int)n, text);
        FR_TRY(is_first ? read_cards(out, piece, err) : read_option(out, piece, err));
        text += n + (text[n] == ',');
    }
    if (out->n_sockets == 0) /* what a socket has lanes for */
        out->n_sockets = out->n_cards > 4 ? 2 : 1;
    return FR_OK;
}

/* ---- building ---- */

/* The i-th of n things, spread over the sockets in order. */
static uint32_t socket_of(const struct fr__box *box, const uint32_t sockets[], uint32_t i,
                          uint32_t n)
{
    return sockets[(uint64_t)i * box->n_sockets / n];
}

static void join_bridges(const struct fr__box *box, struct fr_topo_builder *b,
                         const uint32_t cards[])
{
    for (uint32_t i = 0; box->has_bridges && i + 1 < box->n_cards; i += 2)
        fr__wire_join(b, FR_LINK_NVLINK, cards[i], cards[i + 1], box->card->link,
                      box->card->n_links);
}

/* A switch for every per_switch cards. Fills where each card's slot and each NIC's is: one NIC a
 * switch, where there are as many. */
static void join_switches(const struct fr__box *box, struct fr_topo_builder *b, uint32_t machine,
                          const uint32_t sockets[], uint32_t slots[], uint32_t nic_slots[])
{
    uint32_t n = (box->n_cards + box->per_switch - 1) / box->per_switch, above[MAX_CARDS];

    for (uint32_t s = 0; s < n; s++) {
        above[s] = fr__topo_builder_add(b, FR_VERTEX_PCIE, machine, "plx", s, NULL);
        fr__wire_join(b, FR_LINK_PCIE, above[s], socket_of(box, sockets, s, n), box->card->pcie, 1);
    }
    for (uint32_t i = 0; i < box->n_cards; i++)
        slots[i] = above[i / box->per_switch];
    for (uint32_t i = 0; i < box->n_nics && box->n_nics == n; i++)
        nic_slots[i] = above[i];
}

/* What the word leaves open. */
static void note_choices(const struct fr__box *box, struct fr_topo_builder *b)
{
    char text[256];

    snprintf(text, sizeof(text),
             "box of %s: the host is %s, a slot carries %.3g GB/s, NICs speak %s without 'via': as "
             "machines with this GPU mostly have",
             box->card->type, box->card->host->cpu, box->card->pcie->bw_Bps / 1e9,
             box->card->network);
    fr__topo_builder_note(b, text);
}

void fr__box_build(const struct fr__box *box, struct fr_topo_builder *b, uint32_t machine)
{
    uint32_t cards[MAX_CARDS], slots[MAX_CARDS], nic_slots[MAX_CARDS], sockets[MAX_SOCKETS];

    for (uint32_t i = 0; i < box->n_cards; i++)
        cards[i] = fr__topo_builder_add(b, FR_VERTEX_GPU, machine, "gpu", i, box->card->type);
    join_bridges(box, b, cards);
    note_choices(box, b);
    fr__host_build(b, machine, box->card->host, sockets);
    for (uint32_t i = 0; i < box->n_cards; i++)
        slots[i] = socket_of(box, sockets, i, box->n_cards);
    for (uint32_t i = 0; i < box->n_nics; i++)
        nic_slots[i] = socket_of(box, sockets, i, box->n_nics);
    if (box->per_switch)
        join_switches(box, b, machine, sockets, slots, nic_slots);
    for (uint32_t i = 0; i < box->n_cards; i++)
        fr__wire_join(b, FR_LINK_PCIE, slots[i], cards[i], box->card->pcie, 1);
    for (uint32_t i = 0; i < box->n_nics; i++)
        fr__wire_join(b, FR_LINK_PCIE, nic_slots[i],
                      fr__topo_builder_add(b, FR_VERTEX_NIC, machine, "nic", i, NULL),
                      box->card->pcie, 1);
}
