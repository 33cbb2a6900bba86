#define _GNU_SOURCE
#include "bench/peers/python.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"

static void start(bench_python *python, const char *interpreter, const char *program)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return;
    pid_t child = fork();
    if (child == 0) {
        setpgid(0, 0); /* an interrupt lets it finish the cell; it ends with the socket */
        dup2(pair[1], 0);
        dup2(pair[1], 1);
        execlp(interpreter, interpreter, "-c", program, (char *)NULL);
        _exit(127);
    }
    close(pair[1]);
    if (child < 0) close(pair[0]);
    for (int f = 0; f < BENCH_PYTHON_FILES; f++)
        python->files[f] = memfd_create("histo", MFD_CLOEXEC);
    python->socket = pair[0];
    python->answers = child > 0 ? fdopen(pair[0], "r") : NULL;
}

bool bench_python_start(bench_python *python, const char *program)
{
    const char *interpreter = getenv("HISTO_BENCH_PYTHON");
    if (!python->tried && interpreter && *interpreter) start(python, interpreter, program);
    python->tried = true;
    return python->answers;
}

histo_status bench_python_absent(void)
{
    return histo_fail(HISTO_UNSUPPORTED,
                      "absent: HISTO_BENCH_PYTHON names no Python that has it; script/bench makes one");
}

histo_status bench_python_ask(bench_python *python, const char *format, ...)
{
    char request[1024], line[sizeof python->answer];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(request, sizeof request, format, arguments);
    va_end(arguments);
    bool sent = python->answers && send(python->socket, request, (size_t)length, MSG_NOSIGNAL) == length;
    if (!sent || !fgets(line, sizeof line, python->answers)) return bench_python_absent();
    line[strcspn(line, "\n")] = '\0';
    if (strncmp(line, "ok", 2) != 0)
        return histo_fail(HISTO_UNSUPPORTED, "%s", strncmp(line, "no\t", 3) == 0 ? line + 3 : line);
    strcpy(python->answer, line[2] == '\t' ? line + 3 : "");
    return HISTO_OK;
}

const char *bench_python_list(const int64_t *numbers, int count, char text[BENCH_PYTHON_LIST])
{
    int length = 0;
    for (int i = 0; i < count; i++)
        length +=
            snprintf(text + length, (size_t)(BENCH_PYTHON_LIST - length), i ? ",%lld" : "%lld", (long long)numbers[i]);
    return text;
}

histo_status bench_python_put(int file, const void *from, size_t done, size_t bytes)
{
    bool failed = done == 0 && ftruncate(file, 0) != 0;
    while (done < bytes && !failed) {
        ssize_t written = pwrite(file, (const char *)from + done, bytes - done, (off_t)done);
        failed = written <= 0 && errno != EINTR;
        done += written > 0 ? (size_t)written : 0;
    }
    return failed ? histo_fail_memory(bytes, "a peer's samples") : HISTO_OK;
}
