#define _GNU_SOURCE
#include "cuda/jit/nvrtc.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/jit/embedded_headers.h"

/* ---- The library ---- */

typedef struct program *nvrtc_program;
typedef int nvrtc_result; /* 0: success */

/* The functions of NVRTC, with the types of nvrtc.h, which is not needed to build histo. */
#define FUNCTIONS(F)                                                                                                   \
    F(nvrtcVersion, (int *major, int *minor))                                                                          \
    F(nvrtcGetNumSupportedArchs, (int *count))                                                                         \
    F(nvrtcGetSupportedArchs, (int *architectures))                                                                    \
    F(nvrtcCreateProgram, (nvrtc_program * program, const char *source, const char *name, int headers,                 \
                           const char *const *texts, const char *const *names))                                        \
    F(nvrtcDestroyProgram, (nvrtc_program * program))                                                                  \
    F(nvrtcAddNameExpression, (nvrtc_program program, const char *expression))                                         \
    F(nvrtcCompileProgram, (nvrtc_program program, int count, const char *const *options))                             \
    F(nvrtcGetLoweredName, (nvrtc_program program, const char *expression, const char **name))                         \
    F(nvrtcGetCUBINSize, (nvrtc_program program, size_t * size))                                                       \
    F(nvrtcGetCUBIN, (nvrtc_program program, char *cubin))                                                             \
    F(nvrtcGetPTXSize, (nvrtc_program program, size_t * size))                                                         \
    F(nvrtcGetPTX, (nvrtc_program program, char *ptx))                                                                 \
    F(nvrtcGetProgramLogSize, (nvrtc_program program, size_t * size))                                                  \
    F(nvrtcGetProgramLog, (nvrtc_program program, char *log))

static struct {
#define MEMBER(name, parameters) nvrtc_result(*name) parameters;
    FUNCTIONS(MEMBER)
#undef MEMBER
} nvrtc;

/* Not in NVRTC before CUDA 12.9. */
static nvrtc_result (*set_flow_callback)(nvrtc_program program, int (*callback)(void *payload, void *unused),
                                         void *payload);

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char reason[256], version[32];
static int *architectures, architecture_count; /* for which it compiles, in ascending order */

static int ascending(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* The NVRTC of the toolkit that built this library, else an older one. The driver may not load the code of a newer one,
 * so libnvrtc.so, whose version is unknown, comes last. */
static void *open_library(void)
{
    void *library = NULL;
    for (int major = HISTO_CUDA_MAJOR; major >= 12 && !library; major--) {
        char name[32];
        snprintf(name, sizeof name, "libnvrtc.so.%d", major);
        library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    }
    return library ? library : dlopen("libnvrtc.so", RTLD_NOW | RTLD_LOCAL);
}

static bool ask_architectures(void)
{
    int count = 0;
    if (nvrtc.nvrtcGetNumSupportedArchs(&count) != 0 || count < 1) return false;
    architectures = calloc((size_t)count, sizeof *architectures);
    if (!architectures || nvrtc.nvrtcGetSupportedArchs(architectures) != 0) return false;
    qsort(architectures, (size_t)count, sizeof *architectures, ascending);
    architecture_count = count;
    return true;
}

static void load(void)
{
    void *library = open_library();
    if (!library) {
        snprintf(reason, sizeof reason,
                 "libnvrtc.so.%d was not found: install NVRTC, or name its folder in LD_LIBRARY_PATH",
                 HISTO_CUDA_MAJOR);
        return;
    }
    const char *missing = NULL;
#define FIND(name, parameters)                                                                                         \
    *(void **)&nvrtc.name = dlsym(library, #name);                                                                     \
    if (!nvrtc.name) missing = #name;
    FUNCTIONS(FIND)
#undef FIND
    *(void **)&set_flow_callback = dlsym(library, "nvrtcSetFlowCallback");
    int major = 0, minor = 0;
    if (missing)
        snprintf(reason, sizeof reason, "the NVRTC library is too old: it has no %s", missing);
    else if (nvrtc.nvrtcVersion(&major, &minor) != 0 || !ask_architectures())
        snprintf(reason, sizeof reason, "the NVRTC library does not start");
    else
        snprintf(version, sizeof version, "%d.%d", major, minor);
}

const char *histo_nvrtc_unavailable(void)
{
    pthread_once(&once, load);
    return *reason ? reason : NULL;
}

const char *histo_nvrtc_version(void)
{
    pthread_once(&once, load);
    return version;
}

/* ---- Compiling ---- */

/* Without --fmad=false, slots would differ from the CPU's (see cmake/cuda.cmake). */
const char *const histo_nvrtc_options[] = {"--std=c++17", "--fmad=false", "--device-as-default-execution-space",
                                           "--device-int128", NULL};

/* Where the code begins: behind the symbol, aligned. */
static size_t after_symbol(size_t length)
{
    enum { ALIGNMENT = 16 };
    return (length / ALIGNMENT + 1) * ALIGNMENT;
}

bool histo_kernel_image_of(char *bytes, size_t size, histo_kernel_image *image)
{
    const size_t length = strnlen(bytes, size);
    *image = (histo_kernel_image){bytes, size, after_symbol(length)};
    return length > 0 && image->code_at < size;
}

/* The newest architecture known to NVRTC that is not newer than this one; 0 if all are newer. */
static int architecture_for(int wanted)
{
    int best = 0;
    for (int i = 0; i < architecture_count && architectures[i] <= wanted; i++)
        best = architectures[i];
    return best;
}

static nvrtc_result compile(nvrtc_program program, const char *architecture)
{
    const char *options[sizeof histo_nvrtc_options / sizeof *histo_nvrtc_options];
    int count = 0;
    for (; histo_nvrtc_options[count]; count++)
        options[count] = histo_nvrtc_options[count];
    options[count++] = architecture;
    return nvrtc.nvrtcCompileProgram(program, count, options);
}

/* Fetch the compiled kernel: its symbol and its code. */
static bool take_image(nvrtc_program program, const char *kernel, bool is_cubin, histo_kernel_image *image)
{
    const char *symbol = NULL;
    size_t code_bytes = 0;
    if (nvrtc.nvrtcGetLoweredName(program, kernel, &symbol) != 0) return false;
    if ((is_cubin ? nvrtc.nvrtcGetCUBINSize : nvrtc.nvrtcGetPTXSize)(program, &code_bytes) != 0) return false;
    const size_t code_at = after_symbol(strlen(symbol));
    char *bytes = calloc(1, code_at + code_bytes);
    if (!bytes) return false;
    strcpy(bytes, symbol);
    if ((is_cubin ? nvrtc.nvrtcGetCUBIN : nvrtc.nvrtcGetPTX)(program, bytes + code_at) == 0 &&
        histo_kernel_image_of(bytes, code_at + code_bytes, image))
        return true;
    free(bytes);
    return false;
}

static char *take_log(nvrtc_program program)
{
    size_t size = 0;
    if (nvrtc.nvrtcGetProgramLogSize(program, &size) != 0) return NULL;
    char *log = calloc(1, size + 1);
    if (log) nvrtc.nvrtcGetProgramLog(program, log);
    return log;
}

static nvrtc_program create(const char *source)
{
    const size_t count = (size_t)histo_embedded_header_count;
    const char **texts = malloc(2 * count * sizeof *texts), **names = texts + count;
    nvrtc_program program = NULL;
    for (size_t i = 0; texts && i < count; i++) {
        texts[i] = histo_embedded_headers[i].text;
        names[i] = histo_embedded_headers[i].name;
    }
    if (texts && nvrtc.nvrtcCreateProgram(&program, source, "histo", (int)count, texts, names) != 0) program = NULL;
    free(texts);
    return program;
}

static int ask(void *is_cancelled, void *unused)
{
    (void)unused;
    return (*(bool (**)(void))is_cancelled)();
}

/* While NVRTC compiles for the first time, it registers functions that exit() calls to end it. The smallest program has
 * it register all of them in some hundredths of a second, so that the next is_cancelled can register one that exit()
 * calls before them. */
static void compile_smallest(void)
{
    nvrtc_program program = NULL;
    if (nvrtc.nvrtcCreateProgram(&program, "__global__ void smallest() {}", "smallest", 0, NULL, NULL) != 0) return;
    nvrtc.nvrtcCompileProgram(program, 0, NULL);
    nvrtc.nvrtcDestroyProgram(&program);
}

bool histo_nvrtc_compile(const char *source, const char *kernel, int architecture, bool (*is_cancelled)(void),
                         histo_kernel_image *image, char **log)
{
    *log = NULL;
    if (histo_nvrtc_unavailable()) return false;
    static pthread_once_t warm = PTHREAD_ONCE_INIT;
    pthread_once(&warm, compile_smallest);
    const int known = architecture_for(architecture);
    nvrtc_program program = known ? create(source) : NULL;
    if (!program) return false;
    const bool is_cubin = known == architecture;
    if (set_flow_callback) set_flow_callback(program, ask, &is_cancelled);
    char option[48];
    snprintf(option, sizeof option, "--gpu-architecture=%s_%d", is_cubin ? "sm" : "compute", known);
    const bool compiled =
        !is_cancelled() && nvrtc.nvrtcAddNameExpression(program, kernel) == 0 && compile(program, option) == 0;
    *log = take_log(program);
    const bool taken = compiled && take_image(program, kernel, is_cubin, image);
    nvrtc.nvrtcDestroyProgram(&program);
    return taken;
}
