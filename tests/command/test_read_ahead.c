/* Bytes that are wanted get into the page cache; stopping waits for nothing that is left. */
#define _GNU_SOURCE
#include "input/stream/read_ahead.h"

#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "support/check.h"

enum { BYTES = 24 << 20, PAGE = 4096, PATIENCE_S = 60 };

static int open_file(void)
{
    char name[] = "read_ahead_XXXXXX";
    int fd = mkstemp(name);
    assert_true(fd >= 0);
    unlink(name);
    char *bytes = malloc(BYTES);
    assert_non_null(bytes);
    memset(bytes, 7, BYTES);
    assert_int_equal(write(fd, bytes, BYTES), BYTES);
    free(bytes);
    assert_int_equal(fsync(fd), 0);
    return fd;
}

static bool is_cached(int fd, off_t begin, off_t end)
{
    static unsigned char pages[BYTES / PAGE];
    void *map = mmap(NULL, BYTES, PROT_READ, MAP_SHARED, fd, 0);
    assert_true(map != MAP_FAILED);
    assert_int_equal(mincore(map, BYTES, pages), 0);
    munmap(map, BYTES);
    for (off_t p = begin / PAGE; p < end / PAGE; p++)
        if (!(pages[p] & 1)) return false;
    return true;
}

static void test_wanted_bytes_are_cached(void **state)
{
    (void)state;
    int fd = open_file();
    read_ahead *a = read_ahead_start(fd);
    assert_non_null(a);
    const off_t ranges[][2] = {{0, 1 << 20}, {1 << 19, 10 << 20}, {20 << 20, BYTES}, {PAGE, 4 << 20}};
    for (int i = 0; i < 4; i++) {
        /* Nothing, where the file is in memory anyway. */
        assert_int_equal(posix_fadvise(fd, ranges[i][0], ranges[i][1] - ranges[i][0], POSIX_FADV_DONTNEED), 0);
        read_ahead_want(a, ranges[i][0], ranges[i][1]);
        const off_t fresh = i == 1 ? 1 << 20 : ranges[i][0]; /* what was wanted before is not asked for again */
        const time_t begun = time(NULL);
        while (!is_cached(fd, fresh, ranges[i][1])) {
            assert_true(time(NULL) - begun < PATIENCE_S);
            sched_yield();
        }
    }
    read_ahead_stop(a);
    close(fd);
}

static void test_stopping(void **state)
{
    (void)state;
    int fd = open_file();
    for (int i = 0; i < 50; i++) {
        read_ahead *a = read_ahead_start(fd);
        assert_non_null(a);
        if (i % 2) read_ahead_want(a, 0, (off_t)INT64_MAX / 2); /* beyond the end, for ever */
        read_ahead_stop(a);
    }
    read_ahead_want(NULL, 0, BYTES);
    read_ahead_stop(NULL);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wanted_bytes_are_cached),
        cmocka_unit_test(test_stopping),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
