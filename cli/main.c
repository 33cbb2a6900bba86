/* The histo command: which subcommand is meant, and its exit status. */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/failure.h"
#include "base/interrupt.h"
#include "base/process.h"
#include "options/help.h"
#include "options/nearest.h"
#include "options/values.h"

/* A word that is neither a subcommand nor a file. Words with a dot or a slash in them were meant as files. */
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

/* The subcommand that the line begins with, or hist where it begins with an option or a file; NULL with the sentence
 * where it is neither. */
static const command_row *find_command(const char *word, fault *f)
{
    const command_row *command = word ? command_find(word) : NULL;
    if (command) return command;
    if (!word && isatty(STDIN_FILENO))
        fault_set(f, EXIT_USAGE,
                  "there is nothing to count: name a file, or pipe numbers in ('histo --help' tells more)");
    else if (word && word[0] != '-' && access(word, F_OK) != 0 && errno == ENOENT) /* hist says what else is wrong */
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
    int parsed = settings_parse(&s, command->name, argc - skipped, argv + skipped, &f);
    if (parsed != 0) return parsed > 0 ? EXIT_OK : fault_report(&f);
    if (command != &command_rows[COMMAND_HELP] && value_environment(&f) != 0) return fault_report(&f);
    return command->run(&s);
}

/* The next file opened would take the place of a standard stream that is closed. /dev/null takes it, opened in the
 * direction in which using it fails, as it should; what is said on standard error goes nowhere. */
static void hold_closed_streams(void)
{
    static const int directions[] = {O_WRONLY, O_RDONLY, O_WRONLY};
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", directions[fd]) < 0) return;
}

int main(int argc, char **argv)
{
    hold_closed_streams();
    setlocale(LC_CTYPE, ""); /* numbers stay as in C */
    interrupt_install();
    process_command_line(); /* as it is now: options are cut into words where they stand */
    int status = run(argc, argv);
    if (status == EXIT_OK && (fflush(stdout) != 0 || ferror(stdout))) {
        fault f = {0};
        fault_set(&f, EXIT_DATA, "standard output cannot be written: make room, or name a file with -o");
        status = fault_report(&f);
    }
    return status;
}
