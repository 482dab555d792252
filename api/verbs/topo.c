/* api/verbs/topo.c - list, show, draw and check topologies. */
#include "config.h"

#include "base/error.h"
#include "base/json.h"
#include "base/units.h"
#include "calibrate/messages/system.h"
#include "api/verbs/verbs.h"
#include "results/draw.h"

enum { NUMBER = 32 };

static const char *vertex_kind_name(enum fr_vertex_kind kind)
{
    static const char *const names[FR_N_VERTEX_KINDS] = {
        [FR_VERTEX_GPU] = "gpu",   [FR_VERTEX_CPU] = "cpu", [FR_VERTEX_NVSWITCH] = "nvswitch",
        [FR_VERTEX_PCIE] = "pcie", [FR_VERTEX_NIC] = "nic", [FR_VERTEX_SWITCH] = "switch",
    };

    return names[kind];
}

static const char *link_kind_name(enum fr_link_kind kind)
{
    static const char *const names[FR_N_LINK_KINDS] = {
        [FR_LINK_NVLINK] = "nvlink",
        [FR_LINK_PCIE] = "pcie",
        [FR_LINK_CPU] = "cpu",
        [FR_LINK_NET] = "network",
    };

    return names[kind];
}

enum fr_status fr__verb_topo_list(struct fr__call *s, struct fr_error *err)
{
    const struct fr_device_type *type;

    (void)s;
    (void)err;
    fputs("Presets:\n", s->out);
    for (size_t i = 0; fr_topo_preset_name(i); i++)
        fr__print_row(s->out, fr_topo_preset_name(i), 16, fr_topo_preset_summary(i));
    fputs("\nSeveral machines: \"2x dgx1-v100 via ib:100Gbps\"; a machine of PCIe cards: "
          "\"box:8xrtx4090\";\nwithout hardware: \"3 machines via 1GB/s\"; or a YAML file.\n\n"
          "Device types:\n",
          s->out);
    for (size_t i = 0; (type = fr_device_type_builtin(i)) != NULL; i++) {
        char memory[NUMBER], rate[NUMBER];

        fprintf(s->out, "  %-22s  %9s, %s\n", type->name,
                fr__format_bytes((double)type->mem_bytes, memory, sizeof(memory)),
                fr__format_rate(type->mem_Bps, rate, sizeof(rate)));
    }
    return FR_OK;
}

/* ---- show, for people ---- */

static void print_flops_rate(FILE *f, const char *what, double flops_per_s)
{
    char text[NUMBER];

    if (flops_per_s > 0)
        fprintf(f, ", %s %s/s", what, fr__format_flops(flops_per_s, text, sizeof(text)));
}

static void print_types(FILE *f, const struct fr_topo *t)
{
    fputs("\nDevice types:\n", f);
    for (size_t i = 0; i < t->n_types; i++) {
        const struct fr_device_type *type = &t->types[i];
        char memory[NUMBER], rate[NUMBER], launch[NUMBER];

        fprintf(f, "  %s: %s at %s", type->name,
                fr__format_bytes((double)type->mem_bytes, memory, sizeof(memory)),
                fr__format_rate(type->mem_Bps, rate, sizeof(rate)));
        print_flops_rate(f, "vector", type->vector_flops_per_s);
        for (unsigned dtype = 0; dtype < FR_N_DTYPES; dtype++)
            print_flops_rate(f, fr_dtype_name((enum fr_dtype)dtype), type->flops_per_s[dtype]);
        fprintf(f, "\n    launch %s, context %s",
                fr__format_time(type->launch_s, launch, sizeof(launch)),
                fr__format_bytes((double)type->context_bytes, memory, sizeof(memory)));
        if (type->board_W > 0)
            fprintf(f, ", board %s W", fr__format_double(type->board_W, memory, sizeof(memory)));
        fprintf(f, "; source: %s\n", type->source ? type->source : "not given");
    }
}

/* A run of devices of one type on one machine takes one line. */
static void print_devices(FILE *f, const struct fr_topo *t)
{
    fputs("\nDevices:\n", f);
    for (size_t first = 0, past; first < t->n_devices; first = past) {
        const struct fr_device *d = &t->devices[first];

        past = first + 1;
        while (past < t->n_devices && t->devices[past].type == d->type &&
               t->devices[past].machine == d->machine)
            past++;
        if (past - first > 1)
            fprintf(f, "  %s ... %s: %zu x %s\n", d->name, t->devices[past - 1].name, past - first,
                    t->types[d->type].name);
        else
            fprintf(f, "  %s: %s\n", d->name, t->types[d->type].name);
    }
}

/* What collectives inside machines take their time from. */
static void print_systems(FILE *f, const struct fr_topo *t)
{
    const char *title = "\nCollectives inside a machine take the time fitted to:\n";

    for (size_t i = 0; i < t->n_systems; i++) {
        size_t n = 0;

        for (size_t m = 0; m < t->n_machines; m++)
            n += t->system_of[m] == i;
        if (n > 0)
            fprintf(f, "%s  %s: %zu machine%s\n", title, t->systems[i].name, n, n == 1 ? "" : "s");
        title = n > 0 ? "" : title;
    }
    if (t->network_system != FR_NONE)
        fprintf(f, "\nCollectives over several machines take the time fitted to:\n  %s\n",
                t->systems[t->network_system].name);
    else if (t->network_system_why)
        fprintf(f, "\nCollectives over several machines are rings: %s\n", t->network_system_why);
}

/* What messages between GPUs take their time from, and how many links say so. */
static void print_messages(FILE *f, const struct fr_topo *t)
{
    if (t->n_messages > 0)
        fputs("\nMessages between GPUs take the time fitted to:\n", f);
    for (size_t i = 0; i < t->n_messages; i++) {
        size_t n = 0;

        for (size_t l = 0; l < t->n_links; l++)
            n += t->links[l].message == i;
        fprintf(f, "  %s, %s: %zu link%s\n", t->systems[t->messages[i].system].name,
                t->messages[i].link, n, n == 1 ? "" : "s");
    }
}

static void print_links(FILE *f, const struct fr_topo *t)
{
    fputs("\nLinks, each in one direction:\n", f);
    for (uint32_t i = 0; i < t->n_links; i++) {
        const struct fr_link *l = &t->links[i];
        char rate[NUMBER], latency[NUMBER], name[FR_LINK_NAME];

        fprintf(f, "  %-28s %-8s %10s %10s  %s\n", fr_topo_link_name(t, i, name),
                link_kind_name(l->kind), fr__format_rate(l->bw_Bps, rate, sizeof(rate)),
                fr__format_time(l->latency_s, latency, sizeof(latency)),
                l->source ? l->source : "");
    }
}

/* What was assumed where a file or a line is silent. */
void fr__topo_print_notes(FILE *f, const struct fr_topo *t)
{
    if (t->n_notes > 0)
        fputs("\nAssumed, since nothing says otherwise:\n", f);
    for (size_t i = 0; i < t->n_notes; i++)
        fprintf(f, "  %s\n", t->notes[i]);
}

void fr__topo_write_notes(struct fr__json *j, const struct fr_topo *t)
{
    fr__json_open(j, "assumptions", '[', false);
    for (size_t i = 0; i < t->n_notes; i++)
        fr__json_string(j, NULL, t->notes[i]);
    fr__json_close(j, ']');
}

static void print_topo(FILE *f, const struct fr_topo *t)
{
    fprintf(f, "%s\n%s\n", t->name, t->summary ? t->summary : "");
    if (!t->is_plain) {
        fprintf(f, "%zu machine%s, %zu GPUs, %zu links\n", t->n_machines,
                t->n_machines == 1 ? "" : "s", t->n_gpus, t->n_links);
        print_types(f, t);
    }
    print_devices(f, t);
    print_systems(f, t);
    print_messages(f, t);
    fr__topo_print_notes(f, t);
    print_links(f, t);
}

/* ---- show, for programs ---- */

static void write_types(struct fr__json *j, const struct fr_topo *t)
{
    fr__json_open(j, "device_types", '[', false);
    for (size_t i = 0; i < t->n_types; i++) {
        const struct fr_device_type *type = &t->types[i];

        fr__json_open(j, NULL, '{', false);
        fr__json_string(j, "name", type->name);
        fr__json_bool(j, "is_gpu", type->is_gpu);
        fr__json_count(j, "mem_bytes", type->mem_bytes);
        fr__json_number(j, "mem_Bps", type->mem_Bps);
        fr__json_number(j, "vector_flops_per_s", type->vector_flops_per_s);
        fr__json_open(j, "flops_per_s", '{', true);
        for (unsigned dtype = 0; dtype < FR_N_DTYPES; dtype++)
            fr__json_number(j, fr_dtype_name((enum fr_dtype)dtype), type->flops_per_s[dtype]);
        fr__json_close(j, '}');
        fr__json_count(j, "sms", type->n_sms);
        fr__json_number(j, "launch_s", type->launch_s);
        fr__json_count(j, "context_bytes", type->context_bytes);
        fr__json_number(j, "board_W", type->board_W);
        fr__json_string(j, "source", type->source);
        fr__json_close(j, '}');
    }
    fr__json_close(j, ']');
}

/* "machine": null for a vertex that belongs to none. */
static void write_machine(struct fr__json *j, uint32_t machine)
{
    if (machine == FR_NONE)
        fr__json_null(j, "machine");
    else
        fr__json_count(j, "machine", machine);
}

static void write_vertices(struct fr__json *j, const struct fr_topo *t)
{
    fr__json_open(j, "devices", '[', false);
    for (size_t i = 0; i < t->n_devices; i++) {
        fr__json_open(j, NULL, '{', true);
        fr__json_string(j, "name", t->devices[i].name);
        fr__json_string(j, "type", t->types[t->devices[i].type].name);
        write_machine(j, t->devices[i].machine);
        fr__json_close(j, '}');
    }
    fr__json_close(j, ']');
    fr__json_open(j, "collectives", '[', true); /* a machine each */
    for (size_t m = 0; m < t->n_machines; m++)
        if (t->system_of[m] == FR_NONE)
            fr__json_null(j, NULL);
        else
            fr__json_string(j, NULL, t->systems[t->system_of[m]].name);
    fr__json_close(j, ']');
    if (t->network_system == FR_NONE)
        fr__json_null(j, "network_collectives");
    else
        fr__json_string(j, "network_collectives", t->systems[t->network_system].name);
    fr__json_string(j, "network_collectives_why",
                    t->network_system_why ? t->network_system_why : "");
    fr__json_open(j, "vertices", '[', false);
    for (size_t i = 0; i < t->n_vertices; i++) {
        fr__json_open(j, NULL, '{', true);
        fr__json_string(j, "name", t->vertices[i].name);
        fr__json_string(j, "kind", vertex_kind_name(t->vertices[i].kind));
        write_machine(j, t->vertices[i].machine);
        fr__json_close(j, '}');
    }
    fr__json_close(j, ']');
}

static void write_topo(FILE *f, const struct fr_topo *t)
{
    struct fr__json j;

    fr__json_init(&j, f);
    fr__json_open(&j, NULL, '{', false);
    fr__json_string(&j, "name", t->name);
    fr__json_string(&j, "summary", t->summary);
    fr__json_count(&j, "machines", t->n_machines);
    fr__json_count(&j, "gpus", t->n_gpus);
    if (t->n_notes > 0)
        fr__topo_write_notes(&j, t);
    write_types(&j, t);
    write_vertices(&j, t);
    fr__json_open(&j, "links", '[', false);
    for (uint32_t i = 0; i < t->n_links; i++) {
        const struct fr_link *l = &t->links[i];
        char name[FR_LINK_NAME];

        fr__json_open(&j, NULL, '{', true);
        fr__json_string(&j, "name", fr_topo_link_name(t, i, name));
        fr__json_string(&j, "kind", link_kind_name(l->kind));
        fr__json_string(&j, "src", t->vertices[l->src].name);
        fr__json_string(&j, "dst", t->vertices[l->dst].name);
        fr__json_number(&j, "bw_Bps", l->bw_Bps);
        fr__json_number(&j, "latency_s", l->latency_s);
        fr__json_string(&j, "source", l->source);
        if (l->message != FR_NONE) {
            fr__json_string(&j, "messages_system", t->systems[t->messages[l->message].system].name);
            fr__json_string(&j, "messages_link", t->messages[l->message].link);
        }
        fr__json_close(&j, '}');
    }
    fr__json_close(&j, ']');
    fr__json_close(&j, '}');
    putc('\n', f);
}

enum fr_status fr__verb_topo_show(struct fr__call *s, struct fr_error *err)
{
    struct fr_topo *t;

    FR_TRY(fr_topo_load(&t, s->options.arguments[0], err));
    if (s->options.json)
        write_topo(s->out, t);
    else
        print_topo(s->out, t);
    fr_topo_free(t);
    return FR_OK;
}

/* ---- draw ---- */

enum fr_status fr__verb_topo_draw(struct fr__call *s, struct fr_error *err)
{
    struct fr_topo *t;
    struct fr_drawing *d;
    enum fr_status st;

    FR_TRY(fr_topo_load(&t, s->options.arguments[0], err));
    st = fr__check_files(&s->options, FR_KIND_DRAWING, err);
    if (st == FR_OK)
        st = fr_draw_topo(&d, t, err);
    if (st == FR_OK)
        st = fr__write_drawing(s, d, err);
    fr_topo_free(t);
    return st;
}

/* ---- check ---- */

static void say(void *user, const char *line)
{
    fprintf(user, "%s\n", line);
}

/* How many of the messages the system does not know. */
static size_t check_messages(FILE *f, const struct fr_topo *t, size_t system,
                             const struct fr_system *s)
{
    size_t n = 0, link;
    struct fr_error err;

    for (size_t i = 0; i < t->n_messages; i++)
        if (t->messages[i].system == system &&
            fr_system_find_link(s, t->messages[i].link, t->messages[i].loc, &link, &err) != FR_OK) {
            fprintf(f, "%s\n", err.text);
            n++;
        }
    return n;
}

/* Their names mean something to a layer above the topology. Adds to *n what is wrong. */
static enum fr_status check_systems(FILE *f, const struct fr_topo *t, size_t *n,
                                    struct fr_error *err)
{
    for (size_t i = 0; i < t->n_systems; i++) {
        struct fr_system *s = NULL;
        struct fr_error fault;
        enum fr_status st = fr_system_load(&s, t->systems[i].name, &fault);

        if (st == FR_ENOMEM)
            return fr__fail_nomem(err);
        if (st != FR_OK) {
            fprintf(f, "%s\n", fault.text);
            (*n)++;
        } else {
            *n += check_messages(f, t, i, s);
        }
        fr_system_free(s);
    }
    return FR_OK;
}

enum fr_status fr__verb_topo_check(struct fr__call *s, struct fr_error *err)
{
    struct fr_topo *t;
    enum fr_status st;
    size_t n;

    FR_TRY(fr_topo_load(&t, s->options.arguments[0], err));
    n = fr_topo_check(t, say, s->out);
    st = n == SIZE_MAX ? fr__fail_nomem(err) : check_systems(s->out, t, &n, err);
    if (st == FR_OK && n == 0)
        fprintf(s->out, "%s: nothing wrong with %zu devices and %zu links\n", t->name, t->n_devices,
                t->n_links);
    s->status = n == 0 ? FR_CALL_DONE : FR_CALL_USAGE;
    fr_topo_free(t);
    return st;
}
