/* cli/start.c - where the program starts. */
#include "config.h"

#include "cli/cli.h"

int main(int argc, char *argv[])
{
    struct cli_terminal terminal;
    int status;

    if (!cli_terminal_begin(&terminal)) {
        fputs("forerun: out of memory\n", stderr);
        return FR_CALL_FAILED;
    }
    status = cli_main(argc, argv);
    cli_terminal_end(&terminal);
    return status;
}
