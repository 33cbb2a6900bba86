/* Failures as messages. */
#include "base/failure.h"

#include <histo/histo.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/progress.h"
#include "base/text.h"

int fault_of_library(fault *f, int status, const char *subject)
{
    return fault_set(f, status, "%s: %s", subject, histo_last_error());
}

int fault_of_wisdom(fault *f)
{
    return fault_set(f, EXIT_DATA, "%s (choose another file with --wisdom)", histo_last_error());
}

int fault_beyond_memory(fault *f, double bytes, const char *what, const char *remedy)
{
    const double small = 64 << 20; /* below this, skip the query */
    char wanted[TEXT_NUMBER_BYTES], left[TEXT_NUMBER_BYTES];
    double available = bytes > small ? (double)histo_memory_available() : bytes;
    if (bytes <= available) return 0;
    return fault_set(f, EXIT_DATA, "%s: %s of memory needed, %s available: %s", what, text_bytes(bytes, wanted),
                     text_bytes(available, left), remedy);
}

double memory_of_file(double size)
{
    return (128 << 20) + 4096 * size;
}

int fault_beyond_file(fault *f, double bytes, int64_t size, const char *what, const char *remedy)
{
    char wanted[TEXT_NUMBER_BYTES], there[TEXT_NUMBER_BYTES];
    if (size < 0 || bytes <= memory_of_file((double)size)) return fault_beyond_memory(f, bytes, what, remedy);
    return fault_set(f, EXIT_DATA,
                     "%s: its header asks for %s of memory, more than a file of %s can hold: get an intact copy", what,
                     text_bytes(bytes, wanted), text_bytes((double)size, there));
}

void note(const char *format, ...)
{
    char text[sizeof((fault *)0)->text + 256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    progress_end();
    fprintf(stderr, "histo: %s\n", text_make_printable(text));
}

void note_not_finite(const char *name, const char *what, uint64_t nan, uint64_t infinite)
{
    char of_nan[48] = "", of_infinite[64] = "";
    if (nan + infinite == 0) return;
    if (nan > 0) snprintf(of_nan, sizeof of_nan, "%" PRIu64 " NaN", nan);
    if (infinite > 0)
        snprintf(of_infinite, sizeof of_infinite, "%" PRIu64 " infinite value%s", infinite, infinite == 1 ? "" : "s");
    note("%s: %s %s%s%s", name, what, of_nan, nan > 0 && infinite > 0 ? " and " : "", of_infinite);
}

int fault_report(const fault *f)
{
    note("%s", f->text);
    return f->status;
}
