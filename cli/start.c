/* cli/start.c - where the program starts. */
#include "config.h"

#include "cli/cli.h"

int main(int argc, char *argv[])
{
    struct cli_terminal terminal;
    int status;

    cli_terminal_begin(&terminal);
    status = cli_main(argc, argv);
    cli_terminal_end(&terminal);
    return status;
}
