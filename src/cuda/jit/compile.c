/* A table of sources and their compiled kernels. Compiling needs no GPU: it makes an image in memory, which load.cu
 * loads into a context. One thread compiles beside the fills, one kernel after the other. */
#define _GNU_SOURCE
#include "cuda/jit/compile.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text_builder.h"
#include "base/threads/locks.h"
#include "cuda/jit/builtin.h"
#include "cuda/jit/cache.h"
#include "cuda/jit/embedded_headers.h"

struct histo_compiled {
    struct histo_compiled *next; /* in its bucket */
    struct histo_compiled *next_waiting;
    uint64_t hash;
    int architecture;
    histo_compile_state state; /* written under the lock; DONE and FAILED are read without it */
    bool builtin, cached;
    unsigned looked;        /* generation of the cache that was last searched for it */
    int64_t fills, samples; /* that went without it */
    double lacked_since_us; /* the first of them */
    double us;
    char *log;
    histo_kernel_image image;
    struct histo_cuda_loaded *loaded;
    histo_kernel_source source;
    char texts[];
};

enum { BUCKETS = 1024 };

/* All are written under histo_compile_lock; buckets are also read without it. */
static histo_compiled *buckets[BUCKETS];
static int compiling; /* threads */
static histo_compiled *first_waiting, **last_waiting = &first_waiting;
static bool has_thread_beside; /* which compiles those that wait, and sleeps while there are none */
static bool is_interrupted; /* this process was forked during a compilation, which may have left NVRTC's locks held */
static bool is_ending;      /* this process: it compiles nothing more */
static bool has_compiled;   /* once, at least */
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

/* ---- The table ---- */

/* Eight bytes at a time, because sources have hundreds of bytes. */
static uint64_t add_text(uint64_t hash, const char *text)
{
    const uint64_t factor = UINT64_C(0x9e3779b97f4a7c15);
    size_t left = strlen(text) + 1;
    for (; left; text += left < 8 ? left : 8, left -= left < 8 ? left : 8) {
        uint64_t word = 0;
        memcpy(&word, text, left < 8 ? left : 8);
        hash = (hash ^ word) * factor;
        hash ^= hash >> 29;
    }
    return hash;
}

static uint64_t hash_of(int architecture, const histo_kernel_source *source)
{
    uint64_t hash = add_text((uint64_t)architecture, source->includes);
    return add_text(add_text(hash, source->definitions), source->kernel);
}

static histo_compiled *find(histo_compiled *first, uint64_t hash, int architecture, const histo_kernel_source *source)
{
    for (histo_compiled *compiled = first; compiled; compiled = compiled->next)
        if (compiled->hash == hash && compiled->architecture == architecture &&
            strcmp(compiled->source.kernel, source->kernel) == 0 &&
            strcmp(compiled->source.definitions, source->definitions) == 0 &&
            strcmp(compiled->source.includes, source->includes) == 0)
            return compiled;
    return NULL;
}

static histo_compiled *make(uint64_t hash, int architecture, const histo_kernel_source *source)
{
    const size_t includes = strlen(source->includes) + 1, definitions = strlen(source->definitions) + 1;
    histo_compiled *compiled = calloc(1, sizeof *compiled + includes + definitions + strlen(source->kernel) + 1);
    if (!compiled) return NULL;
    compiled->hash = hash;
    compiled->architecture = architecture;
    compiled->source.includes = strcpy(compiled->texts, source->includes);
    compiled->source.definitions = strcpy(compiled->texts + includes, source->definitions);
    compiled->source.kernel = strcpy(compiled->texts + includes + definitions, source->kernel);
    compiled->builtin = histo_builtin_find(architecture, source, &compiled->image);
    if (compiled->builtin) compiled->state = HISTO_COMPILE_DONE;
    return compiled;
}

histo_compiled *histo_compiled_of(int architecture, const histo_kernel_source *source)
{
    const uint64_t hash = hash_of(architecture, source);
    histo_compiled **bucket = &buckets[hash >> 32 & (BUCKETS - 1)];
    histo_compiled *compiled = find(__atomic_load_n(bucket, __ATOMIC_ACQUIRE), hash, architecture, source);
    if (compiled) return compiled;
    pthread_mutex_lock(&histo_compile_lock);
    compiled = find(*bucket, hash, architecture, source);
    if (!compiled && (compiled = make(hash, architecture, source))) {
        compiled->next = *bucket;
        __atomic_store_n(bucket, compiled, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&histo_compile_lock);
    return compiled;
}

struct histo_cuda_loaded **histo_compiled_loaded(histo_compiled *compiled)
{
    return &compiled->loaded;
}

/* ---- The kernel cache ---- */

/* Everything that the compiled code depends on. Free it with free(). */
static char *cache_key(const histo_compiled *compiled)
{
    histo_text key = {0};
    char *text = NULL;
    for (int pass = 0; pass < 2; pass++) {
        histo_text_add(&key, "histo %d.%d.%d\nsources %s\nNVRTC %s", HISTO_VERSION_MAJOR, HISTO_VERSION_MINOR,
                       HISTO_VERSION_PATCH, histo_embedded_header_digest, histo_nvrtc_version());
        for (const char *const *option = histo_nvrtc_options; *option; option++)
            histo_text_add(&key, " %s", *option);
        histo_text_add(&key, "\narchitecture %d\n%s\n%s\n%s\n", compiled->architecture, compiled->source.includes,
                       compiled->source.definitions, compiled->source.kernel);
        if (pass == 1) break;
        text = malloc(key.length + 1);
        if (!text) break;
        key = (histo_text){.out = text, .capacity = key.length + 1};
    }
    return text;
}

static bool read_cached(const histo_compiled *compiled, histo_kernel_image *image)
{
    char *key = histo_nvrtc_unavailable() ? NULL : cache_key(compiled);
    size_t size = 0;
    char *bytes = key ? histo_cache_read(key, &size) : NULL;
    free(key);
    if (bytes && histo_kernel_image_of(bytes, size, image)) return true;
    free(bytes);
    return false;
}

static void write_cached(const histo_compiled *compiled)
{
    char *key = histo_cache_generation() ? cache_key(compiled) : NULL;
    if (key) histo_cache_write(key, compiled->image.bytes, compiled->image.size);
    free(key);
}

/* ---- States ---- */

histo_compile_state histo_compiled_state(const histo_compiled *compiled)
{
    return __atomic_load_n(&compiled->state, __ATOMIC_ACQUIRE);
}

/* Set the final state. The caller holds the lock, and the state is not final yet. */
static void finish(histo_compiled *compiled, bool succeeded, const histo_kernel_image *image, double begun)
{
    compiled->us = histo_now_us() - begun;
    if (succeeded) compiled->image = *image;
    __atomic_store_n(&compiled->state, succeeded ? HISTO_COMPILE_DONE : HISTO_COMPILE_FAILED, __ATOMIC_RELEASE);
    pthread_cond_broadcast(&changed);
}

/* Search the kernel cache: once for each directory that is set, or again. */
static void look_into_cache(histo_compiled *compiled, bool again)
{
    const unsigned generation = histo_cache_generation();
    if (!generation || (!again && __atomic_load_n(&compiled->looked, __ATOMIC_RELAXED) == generation)) return;
    const double begun = histo_now_us();
    histo_kernel_image image;
    const bool found = read_cached(compiled, &image);
    __atomic_store_n(&compiled->looked, generation, __ATOMIC_RELAXED);
    if (!found) return;
    pthread_mutex_lock(&histo_compile_lock);
    const bool needed = compiled->state < HISTO_COMPILE_RUNNING;
    if (needed) {
        compiled->cached = true;
        finish(compiled, true, &image, begun);
    }
    pthread_mutex_unlock(&histo_compile_lock);
    if (!needed) free(image.bytes);
}

/* ---- Compiling ---- */

/* What exit() does after this would end NVRTC under the threads that compile. */
static void wait_at_exit(void)
{
    pthread_mutex_lock(&histo_compile_lock);
    __atomic_store_n(&is_ending, true, __ATOMIC_RELAXED);
    while (compiling)
        pthread_cond_wait(&changed, &histo_compile_lock);
    pthread_mutex_unlock(&histo_compile_lock);
}

/* exit() calls first what was registered last, and NVRTC registers what ends it when it is loaded and, here and there,
 * while it compiles for the first time. Only an exit() in the moments between that and the next call of this is not
 * held up. */
static void come_first_at_exit(void)
{
    if (!__atomic_load_n(&has_compiled, __ATOMIC_RELAXED)) atexit(wait_at_exit);
}

/* NVRTC asks this many times while it compiles. */
static bool is_cancelled(void)
{
    come_first_at_exit();
    return __atomic_load_n(&is_ending, __ATOMIC_RELAXED);
}

static void *compile(void *context)
{
    histo_compiled *compiled = context;
    const double begun = histo_now_us();
    histo_kernel_image image;
    char *text = NULL, *log = NULL;
    if (asprintf(&text, "%s\n%s\n", compiled->source.includes, compiled->source.definitions) < 0) text = NULL;
    if (!histo_nvrtc_unavailable()) come_first_at_exit();
    const bool succeeded =
        text && histo_nvrtc_compile(text, compiled->source.kernel, compiled->architecture, is_cancelled, &image, &log);
    come_first_at_exit();
    if (succeeded) __atomic_store_n(&has_compiled, true, __ATOMIC_RELAXED);
    free(text);
    pthread_mutex_lock(&histo_compile_lock);
    compiled->log = log;
    finish(compiled, succeeded, &image, begun);
    pthread_mutex_unlock(&histo_compile_lock);
    if (succeeded) write_cached(compiled);
    return NULL;
}

/* Run a function in a new thread. The caller's stack may be too small for a compiler, and the compiler should not run
 * the application's signal handlers. Wait for its end, or let it run. False if no thread could be created. */
static bool run_on_large_stack(void *(*run)(void *), void *context, bool wait)
{
    enum { STACK_BYTES = 8 << 20 };
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t all, before;
    if (pthread_attr_init(&attributes) != 0) return false;
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    if (!wait) pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool started = pthread_create(&thread, &attributes, run, context) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    if (started && wait) pthread_join(thread, NULL);
    return started;
}

/* Compile it and wait; or wait for the thread that is compiling it. One that waits to be compiled beside the fills is
 * not left to that thread, which passes over it. */
static void compile_now(histo_compiled *compiled)
{
    pthread_mutex_lock(&histo_compile_lock);
    while (compiled->state == HISTO_COMPILE_RUNNING)
        pthread_cond_wait(&changed, &histo_compile_lock);
    const bool mine = compiled->state < HISTO_COMPILE_RUNNING && !is_interrupted && !is_ending;
    if (mine) {
        compiled->state = HISTO_COMPILE_RUNNING;
        compiling++;
    }
    pthread_mutex_unlock(&histo_compile_lock);
    if (!mine) return;
    const bool started = run_on_large_stack(compile, compiled, true);
    pthread_mutex_lock(&histo_compile_lock);
    if (!started) finish(compiled, false, NULL, histo_now_us());
    compiling--;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&histo_compile_lock);
}

/* ---- Compiling beside the fills ---- */

/* Of glibc. */
extern int __cxa_thread_atexit_impl(void (*end)(void *), void *object, const void *in_library) __attribute__((weak));

/* The caller holds the lock. NULL: none waits. */
static histo_compiled *take_waiting(void)
{
    histo_compiled *compiled = first_waiting;
    while (compiled && compiled->state != HISTO_COMPILE_WAITING) /* meanwhile compiled by compile_now */
        compiled = compiled->next_waiting;
    first_waiting = compiled ? compiled->next_waiting : NULL;
    if (!first_waiting) last_waiting = &first_waiting;
    return compiled;
}

/* The thread never ends: one that sleeps disturbs no exit(). */
static void *compile_waiting(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&histo_compile_lock);
    for (;;) {
        histo_compiled *compiled = is_ending ? NULL : take_waiting();
        if (!compiled) {
            pthread_cond_wait(&changed, &histo_compile_lock);
            continue;
        }
        pthread_mutex_unlock(&histo_compile_lock);
        look_into_cache(compiled, true); /* another process may have written it */
        pthread_mutex_lock(&histo_compile_lock);
        if (is_ending && compiled->state == HISTO_COMPILE_WAITING) compiled->state = HISTO_COMPILE_UNKNOWN;
        if (compiled->state != HISTO_COMPILE_WAITING) continue;
        compiled->state = HISTO_COMPILE_RUNNING;
        compiling++;
        pthread_mutex_unlock(&histo_compile_lock);
        compile(compiled);
        pthread_mutex_lock(&histo_compile_lock);
        compiling--;
        pthread_cond_broadcast(&changed);
    }
    return NULL;
}

/* If the main thread ends without exit(), others may go on, and have the same compiled later. */
static void stop_with_main_thread(void *unused)
{
    (void)unused;
    wait_at_exit();
    pthread_mutex_lock(&histo_compile_lock);
    for (histo_compiled *compiled; (compiled = take_waiting());)
        compiled->state = HISTO_COMPILE_UNKNOWN;
    __atomic_store_n(&is_ending, false, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&histo_compile_lock);
}

/* exit() ends the thread-local objects of its thread before all else, and so before NVRTC in any case. Give one to the
 * main thread, which calls exit() in most programs. */
static void come_first_in_main_thread(void)
{
    static bool done;
    if (syscall(SYS_gettid) != getpid() || !__cxa_thread_atexit_impl) return;
    if (!__atomic_exchange_n(&done, true, __ATOMIC_RELAXED))
        __cxa_thread_atexit_impl(stop_with_main_thread, NULL, &done);
}

/* Have it compiled. If there can be no thread for that, it is as if it could not be compiled. */
static void compile_beside(histo_compiled *compiled)
{
    come_first_in_main_thread();
    pthread_mutex_lock(&histo_compile_lock);
    if (compiled->state == HISTO_COMPILE_UNKNOWN && !is_interrupted && !is_ending) {
        has_thread_beside = has_thread_beside || run_on_large_stack(compile_waiting, NULL, false);
        if (has_thread_beside) {
            compiled->state = HISTO_COMPILE_WAITING;
            compiled->next_waiting = NULL;
            *last_waiting = compiled;
            last_waiting = &compiled->next_waiting;
            pthread_cond_broadcast(&changed);
        } else {
            finish(compiled, false, NULL, histo_now_us());
        }
    }
    pthread_mutex_unlock(&histo_compile_lock);
}

/* In a forked child, the threads that were compiling do not exist. */
static void forget_in_child(void)
{
    pthread_cond_init(&changed, NULL);
    is_interrupted = is_interrupted || compiling;
    compiling = 0;
    has_thread_beside = false;
    first_waiting = NULL;
    last_waiting = &first_waiting;
    for (int b = 0; b < BUCKETS; b++)
        for (histo_compiled *compiled = buckets[b]; compiled; compiled = compiled->next)
            if (compiled->state < HISTO_COMPILE_DONE) compiled->state = HISTO_COMPILE_UNKNOWN;
}

__attribute__((constructor)) static void install_fork_handler(void)
{
    pthread_atfork(NULL, NULL, forget_in_child);
}

/* ---- */

const histo_kernel_image *histo_compiled_image(histo_compiled *compiled, histo_compile_effort effort)
{
    if (histo_compiled_state(compiled) < HISTO_COMPILE_DONE && effort != HISTO_COMPILE_NONE)
        look_into_cache(compiled, false);
    if (histo_compiled_state(compiled) < HISTO_COMPILE_DONE && effort >= HISTO_COMPILE_BESIDE &&
        !histo_nvrtc_unavailable()) {
        if (effort == HISTO_COMPILE_NOW)
            compile_now(compiled);
        else
            compile_beside(compiled);
    }
    return histo_compiled_state(compiled) == HISTO_COMPILE_DONE ? &compiled->image : NULL;
}

bool histo_compiled_lacked(histo_compiled *compiled, int64_t samples)
{
    enum { FILLS = 4, FEW = 1 << 17 };
    const int64_t many = INT64_C(1) << 32;
    const double long_us = 250e3;
    double now = histo_now_us();
    const int64_t fills = __atomic_add_fetch(&compiled->fills, 1, __ATOMIC_RELAXED);
    const int64_t all = __atomic_add_fetch(&compiled->samples, samples > FEW ? samples : FEW, __ATOMIC_RELAXED);
    double since = 0;
    __atomic_load(&compiled->lacked_since_us, &since, __ATOMIC_RELAXED);
    if (since == 0) __atomic_store(&compiled->lacked_since_us, &now, __ATOMIC_RELAXED);
    return fills >= FILLS && (all >= many || (since > 0 && now - since >= long_us));
}

histo_compile_report histo_compiled_report(const histo_compiled *compiled)
{
    pthread_mutex_lock(&histo_compile_lock);
    const histo_compile_report report = {compiled->state, compiled->builtin, compiled->cached, compiled->us,
                                         compiled->log};
    pthread_mutex_unlock(&histo_compile_lock);
    return report;
}
