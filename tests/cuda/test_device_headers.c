/* Kernel headers stand alone: the run-time compiler (NVRTC) compiles each without host headers, agrees with the host on
 * struct layouts, and builds kernels of readers, lookups and counters, also of its own. Needs no GPU. */
#include <glob.h>
#include <inttypes.h>
#include <nvrtc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/device_classes.h"
#include "support/device_layouts.h"

/* The oldest that is supported, and one with instructions that only newer ones have. */
static const char *const architectures[] = {"--gpu-architecture=sm_75", "--gpu-architecture=sm_90"};

/* Compile `source` for the named kernels; print the compiler's log on failure. */
static void compile(const char *what, const char *architecture, const char *source, const char *const *names, int n)
{
    const char *const options[] = {architecture,
                                   "--std=c++17",
                                   "--fmad=false",
                                   "--device-as-default-execution-space",
                                   "--device-int128",
                                   "--include-path=" TEST_ROOT "/src",
                                   "--include-path=" TEST_ROOT};
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

/* All .cuh files, and the headers that host code of C includes, too. */
static void test_each_alone(void **state)
{
    (void)state;
    glob_t headers;
    assert_int_equal(glob(TEST_ROOT "/src/cuda/*/*.cuh", 0, NULL, &headers), 0);
    assert_int_equal(glob(TEST_ROOT "/src/cuda/*/*/*.cuh", GLOB_APPEND, NULL, &headers), 0);
    assert_int_equal(glob(TEST_ROOT "/src/cuda/device/*.h", GLOB_APPEND, NULL, &headers), 0);
    assert_int_equal(glob(TEST_ROOT "/papers/strategies/*.cuh", GLOB_APPEND, NULL, &headers), 0);
    assert_int_equal(glob(TEST_ROOT "/papers/strategies/*/*.cuh", GLOB_APPEND, NULL, &headers), 0);
    assert_int_equal(glob(TEST_ROOT "/papers/strategies/*.h", GLOB_APPEND, NULL, &headers), 0);
    assert_true(headers.gl_pathc > 25);
    for (size_t i = 0; i < headers.gl_pathc; i++) {
        char source[512];
        snprintf(source, sizeof source, "#include \"%s\"\n", headers.gl_pathv[i] + strlen(TEST_ROOT) + 1);
        compile(headers.gl_pathv[i], architectures[0], source, NULL, 0);
    }
    globfree(&headers);
}

/* Host and kernels agree on sizes, offsets and constants. */
static void test_layout(void **state)
{
    (void)state;
    static char source[16384];
    size_t length = (size_t)snprintf(source, sizeof source,
                                     "#include \"cuda/few_samples/any_layout.cuh\"\n"
                                     "#include \"cuda/device/images.cuh\"\n"
                                     "#include \"cuda/device/several_axes.cuh\"\n"
                                     "#include \"cuda/strategies/lane_private/lane_columns.cuh\"\n"
                                     "#include \"cuda/strategies/lane_private/lane_images.cuh\"\n"
                                     "#include \"papers/strategies/tiles/count_tiles.cuh\"\n"
                                     "#include \"papers/strategies/packed_counters.cuh\"\n"
                                     "#include \"cuda/strategies/packed_window/packed_window.cuh\"\n"
                                     "#include \"cuda/strategies/partition/partition.cuh\"\n"
                                     "#include \"cuda/strategies/weighted_partition/weighted_partition.cuh\"\n"
                                     "#include \"cuda/device/weights/weight_formats.cuh\"\n"
                                     "#define OFFSET(type, member) __INTADDR__(&((type *)0)->member)\n");
    for (const device_layout *layout = device_layouts; layout->expression; layout++) {
        length += (size_t)snprintf(source + length, sizeof source - length,
                                   "static_assert((%s) == %" PRIu64 ", \"\");\n", layout->expression, layout->value);
        assert_true(length < sizeof source);
    }
    compile("layout", architectures[0], source, NULL, 0);
}

/* A reader and a counter of a run-time compiler's own. */
static const char own[] =
    "struct own_reader {\n"
    "    enum { ID = HISTO_READ_ANY, PER_STEP = 2 };\n"
    "    static HISTO_MEMBER histo_tile tile(const histo_cuda_work *w, int64_t i) { return histo_tile_at(w, i); }\n"
    "    static HISTO_MEMBER void slots(const histo_cuda_work *w, const histo_tile *tile, uint32_t at,\n"
    "                                   uint32_t (&slot)[PER_STEP])\n"
    "    {\n"
    "        for (int k = 0; k < PER_STEP; k++) {\n"
    "            uint32_t i = at + k * blockDim.x + threadIdx.x;\n"
    "            slot[k] = i < tile->length ? (uint32_t)tile->at[3 * i] % w->slots : HISTO_NO_SLOT;\n"
    "        }\n"
    "    }\n"
    "};\n"
    "struct own_weighted {\n"
    "    using place = uint32_t;\n"
    "    static HISTO_MEMBER histo_tile tile(const histo_cuda_work *w, int64_t i) { return histo_tile_at(w, i); }\n"
    "    static HISTO_MEMBER place place_of(const histo_cuda_work *, const histo_tile *, uint32_t i) { return i; }\n"
    "    static HISTO_MEMBER uint32_t slot(const histo_cuda_work *w, const place *at) { return *at % w->slots; }\n"
    "    static HISTO_MEMBER const char *weight(const histo_cuda_work *w, const place *at)\n"
    "    {\n"
    "        return w->iter.base[1] + sizeof(float) * *at;\n"
    "    }\n"
    "    template <class function>\n"
    "    static HISTO_MEMBER auto with_weight(const histo_cuda_work *w, const place *at, function use)\n"
    "    {\n"
    "        return use((double)*(const float *)weight(w, at));\n"
    "    }\n"
    "};\n"
    "template <int vector, int lanes>\n"
    "struct own_columns {\n"
    "    enum { naxes = 1, operands = 2, mask = 1, records = 0, where = HISTO_ABSENT, dims = 1, batch_dims = 2 };\n"
    "    enum { threads = 1024 };\n"
    "    enum { near = 1, aligned = 0, swapped = 0, column_lanes = lanes, column_vector = vector, column_rows = 4 };\n"
    "    enum { column_private = vector > 1, column_by_value = vector > 1, column_words = vector > 1 ? 2 : 0 };\n"
    "    static constexpr histo_dtype dtypes[] = {HISTO_U8, HISTO_U16};\n"
    "    static constexpr int strides[] = {0, 64};\n"
    "    static constexpr histo_specialised_axis axes[] = {{HISTO_BY_TABLE}};\n"
    "};\n"
    "struct own_counters {\n"
    "    enum { MAX_THREADS = 1024 };\n"
    "    unsigned int *shared;\n"
    "    HISTO_MEMBER own_counters(const histo_cuda_work *w, unsigned int *memory) : shared(memory)\n"
    "    {\n"
    "        histo_clear_shared(shared, (uint32_t)w->counters);\n"
    "    }\n"
    "    template <int N>\n"
    "    HISTO_MEMBER void count(const uint32_t (&slot)[N])\n"
    "    {\n"
    "        for (int k = 0; k < N; k++)\n"
    "            if (slot[k] != HISTO_NO_SLOT) atomicAdd(&shared[slot[k]], 1u);\n"
    "    }\n"
    "    HISTO_MEMBER void merge(const histo_cuda_work *w, const histo_tile_rows *rows, int64_t item, int64_t entry)\n"
    "    {\n"
    "        histo_merge_copies(w, rows, item, entry, shared, 1, 0, 0xffffffffu);\n"
    "    }\n"
    "};\n";

static const struct {
    const char *header, *kernels[4];
} kernels[] = {
    {"device/reader.cuh",
     {"histo_count_tiles<histo_contiguous<HISTO_U16>, own_counters>",
      "histo_count_tiles<histo_contiguous<HISTO_F32, histo_nearest_lookup<HISTO_F32>>, own_counters>",
      "histo_count_tiles<own_reader, own_counters>"}},
    {"strategies/global_atomic/global_atomic.cuh",
     {"histo::global_atomic::count<own_reader>", "histo::global_atomic::count<histo_any_layout>",
      "histo::global_atomic::count_weighted<own_weighted>"}},
    {"strategies/lane_private/lane_strided.cuh",
     {"histo::lane_private::count_any<own_reader, histo::lane_private::slot_counter>",
      "histo::lane_private::count_any<histo_any_layout, histo::lane_private::slot_counter>",
      "histo::lane_private::count_joint<histo_f32x2_reader, histo::lane_private::slot_counter>"}},
    {"strategies/lane_private/lane_columns.cuh",
     {"histo::lane_private::count_columns<own_columns<1, 9>>",
      "histo::lane_private::count_columns<own_columns<4, 32>>"}},
    {"strategies/lane_private/lane_contiguous.cuh",
     {"histo::lane_private::count_contiguous<histo::lane_private::contiguous_reader<HISTO_F32, 4>, "
      "histo::lane_private::by_nearest<HISTO_F32>, histo::lane_private::slot_counter>"}},
    {"strategies/lane_private/lane_images.cuh",
     {"histo_count_images<histo::lane_private::images_counter<histo::lane_private::images_reader<HISTO_U16, true, "
      "false>, histo::lane_private::by_any<HISTO_U16>, "
      "histo::lane_private::slot_counter>>"}},
    {"strategies/packed_window/window_any.cuh",
     {"histo::packed_window::count_read<histo::packed_window::unjoined<own_reader>, 8>",
      "histo::packed_window::count_read<histo::packed_window::unjoined<own_reader>, 16>",
      "histo::packed_window::count_read<histo_u32x2_reader, 16>"}},
    {"strategies/partition/partition_scatter.cuh",
     {"histo::partition::scatter<histo::partition::unjoined<own_reader>>"}},
    {"strategies/weighted_private/weighted_any.cuh",
     {"histo::weighted_private::count_any<false, double>", "histo::weighted_private::count_any<true, double>",
      "histo::weighted_private::count_any<false, float>", "histo::weighted_private::count_any<true, float>"}},
    {"strategies/weighted_partition/weighted_scatter.cuh",
     {"histo::weighted_partition::scatter<histo::weighted_partition::any_layout, float>",
      "histo::weighted_partition::scatter<histo::weighted_partition::any_layout, double>"}},
};

static void test_kernels(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        char source[8192];
        int names = 0;
        while (names < 4 && kernels[k].kernels[names])
            names++;
        snprintf(source, sizeof source,
                 "#include \"papers/strategies/tiles/count_tiles.cuh\"\n#include "
                 "\"cuda/device/weights/weighted_reader.cuh\"\n"
                 "#include \"cuda/jit/specialised.cuh\"\n"
                 "#include \"cuda/%s\"\n%s",
                 kernels[k].header, own);
        for (size_t a = 0; a < sizeof architectures / sizeof *architectures; a++)
            compile(kernels[k].header, architectures[a], source, kernels[k].kernels, names);
    }
}

/* ---- Classes (cuda/jit/class.h) ---- */

/* Vectors are aligned, and within one run. */
static void test_vectors_of_classes(void **state)
{
    enum { PROBLEMS = 20000 };
    (void)state;
    static device_class drawn;
    int in_vectors = 0;
    for (uint64_t number = 0; number < PROBLEMS; number++) {
        if (!device_class_draw(number, &drawn)) continue;
        in_vectors += drawn.in_vectors;
        if (!drawn.is_aligned) fail_msg("problem %d has misaligned vectors: %s", (int)number, drawn.problem);
    }
    assert_true(in_vectors > PROBLEMS / 50);
}

static const struct {
    bool weighted;
    const char *header, *kernel;
} of_classes[] = {
    {false, "few_samples/any_layout.cuh", "histo::few::count<constants>"},
    {false, "few_samples/any_layout.cuh", "histo::few::count_many<constants>"},
    {false, "few_samples/any_layout.cuh", "histo::few::count_dense<constants>"},
    {true, "few_samples/any_layout.cuh", "histo::few::count_weighted<constants, false, true>"},
    {true, "few_samples/any_layout.cuh", "histo::few::count_weighted<constants, true, false>"},
    {true, "few_samples/any_layout.cuh", "histo::few::count_weighted<constants, true, true>"},
    {false, "strategies/lane_private/lane_strided.cuh",
     "histo::lane_private::count_joint<histo_specialised_reader<constants>, "
     "histo::lane_private::specialised_counter<constants>>"},
    {false, "strategies/packed_window/window_any.cuh",
     "histo::packed_window::count_read<histo_specialised_reader<constants>, 8>"},
    {false, "strategies/packed_window/window_any.cuh",
     "histo::packed_window::count_read<histo_specialised_reader<constants>, 16>"},
    {false, "strategies/partition/partition_scatter.cuh",
     "histo::partition::scatter<histo_specialised_reader<constants>>"},
    {false, "strategies/global_atomic/global_atomic.cuh",
     "histo::global_atomic::count_joint<histo_specialised_reader<constants>>"},
    {true, "strategies/weighted_private/weighted_any.cuh",
     "histo::weighted_private::count_joint<histo_specialised_reader<constants>, true, double>"},
    {true, "strategies/weighted_private/weighted_any.cuh",
     "histo::weighted_private::count_joint<histo_specialised_reader<constants>, true, float>"},
    {true, "strategies/weighted_private/weighted_any.cuh",
     "histo::weighted_private::count_joint<histo_specialised_reader<constants>, false, float>"},
    {true, "strategies/weighted_partition/weighted_scatter.cuh",
     "histo::weighted_partition::scatter<histo::weighted_partition::in_vectors<histo_specialised_reader<constants>>, "
     "float>"},
    {true, "strategies/weighted_partition/weighted_scatter.cuh",
     "histo::weighted_partition::scatter<histo::weighted_partition::in_vectors<histo_specialised_reader<constants>>, "
     "double>"},
    {true, "strategies/weighted_partition/weighted_windows.cuh",
     "histo::weighted_partition::count_windows<histo_specialised_reader<constants>, false, double>"},
    {true, "strategies/weighted_partition/weighted_windows.cuh",
     "histo::weighted_partition::count_windows<histo_specialised_reader<constants>, true, float>"},
    {true, "strategies/global_atomic/global_atomic.cuh",
     "histo::global_atomic::count_weighted<histo_specialised_weighted<constants>>"},
};

/* Each kernel that strategies have compiled, for some random classes. */
static void test_kernels_of_classes(void **state)
{
    enum { EACH = 3 };
    (void)state;
    static device_class drawn;
    uint64_t number = 0;
    for (size_t k = 0; k < EACH * sizeof of_classes / sizeof *of_classes; k++) {
        const size_t which = k / EACH;
        char source[sizeof drawn.text + 128];
        do
            number++;
        while (!device_class_draw(number, &drawn) || drawn.weighted != of_classes[which].weighted);
        snprintf(source, sizeof source,
                 "#include \"cuda/%s\"\n#include \"cuda/jit/specialised_reader.cuh\"\n"
                 "#include \"cuda/jit/specialised_weighted.cuh\"\n%s",
                 of_classes[which].header, drawn.text);
        compile(drawn.problem, architectures[1], source, &of_classes[which].kernel, 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_alone), cmocka_unit_test(test_layout),
                                       cmocka_unit_test(test_kernels), cmocka_unit_test(test_vectors_of_classes),
                                       cmocka_unit_test(test_kernels_of_classes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
