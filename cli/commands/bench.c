/* `histo bench`, `histo generate` and `histo tune` run a separate program, histo-bench, so that the command contains no
 * benchmarks. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/failure.h"
#include "base/process/process.h"
#include "options/settings.h"

static const char program[] = "histo-bench";

/* Execute histo-bench, which parses the same arguments, from histo's directory, libexec or $PATH. Returns only on
 * failure. */
static int become_histo_bench(void)
{
    static const char *const places[] = {"", "../libexec/histo/"};
    char directory[PATH_MAX], path[2 * PATH_MAX];
    fault f = {0};
    char *const *arguments = process_arguments();
    if (!arguments) {
        fault_set(&f, EXIT_DATA, "no memory for the command line");
        return fault_report(&f);
    }
    bool found = process_directory(directory);
    errno = ENOENT;
    for (size_t i = 0; found && i < sizeof places / sizeof *places && errno == ENOENT; i++) {
        snprintf(path, sizeof path, "%s%s%s", directory, places[i], program);
        execv(path, arguments);
    }
    if (errno == ENOENT) execvp(program, arguments);
    if (errno == ENOENT)
        fault_set(
            &f, EXIT_DATA,
            "%s, which runs 'histo bench', 'histo generate' and 'histo tune', is neither next to histo nor in $PATH: "
            "install it",
            program);
    else
        fault_set(&f, EXIT_DATA, "%s cannot be run: %s", program, strerror(errno));
    return fault_report(&f);
}

int command_bench(const settings *s)
{
    (void)s;
    return become_histo_bench();
}

int command_generate(const settings *s)
{
    (void)s;
    return become_histo_bench();
}

int command_tune(const settings *s)
{
    (void)s;
    return become_histo_bench();
}
