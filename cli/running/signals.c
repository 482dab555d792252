/* cli/running/signals.c - how the command ends when it is told to. */
#include "config.h"

#include "cli/cli.h"

#include <signal.h>
#include <string.h>

/* What a handler may touch; the only state at file scope. */
static volatile sig_atomic_t caught;

static void remember(int signal_number)
{
    caught = signal_number;
}

void cli_catch_signals(void)
{
    static const int asked_to_end[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action, old;

    memset(&action, 0, sizeof(action));
    sigemptyset(&action.sa_mask);
    action.sa_handler = remember;
    action.sa_flags = (int)SA_RESETHAND; /* who asks twice does not want to wait */
    for (size_t i = 0; i < sizeof(asked_to_end) / sizeof(asked_to_end[0]); i++)
        if (sigaction(asked_to_end[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(asked_to_end[i], &action, NULL);
    action.sa_handler = SIG_DFL; /* a reader that leaves early is no failure worth a message */
    action.sa_flags = 0;
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
