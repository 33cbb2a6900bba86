/* Statuses and the sentence behind them. */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <histo/histo.h>

/* Remember the sentence for this thread and return status, so that callers write `return histo_fail(…)`. */
histo_status histo_fail(histo_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* HISTO_NO_MEMORY, naming how much was asked for and what for. */
histo_status histo_fail_memory(size_t bytes, const char *what);

#endif
