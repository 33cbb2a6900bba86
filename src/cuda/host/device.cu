/* Devices: which exist, why none do, and which device an address belongs to. */
#include "cuda/host/device.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "cuda/host/driver.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char reason[256]; /* why there is none; "" if there is one */
static int count;
static bool forked;
static histo_cuda_device devices[HISTO_CUDA_MAX_DEVICES];

static double attribute(cudaDeviceAttr which, int ordinal)
{
    int value = 0;
    return cudaDeviceGetAttribute(&value, which, ordinal) == cudaSuccess ? value : 0;
}

/* Memory transfers twice per clock. Clocks are in kHz. */
static histo_speed speed_of(int ordinal, int multiprocessors)
{
    histo_speed speed;
    speed.memory = attribute(cudaDevAttrMemoryClockRate, ordinal) * 1e-3 * 2 *
                   attribute(cudaDevAttrGlobalMemoryBusWidth, ordinal) / 8;
    speed.arithmetic = multiprocessors * attribute(cudaDevAttrClockRate, ordinal) * 1e-3;
    return speed;
}

/* ---- Uses ---- */

/* CUDA cannot be used while exit() ends it, nor in a process that was forked from one that had used it. */
static int uses; /* that have begun and not ended */
static bool is_ending;

static bool begin_use(void)
{
    __atomic_fetch_add(&uses, 1, __ATOMIC_SEQ_CST);
    if (!__atomic_load_n(&is_ending, __ATOMIC_SEQ_CST)) return true;
    __atomic_fetch_sub(&uses, 1, __ATOMIC_SEQ_CST);
    return false;
}

static void end_use(void)
{
    __atomic_fetch_sub(&uses, 1, __ATOMIC_RELEASE);
}

/* At exit: other threads may go on. One may also wait for what the exiting thread was to do. */
static void end_uses(void)
{
    enum { MOST = 10000 };
    const struct timespec pause = {0, 1000000};
    __atomic_store_n(&is_ending, true, __ATOMIC_SEQ_CST);
    for (int i = 0; i < MOST && __atomic_load_n(&uses, __ATOMIC_ACQUIRE); i++)
        nanosleep(&pause, NULL);
}

/* In a child, what the parent had found is not so. */
static void begin_again_in_child(void)
{
    once = PTHREAD_ONCE_INIT;
    *reason = '\0';
    uses = 0;
}

__attribute__((constructor)) static void install_fork_handler(void)
{
    pthread_atfork(NULL, NULL, begin_again_in_child);
}

/* ---- Which there are ---- */

/* The compute capabilities that this build has machine code for, times ten; of the last it has PTX, too. */
static const int built_for[] = {HISTO_CUDA_BUILT_FOR};

/* Without code for a GPU the driver reports no error before the first kernel is launched. */
static bool has_code_for(const histo_cuda_device *device)
{
    const int capability = device->major * 10 + device->minor;
    int last = 0;
    for (int architecture : built_for) {
        if (architecture / 10 == device->major && architecture <= capability) return true;
        last = architecture;
    }
    return last <= capability;
}

static cudaError_t describe_device(int ordinal, histo_cuda_device *device)
{
    cudaDeviceProp p;
    cudaError_t error = cudaGetDeviceProperties(&p, ordinal);
    if (error != cudaSuccess) return error;
    device->major = p.major;
    device->minor = p.minor;
    device->multiprocessors = p.multiProcessorCount;
    device->threads_each = p.maxThreadsPerMultiProcessor;
    device->shared_each = p.sharedMemPerMultiprocessor;
    device->shared_block = p.sharedMemPerBlockOptin;
    device->memory = p.totalGlobalMem;
    device->speed = speed_of(ordinal, p.multiProcessorCount);
    snprintf(device->name, sizeof device->name, "%s", p.name);
    snprintf(device->word, sizeof device->word, "%s/cuda-%d.%d", p.name, CUDART_VERSION / 1000,
             CUDART_VERSION % 1000 / 10);
    for (char *c = device->word; *c; c++)
        if (*c == ' ') *c = '-';
    return cudaSuccess;
}

/* A function of the driver if it is already loaded, NULL if not. The runtime's own calls would start the driver. */
static void *driver_function(const char *name)
{
    void *driver = histo_driver_is_loaded() ? dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD) : NULL;
    void *function = driver ? dlsym(driver, name) : NULL;
    if (driver) dlclose(driver);
    return function;
}

/* The driver starts in a child unless it had started in its parent. */
static bool driver_is_of_parent(void)
{
    enum { NOT_INITIALIZED = 3 };
    typedef int start(unsigned flags);
    start *driver_start = (start *)driver_function("cuInit");
    return driver_start && driver_start(0) == NOT_INITIALIZED;
}

/* A missing driver and one that is too old give the same error; the driver's version tells them apart. */
static void look(void)
{
    int driver = 0;
    forked = driver_is_of_parent();
    if (forked) {
        count = 0;
        snprintf(reason, sizeof reason,
                 "CUDA cannot be used in a process that was forked from one that had used it: start processes by "
                 "spawn or exec, or fork them before the first use");
        return;
    }
    cudaError_t error = cudaDriverGetVersion(&driver);
    if (error == cudaSuccess) error = cudaGetDeviceCount(&count);
    if (count > HISTO_CUDA_MAX_DEVICES) count = HISTO_CUDA_MAX_DEVICES;
    for (int d = 0; d < count && error == cudaSuccess; d++)
        error = describe_device(d, &devices[d]);
    const bool found = error == cudaSuccess && count > 0;
    for (int d = 0; d < count && found; d++)
        if (!has_code_for(&devices[d])) count = d;
    if (found && count > 0) return;
    cudaGetLastError();
    count = 0;
    if (found)
        snprintf(reason, sizeof reason,
                 "this build has no code for the %.64s: configure it with -DHISTO_CUDA_ARCHITECTURES=%d",
                 devices[0].name, devices[0].major * 10 + devices[0].minor);
    else if (driver == 0)
        snprintf(reason, sizeof reason, "no NVIDIA driver is installed");
    else if (error == cudaErrorInsufficientDriver)
        snprintf(reason, sizeof reason, "the NVIDIA driver is too old: it knows CUDA %d.%d, this build needs %d.%d",
                 driver / 1000, driver % 1000 / 10, CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
    else if (error == cudaSuccess || error == cudaErrorNoDevice)
        snprintf(reason, sizeof reason, "no GPU is visible to this process (CUDA_VISIBLE_DEVICES can hide them)");
    else
        snprintf(reason, sizeof reason, "CUDA did not start: %s", cudaGetErrorString(error));
}

static void look_once(void)
{
    look();
    if (!*reason) atexit(end_uses); /* to be called before what CUDA has installed */
}

const char *histo_cuda_unavailable(void)
{
    if (__atomic_load_n(&is_ending, __ATOMIC_RELAXED)) return "CUDA cannot be used while the process ends";
    pthread_once(&once, look_once);
    return *reason ? reason : NULL;
}

/* Why CUDA cannot be used although it could before, or NULL. */
static const char *over(void)
{
    const char *why = histo_driver_is_loaded() ? histo_cuda_unavailable() : NULL;
    return why && (forked || is_ending) ? why : NULL;
}

int histo_cuda_devices(void)
{
    pthread_once(&once, look_once);
    return count;
}

const histo_cuda_device *histo_cuda_device_of(histo_device device)
{
    return &devices[device - HISTO_DEVICE_CUDA(0)];
}

bool histo_cuda_awake(histo_device device)
{
    typedef int get_state(int ordinal, unsigned *flags, int *active);
    get_state *state = (get_state *)driver_function("cuDevicePrimaryCtxGetState");
    unsigned flags = 0;
    int active = 0;
    return state && state(device - HISTO_DEVICE_CUDA(0), &flags, &active) == 0 && active;
}

unsigned long long histo_cuda_context(void)
{
    typedef int get_id(void *context, unsigned long long *id);
    static get_id *found;
    get_id *id_of = __atomic_load_n(&found, __ATOMIC_RELAXED);
    if (!id_of) {
        id_of = (get_id *)driver_function("cuCtxGetId");
        __atomic_store_n(&found, id_of, __ATOMIC_RELAXED);
    }
    unsigned long long id = 0;
    return id_of && id_of(NULL, &id) == 0 ? id : 0;
}

histo_speed histo_cuda_speed(histo_device device)
{
    return histo_cuda_device_of(device)->speed;
}

static bool attributes_of(const void *memory, cudaPointerAttributes *attributes)
{
    if (!memory || !histo_driver_is_loaded() || histo_cuda_unavailable() || !begin_use()) return false;
    const bool known = cudaPointerGetAttributes(attributes, memory) == cudaSuccess;
    if (!known) cudaGetLastError();
    end_use();
    return known;
}

/* Can this process read here? The kernel reads the set of signals, and refuses the unknown change of the mask, or
 * says that there is no memory. */
static bool is_readable(const void *memory)
{
    enum { UNKNOWN = 99, BYTES = 8 };
    const void *aligned = (const void *)((uintptr_t)memory / BYTES * BYTES);
    return syscall(SYS_rt_sigprocmask, UNKNOWN, aligned, NULL, BYTES) == 0 || errno != EFAULT;
}

/* Where CUDA cannot be asked any more, what cannot be read here is taken for a GPU's. */
histo_device histo_cuda_locate(const void *memory, bool *only)
{
    cudaPointerAttributes a;
    *only = false;
    if (memory && over()) {
        *only = !is_readable(memory);
        return *only ? HISTO_DEVICE_CUDA(0) : HISTO_DEVICE_CPU;
    }
    if (!attributes_of(memory, &a) || (a.type != cudaMemoryTypeDevice && a.type != cudaMemoryTypeManaged))
        return HISTO_DEVICE_CPU;
    *only = a.type == cudaMemoryTypeDevice;
    return HISTO_DEVICE_CUDA(a.device);
}

bool histo_cuda_pinned(const void *memory)
{
    cudaPointerAttributes a;
    return attributes_of(memory, &a) && a.type == cudaMemoryTypeHost;
}

bool histo_cuda_is_direct(const void *memory, histo_device device, bool *pinned)
{
    cudaPointerAttributes a;
    *pinned = false;
    if (!attributes_of(memory, &a)) return false;
    *pinned = a.type == cudaMemoryTypeHost;
    return a.type == cudaMemoryTypeManaged || (a.type == cudaMemoryTypeDevice && HISTO_DEVICE_CUDA(a.device) == device);
}

histo_status histo_cuda_enter(histo_device device, int *before)
{
    const int wanted = device - HISTO_DEVICE_CUDA(0);
    const char *why = over();
    if (why || !begin_use()) return histo_fail(HISTO_DEVICE, "%s", why ? why : over());
    histo_status status = HISTO_CUDA(cudaGetDevice(before), "asking for the current device");
    if (status == HISTO_OK && *before == wanted)
        *before = HISTO_CUDA_STAY;
    else if (status == HISTO_OK)
        status = HISTO_CUDA(cudaSetDevice(wanted), "starting");
    if (status != HISTO_OK) end_use();
    return status;
}

histo_status histo_cuda_enter_context(histo_device device, unsigned long long context, int *before)
{
    histo_status status = histo_cuda_enter(device, before);
    if (status != HISTO_OK || histo_cuda_context() == context) return status;
    histo_cuda_leave(*before);
    return histo_cuda_fail_lost(device);
}

histo_status histo_cuda_fail_lost(histo_device device)
{
    return histo_fail(
        HISTO_DEVICE,
        "what was on GPU %d went with its CUDA context, as by cudaDeviceReset: reset histograms, and make "
        "plans and maps again",
        device - HISTO_DEVICE_CUDA(0));
}

void histo_cuda_leave(int before)
{
    if (before != HISTO_CUDA_STAY) cudaSetDevice(before);
    end_use();
}
