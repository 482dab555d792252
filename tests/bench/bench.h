/* tests/bench/bench.h - what the benchmark programs share: CPU time, medians, one row a
 * measurement. */
#ifndef FR_TESTS_BENCH_BENCH_H
#define FR_TESTS_BENCH_BENCH_H

#include <stdio.h>
#include <sys/resource.h>

struct bench_row {
    const char *name;
    double size; /* of the job, in `unit`s: flows, tasks, events */
    const char *unit;
    double cpu_s;
    const char *beside; /* whose CPU time stands beside ours; NULL: none */
    double beside_s;
};

/* User and system time of this process so far. */
static inline double bench_cpu_s(void)
{
    struct rusage u;

    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/* Most memory this process ever had resident. */
static inline double bench_peak_MB(void)
{
    struct rusage u;

    getrusage(RUSAGE_SELF, &u);
    return (double)u.ru_maxrss / 1024.0; /* Linux counts KiB */
}

/* Runs job(arg), which returns CPU seconds of the part to be measured, k times (at most 15);
 * returns the median. */
static inline double bench_median(double (*job)(void *arg), void *arg, int k)
{
    double t[15];

    for (int i = 0; i < k; i++) {
        double x = job(arg);
        int j = i;

        for (; j > 0 && t[j - 1] > x; j--)
            t[j] = t[j - 1];
        t[j] = x;
    }
    return t[k / 2];
}

static inline void bench_head(void)
{
    printf("%-28s %9s %-7s %10s %10s %8s  %s\n", "benchmark", "size", "unit", "CPU s", "rate /s",
           "peak MB", "beside (CPU s, times ours)");
}

static inline void bench_print(const struct bench_row *r)
{
    printf("%-28s %9.0f %-7s %10.6f %10.3g %8.1f", r->name, r->size, r->unit, r->cpu_s,
           r->size / r->cpu_s, bench_peak_MB());
    if (r->beside)
        printf("  %s %.3f (%.1fx)", r->beside, r->beside_s, r->beside_s / r->cpu_s);
    printf("\n");
}

#endif
