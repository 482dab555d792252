/* api/verbs/completion.c - the functions of bash and zsh that complete words of the command. */
#include "config.h"

#include "api/verbs/verbs.h"
#include "base/error.h"

#include <string.h>

static const char bash_script[] =
    "# bash completion of forerun: eval \"$(forerun completion bash)\"\n"
    "_forerun() {\n"
    "    local IFS=$'\\n'\n"
    "    COMPREPLY=($(\"${COMP_WORDS[0]}\" completion words \"${COMP_WORDS[@]:1:COMP_CWORD}\" "
    "2>/dev/null))\n"
    "}\n"
    "complete -o default -F _forerun forerun\n";

static const char zsh_script[] =
    "#compdef forerun\n"
    "# zsh completion of forerun: eval \"$(forerun completion zsh)\"\n"
    "_forerun() {\n"
    "    local -a found\n"
    "    found=(\"${(@f)$(\"${words[1]}\" completion words \"${(@)words[2,CURRENT]}\" "
    "2>/dev/null)}\")\n"
    "    found=(${found:#})\n"
    "    (( ${#found} )) && compadd -a found || _files\n"
    "}\n"
    "if [ \"${funcstack[1]}\" = _forerun ]; then _forerun \"$@\"; else compdef _forerun forerun; "
    "fi\n";

enum fr_status fr__verb_completion(struct fr__call *s, struct fr_error *err)
{
    static const char *const shells[] = {"bash", "zsh"};
    const char *shell = s->options.arguments[0];
    char hint[128];

    if (strcmp(shell, "bash") == 0)
        fputs(bash_script, s->out);
    else if (strcmp(shell, "zsh") == 0)
        fputs(zsh_script, s->out);
    else
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "no completion for '%.40s', only for bash and zsh%s", shell,
                        fr__did_you_mean(shell, shells, 2, hint, sizeof(hint)));
    return FR_OK;
}
