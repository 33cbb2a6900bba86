/* Failures of the library and of the command, as messages. */
#ifndef CLI_FAILURE_H
#define CLI_FAILURE_H

#include "base/fault.h"

/* "SUBJECT: the library's last error message". Returns -1. */
int fault_of_library(fault *f, int status, const char *subject);

/* As fault_of_library, for a wisdom file, which the library's message names. */
int fault_of_wisdom(fault *f);

/* 0 if this many bytes of memory are available; else -1 and "WHAT: 17.2 GB of memory are needed and 8 GB available:
 * REMEDY". The system itself might grant the memory and kill the process later. */
int fault_beyond_memory(fault *f, double bytes, const char *what, const char *remedy);

/* Erase the progress line, print "histo: MESSAGE" on standard error and return the exit status of the fault. */
int fault_report(const fault *f);

#endif
