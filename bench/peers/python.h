/* A Python program in a process of the interpreter that HISTO_BENCH_PYTHON names. Requests are lines on a socket;
 * arrays are shared in memfds. */
#ifndef BENCH_PYTHON_H
#define BENCH_PYTHON_H

#include <histo/histo.h>
#include <stdio.h>

enum { BENCH_PYTHON_FILES = 8, BENCH_PYTHON_LIST = 21 * HISTO_MAX_DIMS };

/* A program in its process; zero before it is started. */
typedef struct bench_python {
    bool tried;
    int socket;
    FILE *answers;                 /* NULL: no process */
    char answer[512];              /* the last one, behind "ok" */
    int files[BENCH_PYTHON_FILES]; /* of arrays, which its process opens as /proc/PID/fd/FILE; -1 without memory */
} bench_python;

/* Start it on the first call. false: there is no such Python. */
bool bench_python_start(bench_python *python, const char *program);

/* Send a line and read the answer: "ok", perhaps with more behind a tab, or HISTO_UNSUPPORTED with the reason. */
histo_status bench_python_ask(bench_python *python, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* HISTO_UNSUPPORTED: there is no Python with the library. */
histo_status bench_python_absent(void);

/* "1,2,3". Returns the text. */
const char *bench_python_list(const int64_t *numbers, int count, char text[BENCH_PYTHON_LIST]);

/* Make [0, bytes) of a file these bytes; the first `done` are there already. */
histo_status bench_python_put(int file, const void *from, size_t done, size_t bytes);

#endif
