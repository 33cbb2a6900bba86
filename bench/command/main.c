/* histo-bench: what `histo bench`, `histo generate` and `histo tune` run. The word bench may be left out. */
#include <string.h>

#include "base/failure.h"
#include "base/program.h"
#include "bench/command/settings.h"
#include "options/values.h"

static int run(int argc, char **argv)
{
    fault f = {0};
    bench_settings s;
    const char *word = argc > 1 ? argv[1] : "";
    static const struct {
        const char *name;
        int (*run)(const bench_settings *s);
    } commands[] = {{"bench", bench_command_bench}, {"generate", bench_command_generate}, {"tune", bench_command_tune}};
    int which = 2;
    while (which >= 0 && strcmp(word, commands[which].name) != 0)
        which--;
    int skipped = which >= 0;
    if (!skipped) which = 0;
    int parsed = bench_settings_parse(&s, commands[which].name, argc - skipped, argv + skipped, &f);
    if (parsed > 0) return EXIT_OK;
    if (parsed < 0 || value_environment(&f) != 0) return fault_report(&f);
    const int status = commands[which].run(&s);
    settings_free(&s.common);
    return status;
}

int main(int argc, char **argv)
{
    return program_run(argc, argv, run);
}
