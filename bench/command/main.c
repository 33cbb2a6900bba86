/* histo-bench: what `histo bench` and `histo tune` run. The word bench may be left out. */
#include <string.h>

#include "base/failure.h"
#include "base/program.h"
#include "bench/command/command.h"
#include "options/values.h"

static int run(int argc, char **argv)
{
    fault f = {0};
    settings s;
    const char *word = argc > 1 ? argv[1] : "";
    bool tune = strcmp(word, "tune") == 0;
    int skipped = tune || strcmp(word, "bench") == 0;
    int parsed = settings_parse(&s, tune ? "tune" : "bench", argc - skipped, argv + skipped, &f);
    if (parsed > 0) return EXIT_OK;
    if (parsed < 0 || value_environment(&f) != 0) return fault_report(&f);
    return tune ? bench_command_tune(&s) : bench_command_bench(&s);
}

int main(int argc, char **argv)
{
    return program_run(argc, argv, run);
}
