/* A file that is truncated while threads count it ends the command with one message, however many threads there are. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <histo/histo.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/process/interrupt.h"
#include "support/check.h"

enum { BYTES = 1 << 24 };

static void count_mapped(int complaints)
{
    FILE *file = tmpfile();
    if (!file || ftruncate(fileno(file), BYTES) != 0) _exit(99);
    void *mapped = mmap(NULL, BYTES, PROT_READ, MAP_SHARED, fileno(file), 0);
    if (mapped == MAP_FAILED || ftruncate(fileno(file), 0) != 0) _exit(99);
    dup2(complaints, STDERR_FILENO);
    interrupt_install();
    setenv("HISTO_THREADS", "8", 1);
    histo_axis axis = histo_axis_integer(0, 256);
    histo_view samples = histo_view_1d(mapped, HISTO_U8, BYTES);
    histo_hist *h;
    if (histo_hist_create(&h, 1, &axis, NULL) == HISTO_OK) histo_hist_fill(h, &samples, NULL);
    _exit(98);
}

/* The message waits for space in the pipe until somebody reads, so that all threads have faulted by then. */
static size_t fill(int pipe_end)
{
    char zeros[512] = {0};
    size_t bytes = 0;
    int flags = fcntl(pipe_end, F_GETFL);
    assert_int_equal(fcntl(pipe_end, F_SETFL, flags | O_NONBLOCK), 0);
    for (ssize_t more; (more = write(pipe_end, zeros, sizeof zeros)) > 0;)
        bytes += (size_t)more;
    assert_int_equal(fcntl(pipe_end, F_SETFL, flags), 0);
    return bytes;
}

static void test_shorter_file(void **state)
{
    (void)state;
    int ends[2], status;
    assert_int_equal(pipe(ends), 0);
    size_t filled = fill(ends[1]), bytes = 0;
    pid_t pid = fork();
    if (pid == 0) count_mapped(ends[1]);
    close(ends[1]);
    usleep(300000);
    char *said = calloc(1, filled + 4096);
    assert_non_null(said);
    for (ssize_t more; (more = read(ends[0], said + bytes, filled + 4095 - bytes)) > 0;)
        bytes += (size_t)more;
    close(ends[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), EXIT_DATA);
    assert_string_equal(said + filled, "histo: a file shrank while it was read: try again\n");
    free(said);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_shorter_file)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
