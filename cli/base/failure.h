/* Failures of the library, and of the command, as sentences. */
#ifndef CLI_FAILURE_H
#define CLI_FAILURE_H

#include "base/fault.h"

/* "SUBJECT: what the library's last failure says". Returns -1. */
int fault_of_library(fault *f, int status, const char *subject);

/* The same of a file of wisdom, which the library names itself. */
int fault_of_wisdom(fault *f);

/* 0 if so many bytes of memory are available; else -1 and "WHAT: 17.2 GB of memory are needed and 8 GB available:
 * REMEDY", where the system would grant them and kill the process later. */
int fault_beyond_memory(fault *f, double bytes, const char *what, const char *remedy);

/* Erase the progress line, print "histo: SENTENCE" on standard error and return the exit status of the fault. */
int fault_report(const fault *f);

#endif
