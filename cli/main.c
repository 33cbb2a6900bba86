/* The histo command: finds the subcommand, and returns its exit status. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/failure.h"
#include "base/program.h"
#include "input/stream/first_size.h"
#include "options/help.h"
#include "options/nearest.h"
#include "options/values.h"

static int (*const runs[COMMAND_COUNT])(const settings *s) = {
#define COMMAND(id, name, operands, most, summary, description, examples) [COMMAND_##id] = command_##name,
#include "options/commands.def"
#undef COMMAND
};

/* Fail for a word that is neither a subcommand nor a file. Words with a dot or a slash were meant as files. */
static int fail_word(const char *word, fault *f)
{
    nearest meant = {.word = word};
    for (int i = 0; i < COMMAND_COUNT; i++)
        nearest_try(&meant, command_rows[i].name);
    if (strpbrk(word, "./")) return fault_set(f, EXIT_DATA, "%s: there is no such file", word);
    if (meant.best)
        return fault_set(f, EXIT_USAGE, "'%s' is neither a file nor a subcommand: did you mean '%s'?", word,
                         meant.best);
    return fault_set(f, EXIT_USAGE, "'%s' is neither a file nor a subcommand: 'histo --help' lists the subcommands",
                     word);
}

/* The subcommand at the beginning of the line, or hist if it begins with an option or a file; NULL with a message if it
 * is neither. */
static const command_row *find_command(const char *word, fault *f)
{
    const command_row *command = word ? command_find(word) : NULL;
    if (command) return command;
    if (!word && isatty(STDIN_FILENO))
        fault_set(f, EXIT_USAGE, "nothing to count: name a file, or pipe numbers in (see 'histo --help')");
    else if (word && word[0] != '-' && access(word, F_OK) != 0 && errno == ENOENT) /* hist reports other errors */
        fail_word(word, f);
    return f->status == EXIT_OK ? &command_rows[COMMAND_HIST] : NULL;
}

static int run(int argc, char **argv)
{
    fault f = {0};
    settings s;
    const char *word = argc > 1 ? argv[1] : NULL;
    if (word && (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)) {
        help_overview(stdout);
        return EXIT_OK;
    }
    const command_row *command = find_command(word, &f);
    if (!command) return fault_report(&f);
    int skipped = word && command_find(word) ? 1 : 0;
    int parsed = settings_parse(&s, &histo_options, command->name, argc - skipped, argv + skipped, &f);
    if (parsed != 0) return parsed > 0 ? EXIT_OK : fault_report(&f);
    int failed = command != &command_rows[COMMAND_HELP] ? value_environment(&f) : 0;
    if (!failed && s.threads && histo_set_threads(s.threads) != HISTO_OK)
        failed = fault_of_library(&f, EXIT_USAGE, "--threads");
    const int status = failed ? fault_report(&f) : runs[command - command_rows](&s);
    settings_free(&s);
    return status;
}

int main(int argc, char **argv)
{
    first_size_remember();
    return program_run(argc, argv, run);
}
