#define _GNU_SOURCE
#include "input/readers/isolated_process.h"

#include <errno.h>
#include <fcntl.h>
#include <histo/histo.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/failure.h"
#include "base/process/interrupt.h"

#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
enum { LONGEST_ANSWER_S = 2 };
#else
enum { LONGEST_ANSWER_S = 120 };
#endif

/* Follows the samples: the name of the file being read, if it is not the reader's. */
enum { NAME_BYTES = 512 };

typedef struct reply {
    int result;
    fault fault;
} reply;

struct isolated_process {
    pid_t pid; /* -1: it has ended */
    int line;
    const char *library;
    char *name; /* of the file */
    void *memory;
};

/* Held while a process is made, so that no other inherits its end of the connection. */
static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;

static int send_all(int line, const void *data, size_t size)
{
    const char *p = data;
    while (size) {
        const ssize_t put = send(line, p, size, MSG_NOSIGNAL);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return -1;
        p += put;
        size -= (size_t)put;
    }
    return 0;
}

static int receive_all(int line, void *data, size_t size)
{
    char *p = data;
    while (size) {
        const ssize_t got = recv(line, p, size, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return -1;
        p += got;
        size -= (size_t)got;
    }
    return 0;
}

/* ---- The other process ---- */

/* The descriptor N of "/proc/self/fd/N", else -1. */
static int descriptor_of(const char *path)
{
    int fd;
    return sscanf(path, "/proc/self/fd/%d", &fd) == 1 ? fd : -1;
}

/* Drop what belongs to the parent: signals, messages, files. */
static void leave_ours(int line, const char *path)
{
    static const int signals[] = {SIGTERM, SIGHUP, SIGQUIT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGPIPE, SIGPROF};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        signal(signals[i], SIG_DFL);
    signal(SIGINT, SIG_IGN); /* it ends with its parent */
    interrupt_let_go();
    const int fd = descriptor_of(path), nowhere = open("/dev/null", O_RDWR);
    if (nowhere >= 0) {
        dup2(nowhere, STDOUT_FILENO);
        dup2(nowhere, STDERR_FILENO);
    }
    const int low = fd >= 0 && fd < line ? fd : line, high = fd > line ? fd : line;
    if (low > 3) close_range(3, (unsigned)low - 1, 0);
    if (high > low + 1) close_range((unsigned)low + 1, (unsigned)high - 1, 0);
    close_range((unsigned)high + 1, ~0U, 0);
}

/* Limit memory to what is available, and to what this file can need: libraries allocate what a damaged file claims.
 * Allocations then fail, and the system does not kill other programs. */
static void limit_memory(const char *path)
{
    static double begun; /* address space at the start, in bytes */
    static struct rlimit before;
    struct stat file;
    if (begun == 0) {
        long long pages = 0;
        FILE *sizes = fopen("/proc/self/statm", "r");
        const bool has_size = sizes && fscanf(sizes, "%lld", &pages) == 1;
        if (sizes) fclose(sizes);
        if (!has_size || getrlimit(RLIMIT_AS, &before) != 0) return;
        begun = (double)pages * (double)sysconf(_SC_PAGESIZE);
    }
    double more = (double)histo_memory_available();
    if (stat(path, &file) == 0 && S_ISREG(file.st_mode)) more = fmin(more, memory_of_file((double)file.st_size));
    struct rlimit now = before;
    now.rlim_cur = (rlim_t)fmin((double)before.rlim_cur, begun + more);
    setrlimit(RLIMIT_AS, &now);
}

/* Limit the time of an answer: a library may never finish a damaged file. */
static void limit_time(int seconds)
{
    setitimer(ITIMER_PROF, &(struct itimerval){.it_value.tv_sec = seconds}, NULL);
}

static _Noreturn void serve(int line, const char *path, void *memory, isolated_handler *answer, void *self)
{
    isolated_request q;
    leave_ours(line, path);
    limit_memory(path);
    while (receive_all(line, &q, sizeof q) == 0) {
        reply r = {0};
        limit_time(LONGEST_ANSWER_S);
        r.result = answer(self, &q, memory, &r.fault);
        limit_time(0);
        if (send_all(line, &r, sizeof r) != 0) break;
    }
    _exit(0);
}

void isolated_reads(void *memory, const char *name, const char *path)
{
    limit_memory(path);
    snprintf((char *)memory + ISOLATED_MEMORY_BYTES, NAME_BYTES, "%s", name);
}

/* ---- Here ---- */

static int start(isolated_process *a, const char *path, isolated_handler *answer, void *self)
{
    int ends[2];
    pthread_mutex_lock(&making);
    a->pid = -1;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0) {
        interrupt_hold(); /* until the process has dropped our signals */
        a->pid = fork();
        if (a->pid == 0) serve(ends[1], path, a->memory, answer, self);
        interrupt_let_go();
        close(ends[1]);
        a->line = ends[0];
    }
    pthread_mutex_unlock(&making);
    return a->pid < 0 ? -1 : 0;
}

isolated_process *isolated_open(const char *name, const char *path, const char *library, isolated_handler *answer,
                                void *self, fault *f)
{
    isolated_process *a = calloc(1, sizeof *a);
    if (a) {
        *a = (isolated_process){.pid = -1, .line = -1, .library = library, .name = strdup(name)};
        a->memory =
            mmap(NULL, ISOLATED_MEMORY_BYTES + NAME_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (a->memory == MAP_FAILED) a->memory = NULL;
        if (a->name && a->memory && start(a, path, answer, self) == 0) return a;
    }
    isolated_close(a);
    fault_set(f, EXIT_DATA, "%s cannot be read by %s: there is no memory, or no process can be made", name, library);
    return NULL;
}

void *isolated_memory(isolated_process *a)
{
    return a->memory;
}

int isolated_call(isolated_process *a, const isolated_request *q, fault *f)
{
    reply r;
    const char *file = (const char *)a->memory + ISOLATED_MEMORY_BYTES;
    if (a->pid > 0 && send_all(a->line, q, sizeof *q) == 0 && receive_all(a->line, &r, sizeof r) == 0)
        return r.result == 0 ? 0 : fault_set(f, r.fault.status, "%s", r.fault.text);
    return fault_set(f, EXIT_DATA, "%s cannot be read: %s crashed on it, so it is damaged; copy or download it again",
                     *file ? file : a->name, a->library);
}

int isolated_read(isolated_process *a, const isolated_request *q, void *samples, size_t bytes, unsigned char *valid,
                  int64_t count, fault *f)
{
    if (isolated_call(a, q, f) != 0) return -1;
    memcpy(samples, a->memory, bytes);
    if (valid) memcpy(valid, (const char *)a->memory + BAND_BYTES, (size_t)count);
    return 0;
}

void isolated_close(isolated_process *a)
{
    if (!a) return;
    if (a->pid > 0) {
        kill(a->pid, SIGKILL);
        while (waitpid(a->pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    if (a->line >= 0) close(a->line);
    if (a->memory) munmap(a->memory, ISOLATED_MEMORY_BYTES + NAME_BYTES);
    free(a->name);
    free(a);
}
