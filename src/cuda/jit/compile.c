/* A table of recipes and their compiled kernels. Compiling needs no GPU: it makes an image in memory, which load.cu
 * loads into a context. */
#define _GNU_SOURCE
#include "cuda/jit/compile.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/locks.h"
#include "base/text_builder.h"
#include "cuda/jit/cache.h"
#include "cuda/jit/sources.h"

struct histo_compiled {
    struct histo_compiled *next; /* in its bucket */
    uint64_t hash;
    int architecture;
    histo_compile_state state; /* written under the lock; DONE and FAILED are read without it */
    bool cached;
    unsigned looked; /* generation of the cache that was last searched for it */
    double us;
    char *log;
    histo_kernel_image image;
    struct histo_cuda_loaded *loaded;
    histo_recipe recipe;
    char texts[];
};

enum { BUCKETS = 1024 };

/* All are written under histo_compile_lock; buckets are also read without it. */
static histo_compiled *buckets[BUCKETS];
static int compiling;
static bool is_interrupted; /* this process was forked during a compilation, which may have left NVRTC's locks held */
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

/* ---- The table ---- */

/* Eight bytes at a time, because recipes have hundreds of bytes. */
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

static uint64_t hash_of(int architecture, const histo_recipe *recipe)
{
    uint64_t hash = add_text((uint64_t)architecture, recipe->includes);
    return add_text(add_text(hash, recipe->shape), recipe->kernel);
}

static histo_compiled *find(histo_compiled *first, uint64_t hash, int architecture, const histo_recipe *recipe)
{
    for (histo_compiled *it = first; it; it = it->next)
        if (it->hash == hash && it->architecture == architecture && strcmp(it->recipe.kernel, recipe->kernel) == 0 &&
            strcmp(it->recipe.shape, recipe->shape) == 0 && strcmp(it->recipe.includes, recipe->includes) == 0)
            return it;
    return NULL;
}

static histo_compiled *make(uint64_t hash, int architecture, const histo_recipe *recipe)
{
    const size_t includes = strlen(recipe->includes) + 1, shape = strlen(recipe->shape) + 1;
    histo_compiled *it = calloc(1, sizeof *it + includes + shape + strlen(recipe->kernel) + 1);
    if (!it) return NULL;
    it->hash = hash;
    it->architecture = architecture;
    it->recipe.includes = strcpy(it->texts, recipe->includes);
    it->recipe.shape = strcpy(it->texts + includes, recipe->shape);
    it->recipe.kernel = strcpy(it->texts + includes + shape, recipe->kernel);
    return it;
}

histo_compiled *histo_compiled_of(int architecture, const histo_recipe *recipe)
{
    const uint64_t hash = hash_of(architecture, recipe);
    histo_compiled **bucket = &buckets[hash >> 32 & (BUCKETS - 1)];
    histo_compiled *it = find(__atomic_load_n(bucket, __ATOMIC_ACQUIRE), hash, architecture, recipe);
    if (it) return it;
    pthread_mutex_lock(&histo_compile_lock);
    it = find(*bucket, hash, architecture, recipe);
    if (!it && (it = make(hash, architecture, recipe))) {
        it->next = *bucket;
        __atomic_store_n(bucket, it, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&histo_compile_lock);
    return it;
}

struct histo_cuda_loaded **histo_compiled_loaded(histo_compiled *it)
{
    return &it->loaded;
}

/* ---- The kernel cache ---- */

/* Everything that the compiled code depends on. Free it with free(). */
static char *cache_key(const histo_compiled *it)
{
    histo_text key = {0};
    char *text = NULL;
    for (int pass = 0; pass < 2; pass++) {
        histo_text_add(&key, "histo %d.%d.%d\nsources %s\nNVRTC %s", HISTO_VERSION_MAJOR, HISTO_VERSION_MINOR,
                       HISTO_VERSION_PATCH, histo_source_digest, histo_nvrtc_version());
        for (const char *const *option = histo_nvrtc_options; *option; option++)
            histo_text_add(&key, " %s", *option);
        histo_text_add(&key, "\narchitecture %d\n%s\n%s\n%s\n", it->architecture, it->recipe.includes, it->recipe.shape,
                       it->recipe.kernel);
        if (pass == 1) break;
        text = malloc(key.length + 1);
        if (!text) break;
        key = (histo_text){.out = text, .capacity = key.length + 1};
    }
    return text;
}

static bool read_cached(const histo_compiled *it, histo_kernel_image *image)
{
    char *key = histo_nvrtc_unavailable() ? NULL : cache_key(it);
    size_t size = 0;
    char *bytes = key ? histo_cache_read(key, &size) : NULL;
    free(key);
    if (bytes && histo_kernel_image_of(bytes, size, image)) return true;
    free(bytes);
    return false;
}

static void write_cached(const histo_compiled *it)
{
    char *key = histo_cache_generation() ? cache_key(it) : NULL;
    if (key) histo_cache_write(key, it->image.bytes, it->image.size);
    free(key);
}

/* ---- States ---- */

static histo_compile_state state_of(const histo_compiled *it)
{
    return __atomic_load_n(&it->state, __ATOMIC_ACQUIRE);
}

/* Set the final state. The caller holds the lock, and the state is not final yet. */
static void finish(histo_compiled *it, bool succeeded, const histo_kernel_image *image, double begun)
{
    it->us = histo_now_us() - begun;
    if (succeeded) it->image = *image;
    __atomic_store_n(&it->state, succeeded ? HISTO_COMPILE_DONE : HISTO_COMPILE_FAILED, __ATOMIC_RELEASE);
    pthread_cond_broadcast(&changed);
}

/* Search the kernel cache, once for each directory that is set. */
static void look_into_cache(histo_compiled *it)
{
    const double begun = histo_now_us();
    const unsigned generation = histo_cache_generation();
    if (!generation || __atomic_load_n(&it->looked, __ATOMIC_RELAXED) == generation) return;
    histo_kernel_image image;
    const bool found = read_cached(it, &image);
    __atomic_store_n(&it->looked, generation, __ATOMIC_RELAXED);
    if (!found) return;
    pthread_mutex_lock(&histo_compile_lock);
    const bool needed = it->state == HISTO_COMPILE_UNKNOWN;
    if (needed) {
        it->cached = true;
        finish(it, true, &image, begun);
    }
    pthread_mutex_unlock(&histo_compile_lock);
    if (!needed) free(image.bytes);
}

/* ---- Compiling ---- */

static void *compile(void *recipe)
{
    histo_compiled *it = recipe;
    const double begun = histo_now_us();
    histo_kernel_image image;
    char *source = NULL, *log = NULL;
    if (asprintf(&source, "%s\n%s\n", it->recipe.includes, it->recipe.shape) < 0) source = NULL;
    const bool compiled = source && histo_nvrtc_compile(source, it->recipe.kernel, it->architecture, &image, &log);
    free(source);
    pthread_mutex_lock(&histo_compile_lock);
    it->log = log;
    finish(it, compiled, &image, begun);
    pthread_mutex_unlock(&histo_compile_lock);
    if (compiled) write_cached(it);
    return NULL;
}

/* Run a function in a new thread and wait for it. The caller's stack may be too small for a compiler, and the compiler
 * should not run the application's signal handlers. False if no thread could be created. */
static bool run_on_large_stack(void *(*run)(void *), void *context)
{
    enum { STACK_BYTES = 8 << 20 };
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t all, before;
    if (pthread_attr_init(&attributes) != 0) return false;
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool started = pthread_create(&thread, &attributes, run, context) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    if (started) pthread_join(thread, NULL);
    return started;
}

/* Compile it and wait; or wait for the thread that is compiling it. */
static void compile_now(histo_compiled *it)
{
    pthread_mutex_lock(&histo_compile_lock);
    while (it->state == HISTO_COMPILE_RUNNING)
        pthread_cond_wait(&changed, &histo_compile_lock);
    const bool mine = it->state == HISTO_COMPILE_UNKNOWN && !is_interrupted;
    if (mine) {
        it->state = HISTO_COMPILE_RUNNING;
        compiling++;
    }
    pthread_mutex_unlock(&histo_compile_lock);
    if (!mine) return;
    const bool started = run_on_large_stack(compile, it);
    pthread_mutex_lock(&histo_compile_lock);
    if (!started) finish(it, false, NULL, histo_now_us());
    compiling--;
    pthread_mutex_unlock(&histo_compile_lock);
}

/* In a forked child, the threads that were compiling do not exist. */
static void forget_in_child(void)
{
    pthread_cond_init(&changed, NULL);
    is_interrupted = is_interrupted || compiling;
    compiling = 0;
    for (int b = 0; b < BUCKETS; b++)
        for (histo_compiled *it = buckets[b]; it; it = it->next)
            if (it->state == HISTO_COMPILE_RUNNING) it->state = HISTO_COMPILE_UNKNOWN;
}

__attribute__((constructor)) static void install_fork_handler(void)
{
    pthread_atfork(NULL, NULL, forget_in_child);
}

/* ---- */

const histo_kernel_image *histo_compiled_image(histo_compiled *it, histo_compile_effort effort)
{
    if (state_of(it) < HISTO_COMPILE_DONE && effort != HISTO_COMPILE_NONE) look_into_cache(it);
    if (state_of(it) < HISTO_COMPILE_DONE && effort == HISTO_COMPILE_NOW) compile_now(it);
    return state_of(it) == HISTO_COMPILE_DONE ? &it->image : NULL;
}

histo_compile_report histo_compiled_report(const histo_compiled *it)
{
    pthread_mutex_lock(&histo_compile_lock);
    const histo_compile_report report = {it->state, it->cached, it->us, it->log};
    pthread_mutex_unlock(&histo_compile_lock);
    return report;
}
