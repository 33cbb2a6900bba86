/* Kernels compiled at run time, as far as no GPU is needed: from sources to machine code. Each test is a process of its
 * own, since what is compiled stays for the life of a process. */
#include <pthread.h>
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

static int find_cached_by_compiling(void)
{
    CHECK(histo_kernel_cache(directory) == HISTO_OK);
    CHECK(histo_compiled_image(histo_compiled_of(H200, &small), HISTO_COMPILE_NOW));
    return atomic_load(&compiled) == 0 ? 0 : 1;
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

/* ---- */

static void child(void **state)
{
    int (*const test)(void) = (int (*)(void)) * state;
    int status = run_child(test);
    if (status) fail_msg("the process ended with status %#x", (unsigned)status);
}

static void next_process(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(directory));
    assert_int_equal(run_child(compile_and_exit), 0);
    assert_int_equal(run_child(find_cached), 0);
    assert_int_equal(run_child(find_cached_by_compiling), 0);
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", directory);
    assert_int_equal(system(command), 0);
}

int main(void)
{
#define CHILD(test)                                                                                                    \
    {                                                                                                                  \
#test, child, NULL, NULL, (void *)test                                                                         \
    }
    const struct CMUnitTest tests[] = {
        CHILD(machine_code),          CHILD(ptx_for_unknown_gpus),  CHILD(all_headers),
        CHILD(failure_is_remembered), CHILD(by_many_threads),       cmocka_unit_test(next_process),
        CHILD(fork_while_compiling),  cmocka_unit_test(many_exits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
