/* Kernels compiled at run time, as far as no GPU is needed: from sources to machine code. Each test is a process of its
 * own, since what is compiled stays for the life of a process. */
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cuda/jit/cache.h"
#include "cuda/jit/compile.h"
#include "cuda/jit/embedded_headers.h"
#include "support/check.h"

enum { H200 = 90, FUTURE = 999, SECONDS = 120 /* then a process that hangs is killed */ };

/* How often it was really compiled. */
static atomic_int compiled;
__typeof__(histo_nvrtc_compile) __real_histo_nvrtc_compile, __wrap_histo_nvrtc_compile;
bool __wrap_histo_nvrtc_compile(const char *source, const char *kernel, int architecture, bool (*is_cancelled)(void),
                                histo_kernel_image *image, char **log)
{
    atomic_fetch_add(&compiled, 1);
    return __real_histo_nvrtc_compile(source, kernel, architecture, is_cancelled, image, log);
}

/* A clock that stands still, unless the tests advance it; NULL: the real one. */
static const double *standing_us;
double __real_histo_now_us(void), __wrap_histo_now_us(void);
double __wrap_histo_now_us(void)
{
    return standing_us ? *standing_us : __real_histo_now_us();
}

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: %s is false\n", __FILE__, __LINE__, #condition);                                   \
            return 1;                                                                                                  \
        }                                                                                                              \
    } while (0)

static const histo_kernel_source small = {"#include \"cuda/device/work.h\"",
                                          "template <int N> __global__ void put(int *to) { to[threadIdx.x] = N; }",
                                          "put<7>"};
static const histo_kernel_source large = {
    "#include \"cuda/device/block_tile.cuh\"",
    "template <class reader>\n"
    "__global__ void count(const __grid_constant__ histo_cuda_work work)\n"
    "{\n"
    "    histo_tile tile = reader::tile(&work, blockIdx.x);\n"
    "    uint32_t slot[reader::PER_STEP];\n"
    "    reader::slots(&work, &tile, 0, slot);\n"
    "    for (int k = 0; k < reader::PER_STEP; k++)\n"
    "        if (slot[k] != HISTO_NO_SLOT) atomicAdd(&work.counts[slot[k]], 1ull);\n"
    "}\n",
    "count<histo_any_layout>"};
static const histo_kernel_source wrong = {"", "__global__ void f() { missing(); }", "f"};

static bool is_elf(const histo_kernel_image *image)
{
    return memcmp(image->bytes + image->code_at, "\177ELF", 4) == 0;
}

static int machine_code(void)
{
    histo_compiled *kernel = histo_compiled_of(H200, &small);
    CHECK(kernel && histo_nvrtc_unavailable() == NULL);
    CHECK(histo_compiled_report(kernel).state == HISTO_COMPILE_UNKNOWN);
    CHECK(!histo_compiled_image(kernel, HISTO_COMPILE_NONE) && !histo_compiled_image(kernel, HISTO_COMPILE_CACHED));
    const histo_kernel_image *image = histo_compiled_image(kernel, HISTO_COMPILE_NOW);
    histo_compile_report report = histo_compiled_report(kernel);
    if (!image && report.log) fprintf(stderr, "%s\n", report.log);
    CHECK(image && is_elf(image) && report.state == HISTO_COMPILE_DONE && report.us > 0 && !report.cached);
    CHECK(strstr(image->bytes, "put") && image->code_at % 16 == 0 && image->code_at < image->size);
    CHECK(histo_compiled_image(kernel, HISTO_COMPILE_NONE) == image);
    CHECK(histo_compiled_of(H200, &small) == kernel && histo_compiled_of(80, &small) != kernel);
    histo_kernel_source other = small;
    other.kernel = "put<8>";
    CHECK(histo_compiled_of(H200, &other) != kernel);
    return atomic_load(&compiled) == 1 ? 0 : 1;
}

static int ptx_for_unknown_gpus(void)
{
    const histo_kernel_image *image = histo_compiled_image(histo_compiled_of(FUTURE, &small), HISTO_COMPILE_NOW);
    CHECK(image && !is_elf(image));
    const char *ptx = image->bytes + image->code_at;
    CHECK(strstr(ptx, ".target") && ptx[image->size - image->code_at - 1] == '\0');
    CHECK(!histo_compiled_image(histo_compiled_of(10, &small), HISTO_COMPILE_NOW));
    return 0;
}

/* Every embedded header. */
static int all_headers(void)
{
    static char includes[1 << 16];
    char *at = includes;
    for (int i = 0; i < histo_embedded_header_count; i++)
        at += sprintf(at, "#include \"%s\"\n", histo_embedded_headers[i].name);
    CHECK(at > includes);
    histo_kernel_source source = {includes, small.definitions, small.kernel};
    histo_compiled *kernel = histo_compiled_of(H200, &source);
    const histo_kernel_image *image = histo_compiled_image(kernel, HISTO_COMPILE_NOW);
    if (!image && histo_compiled_report(kernel).log) fprintf(stderr, "%s\n", histo_compiled_report(kernel).log);
    CHECK(image);
    return 0;
}

static int failure_is_remembered(void)
{
    histo_compiled *kernel = histo_compiled_of(H200, &wrong);
    for (int times = 0; times < 3; times++) {
        CHECK(!histo_compiled_image(kernel, HISTO_COMPILE_NOW));
        CHECK(histo_compiled_report(kernel).state == HISTO_COMPILE_FAILED);
        CHECK(strstr(histo_compiled_report(kernel).log, "missing"));
    }
    return atomic_load(&compiled) == 1 ? 0 : 1;
}

static void *compile_now(void *source)
{
    return (void *)histo_compiled_image(histo_compiled_of(H200, source), HISTO_COMPILE_NOW);
}

static int by_many_threads(void)
{
    enum { THREADS = 8 };
    pthread_t threads[THREADS];
    void *images[THREADS];
    for (int t = 0; t < THREADS; t++)
        CHECK(pthread_create(&threads[t], NULL, compile_now, (void *)&small) == 0);
    for (int t = 0; t < THREADS; t++)
        CHECK(pthread_join(threads[t], &images[t]) == 0);
    for (int t = 0; t < THREADS; t++)
        CHECK(images[t] && images[t] == images[0]);
    return atomic_load(&compiled) == 1 ? 0 : 1;
}

/* ---- Beside the fills ---- */

/* A kernel that differs from others of this number. */
static histo_kernel_source numbered(int number, char kernel[32])
{
    histo_kernel_source source = small;
    snprintf(kernel, 32, "put<%d>", number);
    source.kernel = kernel;
    return source;
}

/* Fills go on without the kernel until it is there. */
static const histo_kernel_image *wait_for(histo_compiled *kernel)
{
    const histo_kernel_image *image = histo_compiled_image(kernel, HISTO_COMPILE_BESIDE);
    while (!image && histo_compiled_state(kernel) != HISTO_COMPILE_FAILED) {
        usleep(1000);
        image = histo_compiled_image(kernel, HISTO_COMPILE_BESIDE);
    }
    return image;
}

static int enough_fills(void)
{
    const int64_t many = INT64_C(1) << 30;
    double now_us = 1e6;
    char kernel[32];
    standing_us = &now_us;
    histo_kernel_source source = numbered(0, kernel);
    histo_compiled *often = histo_compiled_of(H200, &source);
    for (int fill = 0; fill < 100; fill++)
        CHECK(!histo_compiled_lacked(often, 10)); /* all at once */
    now_us += 249e3;
    CHECK(!histo_compiled_lacked(often, 10));
    now_us += 2e3;
    CHECK(histo_compiled_lacked(often, 10));
    source = numbered(1, kernel);
    histo_compiled *seldom = histo_compiled_of(H200, &source);
    for (int fill = 0; fill < 3; fill++, now_us += 1e9)
        CHECK(!histo_compiled_lacked(seldom, 10));
    CHECK(histo_compiled_lacked(seldom, 10));
    source = numbered(2, kernel);
    histo_compiled *heavy = histo_compiled_of(H200, &source);
    for (int fill = 0; fill < 3; fill++)
        CHECK(!histo_compiled_lacked(heavy, many));
    CHECK(histo_compiled_lacked(heavy, many));
    source = numbered(3, kernel);
    histo_compiled *few = histo_compiled_of(H200, &source);
    int fills = 1;
    while (!histo_compiled_lacked(few, 1))
        fills++;
    CHECK(fills == 1 << 15);
    return atomic_load(&compiled) == 0 ? 0 : 1;
}

static int beside(void)
{
    enum { KERNELS = 5 };
    histo_compiled *kernels[KERNELS];
    char kernel[32];
    for (int k = 0; k < KERNELS; k++) {
        const histo_kernel_source source = numbered(k, kernel);
        kernels[k] = histo_compiled_of(H200, &source);
        CHECK(kernels[k] && !histo_compiled_image(kernels[k], HISTO_COMPILE_BESIDE)); /* does not wait */
    }
    histo_compiled *failing = histo_compiled_of(H200, &wrong);
    CHECK(!histo_compiled_image(failing, HISTO_COMPILE_BESIDE));
    CHECK(histo_compiled_state(failing) == HISTO_COMPILE_WAITING);
    const histo_kernel_image *last = histo_compiled_image(kernels[KERNELS - 1], HISTO_COMPILE_NOW); /* out of turn */
    CHECK(last && is_elf(last));
    for (int k = 0; k < KERNELS; k++) {
        const histo_kernel_image *image = wait_for(kernels[k]);
        snprintf(kernel, sizeof kernel, "ILi%dE", k); /* in the mangled name */
        CHECK(image && is_elf(image) && strstr(image->bytes, kernel));
        CHECK(histo_compiled_image(kernels[k], HISTO_COMPILE_NONE) == image);
    }
    CHECK(!wait_for(failing) && strstr(histo_compiled_report(failing).log, "missing"));
    usleep(10000); /* it sleeps, and goes on afterwards */
    const histo_kernel_source source = numbered(KERNELS, kernel);
    CHECK(wait_for(histo_compiled_of(H200, &source)));
    return atomic_load(&compiled) == KERNELS + 2 ? 0 : 1;
}

static void *ask_often(void *kernel)
{
    return (void *)wait_for(kernel);
}

static int beside_many_threads(void)
{
    enum { THREADS = 8 };
    pthread_t threads[THREADS];
    histo_compiled *kernel = histo_compiled_of(H200, &small);
    void *image;
    for (int t = 0; t < THREADS; t++)
        CHECK(pthread_create(&threads[t], NULL, ask_often, kernel) == 0);
    for (int t = 0; t < THREADS; t++)
        CHECK(pthread_join(threads[t], &image) == 0 && image == histo_compiled_image(kernel, HISTO_COMPILE_NONE));
    return atomic_load(&compiled) == 1 ? 0 : 1;
}

/* The thread runs no handler of the program, and the program has no child to wait for. */
static atomic_int handled_elsewhere;
static pthread_t main_thread;
static void handle(int signal)
{
    (void)signal;
    if (!pthread_equal(pthread_self(), main_thread)) atomic_store(&handled_elsewhere, 1);
}

static int beside_signals(void)
{
    main_thread = pthread_self();
    CHECK(signal(SIGUSR1, handle) != SIG_ERR && signal(SIGCHLD, handle) != SIG_ERR);
    histo_compiled *kernel = histo_compiled_of(H200, &small);
    while (!histo_compiled_image(kernel, HISTO_COMPILE_BESIDE)) {
        CHECK(kill(getpid(), SIGUSR1) == 0);
        usleep(1000);
    }
    CHECK(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
    return atomic_load(&handled_elsewhere);
}

/* ---- The next process ---- */

static char directory[] = "/tmp/histo-compile-XXXXXX";

static int compile_and_exit(void)
{
    CHECK(histo_kernel_cache(directory) == HISTO_OK);
    CHECK(histo_compiled_image(histo_compiled_of(H200, &small), HISTO_COMPILE_NOW));
    exit(atomic_load(&compiled) == 1 ? 0 : 1); /* writes the file first */
}

static int find_cached(void)
{
    CHECK(histo_kernel_cache(directory) == HISTO_OK);
    histo_compiled *kernel = histo_compiled_of(H200, &small);
    const histo_kernel_image *image = histo_compiled_image(kernel, HISTO_COMPILE_CACHED);
    CHECK(image && is_elf(image) && histo_compiled_report(kernel).cached);
    CHECK(!histo_compiled_image(histo_compiled_of(80, &small), HISTO_COMPILE_CACHED));
    return atomic_load(&compiled) == 0 ? 0 : 1;
}

static int compile_beside_and_write(void)
{
    CHECK(histo_kernel_cache(directory) == HISTO_OK);
    CHECK(wait_for(histo_compiled_of(H200, &small)));
    exit(0); /* writes the file first */
}

static int find_cached_by_compiling(void)
{
    CHECK(histo_kernel_cache(directory) == HISTO_OK);
    CHECK(histo_compiled_image(histo_compiled_of(H200, &small), HISTO_COMPILE_NOW));
    return atomic_load(&compiled) == 0 ? 0 : 1;
}

/* How many files it has; -1 if one is not a complete kernel. */
static int files_of_cache(void)
{
    DIR *open = opendir(directory);
    int files = 0;
    for (const struct dirent *entry; open && (entry = readdir(open));) {
        if (entry->d_name[0] == '.') continue;
        const size_t length = strlen(entry->d_name), suffix = strlen(".kernel");
        files =
            length > suffix && strcmp(entry->d_name + length - suffix, ".kernel") == 0 && files >= 0 ? files + 1 : -1;
    }
    if (open) closedir(open);
    return files;
}

/* ---- Forking in the middle of it ---- */

static int run_child(int (*test)(void))
{
    fflush(NULL);
    pid_t pid = fork();
    if (pid < 0) return -1;
    if (pid == 0) {
        alarm(SECONDS);
        _exit(test());
    }
    int status = -1;
    waitpid(pid, &status, 0);
    return status;
}

static int try_to_compile(void)
{
    histo_compiled_image(histo_compiled_of(H200, &wrong), HISTO_COMPILE_NOW); /* returns */
    histo_compiled_image(histo_compiled_of(H200, &large), HISTO_COMPILE_NOW);
    return histo_compiled_image(histo_compiled_of(80, &small), HISTO_COMPILE_NONE) ? 0 : 1; /* made before */
}

static int fork_while_compiling(void)
{
    CHECK(histo_compiled_image(histo_compiled_of(80, &small), HISTO_COMPILE_NOW));
    pthread_t thread;
    void *image = NULL;
    CHECK(pthread_create(&thread, NULL, compile_now, (void *)&large) == 0);
    for (int times = 0; times < 5; times++) {
        CHECK(run_child(try_to_compile) == 0);
        usleep(10000);
    }
    CHECK(pthread_join(thread, &image) == 0 && image);
    return 0;
}

/* A child can neither wait for the thread, nor does its exit(). */
static int exit_of_child(void)
{
    CHECK(!histo_compiled_image(histo_compiled_of(H200, &large), HISTO_COMPILE_BESIDE));
    CHECK(!histo_compiled_image(histo_compiled_of(H200, &large), HISTO_COMPILE_NOW));
    CHECK(histo_compiled_image(histo_compiled_of(80, &small), HISTO_COMPILE_BESIDE)); /* made before */
    exit(0);
}

static int fork_while_compiling_beside(void)
{
    CHECK(histo_compiled_image(histo_compiled_of(80, &small), HISTO_COMPILE_NOW));
    histo_compiled *kernel = histo_compiled_of(H200, &large);
    CHECK(!histo_compiled_image(kernel, HISTO_COMPILE_BESIDE));
    while (histo_compiled_state(kernel) == HISTO_COMPILE_WAITING)
        usleep(100);
    for (int times = 0; times < 5 && histo_compiled_state(kernel) == HISTO_COMPILE_RUNNING; times++) {
        CHECK(run_child(exit_of_child) == 0);
        usleep(10000);
    }
    CHECK(wait_for(kernel));
    return 0;
}

/* In the moments after a fork, nothing may have been compiled: a child may. */
static int compile_in_child(void)
{
    CHECK(wait_for(histo_compiled_of(H200, &small)));
    exit(0);
}

static int fork_with_sleeping_thread(void)
{
    CHECK(wait_for(histo_compiled_of(80, &small)));
    usleep(100000);
    CHECK(run_child(compile_in_child) == 0);
    return 0;
}

/* ---- Exiting in the middle of it ---- */

static useconds_t how_long;

static int exit_while_compiling(void)
{
    pthread_t thread;
    CHECK(compile_now((void *)&small)); /* while it compiles for the first time, exit() may come too early */
    CHECK(pthread_create(&thread, NULL, compile_now, (void *)&large) == 0);
    while (atomic_load(&compiled) == 1)
        usleep(1000);
    usleep(how_long);
    exit(0);
}

/* Also while it compiles for the first time. */
static int exit_while_compiling_beside(void)
{
    char kernel[32];
    CHECK(!histo_compiled_image(histo_compiled_of(H200, &large), HISTO_COMPILE_BESIDE));
    for (int k = 0; k < 100; k++) { /* which nobody waits for */
        const histo_kernel_source source = numbered(k, kernel);
        CHECK(!histo_compiled_image(histo_compiled_of(H200, &source), HISTO_COMPILE_BESIDE));
    }
    usleep(how_long);
    exit(0);
}

static int abort_while_compiling_beside(void)
{
    CHECK(!histo_compiled_image(histo_compiled_of(H200, &large), HISTO_COMPILE_BESIDE));
    usleep(how_long);
    abort();
}

static int kill_while_compiling_beside(void)
{
    CHECK(!histo_compiled_image(histo_compiled_of(H200, &large), HISTO_COMPILE_BESIDE));
    usleep(how_long);
    kill(getpid(), SIGKILL);
    return 1;
}

static void *exit_in_thread(void *unused)
{
    (void)unused;
    usleep(how_long);
    exit(0);
}

static int exit_elsewhere_while_compiling_beside(void)
{
    pthread_t thread;
    CHECK(wait_for(histo_compiled_of(H200, &small)));
    CHECK(!histo_compiled_image(histo_compiled_of(H200, &large), HISTO_COMPILE_BESIDE));
    CHECK(pthread_create(&thread, NULL, exit_in_thread, NULL) == 0);
    for (;;)
        pause();
}

/* The main thread's end is not the process's. */
static void *compile_without_main(void *main)
{
    pthread_join(*(const pthread_t *)main, NULL);
    exit(wait_for(histo_compiled_of(80, &small)) && compile_now((void *)&small) ? 0 : 1);
}

static int main_thread_ends(void)
{
    static pthread_t main, thread;
    main = pthread_self();
    CHECK(!histo_compiled_image(histo_compiled_of(H200, &large), HISTO_COMPILE_BESIDE));
    CHECK(pthread_create(&thread, NULL, compile_without_main, &main) == 0);
    pthread_exit(NULL);
}

/* What follows is compiled no more, and does not hang. */
static void compile_at_exit(void)
{
    if (histo_compiled_image(histo_compiled_of(80, &small), HISTO_COMPILE_NOW)) _exit(1);
}

static int compile_while_exiting(void)
{
    CHECK(atexit(compile_at_exit) == 0); /* runs last */
    return exit_while_compiling();
}

static void many_exits(void **state)
{
    enum { MOST = 400000, STEP = 13000 };
    (void)state;
    for (how_long = 0; how_long < MOST; how_long += STEP)
        assert_int_equal(run_child(exit_while_compiling), 0);
    how_long = 0;
    assert_int_equal(run_child(compile_while_exiting), 0);
}

static void many_ends_beside(void **state)
{
    enum { MOST = 300000 };
    (void)state;
    for (how_long = 0; how_long < MOST; how_long += 1000 + how_long / 4) {
        assert_int_equal(run_child(exit_while_compiling_beside), 0);
        assert_int_equal(run_child(exit_elsewhere_while_compiling_beside), 0);
    }
    for (how_long = 0; how_long < MOST; how_long += MOST / 4) {
        int status = run_child(abort_while_compiling_beside);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
        status = run_child(kill_while_compiling_beside);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    }
}

/* ---- */

static void child(void **state)
{
    int (*const test)(void) = (int (*)(void)) * state;
    int status = run_child(test);
    if (status) fail_msg("the process ended with status %#x", (unsigned)status);
}

static void make_cache(void)
{
    strcpy(directory + sizeof directory - 7, "XXXXXX");
    assert_non_null(mkdtemp(directory));
}

static void remove_cache(void)
{
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", directory);
    assert_int_equal(system(command), 0);
}

static void next_process(void **state)
{
    (void)state;
    make_cache();
    assert_int_equal(run_child(compile_and_exit), 0);
    assert_int_equal(run_child(find_cached), 0);
    assert_int_equal(run_child(find_cached_by_compiling), 0);
    assert_int_equal(files_of_cache(), 1);
    remove_cache();
}

/* Each compiles, and one file is left. */
static void many_processes(void **state)
{
    enum { PROCESSES = 24 };
    (void)state;
    pid_t pids[PROCESSES];
    make_cache();
    fflush(NULL);
    for (int p = 0; p < PROCESSES; p++) {
        pids[p] = fork();
        assert_true(pids[p] >= 0);
        if (pids[p]) continue;
        alarm(SECONDS);
        _exit(compile_beside_and_write());
    }
    for (int p = 0; p < PROCESSES; p++) {
        int status = -1;
        assert_true(waitpid(pids[p], &status, 0) == pids[p]);
        assert_int_equal(status, 0);
    }
    assert_int_equal(files_of_cache(), 1);
    assert_int_equal(run_child(find_cached), 0);
    remove_cache();
}

int main(void)
{
#define CHILD(test)                                                                                                    \
    {                                                                                                                  \
#test, child, NULL, NULL, (void *)test                                                                         \
    }
    const struct CMUnitTest tests[] = {
        CHILD(machine_code),
        CHILD(ptx_for_unknown_gpus),
        CHILD(all_headers),
        CHILD(failure_is_remembered),
        CHILD(by_many_threads),
        CHILD(enough_fills),
        CHILD(beside),
        CHILD(beside_many_threads),
        CHILD(beside_signals),
        CHILD(main_thread_ends),
        cmocka_unit_test(next_process),
        cmocka_unit_test(many_processes),
        CHILD(fork_while_compiling),
        CHILD(fork_while_compiling_beside),
        CHILD(fork_with_sleeping_thread),
        cmocka_unit_test(many_exits),
        cmocka_unit_test(many_ends_beside),
    };
    setenv("HISTO_KERNEL_CACHE", "", 1); /* the user's is none of this */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
