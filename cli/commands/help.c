/* `histo help` and `histo version`. */
#include "options/help.h"

#include <string.h>

#include "base/failure.h"
#include "commands/document.h"
#include "options/nearest.h"

static void print_document(const char *name, FILE *out)
{
    static const struct {
        const char *name;
        void (*print)(FILE *);
    } documents[] = {{"man", document_man},
                     {"man-bench", document_man_bench},
                     {"bash", document_bash},
                     {"zsh", document_zsh},
                     {"fish", document_fish}};
    for (size_t i = 0; i < sizeof documents / sizeof *documents; i++)
        if (strcmp(documents[i].name, name) == 0) documents[i].print(out);
}

static int fail_unknown(const char *name, fault *f)
{
    nearest meant = {.word = name};
    for (int i = 0; i < COMMAND_COUNT; i++)
        nearest_try(&meant, command_rows[i].name);
    if (meant.best) return fault_set(f, EXIT_USAGE, "there is no subcommand '%s': did you mean %s?", name, meant.best);
    return fault_set(f, EXIT_USAGE, "there is no subcommand '%s': 'histo help' lists them", name);
}

int command_help(const settings *s)
{
    fault f = {0};
    const command_row *command = s->files_count ? command_find(s->files[0]) : NULL;
    if (s->document)
        print_document(s->document, stdout);
    else if (command)
        help_command(&histo_options, command, stdout);
    else if (s->files_count == 0)
        help_overview(stdout);
    else
        fail_unknown(s->files[0], &f);
    return f.status == EXIT_OK ? EXIT_OK : fault_report(&f);
}

int command_version(const settings *s)
{
    (void)s;
    help_version(stdout);
    return EXIT_OK;
}
