/* Python's libraries, in a process of the interpreter that HISTO_BENCH_PYTHON names. They count the same samples,
 * shared in memfds; requests are lines on a socket. */
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

/* A memfd. */
typedef struct shared {
    int file;
    const void *from; /* its content, while there are states */
    size_t bytes;
} shared;

enum { WEIGHTS = BENCH_MAX_AXES, MASK, EDGES, COUNTS, FILES, LIST_BYTES = 21 * HISTO_MAX_DIMS };

static struct {
    bool tried;
    int socket; /* -1: no process */
    FILE *answers;
    shared files[FILES]; /* the first hold samples */
    int states, last;    /* the number of the last one */
} python = {.socket = -1};

static void start(const char *interpreter)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return;
    for (int f = 0; f < FILES; f++)
        python.files[f].file = memfd_create("histo", MFD_CLOEXEC);
    pid_t child = fork();
    if (child == 0) {
        setpgid(0, 0); /* an interrupt lets it finish the cell; it ends with the socket */
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

/* Send a line and read the answer. */
__attribute__((format(printf, 1, 2))) static histo_status ask(const char *format, ...)
{
    char request[1024], answer[512];
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

/* Put these bytes into a file. Entries of one race share the files; longer passes append. */
static histo_status load(shared *to, const void *from, size_t bytes)
{
    size_t done = to->from == from ? to->bytes : 0;
    bool failed = done == 0 && ftruncate(to->file, 0) != 0;
    while (done < bytes && !failed) {
        ssize_t written = pwrite(to->file, (const char *)from + done, bytes - done, (off_t)done);
        failed = written <= 0 && errno != EINTR;
        done += written > 0 ? (size_t)written : 0;
    }
    if (failed) return histo_fail_memory(bytes, "a peer's samples");
    to->from = from;
    to->bytes = done;
    return HISTO_OK;
}

/* All edges of all axes, concatenated. */
static histo_status load_edges(const bench_task *task, int axes)
{
    size_t edges = 0;
    for (int a = 0; a < axes; a++)
        edges += (size_t)task->axis[a].bins + 1;
    double *all = malloc(edges * sizeof *all), *next = all;
    if (!all) return histo_fail_memory(edges * sizeof *all, "edges");
    histo_status status = HISTO_OK;
    for (int a = 0; a < axes && status == HISTO_OK; next += task->axis[a++].bins + 1)
        status = histo_axis_edges(&task->axis[a], next);
    python.files[EDGES].from = NULL;
    if (status == HISTO_OK) status = load(&python.files[EDGES], all, edges * sizeof *all);
    free(all);
    return status;
}

/* Bytes from a view's first sample through its last. */
static size_t extent(const histo_view *view)
{
    int64_t bytes = (int64_t)histo_dtype_size(view->dtype);
    for (int d = 0; d < view->ndim; d++)
        bytes += (view->shape[d] - 1) * view->strides[d];
    return (size_t)bytes;
}

/* A file per column; interleaved samples are all in the first. */
static histo_status load_task(const bench_task *task, int axes)
{
    int columns = task->input->interleaved ? 1 : axes;
    size_t interleaved = (size_t)(axes - columns) * histo_dtype_size(task->views->dtype);
    for (int f = 0; f < FILES && python.states == 0; f++)
        python.files[f].from = NULL;
    histo_status status = load_edges(task, axes);
    for (int a = 0; a < columns && status == HISTO_OK; a++)
        status = load(&python.files[a], task->views[a].data, extent(&task->views[a]) + interleaved);
    if (task->mask && status == HISTO_OK) status = load(&python.files[MASK], task->mask->data, extent(task->mask));
    if (!task->weights || status != HISTO_OK) return status;
    size_t bytes = (size_t)task->count * histo_dtype_size(task->input->weights);
    return load(&python.files[WEIGHTS], task->weights, bytes);
}

/* "1,2,3"; the text has this size. */
static const char *list(const int64_t *numbers, int count, char text[LIST_BYTES])
{
    int length = 0;
    for (int i = 0; i < count; i++)
        length += snprintf(text + length, (size_t)(LIST_BYTES - length), i ? ",%lld" : "%lld", (long long)numbers[i]);
    return text;
}

typedef struct library {
    int number;
    const bench_task *task;
} library;

static histo_status ask_to_begin(const char *name, const library *it, int axes)
{
    const bench_task *task = it->task;
    const histo_view *view = task->views;
    const char *kind = task->input->axis != BENCH_NATURAL  ? "any"
                       : task->axis->kind == HISTO_INTEGER ? "integer"
                                                           : "equal";
    int64_t bins[BENCH_MAX_AXES], files[BENCH_MAX_AXES], offsets[BENCH_MAX_AXES];
    char lists[5][LIST_BYTES];
    for (int a = 0; a < axes; a++) {
        bins[a] = task->axis[a].bins;
        files[a] = python.files[task->input->interleaved ? 0 : a].file;
        offsets[a] = task->input->interleaved ? (const char *)task->views[a].data - (const char *)view->data : 0;
    }
    bool squares = task->input->weighting == HISTO_WEIGHT_FAST || task->input->weighting == HISTO_WEIGHT_REPRODUCIBLE;
    return ask("begin\t%d\t%s\t%d\t%s\t%s\t%d\t%s\t%s\t%d\t%s\t%s\t%s\t%d\t%d\t%s\t%d\n", it->number, name,
               task->threads, kind, list(bins, axes, lists[0]), python.files[EDGES].file, histo_dtype_name(view->dtype),
               list(view->shape, view->ndim, lists[1]), view->batch_ndim, list(view->strides, view->ndim, lists[2]),
               list(files, axes, lists[3]), list(offsets, axes, lists[4]), task->mask ? python.files[MASK].file : -1,
               task->weights ? python.files[WEIGHTS].file : -1,
               task->weights ? histo_dtype_name(task->input->weights) : "none", squares);
}

static histo_status begin(const char *name, const bench_task *task, void **state)
{
    const char *interpreter = getenv("HISTO_BENCH_PYTHON");
    int axes = bench_input_axes(task->input);
    if (task->arranged && task->arranged->pairs) return histo_fail(HISTO_UNSUPPORTED, "not for pairs of images");
    if (!python.tried && interpreter && *interpreter) start(interpreter);
    python.tried = true;
    if (!python.answers) return fail_absent();
    library *it = malloc(sizeof *it);
    if (!it) return histo_fail_memory(sizeof *it, "a peer");
    *it = (library){++python.last, task};
    *state = it;
    histo_status status = load_task(task, axes);
    python.states++;
    return status == HISTO_OK ? ask_to_begin(name, it, axes) : status;
}

static histo_status run(void *state, void *stream)
{
    (void)stream;
    return ask("run\t%d\n", ((const library *)state)->number);
}

static histo_status counts(void *state, uint64_t *counts)
{
    const library *it = state;
    const bench_task *task = it->task;
    const int file = python.files[COUNTS].file;
    size_t bytes = sizeof *counts * (size_t)task->input->bins * (size_t)(task->arranged ? task->arranged->batch : 1);
    histo_status status = ask("counts\t%d\t%d\t%.17g\n", it->number, file, task->weights ? BENCH_WEIGHT_UNIT : 1.0);
    if (status == HISTO_OK && pread(file, counts, bytes, 0) != (ssize_t)bytes)
        status = histo_fail(HISTO_DEVICE, "it gave no counts");
    return status;
}

static void end(void *state)
{
    ask("end\t%d\n", ((const library *)state)->number);
    python.states--;
    free(state);
}

#define PEER(id, name, weighs, finds_slots)                                                                            \
    static histo_status begin_##id(const bench_task *task, void **state)                                               \
    {                                                                                                                  \
        return begin(name, task, state);                                                                               \
    }                                                                                                                  \
    const bench_peer bench_##id = {name, weighs, begin_##id, run, counts, end, true, finds_slots};
PEER(numpy, "NumPy", true, false)
PEER(boost_histogram, "boost-histogram", true, false)
PEER(fast_histogram, "fast-histogram", true, false)
PEER(opencv, "OpenCV", false, false)
PEER(numpy_unique, "NumPy unique", false, true)
