/* What the JSON of all benchmarks has: how it begins and ends, and the result of a race. */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include "bench/core/options.h"
#include "bench/core/race.h"

/* The beginning of a JSON object: version, command, date, machine, and the device unless it is NULL; its end, and that
 * of a list in it. */
void report_open(json_writer *json, const char *command_line, const char *device);
void report_close(json_writer *json);
/* An object that the caller closes, so that members may follow. */
void report_open_result(json_writer *json, const bench_result *result);

#endif
