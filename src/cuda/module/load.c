/* The library's side: the CUDA backend is loaded when it is first needed, and until then only says why it cannot run.
 * It is needed when a plan may use a GPU, and when samples may be in the memory of one: not before something has loaded
 * the driver. Loading is without a lock: threads may load at once, which gives them the same module; the first one
 * that is done publishes it, for as long as the process lives. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cuda/host/driver.h"
#include "cuda/module/build.h"
#include "cuda/module/module.h"
#include "plan/registry.h"

static const histo_core core = {
    .cpu = &histo_backend_cpu,
    .fail = histo_fail,
#define CORE(result, name, parameters, arguments) .name = histo_##name,
#include "cuda/module/core.def"
#undef CORE
};

static const histo_module *loaded;
static char *failure; /* why the installed module could not be loaded */

static const histo_module *module(void)
{
    return __atomic_load_n(&loaded, __ATOMIC_ACQUIRE);
}

/* ---- Loading ---- */

enum { REASON_BYTES = 2 * PATH_MAX };

/* False with the reason. */
static bool load(const char *path, char reason[REASON_BYTES])
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL); /* it remains: its threads and fork handlers do */
    if (!library) {
        snprintf(reason, REASON_BYTES, "the CUDA backend cannot be loaded: %s", dlerror());
        return false;
    }
    const histo_module *its = dlsym(library, HISTO_MODULE_SYMBOL);
    if (!its || strncmp(its->build, HISTO_BUILD, sizeof its->build) != 0) {
        if (its)
            snprintf(reason, REASON_BYTES, "'%s' is of histo %.*s, and this is histo %s: install both of one version",
                     path, (int)sizeof its->build, its->build, HISTO_BUILD);
        else
            snprintf(reason, REASON_BYTES, "'%s' is not a CUDA backend of histo", path);
        dlclose(library);
        return false;
    }
    its->enter(&core);
    const histo_module *none = NULL;
    __atomic_compare_exchange_n(&loaded, &none, its, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    return true;
}

/* Where modules are looked for, from the directory of what the library is in: beside it, and where the packages of the
 * library and of the command have them. */
static const char *const places[] = {"", "histo-" HISTO_VERSION_TEXT "/", HISTO_MODULES "/"};

static pthread_once_t searched = PTHREAD_ONCE_INIT;
static char installed[PATH_MAX]; /* "": it is not */

static void search(void)
{
    Dl_info self;
    char from[PATH_MAX], path[PATH_MAX];
    if (!dladdr(&core, &self) || !self.dli_fname || !realpath(self.dli_fname, from)) return;
    *(strrchr(from, '/') + 1) = '\0';
    for (size_t p = 0; p < sizeof places / sizeof places[0]; p++) {
        const int length = snprintf(path, sizeof path, "%s%s" HISTO_MODULE_FILE, from, places[p]);
        if (length >= (int)sizeof path || access(path, R_OK) != 0) continue;
        memcpy(installed, path, (size_t)length + 1);
        return;
    }
}

static bool is_installed(void)
{
    pthread_once(&searched, search);
    return *installed;
}

static const char *not_installed(void)
{
    return "the CUDA backend (" HISTO_MODULE_FILE ") is not installed";
}

histo_status histo_backend_load(const char *path)
{
    char reason[REASON_BYTES];
    if (module()) return HISTO_OK;
    if (path && !*path) return histo_fail(HISTO_INVALID, "the path of the CUDA backend is empty: name its file");
    if (!path && !is_installed()) return histo_fail(HISTO_UNSUPPORTED, "%s", not_installed());
    return load(path ? path : installed, reason) ? HISTO_OK : histo_fail(HISTO_UNSUPPORTED, "%s", reason);
}

/* The backend, loaded if it is installed and if loading has not failed before; or NULL. */
static const histo_backend *take(void)
{
    if (!module() && is_installed() && !__atomic_load_n(&failure, __ATOMIC_ACQUIRE)) {
        char reason[REASON_BYTES], *none = NULL;
        char *kept = load(installed, reason) ? NULL : strdup(reason);
        if (kept && !__atomic_compare_exchange_n(&failure, &none, kept, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            free(kept);
    }
    return module() ? module()->backend : NULL;
}

static bool driver_exists;

static void look_for_driver(void)
{
    driver_exists = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL); /* it remains: the backend needs it */
}

const histo_strategy *const *histo_cuda_strategies(void)
{
    return module() ? module()->strategies : NULL;
}

/* ---- The backend ---- */

static const char *unavailable(void)
{
    static pthread_once_t looked = PTHREAD_ONCE_INIT;
    if (module()) return module()->backend->unavailable();
    if (!is_installed()) return not_installed();
    pthread_once(&looked, look_for_driver);
    if (!driver_exists) return "no NVIDIA driver is installed";
    return take() ? module()->backend->unavailable() : __atomic_load_n(&failure, __ATOMIC_ACQUIRE);
}

/* The backend, if addresses may be a GPU's. */
static const histo_backend *of_addresses(void)
{
    if (module()) return module()->backend;
    return is_installed() && histo_driver_is_loaded() ? take() : NULL;
}

static histo_device locate(const void *memory, bool *only)
{
    const histo_backend *backend = of_addresses();
    *only = false;
    return backend ? backend->locate(memory, only) : (histo_device)HISTO_DEVICE_CPU;
}

static bool pinned(const void *memory)
{
    const histo_backend *backend = of_addresses();
    return backend && backend->pinned(memory);
}

static bool awake(histo_device device)
{
    const histo_backend *backend = of_addresses();
    return backend && backend->awake(device);
}

static int threads(int wanted)
{
    (void)wanted;
    return 1;
}

static bool capturing(void *stream)
{
    const histo_backend *backend = of_addresses();
    return backend && backend->capturing(stream);
}

static void begin_sequence(void *stream)
{
    const histo_backend *backend = of_addresses();
    if (backend) backend->begin_sequence(stream);
}

static histo_status end_sequence(void)
{
    return module() ? module()->backend->end_sequence() : HISTO_OK;
}

/* What follows is called only for a device of an available backend, so that it is loaded. */

static const char *device_name(histo_device device)
{
    return module()->backend->device_name(device);
}

static void describe(histo_text *text)
{
    module()->backend->describe(text);
}

static histo_status run(const histo_strategy *strategy, histo_job *job)
{
    return module()->backend->run(strategy, job);
}

static histo_status run_shared(const histo_strategy *strategy, histo_job *jobs, int n, histo_share *share)
{
    return module()->backend->run_shared(strategy, jobs, n, share);
}

static int devices(void)
{
    return module()->backend->devices();
}

static histo_status prepare(const histo_problem *problem, void **prepared)
{
    return module()->backend->prepare(problem, prepared);
}

static void unprepare(void *prepared)
{
    module()->backend->unprepare(prepared);
}

static histo_status send(void *to, histo_device device, const void *from, size_t bytes, void *stream)
{
    return module()->backend->send(to, device, from, bytes, stream);
}

static histo_speed speed(histo_device device)
{
    return module()->backend->speed(device);
}

static histo_status probe(const histo_job *job, int n, uint32_t *slots)
{
    return module()->backend->probe(job, n, slots);
}

static histo_status extremes(const histo_job *job, histo_found *found)
{
    return module()->backend->extremes(job, found);
}

static void explain(const void *prepared, histo_text *text)
{
    module()->backend->explain(prepared, text);
}

static histo_status create_map(const histo_mapping *mapping, histo_device device, histo_device_map **map)
{
    return module()->backend->maps->create(mapping, device, map);
}

static histo_status make_features(const histo_view *table, const int32_t *bins, histo_device device, void *stream,
                                  histo_stray_bin *stray, histo_device_features **made)
{
    return module()->backend->nodes->features(table, bins, device, stream, stray, made);
}

static histo_status make_gradients(int64_t rows, int weights, histo_device device, histo_device_gradients **made)
{
    return module()->backend->nodes->gradients(rows, weights, device, made);
}

/* The other functions of maps, nodes and accumulators, are called by what the backend itself has made. */
static const histo_map_backend maps = {.create = create_map};
static const histo_node_backend nodes = {.features = make_features, .gradients = make_gradients};

const histo_backend histo_backend_cuda = {.name = "cuda",
                                          .unavailable = unavailable,
                                          .threads = threads,
                                          .device_name = device_name,
                                          .describe = describe,
                                          .run = run,
                                          .run_shared = run_shared,
                                          .devices = devices,
                                          .locate = locate,
                                          .prepare = prepare,
                                          .unprepare = unprepare,
                                          .send = send,
                                          .capturing = capturing,
                                          .awake = awake,
                                          .pinned = pinned,
                                          .speed = speed,
                                          .probe = probe,
                                          .extremes = extremes,
                                          .explain = explain,
                                          .maps = &maps,
                                          .nodes = &nodes,
                                          .begin_sequence = begin_sequence,
                                          .end_sequence = end_sequence};
