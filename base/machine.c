/* base/machine.c - how much memory the machine has left, from the files of Linux.
 *
 * Sources: proc(5): MemAvailable of /proc/meminfo, /proc/self/statm, /proc/self/cgroup; the Linux
 * kernel's Documentation/admin-guide/cgroup-v2.rst: memory.max, memory.current; getrlimit(2):
 * RLIMIT_DATA counts private writable memory since Linux 4.7. On other systems the files are not
 * there, and nothing is known but the resource limits.
 */
#include "config.h"

#include "base/machine.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* The first line of a file that starts with `key`, behind it; false: there is none. */
static bool read_line(const char *path, const char *key, char *line, size_t n)
{
    FILE *f = fopen(path, "r");
    size_t len = strlen(key);
    bool is_found = false;

    if (!f)
        return false;
    while (!is_found && fgets(line, (int)n, f))
        is_found = strncmp(line, key, len) == 0;
    fclose(f);
    if (is_found) {
        memmove(line, line + len, strlen(line + len) + 1);
        line[strcspn(line, "\n")] = '\0';
    }
    return is_found;
}

/* A number of bytes in a file of its own; "max" and a missing file are INFINITY. */
static double read_bytes(const char *folder, const char *name)
{
    char path[512], line[64];

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    if (!read_line(path, "", line, sizeof(line)) || line[0] < '0' || line[0] > '9')
        return INFINITY;
    return (double)strtoull(line, NULL, 10);
}

/* What the control groups leave, this process's and those that it is in. */
static double free_of_groups(void)
{
    static const char root[] = "/sys/fs/cgroup";
    char group[256], folder[320];
    double least = INFINITY;

    if (!read_line("/proc/self/cgroup", "0::", group, sizeof(group)))
        return INFINITY;
    for (char *slash = group + strlen(group);; slash = strrchr(group, '/')) {
        double most, used;

        if (!slash)
            return least;
        *slash = '\0';
        snprintf(folder, sizeof(folder), "%s%s", root, group);
        most = read_bytes(folder, "memory.max");
        used = read_bytes(folder, "memory.current");
        if (isfinite(most) && isfinite(used))
            least = fmin(least, fmax(0, most - used));
    }
}

/* All memory and private writable memory of this process; false: not known. */
static bool own_bytes(double *all, double *data)
{
    unsigned long long pages[6];
    char line[128];

    if (!read_line("/proc/self/statm", "", line, sizeof(line)) ||
        sscanf(line, "%llu %llu %llu %llu %llu %llu", &pages[0], &pages[1], &pages[2], &pages[3],
               &pages[4], &pages[5]) != 6)
        return false;
    *all = (double)pages[0] * (double)sysconf(_SC_PAGESIZE);
    *data = (double)pages[5] * (double)sysconf(_SC_PAGESIZE);
    return true;
}

static double left_of(const struct rlimit *limit, double used)
{
    return limit->rlim_cur == RLIM_INFINITY ? INFINITY : fmax(0, (double)limit->rlim_cur - used);
}

double fr__machine_free_bytes(void)
{
    double least = free_of_groups(), all, data;
    struct rlimit limit;
    char line[64];

    if (read_line("/proc/meminfo", "MemAvailable:", line, sizeof(line)))
        least = fmin(least, 1024 * (double)strtoull(line, NULL, 10));
    if (!own_bytes(&all, &data))
        return least;
    if (getrlimit(RLIMIT_AS, &limit) == 0)
        least = fmin(least, left_of(&limit, all));
    if (getrlimit(RLIMIT_DATA, &limit) == 0)
        least = fmin(least, left_of(&limit, data));
    return least;
}

void fr__machine_limit(double more_bytes)
{
    double all, data;
    struct rlimit limit;

    if (!isfinite(more_bytes) || !own_bytes(&all, &data) || getrlimit(RLIMIT_DATA, &limit) != 0 ||
        data + more_bytes >= 9e18)
        return;
    if (limit.rlim_cur != RLIM_INFINITY && (double)limit.rlim_cur <= data + more_bytes)
        return;
    limit.rlim_cur = (rlim_t)(data + more_bytes);
    (void)setrlimit(RLIMIT_DATA, &limit);
}
