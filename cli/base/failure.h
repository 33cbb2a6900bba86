/* Failures of the library and of the command, as messages. */
#ifndef CLI_FAILURE_H
#define CLI_FAILURE_H

#include <stdint.h>

#include "base/fault.h"

/* "SUBJECT: the library's last error message". Returns -1. */
int fault_of_library(fault *f, int status, const char *subject);

/* As fault_of_library, for a wisdom file, which the library's message already names. */
int fault_of_wisdom(fault *f);

/* 0 if this many bytes of memory are available; else -1 and "WHAT: 17.2 GB of memory are needed and 8 GB available:
 * REMEDY". The system itself might grant the memory and kill the process later. */
int fault_beyond_memory(fault *f, double bytes, const char *what, const char *remedy);

/* The most memory that a library allocates for an intact file of this size: the formats compress 4096 to one at best,
 * with little to spare. A header that claims more is damaged. */
double memory_of_file(double size);

/* As fault_beyond_memory, but also fails if a file of this size cannot need this many bytes; size -1: unknown. */
int fault_beyond_file(fault *f, double bytes, int64_t size, const char *what, const char *remedy);

/* Erase the progress line and print "histo: MESSAGE" on standard error. All messages of the command are printed here,
 * so that no name or header in a file can control the terminal (text_make_printable). */
void note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Print a note about samples that a number ignores, unless there are none: "NAME: WHAT 2 NaN and 1 infinite value". */
void note_not_finite(const char *name, const char *what, uint64_t nan, uint64_t infinite);

/* Print the message of a fault. Returns its exit status. */
int fault_report(const fault *f);

#endif
