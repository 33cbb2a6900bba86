/* Python's libraries, in a process of the interpreter that HISTO_BENCH_PYTHON names: they count the same samples, in
 * files that are only memory, when a line tells them to. */
#define _GNU_SOURCE
#include "bench/peers_python.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "peers.py.h"

static struct {
    bool tried;
    int socket; /* -1: there is no such process */
    FILE *answers;
    int samples, weights, edges, counts; /* files */
    /* What the files hold, while there are states. */
    const void *placed;
    int64_t count;
    int states, last; /* the number of the last one */
} python = {.socket = -1};

static void start(const char *interpreter)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return;
    python.samples = memfd_create("samples", MFD_CLOEXEC);
    python.weights = memfd_create("weights", MFD_CLOEXEC);
    python.edges = memfd_create("edges", MFD_CLOEXEC);
    python.counts = memfd_create("counts", MFD_CLOEXEC);
    pid_t child = fork();
    if (child == 0) {
        dup2(pair[1], 0);
        dup2(pair[1], 1);
        execlp(interpreter, interpreter, "-c", peers_py, (char *)NULL);
        _exit(127);
    }
    close(pair[1]);
    python.socket = child > 0 ? pair[0] : -1;
    if (child < 0) close(pair[0]);
    python.answers = child > 0 ? fdopen(pair[0], "r") : NULL;
}

static histo_status fail_absent(void)
{
    return histo_fail(HISTO_UNSUPPORTED,
                      "absent: HISTO_BENCH_PYTHON names no Python that has it; script/bench makes one");
}

/* One line there, one back. */
__attribute__((format(printf, 1, 2))) static histo_status ask(const char *format, ...)
{
    char request[256], answer[512];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(request, sizeof request, format, arguments);
    va_end(arguments);
    bool sent = send(python.socket, request, (size_t)length, MSG_NOSIGNAL) == length;
    if (!sent || !fgets(answer, sizeof answer, python.answers)) return fail_absent();
    answer[strcspn(answer, "\n")] = '\0';
    if (strcmp(answer, "ok") == 0) return HISTO_OK;
    return histo_fail(HISTO_UNSUPPORTED, "%s", strncmp(answer, "no\t", 3) == 0 ? answer + 3 : answer);
}

/* Write to a file of memory, from its byte `begin` on, where it is cut off. */
static histo_status write_from(int file, size_t begin, const void *from, size_t bytes)
{
    const char *at = from;
    bool failed = ftruncate(file, (off_t)begin) != 0;
    for (size_t done = 0; done < bytes && !failed;) {
        ssize_t written = pwrite(file, at + done, bytes - done, (off_t)(begin + done));
        failed = written <= 0 && errno != EINTR;
        done += written > 0 ? (size_t)written : 0;
    }
    return failed ? histo_fail_memory(bytes, "a peer's samples") : HISTO_OK;
}

/* Entries of one race share the files: those of more samples append them. */
static histo_status share(const bench_task *task)
{
    size_t size = histo_dtype_size(task->input->dtype), begin = (size_t)python.count * size;
    if (python.states && python.placed == task->samples) {
        if (python.count >= task->count) return HISTO_OK;
    } else {
        begin = 0;
        histo_status status =
            write_from(python.edges, 0, task->edges, ((size_t)task->axis->bins + 1) * sizeof *task->edges);
        if (status != HISTO_OK) return status;
    }
    python.placed = task->samples;
    python.count = task->count;
    if (task->weights) {
        size_t bytes = (size_t)task->count * histo_dtype_size(task->input->weights);
        histo_status status = write_from(python.weights, 0, task->weights, bytes);
        if (status != HISTO_OK) return status;
    }
    return write_from(python.samples, begin, (const char *)task->samples + begin, (size_t)task->count * size - begin);
}

typedef struct library {
    int number;
    const bench_task *task;
} library;

static histo_status begin(const char *name, const bench_task *task, void **state)
{
    const char *interpreter = getenv("HISTO_BENCH_PYTHON"), *kind = "any";
    if (task->input->axes) return histo_fail(HISTO_UNSUPPORTED, "not for several axes");
    if (task->input->axis == BENCH_NATURAL) kind = task->axis->kind == HISTO_INTEGER ? "integer" : "equal";
    if (!python.tried && interpreter && *interpreter) start(interpreter);
    python.tried = true;
    if (!python.answers) return fail_absent();
    library *it = malloc(sizeof *it);
    if (!it) return histo_fail_memory(sizeof *it, "a peer");
    *it = (library){++python.last, task};
    *state = it;
    histo_status status = share(task);
    python.states++;
    if (status != HISTO_OK) return status;
    int process = (int)getpid();
    const char *weights = task->weights ? histo_dtype_name(task->input->weights) : "none";
    return ask("begin\t%d\t%s\t/proc/%d/fd/%d\t%s\t%lld\t/proc/%d/fd/%d\t%lld\t%s\t%d\t/proc/%d/fd/%d\t%s\n",
               it->number, name, process, python.samples, histo_dtype_name(task->input->dtype), (long long)task->count,
               process, python.edges, (long long)task->axis->bins, kind, task->threads, process, python.weights,
               weights);
}

static histo_status run(void *state, void *stream)
{
    (void)stream;
    return ask("run\t%d\n", ((const library *)state)->number);
}

static histo_status counts(void *state, uint64_t *counts)
{
    const library *it = state;
    size_t bytes = (size_t)it->task->axis->bins * sizeof *counts;
    histo_status status = ask("counts\t%d\t/proc/%d/fd/%d\n", it->number, (int)getpid(), python.counts);
    if (status == HISTO_OK && pread(python.counts, counts, bytes, 0) != (ssize_t)bytes)
        status = histo_fail(HISTO_DEVICE, "it gave no counts");
    return status;
}

static void end(void *state)
{
    ask("end\t%d\n", ((const library *)state)->number);
    python.states--;
    free(state);
}

#define PEER(id, name, weighs)                                                                                         \
    static histo_status begin_##id(const bench_task *task, void **state)                                               \
    {                                                                                                                  \
        return begin(name, task, state);                                                                               \
    }                                                                                                                  \
    const bench_peer bench_##id = {name, weighs, begin_##id, run, counts, end, false};
PEER(numpy, "NumPy", true)
PEER(boost_histogram, "boost-histogram", true)
PEER(fast_histogram, "fast-histogram", true)
PEER(opencv, "OpenCV", false)
