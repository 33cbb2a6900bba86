/* What histo-bench does: `histo bench`, `histo generate` and `histo tune`. They return the exit status. */
#ifndef BENCH_COMMAND_H
#define BENCH_COMMAND_H

#include "bench/command/settings.h"

int bench_command_bench(const bench_settings *s);
int bench_command_generate(const bench_settings *s);
int bench_command_tune(const bench_settings *s);

#endif
