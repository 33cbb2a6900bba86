/* Forks while other threads plan and count: in the child, the library's locks are free and its data is consistent. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/threads/pool.h"
#include "plan/plan.h"
#include "support/check.h"

enum { ENTRIES = 2000, THREADS = 2, FORKS = 60, SECONDS = 60 /* then a child that hangs is killed */ };

static atomic_bool stop;

/* Enough wisdom that its lock is held most of the time. */
static void remember_much(void)
{
    const histo_row *row = histo_row_find("cpu/sequential", NULL);
    for (int i = 0; i < ENTRIES; i++) {
        char signature[32];
        snprintf(signature, sizeof signature, "problem-%d", i);
        OK(histo_wisdom_add(HISTO_DEVICE_CPU, signature, row, NULL, 1));
    }
}

static void *look_up(void *unused)
{
    double us;
    int64_t params[HISTO_MAX_PARAMS];
    while (!atomic_load(&stop))
        histo_wisdom_find(HISTO_DEVICE_CPU, "unknown", params, &us);
    return unused;
}

static void nothing(void *context, int index)
{
    (void)context, (void)index;
}

static void *run_tasks(void *unused)
{
    while (!atomic_load(&stop))
        histo_pool_run(2, nothing, NULL);
    return unused;
}

/* Under ThreadSanitizer, a child cannot start threads. */
#ifdef __SANITIZE_THREAD__
enum { TASKS = 1 };
#else
enum { TASKS = 3 };
#endif

static void count_up(void *context, int index)
{
    (void)index;
    atomic_fetch_add((atomic_int *)context, 1);
}

static int child(void)
{
    alarm(SECONDS);
    double x[] = {0.1, 0.6, 0.7}, us;
    histo_view view = histo_view_1d(x, HISTO_F64, 3);
    histo_axis axis = histo_axis_regular(2, 0, 1);
    histo_hist *h;
    uint64_t counts[2];
    int64_t params[HISTO_MAX_PARAMS];
    if (histo_hist_create(&h, 1, &axis, NULL) != HISTO_OK || histo_hist_fill(h, &view, NULL) != HISTO_OK ||
        histo_hist_read_counts(h, HISTO_BINS, counts, 2, NULL) != HISTO_OK || counts[0] != 1 || counts[1] != 2)
        return 1;
    if (!histo_wisdom_find(HISTO_DEVICE_CPU, "problem-0", params, &us)) return 2;
    atomic_int done = 0;
    histo_pool_run(TASKS, count_up, &done);
    return atomic_load(&done) == TASKS ? 0 : 3;
}

static void children_are_not_stuck(void **state)
{
    void *(*const busy)(void *) = *state;
    pthread_t threads[THREADS];
    remember_much();
    atomic_store(&stop, false);
    for (int t = 0; t < THREADS; t++)
        assert_int_equal(pthread_create(&threads[t], NULL, busy, NULL), 0);
    int failed = 0;
    for (int i = 0; i < FORKS && !failed; i++) {
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) _exit(child());
        assert_int_equal(waitpid(pid, &failed, 0), pid);
    }
    atomic_store(&stop, true);
    for (int t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    histo_wisdom_forget();
    if (failed) fail_msg("a child ended with status %#x", (unsigned)failed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        {"while threads look up wisdom", children_are_not_stuck, NULL, NULL, (void *)look_up},
        {"while threads share work", children_are_not_stuck, NULL, NULL, (void *)run_tasks},
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
