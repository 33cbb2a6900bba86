/* What histo-bench does: `histo bench`, `histo generate` and `histo tune`. They return the exit status. */
#ifndef BENCH_COMMAND_H
#define BENCH_COMMAND_H

#include "options/settings.h"

int bench_command_bench(const settings *s);
int bench_command_generate(const settings *s);
int bench_command_tune(const settings *s);

#endif
