/* Kernel headers stand alone: the run-time compiler (NVRTC) compiles each without host headers, agrees with the host on
 * struct layouts, and builds kernels from readers, lookups and counters. Needs no GPU. */
#include <glob.h>
#include <nvrtc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cuda/device/work.h"

/* Compile `source` for the named kernels; print the compiler's log on failure. */
static void compile(const char *what, const char *source, const char *const *names, int n)
{
    static const char *const options[] = {"--gpu-architecture=sm_90", "--std=c++17", "--fmad=false",
                                          "--device-as-default-execution-space", "--include-path=" TEST_SOURCES};
    nvrtcProgram program;
    assert_int_equal(nvrtcCreateProgram(&program, source, what, 0, NULL, NULL), NVRTC_SUCCESS);
    for (int i = 0; i < n; i++)
        assert_int_equal(nvrtcAddNameExpression(program, names[i]), NVRTC_SUCCESS);
    if (nvrtcCompileProgram(program, sizeof options / sizeof *options, options) != NVRTC_SUCCESS) {
        size_t size = 0;
        nvrtcGetProgramLogSize(program, &size);
        char *log = malloc(size + 1);
        assert_non_null(log);
        nvrtcGetProgramLog(program, log);
        print_error("%s:\n%.*s\n", what, (int)size, log);
        free(log);
        fail();
    }
    for (int i = 0; i < n; i++) {
        const char *symbol = NULL;
        assert_int_equal(nvrtcGetLoweredName(program, names[i], &symbol), NVRTC_SUCCESS);
        assert_non_null(symbol);
    }
    size_t size = 0;
    assert_int_equal(nvrtcGetCUBINSize(program, &size), NVRTC_SUCCESS);
    assert_true(size > 0);
    assert_int_equal(nvrtcDestroyProgram(&program), NVRTC_SUCCESS);
}

static void test_each_alone(void **state)
{
    (void)state;
    glob_t found;
    assert_int_equal(glob(TEST_SOURCES "/cuda/device/*", 0, NULL, &found), 0);
    assert_true(found.gl_pathc > 5);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        char source[512];
        snprintf(source, sizeof source, "#include \"%s\"\n", found.gl_pathv[i] + strlen(TEST_SOURCES) + 1);
        compile(found.gl_pathv[i], source, NULL, 0);
    }
    globfree(&found);
}

static char *append(char *at, const char *format, ...) __attribute__((format(printf, 2, 3)));
static char *append(char *at, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    at += vsprintf(at, format, arguments);
    va_end(arguments);
    return at;
}

/* Host and kernels agree on sizes, offsets and constants. */
static void test_layout(void **state)
{
    (void)state;
    static char source[8192];
    char *at = append(source, "#include \"cuda/device/work.h\"\n"
                              "#define OFFSET(type, member) __INTADDR__(&((type *)0)->member)\n");
#define EQUAL(expression, value) at = append(at, "static_assert((%s) == %zu, \"\");\n", expression, (size_t)(value))
#define OFFSET_OF(type, member) EQUAL("OFFSET(" #type ", " #member ")", offsetof(type, member))
#define SIZE_OF(type) EQUAL("sizeof(" #type ")", sizeof(type))
#define CONSTANT(name) EQUAL(#name, name)
    SIZE_OF(int64_t);
    SIZE_OF(uint64_t);
    SIZE_OF(histo_dtype);
    SIZE_OF(histo_lookup);
    SIZE_OF(histo_strided_iter);
    SIZE_OF(histo_cuda_work);
    OFFSET_OF(histo_lookup, edges);
    OFFSET_OF(histo_lookup, cells);
    OFFSET_OF(histo_lookup, pow2);
    OFFSET_OF(histo_strided_iter, offsets);
    OFFSET_OF(histo_cuda_work, dtypes);
    OFFSET_OF(histo_cuda_work, lookups);
    OFFSET_OF(histo_cuda_work, counts);
    OFFSET_OF(histo_cuda_work, exact);
    CONSTANT(HISTO_MAX_AXES);
    CONSTANT(HISTO_MAX_DIMS);
    CONSTANT(HISTO_MAX_OPERANDS);
    CONSTANT(HISTO_U8);
    CONSTANT(HISTO_I8);
    CONSTANT(HISTO_U16);
    CONSTANT(HISTO_I16);
    CONSTANT(HISTO_U32);
    CONSTANT(HISTO_I32);
    CONSTANT(HISTO_U64);
    CONSTANT(HISTO_I64);
    CONSTANT(HISTO_F16);
    CONSTANT(HISTO_BF16);
    CONSTANT(HISTO_F32);
    CONSTANT(HISTO_F64);
    CONSTANT(HISTO_DTYPE_COUNT);
    CONSTANT(INT32_MAX);
    CONSTANT(UINT32_MAX);
    CONSTANT(UINT64_MAX);
    compile("layout", source, NULL, 0);
}

static void test_kernels(void **state)
{
    (void)state;
    static const char source[] =
        "#include \"cuda/device/count_tiles.cuh\"\n"
        "#include \"cuda/device/weight.cuh\"\n"
        "struct counters {\n"
        "    enum { MAX_THREADS = 1024 };\n"
        "    unsigned int *shared;\n"
        "    HISTO_MEMBER counters(const histo_cuda_work *w, unsigned int *memory) : shared(memory)\n"
        "    {\n"
        "        histo_clear_shared(shared, (uint32_t)w->counters);\n"
        "    }\n"
        "    template <int N>\n"
        "    HISTO_MEMBER void count(const uint32_t (&slot)[N])\n"
        "    {\n"
        "        for (int k = 0; k < N; k++)\n"
        "            if (slot[k] != HISTO_NO_SLOT) atomicAdd(&shared[slot[k]], 1u);\n"
        "    }\n"
        "    HISTO_MEMBER void merge(const histo_cuda_work *w, const histo_rows *rows, int64_t item, int64_t entry)\n"
        "    {\n"
        "        histo_merge_copies(w, rows, item, entry, shared, 1, 0, 0xffffffffu);\n"
        "    }\n"
        "};\n"
        "__global__ void add_weight(histo_cuda_work work, const char *at)\n"
        "{\n"
        "    histo_add_weight(&work, threadIdx.x, at);\n"
        "}\n";
    static const char *const names[] = {
        "histo_count_tiles<histo_contiguous<HISTO_U16>, counters>",
        "histo_count_tiles<histo_contiguous<HISTO_F32, histo_nearest_lookup<HISTO_F32>>, counters>",
        "histo_count_tiles<histo_any_layout, counters>", "add_weight"};
    compile("kernels", source, names, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_alone), cmocka_unit_test(test_layout),
                                       cmocka_unit_test(test_kernels)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
