/* topo/load/compose.c - reads the line that names a cluster, "2x dgx1-v100 + a.yaml via ib:1Gbps".
 *
 *   line    = part { "+" part } [ "via" ( network | fabric ) ] [ "less" loss { "," loss } ]
 *             [ "over" "sockets" ]                 sent through the hosts' kernels
 *   part    = [ COUNT "x" ] NAME                 a preset, a file or a box (box.h); "4xNAME" too
 *   network = KIND ":" RATE [ "," LATENCY ]              see network.c
 *   fabric                                               see fabric.h
 *   loss    = NAME "=" PART                              a link or all of a vertex', 0: failed
 *
 * Words stand between blanks; blanks after a comma or colon of "via" and "less" are left out.
 *
 * All NICs that have no network link yet join one ideal switch, "net.switch", each at the given
 * rate or, where no network is named, at the one its preset or file states. A single machine
 * without "via" stays alone; a preset of several machines (a rack) does not.
 */
#include "config.h"

#include "base/file.h"
#include "base/units.h"
#include "topo/load/box.h"
#include "topo/load/fabric.h"
#include "topo/load/load.h"
#include "topo/machines/machines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LINE = 4096, MAX_PARTS = 64, MAX_WORDS = 4 * MAX_PARTS };

struct part {
    uint32_t count;
    const char *name;
    const char *network;             /* of an alias: in the place of the preset's; NULL */
    const struct fr__preset *preset; /* one of the three */
    const struct fr__box *box;
    const struct fr__topo_file *file;
};

struct line {
    struct fr__arena *arena;
    struct part parts[MAX_PARTS];
    size_t n_parts;
    const char *via;  /* NULL: each part's own */
    const char *less; /* "n0.nic1=0.5,net.rail3=0", NULL: all links are whole */
    bool is_over_sockets;
    bool has_fabric; /* via is more than one switch: */
    struct fr__fabric fabric;
    struct fr__fabric_nic *nics; /* heap */
    size_t n_nics, cap_nics;
};

/* ---- reading the line ---- */

/* Cuts the line at blanks; the words live in the arena. */
static enum fr_status split(struct fr__arena *a, const char *spec, const char *words[MAX_WORDS],
                            size_t *n, struct fr_error *err)
{
    static const char blanks[] = " \t\r\n";

    for (*n = 0;;) {
        size_t len;

        spec += strspn(spec, blanks);
        len = strcspn(spec, blanks);
        if (len == 0)
            return FR_OK;
        if (*n == MAX_WORDS)
            return fr__fail(err, FR_ERANGE, FR_NOWHERE, "the topology has more than %d parts",
                            MAX_PARTS);
        words[*n] = fr__arena_strndup(a, spec, len);
        if (!words[(*n)++])
            return fr__fail_nomem(err);
        spec += len;
    }
}

static bool is_x(char c)
{
    return c == 'x' || c == 'X';
}

/* "12x", or "12" before a word "x": digits and an x. Returns of how many words, 0: none. */
static size_t count_words(const char *const words[], size_t n, size_t at)
{
    size_t n_digits = at < n ? strspn(words[at], "0123456789") : 0;
    const char *rest = n_digits ? words[at] + n_digits : "";

    if (is_x(rest[0]) && !rest[1])
        return 1;
    return n_digits && !rest[0] && at + 1 < n && is_x(words[at + 1][0]) && !words[at + 1][1] ? 2
                                                                                             : 0;
}

/* "4xNAME" in one word: of how many bytes its "4x" is; 0: it is a name as it stands. */
static size_t count_before_name(const char *word)
{
    size_t n = strspn(word, "0123456789");

    if (n == 0 || !is_x(word[n]) || fr__preset_find(word) || fr__exists(word) ||
        fr__topo_alias_of_machine(word))
        return 0;
    word += n + 1;
    return fr__preset_find(word) || fr__box_is(word) || fr__exists(word) ||
                   fr__topo_alias_of_machine(word)
               ? n + 1
               : 0;
}

static enum fr_status read_part(struct line *l, const char *const words[], size_t n, size_t *at,
                                struct fr_error *err)
{
    struct part *p = &l->parts[l->n_parts];
    size_t n_count = count_words(words, n, *at);
    size_t n_glued = n_count == 0 && *at < n ? count_before_name(words[*at]) : 0;

    if (l->n_parts == MAX_PARTS)
        return fr__fail(err, FR_ERANGE, FR_NOWHERE, "the topology has more than %d parts",
                        MAX_PARTS);
    p->count = 1;
    if (n_count > 0 || n_glued > 0) {
        char digits[32];
        uint64_t count;

        snprintf(digits, sizeof(digits), "%.*s", (int)strcspn(words[*at], "xX"), words[*at]);
        FR_TRY(fr__parse_count(digits, "the number of machines", FR_NOWHERE, 1, FR__MAX_MACHINES,
                               &count, err));
        p->count = (uint32_t)count;
        *at += n_count;
    }
    if (n == 0)
        return fr__fail(
            err, FR_EPARSE, FR_NOWHERE,
            "the topology lacks a preset or file: it is empty, one like '2x dgx1-v100 via "
            "ib:100Gbps' expected");
    if (*at == n || strcmp(words[*at], "+") == 0 || strcmp(words[*at], "via") == 0)
        return fr__fail(err, FR_EPARSE, FR_NOWHERE,
                        "the topology lacks a preset or file %s %s, one like '2x dgx1-v100 via "
                        "ib:100Gbps' expected",
                        *at == n ? "after" : "before", *at == n ? words[*at - 1] : words[*at]);
    p->name = words[(*at)++] + n_glued;
    l->n_parts++;
    return FR_OK;
}

/* Whether a list goes on in the next word: "rails:400Gbps, spine=2:1". */
static bool goes_on(const char *word, const char *next)
{
    char last = word[strlen(word) - 1];

    return last == ',' || last == ':' || next[0] == ',';
}

/* The list that begins with word *at, in the arena, without blanks. */
static enum fr_status read_list(struct line *l, const char *const words[], size_t n, size_t *at,
                                const char **out, struct fr_error *err)
{
    size_t past = *at + 1, size = strlen(words[*at]) + 1, used = 0;
    char *text;

    for (; past < n && goes_on(words[past - 1], words[past]); past++)
        size += strlen(words[past]);
    text = fr__arena_alloc(l->arena, size, 1);
    if (!text)
        return fr__fail_nomem(err);
    for (; *at < past; ++*at)
        used += (size_t)snprintf(text + used, size - used, "%s", words[*at]);
    *out = text;
    return FR_OK;
}

static enum fr_status read_line(struct line *l, const char *spec, struct fr_error *err)
{
    const char *words[MAX_WORDS];
    size_t n, at = 0;

    FR_TRY(split(l->arena, spec, words, &n, err));
    do
        FR_TRY(read_part(l, words, n, &at, err));
    while (at < n && strcmp(words[at], "+") == 0 && ++at);
    if (at < n && strcmp(words[at], "via") == 0) {
        if (++at == n)
            return fr__fail(err, FR_EPARSE, FR_NOWHERE,
                            "no network after 'via', one like ib:100Gbps expected");
        FR_TRY(read_list(l, words, n, &at, &l->via, err));
    }
    if (at < n && strcmp(words[at], "less") == 0) {
        if (++at == n)
            return fr__fail(err, FR_EPARSE, FR_NOWHERE,
                            "nothing after 'less', links like n0.nic1=0.5 expected");
        FR_TRY(read_list(l, words, n, &at, &l->less, err));
    }
    if (at < n && strcmp(words[at], "over") == 0) {
        if (++at == n || strcmp(words[at], "sockets") != 0)
            return fr__fail(err, FR_EPARSE, FR_NOWHERE,
                            "what is said after 'over' is no 'sockets'");
        at++;
        l->is_over_sockets = true;
    }
    if (at < n)
        return fr__fail(err, FR_EPARSE, FR_NOWHERE, "'%s' in the topology, '+' or 'via' expected",
                        words[at]);
    l->has_fabric = l->via && fr__fabric_is(l->via);
    return l->has_fabric ? fr__fabric_parse(&l->fabric, l->via, FR_NOWHERE, err) : FR_OK;
}

/* ---- finding what the names mean ---- */

static enum fr_status find_part(struct fr__arena *a, struct part *p, struct fr_error *err)
{
    struct fr__topo_file *f;
    struct fr__box *box;

    const struct fr_topo_alias *alias;

    p->preset = fr__preset_find(p->name);
    if (p->preset)
        return FR_OK;
    alias = fr__exists(p->name) ? NULL : fr__topo_alias_of_machine(p->name);
    if (alias) {
        p->preset = fr__preset_find(alias->preset);
        p->network = alias->network[0] ? alias->network : NULL;
        return p->preset ? FR_OK : fr__topo_fail_unknown(alias->preset, err);
    }
    if (fr__box_is(p->name)) {
        p->box = box = fr__arena_alloc(a, 1, sizeof(*box));
        return box ? fr__box_parse(box, p->name, err) : fr__fail_nomem(err);
    }
    if (!fr__exists(p->name))
        return fr__topo_fail_unknown(p->name, err);
    FR_TRY(fr__topo_file_read(a, p->name, &f, err));
    p->file = f;
    return FR_OK;
}

/* ---- joining ---- */

static const char *own_network(const struct part *p)
{
    return p->network  ? p->network
           : p->preset ? p->preset->network
           : p->box    ? p->box->card->network
                       : fr__topo_file_network(p->file);
}

static enum fr_status fail_unsaid(const struct part *p, struct fr_error *err)
{
    return fr__fail(
        err, FR_EUSAGE, FR_NOWHERE,
        "'%s' does not say which network its NICs are for, add one like 'via ib:100Gbps'", p->name);
}

/* What the NIC at a vertex of the part speaks: `via`, else its own, else the part's. NULL: none. */
static const char *network_at(const struct part *p, const char *via, size_t row)
{
    const char *own = via || !p->file ? NULL : fr__topo_file_nic_network(p->file, row);

    return via ? via : own ? own : own_network(p);
}

/* Wires the NICs among the vertices from `first` on that have no network yet to the switch. */
static enum fr_status join(struct fr_topo_builder *b, const struct part *p, size_t first,
                           const char *via, uint32_t hub, struct fr_error *err)
{
    const char *text = via ? via : own_network(p), *last = text;
    struct fr__network net;
    size_t n_nics = 0;

    if (text)
        FR_TRY(fr__network_parse(&net, text, FR_NOWHERE, err));
    else if (!p->file || !fr__topo_file_has_networks(p->file))
        return fail_unsaid(p, err);
    for (size_t v = first; v < fr__topo_builder_n_vertices(b); v++) {
        if (fr__topo_builder_get(b, (uint32_t)v)->kind != FR_VERTEX_NIC)
            continue;
        text = network_at(p, via, v - first);
        if (!text)
            return fail_unsaid(p, err);
        if (text != last)
            FR_TRY(fr__network_parse(&net, text, FR_NOWHERE, err));
        last = text;
        n_nics++;
        fr__topo_builder_cable(b, FR_LINK_NET, (uint32_t)v, hub, net.bw_Bps, net.latency_s,
                               net.source);
    }
    if (n_nics == 0 && !fr__topo_builder_has_fault(b))
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "'%s' has no NIC, so it cannot be joined to others", p->name);
    return FR_OK;
}

/* Keeps the NICs among the vertices from `first` on for the fabric, each with its rate. */
static enum fr_status keep_nics(struct line *l, struct fr_topo_builder *b, const struct part *p,
                                size_t first, struct fr_error *err)
{
    size_t before = l->n_nics;

    for (size_t v = first; v < fr__topo_builder_n_vertices(b); v++) {
        const struct fr_vertex *vertex = fr__topo_builder_get(b, (uint32_t)v);
        const char *text = network_at(p, NULL, v - first);
        const struct fr__fabric_nic *last = l->n_nics ? &l->nics[l->n_nics - 1] : NULL;
        struct fr__network net = l->fabric.net;
        struct fr__fabric_nic nic = {.vertex = (uint32_t)v, .machine = vertex->machine};

        if (vertex->kind != FR_VERTEX_NIC)
            continue;
        nic.number = last && last->machine == nic.machine ? last->number + 1 : 0;
        nic.latency_s = net.latency_s;
        if (net.bw_Bps <= 0 && !text)
            return fail_unsaid(p, err);
        if (net.bw_Bps <= 0)
            FR_TRY(fr__network_parse(&net, text, FR_NOWHERE, err));
        nic.bw_Bps = net.bw_Bps;
        if (!fr__grow(&l->nics, &l->cap_nics, l->n_nics + 1, sizeof(*l->nics)))
            return fr__fail_nomem(err);
        l->nics[l->n_nics++] = nic;
    }
    if (l->n_nics == before && !fr__topo_builder_has_fault(b))
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "'%s' has no NIC to join it to others by",
                        p->name);
    return FR_OK;
}

/* A machine alone keeps what its NICs would speak, for those who write it to a file. */
static void name_networks(struct fr_topo_builder *b, const struct part *p, size_t first)
{
    for (size_t v = first; v < fr__topo_builder_n_vertices(b); v++) {
        const char *text = network_at(p, NULL, v - first);

        if (text && fr__topo_builder_get(b, (uint32_t)v)->kind == FR_VERTEX_NIC)
            fr__topo_builder_network(b, (uint32_t)v, text);
    }
}

/* ---- collectives over the machines ---- */

/* What was measured of several machines like these holds if they are all of one make, and on the
 * network it was measured on; else the builder is told why not. */
static enum fr_status name_system(const struct line *l, struct fr_topo_builder *b,
                                  struct fr_error *err)
{
    const struct part *p = &l->parts[0];
    bool is_whole = !l->less && !l->is_over_sockets;
    struct fr__network own, now;
    struct fr_loc loc = FR_NOWHERE;
    const char *name = p->preset ? p->preset->network_system
                       : p->box  ? NULL
                                 : fr__topo_file_system(p->file, &loc);
    char why[2 * MAX_LINE];

    if (!name || fr__fabric_is(own_network(p)))
        return FR_OK;
    FR_TRY(
        fr__network_parse(&own, p->preset ? p->preset->network : own_network(p), FR_NOWHERE, err));
    if (l->has_fabric)
        now = (struct fr__network){.kind = ""};
    else
        FR_TRY(fr__network_parse(&now, l->via ? l->via : own_network(p), FR_NOWHERE, err));
    for (size_t i = 1; i < l->n_parts; i++)
        if (strcmp(l->parts[i].name, p->name) != 0) {
            snprintf(why, sizeof(why), "%s is of several %s alone", name, p->name);
            fr_topo_builder_network_system(b, name, why, loc);
            return FR_OK;
        }
    if (!is_whole)
        snprintf(why, sizeof(why), "%s was measured on links that are whole", name);
    else
        snprintf(why, sizeof(why), "%s was measured on %s", name, own.text);
    fr_topo_builder_network_system(b, name,
                                   fr__network_is_same(&own, &now) && is_whole ? NULL : why, loc);
    return FR_OK;
}

/* ---- placing ---- */

/* Adds the part's machines; those of a preset or box are all alike. Returns how many. */
static uint32_t place(struct fr_topo_builder *b, const struct part *p, uint32_t machine)
{
    struct fr__repeated one = fr__topo_builder_begin(b, machine);
    uint32_t first = machine;

    for (uint32_t i = 0; i < p->count && !fr__topo_builder_has_fault(b); i++) {
        if (i > 0 && fr__topo_builder_repeat(b, &one, machine)) {
            machine += one.past_machine - one.first_machine;
            continue;
        }
        if (p->preset) {
            p->preset->build(b, machine, p->preset);
            machine += p->preset->n_machines ? p->preset->n_machines : 1;
        } else if (p->box) {
            fr__box_build(p->box, b, machine++);
        } else {
            machine += fr__topo_file_place(p->file, b, machine);
        }
        if (i == 0)
            fr__topo_builder_end(b, &one, machine);
    }
    return machine - first;
}

static enum fr_status change_links(const struct line *l, struct fr_topo_builder *b,
                                   struct fr_error *err)
{
    if (l->less)
        FR_TRY(fr__topo_builder_degrade_all(b, l->less, err));
    if (l->is_over_sockets)
        fr__topo_builder_over_sockets(b);
    return FR_OK;
}

static enum fr_status build(struct line *l, struct fr_topo_builder *b, struct fr_error *err)
{
    const struct fr__preset *first_preset = l->parts[0].preset;
    bool is_joined = l->via || l->n_parts > 1 || l->parts[0].count > 1 ||
                     (first_preset && first_preset->n_machines > 1);
    uint32_t machine = 0, hub = FR_NONE, n;

    if (l->n_parts == 1 && l->parts[0].count == 1 && !l->via && l->parts[0].file) {
        FR_TRY(fr__topo_file_fill(l->parts[0].file, b, err));
        return change_links(l, b, err);
    }
    if (is_joined && !l->has_fabric)
        hub =
            fr_topo_builder_vertex(b, FR_VERTEX_SWITCH, "net.switch", FR_NONE, FR_NONE, FR_NOWHERE);
    for (size_t i = 0; i < l->n_parts; i++) {
        const struct part *p = &l->parts[i];
        size_t first = fr__topo_builder_n_vertices(b);

        if (p->file && fr__topo_file_has_fabric(p->file))
            return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                            "'%s' has a network of its own and cannot be joined to others",
                            p->name);
        n = place(b, p, machine);
        fr__topo_builder_part(b, p->name, machine, n, p->count);
        machine += n;
        if (p->file)
            fr__topo_file_note(p->file, b);
        if (l->has_fabric)
            FR_TRY(keep_nics(l, b, p, first, err));
        else if (is_joined)
            FR_TRY(join(b, p, first, l->via, hub, err));
        else
            name_networks(b, p, first);
    }
    if (l->has_fabric && !fr__topo_builder_has_fault(b)) /* else not all machines are there */
        FR_TRY(fr__fabric_build(&l->fabric, b, l->nics, l->n_nics, machine, err));
    FR_TRY(change_links(l, b, err));
    return machine > 1 ? name_system(l, b, err) : FR_OK;
}

/* The line again with single blanks; "1x" only where something follows. */
static char *normalise(const struct line *l)
{
    bool is_alone =
        l->n_parts == 1 && l->parts[0].count == 1 && !l->via && !l->less && !l->is_over_sockets;
    size_t size = sizeof(" over sockets"), used = 0;
    char *text;

    for (size_t i = 0; i < l->n_parts; i++)
        size += strlen(l->parts[i].name) + 16;
    size += (l->via ? strlen(l->via) + 8 : 0) + (l->less ? strlen(l->less) + 8 : 0);
    text = fr__arena_alloc(l->arena, size, 1);
    if (!text)
        return NULL;
    for (size_t i = 0; i < l->n_parts; i++) {
        if (!is_alone)
            used += (size_t)snprintf(text + used, size - used, "%s%ux ", i ? " + " : "",
                                     (unsigned)l->parts[i].count);
        used += (size_t)snprintf(text + used, size - used, "%s", l->parts[i].name);
    }
    if (l->via)
        used += (size_t)snprintf(text + used, size - used, " via %s", l->via);
    if (l->less)
        used += (size_t)snprintf(text + used, size - used, " less %s", l->less);
    if (l->is_over_sockets)
        snprintf(text + used, size - used, " over sockets");
    return text;
}

/* Several machines of one file that names a fabric stand in that fabric. */
static enum fr_status take_own_fabric(struct line *l, struct fr_error *err)
{
    const char *own = l->parts[0].file ? fr__topo_file_network(l->parts[0].file) : NULL;

    if (l->via || !own || !fr__fabric_is(own))
        return FR_OK;
    if (l->n_parts > 1)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "'%s' names a fabric of its own: say by 'via' what joins it to others",
                        l->parts[0].name);
    l->via = own;
    l->has_fabric = true;
    return fr__fabric_parse(&l->fabric, own, FR_NOWHERE, err);
}

/* Single blanks between the words. NULL: out of memory. */
static char *join_words(struct fr__arena *a, const char *const words[], size_t n)
{
    size_t size = 1, used = 0;
    char *text;

    for (size_t i = 0; i < n; i++)
        size += strlen(words[i]) + 1;
    text = fr__arena_alloc(a, size, 1);
    for (size_t i = 0; text && i < n; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? " " : "", words[i]);
    return text;
}

static enum fr_status load_line(struct fr__arena *a, const char *spec, struct fr_topo **out,
                                struct fr_error *err)
{
    struct line *l = fr__arena_alloc(a, 1, sizeof(*l));
    const char *words[MAX_WORDS], *name;
    struct fr_topo_builder *b;
    enum fr_status status;
    size_t n;

    if (!l)
        return fr__fail_nomem(err);
    FR_TRY(split(a, spec, words, &n, err));
    if (fr__toy_is(words, n)) {
        name = join_words(a, words, n);
        return name ? fr__toy_load(a, words, n, name, out, err) : fr__fail_nomem(err);
    }
    l->arena = a;
    FR_TRY(read_line(l, spec, err));
    for (size_t i = 0; i < l->n_parts; i++)
        FR_TRY(find_part(a, &l->parts[i], err));
    if (l->n_parts == 1 && l->parts[0].count == 1 && !l->via && !l->less && !l->is_over_sockets &&
        l->parts[0].file)
        return fr__topo_file_load(l->parts[0].file, out, err);
    FR_TRY(take_own_fabric(l, err));
    name = normalise(l);
    b = fr_topo_builder_new();
    status = b && name ? build(l, b, err) : fr__fail_nomem(err);
    if (status == FR_OK)
        status = fr_topo_builder_finish(b, name, out, err);
    fr_topo_builder_free(b);
    free(l->nics);
    return status;
}

enum fr_status fr_topo_load(struct fr_topo **out, const char *spec, struct fr_error *err)
{
    struct fr__topo_file *f;
    struct fr__arena *a;
    enum fr_status status;

    if (strlen(spec) > MAX_LINE)
        return fr__fail(err, FR_ERANGE, FR_NOWHERE, "the topology is longer than %d bytes",
                        MAX_LINE);
    a = fr__arena_new();
    if (!a)
        return fr__fail_nomem(err);
    /* a file first, since its name may hold blanks */
    if (!fr__preset_find(spec) && fr__exists(spec) && !fr__is_folder(spec)) {
        status = fr__topo_file_read(a, spec, &f, err);
        if (status == FR_OK)
            status = fr__topo_file_load(f, out, err);
    } else {
        status = load_line(a, spec, out, err);
    }
    fr__arena_free(a);
    return status;
}
