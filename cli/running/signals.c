/* cli/running/signals.c - how the command ends when it is told to.
 *
 * The first signal asks: work looks at the flag, undoes what it has begun, says how to go on, and
 * ends. Not all work looks often enough. So a timer looks after it: if the command has computed for
 * half a second since, it is ended here. Its files are written beside their names and moved there
 * when they are whole, so nothing is left half-written; the next command removes what lies beside.
 *
 * The time is that of the processor: on a busy machine a clean end may take longer. A command that
 * only waits, as for a disk that does not answer, is ended after a second. Another program that
 * draws for it has been ended by then (results/parts/program.c does that half a second after the
 * signal), so it is not left behind.
 *
 * A signal may come twice for one wish: timeout(1) sends it to the command and to its group. So a
 * second one counts only when a second has passed. It ends the command at once.
 */
#include "config.h"

#include "cli/cli.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const double MOST_CPU_S = 0.5, SAME_WISH_S = 1, BUSY_S = 0.001;
/* A look at which less than BUSY_S was computed since the look before is idle. A command that gets
 * little of a busy machine has computed for some milliseconds whenever it is looked at. */
enum { FIRST_LOOK_NS = 500000000, LOOKS_EVERY_NS = 50000000, MOST_IDLE_LOOKS = 10 };

/* What handlers may touch; the only state at file scope. */
static volatile sig_atomic_t caught;
static volatile sig_atomic_t has_timer;
static timer_t timer;
static struct timespec caught_at, cpu_at; /* written before the timer is started */
static double last_cpu_s;                 /* at the last look */
static int n_idle_looks;

static double seconds_since(clockid_t clock, const struct timespec *then)
{
    struct timespec now;

    if (clock_gettime(clock, &now) != 0)
        return 0;
    return (double)(now.tv_sec - then->tv_sec) + 1e-9 * (double)(now.tv_nsec - then->tv_nsec);
}

/* The handlers below call only what a handler may call (POSIX.1-2008, 2.4.3). In one thread
 * none interrupts another. */
static void end_at_once(void)
{
    static const char words[] = "forerun: interrupted\n";

    (void)!write(STDERR_FILENO, words, sizeof(words) - 1);
    _exit(128 + caught);
}

static void remember(int signal_number)
{
    const struct itimerspec looks = {.it_value = {.tv_nsec = FIRST_LOOK_NS},
                                     .it_interval = {.tv_nsec = LOOKS_EVERY_NS}};
    int failure = errno;

    if (caught && seconds_since(CLOCK_MONOTONIC, &caught_at) >= SAME_WISH_S)
        end_at_once();
    if (!caught) {
        (void)clock_gettime(CLOCK_MONOTONIC, &caught_at);
        (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu_at);
        caught = signal_number;
        if (has_timer)
            (void)timer_settime(timer, 0, &looks, NULL);
    }
    errno = failure;
}

static void look(int signal_number)
{
    int failure = errno;
    double cpu_s;

    (void)signal_number;
    if (!caught)
        return;
    cpu_s = seconds_since(CLOCK_PROCESS_CPUTIME_ID, &cpu_at);
    n_idle_looks += cpu_s - last_cpu_s < BUSY_S;
    last_cpu_s = cpu_s;
    if (cpu_s >= MOST_CPU_S || n_idle_looks > MOST_IDLE_LOOKS)
        end_at_once();
    errno = failure;
}

/* Without a timer the command ends as soon as its work looks at the flag. */
static void make_timer(void)
{
    struct sigevent event;
    struct sigaction action;

    memset(&event, 0, sizeof(event));
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGRTMIN;
    memset(&action, 0, sizeof(action));
    sigfillset(&action.sa_mask);
    action.sa_handler = look;
    action.sa_flags = SA_RESTART;
    has_timer = sigaction(SIGRTMIN, &action, NULL) == 0 &&
                timer_create(CLOCK_MONOTONIC, &event, &timer) == 0;
}

void cli_catch_signals(void)
{
    static const int asked_to_end[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action, old;

    make_timer();
    memset(&action, 0, sizeof(action));
    sigfillset(&action.sa_mask);
    action.sa_handler = remember;
    for (size_t i = 0; i < sizeof(asked_to_end) / sizeof(asked_to_end[0]); i++)
        if (sigaction(asked_to_end[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(asked_to_end[i], &action, NULL);
    action.sa_handler = SIG_DFL; /* a reader that leaves early is no failure worth a message */
    sigaction(SIGPIPE, &action, NULL);
    action.sa_handler =
        SIG_IGN; /* a file that may not grow is a write that fails, with a sentence */
    sigaction(SIGXFSZ, &action, NULL);
}

const volatile int *cli_cancel_flag(void)
{
    return &caught;
}

int cli_signal_caught(void)
{
    return caught;
}
