/* cli/main.c - the command: dispatches to the sub-commands. */
#include "config.h"

#include "base/base.h"

#include <stdio.h>

int main(void)
{
    fr_init();
    printf("forerun %s\n", fr_version());
    return 0;
}
