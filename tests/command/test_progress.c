/* The progress line of calls of the library, on a terminal of the test's own. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <histo/histo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/progress.h"
#include "support/check.h"

enum { BINS = 1 << 19, DELAY_US = 600000 /* longer than nothing is drawn */ };

static int terminal = -1, standard_error = -1;

/* Standard error is the terminal until it is given back. */
static void take_standard_error(void)
{
    const struct winsize size = {.ws_row = 24, .ws_col = 60};
    terminal = posix_openpt(O_RDWR | O_NOCTTY);
    assert_true(terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0);
    const int ours = open(ptsname(terminal), O_RDWR | O_NOCTTY);
    assert_true(ours >= 0 && ioctl(ours, TIOCSWINSZ, &size) == 0);
    standard_error = dup(STDERR_FILENO);
    assert_int_equal(dup2(ours, STDERR_FILENO), STDERR_FILENO);
    close(ours);
}

/* What has been drawn: all that comes before a mark. */
static void give_back_standard_error(char *drawn, size_t capacity)
{
    size_t length = 0;
    assert_int_equal(write(STDERR_FILENO, "$", 1), 1);
    while (length == 0 || drawn[length - 1] != '$') {
        const ssize_t n = read(terminal, drawn + length, capacity - length);
        assert_true(n > 0);
        length += (size_t)n;
    }
    drawn[length - 1] = '\0';
    assert_int_equal(dup2(standard_error, STDERR_FILENO), STDERR_FILENO);
    close(standard_error);
    close(terminal);
}

static void save(void)
{
    const histo_axis axis = histo_axis_regular(BINS, 0, 1);
    histo_hist *h;
    void *data;
    size_t size;
    OK(histo_hist_create(&h, 1, &axis, NULL));
    OK(histo_hist_save(h, HISTO_JSON, NULL, &data, &size));
    histo_free(data);
    histo_hist_destroy(h);
}

static void test_calls(void **state)
{
    (void)state;
    char drawn[4096];
    take_standard_error();
    progress_watch("saving");
    usleep(DELAY_US);
    save();
    progress_unwatch();
    give_back_standard_error(drawn, sizeof drawn);
    assert_non_null(strstr(drawn, "\rsaving"));
    assert_string_equal(drawn + strlen(drawn) - 4, "\r\033[K"); /* it is erased */
    /* Nobody watches any more. */
    take_standard_error();
    usleep(DELAY_US);
    save();
    give_back_standard_error(drawn, sizeof drawn);
    assert_string_equal(drawn, "");
}

/* A line that is there says what it said, and stays. */
static void test_within_a_line(void **state)
{
    (void)state;
    char drawn[4096];
    take_standard_error();
    progress_start("counting", false);
    usleep(DELAY_US);
    progress_watch("saving");
    save();
    progress_unwatch();
    progress_update(1, 2);
    progress_end();
    give_back_standard_error(drawn, sizeof drawn);
    assert_null(strstr(drawn, "saving"));
    assert_non_null(strstr(drawn, "\rcounting  50 % ["));
}

static void test_silence(void **state)
{
    (void)state;
    char drawn[4096];
    take_standard_error();
    progress_silence();
    progress_watch("saving");
    usleep(DELAY_US);
    save();
    progress_unwatch();
    give_back_standard_error(drawn, sizeof drawn);
    assert_string_equal(drawn, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_calls), cmocka_unit_test(test_within_a_line),
                                       cmocka_unit_test(test_silence)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
