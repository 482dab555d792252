/* cli/running/progress.c - one line that says how far long work has come. */
#include "config.h"

#include "base/units.h"
#include "cli/cli.h"
#include "cli/running/mpi.h"

#include <inttypes.h>
#include <time.h>
#include <unistd.h>

static const double FIRST_AFTER_S = 1.0; /* shorter work needs no line */
static const double AGAIN_AFTER_S = 0.1;

static const char BEGIN_LINE[] = "\r\033[K"; /* to its first column, and empty */

static double now_s(void)
{
    struct timespec t;

    if (clock_gettime(CLOCK_MONOTONIC, &t) != 0)
        return 0;
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void cli_progress_init(struct progress *p, bool is_quiet)
{
    *p = (struct progress){
        .call = p->call, .start_s = now_s(), .is_on = !is_quiet && cli_is_terminal(STDERR_FILENO)};
}

/* " (35/s, 3 min left)" */
static void print_time_left(const struct progress *p, double t_s, uint64_t done, uint64_t total)
{
    double rate = (double)(done - p->first_done) / (t_s - p->first_s);
    char text[32];

    if (done <= p->first_done || !(t_s > p->first_s) || done > total)
        return;
    fprintf(stderr, " (%s/s", fr__format_count(rate, text, sizeof(text)));
    fprintf(stderr, ", %s left)",
            fr__format_time((double)(total - done) / rate, text, sizeof(text)));
}

void cli_progress(void *progress, const char *what, uint64_t done, uint64_t total)
{
    struct progress *p = progress;
    double t_s;

    if (!p->is_on)
        return;
    t_s = now_s();
    if (p->call->has_time_left && !p->is_counting) {
        p->is_counting = true;
        p->first_s = t_s;
        p->first_done = done;
    }
    if (t_s - p->start_s < FIRST_AFTER_S || t_s - p->shown_s < AGAIN_AFTER_S)
        return;
    p->shown_s = t_s;
    p->is_shown = true;
    (void)cli_terminal_raw(stderr, STDERR_FILENO, BEGIN_LINE, NULL);
    fprintf(stderr, "%s%s%s", p->call->progress_of ? p->call->progress_of : "",
            p->call->progress_of ? ": " : "", what);
    if (total > 0)
        fprintf(stderr, " %" PRIu64 " of %" PRIu64, done, total);
    else
        fprintf(stderr, " %" PRIu64, done);
    if (p->call->has_time_left && total > 0)
        print_time_left(p, t_s, done, total);
    fflush(stderr);
}

void cli_progress_end(struct progress *p)
{
    if (p->is_shown)
        (void)cli_terminal_raw(stderr, STDERR_FILENO, BEGIN_LINE, NULL);
    p->is_shown = false;
}
