/* The results of the gallery, as a table and as JSON. */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include "bench/core/options.h"
#include "bench/core/race.h"

/* The beginning of a JSON object: version, command, date and machine. */
void report_put_run(FILE *to, const char *command_line);
/* {"histo": …, "results": [ */
void report_json_begin(FILE *to, const char *command_line, const bench_device *device);
/* An object without its closing brace, so that members may follow. */
void report_json_result(FILE *to, const bench_result *result, bool first);

void report_begin(const bench_options *options, const bench_device *device);
void report_result(const bench_options *options, const bench_result *result, bool first);
/* left: inputs that were not measured. */
void report_end(const bench_options *options, int inputs, int left, int cells, int wrong);

#endif
