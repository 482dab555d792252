/* tests/support/nccl_case.c - see nccl_case.h. */
#include "config.h"

#include "tests/support/nccl_case.h"

#include <stdlib.h>
#include <string.h>

struct nccl_data {
    struct nccl_row *rows; /* of graphs.csv */
    size_t n;
};

static const char *folder(void)
{
    const char *srcdir = getenv("srcdir");

    return srcdir ? srcdir : ".";
}

FILE *nccl_data_open(const char *name)
{
    char path[512], header[512];
    FILE *f;

    snprintf(path, sizeof(path), "%s/../shared/data/nccl/%s", folder(), name);
    f = fopen(path, "r");
    if (!f)
        printf("skipped: no %s\n", path);
    else if (!fgets(header, sizeof(header), f))
        rewind(f);
    return f;
}

bool nccl_row_read(FILE *f, struct nccl_row *row)
{
    char *at;

    if (!fgets(row->line, sizeof(row->line), f))
        return false;
    row->line[strcspn(row->line, "\r\n")] = '\0';
    memcpy(row->text, row->line, sizeof(row->text));
    row->n_fields = 0;
    for (at = row->text; at && row->n_fields < NCCL_FIELDS; row->n_fields++) {
        row->field[row->n_fields] = at;
        at = strchr(at, ',');
        if (at)
            *at++ = '\0';
    }
    row->nodes = row->n_fields > 2 ? (unsigned)atoi(row->field[2]) : 0;
    return true;
}

/* Fields point into the row itself, so a copy needs its own. */
static void own_fields(struct nccl_row *to, const struct nccl_row *from)
{
    for (unsigned i = 0; i < to->n_fields; i++)
        to->field[i] = to->text + (from->field[i] - from->text);
}

bool nccl_same_comm(const struct nccl_row *a, const struct nccl_row *b)
{
    const char *fourth = a->line;

    if (b->nodes == 0)
        return false;
    for (int i = 0; i < 4; i++)
        fourth = strchr(fourth, ',') + 1;
    return strncmp(a->line, b->line, (size_t)(fourth - a->line)) == 0;
}

struct nccl_data *nccl_data_load(void)
{
    struct nccl_data *d;
    FILE *f = nccl_data_open("graphs.csv");

    if (!f)
        return NULL;
    d = calloc(1, sizeof(*d));
    d->rows = calloc(2000, sizeof(*d->rows));
    while (d->n < 2000 && nccl_row_read(f, &d->rows[d->n]))
        d->n++;
    for (size_t i = 0; i < d->n; i++)
        own_fields(&d->rows[i], &d->rows[i]);
    fclose(f);
    return d;
}

void nccl_data_free(struct nccl_data *d)
{
    if (!d)
        return;
    free(d->rows);
    free(d);
}

enum fr__nccl_path nccl_path_of(const char *name)
{
    static const char *const NAMES[] = {"LOC", "NVL", "NVB", "C2C", "PIX", "PXB",
                                        "P2C", "PXN", "PHB", "SYS", "NET", "DIS"};
    unsigned i = 0;

    while (i < FR__N_PATHS && strcmp(name, NAMES[i]) != 0)
        i++;
    return i < FR__N_PATHS ? (enum fr__nccl_path)i : FR__PATH_LOC;
}

static struct fr__nccl_graph graph_of(const struct nccl_row *r)
{
    return (struct fr__nccl_graph){.pattern = (enum fr__nccl_pattern)atoi(r->field[5]),
                                   .n_channels = (unsigned)atoi(r->field[6]),
                                   .bw_intra = atof(r->field[7]),
                                   .bw_inter = atof(r->field[8]),
                                   .latency_inter = atof(r->field[9]),
                                   .type_intra = nccl_path_of(r->field[10]),
                                   .type_inter = nccl_path_of(r->field[11]),
                                   .same_channels = atoi(r->field[12]) != 0,
                                   .cross_nic = (unsigned)atoi(r->field[13])};
}

bool nccl_xml_path(const char *system, char *path, size_t n)
{
    static const char *const ENDS[] = {".xml", ".completed.xml", "-topo.xml",
                                       "-topo.completed.xml"};

    for (size_t i = 0; i < sizeof(ENDS) / sizeof(ENDS[0]); i++) {
        FILE *f;

        snprintf(path, n, "%s/../shared/data/nccl/xml/%s%s", folder(), system, ENDS[i]);
        f = fopen(path, "r");
        if (f) {
            fclose(f);
            return true;
        }
    }
    return false;
}

static unsigned count_of(const char *text, const char *word)
{
    unsigned n = 0;

    for (const char *at = text; (at = strstr(at, word)) != NULL; at += strlen(word))
        n++;
    return n;
}

/* What the tuner asks of the machine itself, read without a parser. */
static bool read_machine(const char *system, struct fr__nccl_comm *out)
{
    char path[512], *text = calloc(1 << 17, 1);
    const char *at;
    FILE *f;

    if (!text || !nccl_xml_path(system, path, sizeof(path)) || !(f = fopen(path, "r"))) {
        free(text);
        return false;
    }
    text[fread(text, 1, (1 << 17) - 1, f)] = '\0';
    fclose(f);
    out->min_sm = 1000;
    for (at = text; (at = strstr(at, " sm=\"")) != NULL;) {
        unsigned sm = (unsigned)atoi(at += 5);

        out->min_sm = sm < out->min_sm ? sm : out->min_sm;
        out->max_sm = sm > out->max_sm ? sm : out->max_sm;
    }
    out->is_x86 = strstr(text, "x86_64") != NULL;
    out->cpu = strstr(text, "AuthenticAMD")   ? FR__NCCL_CPU_AMD
               : strstr(text, "GenuineIntel") ? FR__NCCL_CPU_INTEL
                                              : FR__NCCL_CPU_OTHER;
    out->n_ranks = count_of(text, "<gpu ");
    free(text);
    return out->n_ranks > 0;
}

bool nccl_data_comm(const struct nccl_data *d, const struct nccl_row *row,
                    struct fr__nccl_comm *out)
{
    bool is_any = false;

    *out = (struct fr__nccl_comm){.n_nodes = row->nodes};
    if (!read_machine(row->field[1], out))
        return false;
    out->n_ranks *= row->nodes;
    /* Its NICs are faster than the link between its CPUs, so NCCL counts each half of a machine as
     * one (../shared/research/collectives.md, section 6). */
    if (strcmp(row->field[1], "pcie4-8gpu-2sw-skl") == 0)
        out->n_nodes *= 2;
    out->version = strcmp(row->field[0], "2.21.5") == 0 ? 221 : 230;
    for (size_t i = 0; i < d->n; i++) {
        const struct nccl_row *r = &d->rows[i];

        if (!nccl_same_comm(row, r))
            continue;
        is_any = true;
        out->n_channels = (unsigned)atoi(r->field[14]);
        if (strcmp(r->field[4], "ring") == 0)
            out->ring = graph_of(r);
        else if (strcmp(r->field[4], "tree") == 0)
            out->tree = graph_of(r);
        else
            out->nvls = graph_of(r);
    }
    return is_any;
}
