/* `histo generate`: an input of the papers as a file, so that other programs can count it too. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/failure.h"
#include "base/text.h"
#include "bench/command/picture.h"
#include "bench/command/settings.h"
#include "output/npy_header.h"
#include "output/outfile.h"
#include "papers/inputs/inputs.h"

enum { ROW = 256, DEFAULT_SAMPLES = 1 << 24 };

typedef struct generation {
    bench_input input;
    int64_t rows;       /* of a wafer as two columns, m and n, of `column` each; 0: as it is */
    histo_dtype column; /* its type then */
    int64_t samples;
    const char *format; /* "npy", "png" or "raw" */
} generation;

/* NAME/TYPE/256xROWS: the same input with 256 * ROWS bins, to be written as two columns. */
static int parse_columns(const char *name, generation *g, fault *f)
{
    static const char across[] = "/256x";
    char flat[sizeof g->input.name], distribution[32];
    const char *at = strstr(name, across), *type = strchr(name, '/');
    char *end;
    if (!at || !type || type >= at) return 0;
    long long rows = strtoll(at + sizeof across - 1, &end, 10);
    snprintf(distribution, sizeof distribution, "%.*s", (int)(type - name), name);
    if (*end || rows < 1 || rows > HISTO_MAX_BINS / ROW || strncmp(name, "wafer", 5) != 0) return 0;
    if (strncmp(type, "/u16/", 5) != 0 && strncmp(type, "/u32/", 5) != 0)
        return fault_set(f, EXIT_USAGE, "%s: two columns are u16 or u32", name);
    if (type[2] == '1' && rows > UINT16_MAX + 1)
        return fault_set(f, EXIT_USAGE, "%s: u16 has at most 65536 rows; take u32", name);
    snprintf(flat, sizeof flat, "%s/u32/%lld", distribution, rows * ROW);
    if (bench_input_parse(flat, &g->input) != HISTO_OK) return fault_set(f, EXIT_USAGE, "%s", histo_last_error());
    g->rows = rows;
    g->column = type[2] == '1' ? HISTO_U16 : HISTO_U32;
    return 1;
}

static int choose_format(generation *g, const bench_settings *s, fault *f)
{
    static const char *const formats[] = {"npy", "png", "raw"};
    const char *slash = strrchr(s->common.output, '/'), *dot = strrchr(slash ? slash : s->common.output, '.');
    const char *wanted = s->common.output_format ? s->common.output_format : dot ? dot + 1 : "";
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strcmp(wanted, formats[i]) == 0) g->format = formats[i];
    if (!g->format && s->common.output_format)
        return fault_set(f, EXIT_USAGE, "--to %s: inputs are written as npy, png or raw", wanted);
    if (!g->format)
        return fault_set(f, EXIT_USAGE, "-o %s: the suffix of an input is .npy, .png or .raw, or --to says which it is",
                         s->common.output);
    if (strcmp(g->format, "png") == 0 && !g->input.width)
        return fault_set(f, EXIT_USAGE, "%s is not an image: write it as .npy or .raw", g->input.name);
    return 0;
}

static int parse(generation *g, const bench_settings *s, fault *f)
{
    const char *name = s->common.files[0];
    *g = (generation){0};
    int found = parse_columns(name, g, f);
    if (found < 0) return -1;
    if (!found && bench_input_parse(name, &g->input) != HISTO_OK)
        return fault_set(f, EXIT_USAGE, "%s ('histo generate' lists them)", histo_last_error());
    if (!s->common.output)
        return fault_set(f, EXIT_USAGE, "say where to write %s: add -o FILE.npy, .png or .raw", name);
    if (g->input.width && (s->samples || s->bytes))
        return fault_set(f, EXIT_USAGE, "%s has %" PRId64 " pixels: leave --samples out", name,
                         g->input.width * g->input.height);
    if (s->sample_list) return fault_set(f, EXIT_USAGE, "--samples takes one number, not '%s'", s->sample_list);
    g->samples = g->input.width ? g->input.width * g->input.height
                 : s->samples   ? s->samples
                 : s->bytes     ? s->bytes / (int64_t)histo_dtype_size(g->input.dtype)
                                : DEFAULT_SAMPLES;
    return choose_format(g, s, f);
}

static void put_columns(const generation *g, const uint32_t *flat, FILE *out)
{
    for (int64_t i = 0; i < g->samples; i++) {
        const uint32_t both[] = {flat[i] % ROW, flat[i] / ROW};
        const uint16_t narrow[] = {(uint16_t)both[0], (uint16_t)both[1]};
        const bool is_narrow = g->column == HISTO_U16;
        fwrite(is_narrow ? (const void *)narrow : both, is_narrow ? sizeof narrow : sizeof both, 1, out);
    }
}

static void put_npy_header(const generation *g, FILE *out)
{
    char shape[64], dtype[8];
    const histo_dtype dtype_of_samples = g->rows ? g->column : g->input.dtype;
    const size_t size = histo_dtype_size(dtype_of_samples);
    const char kind = histo_dtype_name(dtype_of_samples)[0]; /* u, i or f, as NumPy's */
    if (g->rows)
        snprintf(shape, sizeof shape, "%" PRId64 ", 1, 2", g->samples);
    else if (g->input.width)
        snprintf(shape, sizeof shape, "%" PRId64 ", %" PRId64, g->input.height, g->input.width);
    else
        snprintf(shape, sizeof shape, "%" PRId64 ",", g->samples);
    snprintf(dtype, sizeof dtype, "'%c%c%zu'", size == 1 ? '|' : npy_byte_order(), kind, size);
    npy_put_header(dtype, shape, false, out);
}

static int write_samples(const generation *g, const void *samples, const bench_settings *s, fault *f)
{
    outfile *o = outfile_open(s->common.output, f);
    if (!o) return -1;
    FILE *out = outfile_stream(o);
    if (strcmp(g->format, "png") == 0) {
        if (picture_of_pixels(samples, g->input.width, g->input.height, o, f) != 0) {
            outfile_abandon(o);
            return -1;
        }
        return outfile_commit(o, f);
    }
    if (strcmp(g->format, "npy") == 0) put_npy_header(g, out);
    if (g->rows)
        put_columns(g, samples, out);
    else
        fwrite(samples, histo_dtype_size(g->input.dtype), (size_t)g->samples, out);
    return outfile_commit(o, f);
}

/* How histo counts it. */
static void print_command(const generation *g, const bench_settings *s, FILE *out)
{
    char samples[TEXT_NUMBER_BYTES];
    const bench_input *in = &g->input;
    const histo_axis axis = bench_input_axis(in, NULL);
    const char *dtype = histo_dtype_name(g->rows ? g->column : in->dtype);
    fprintf(out, "%s: %s samples. Count them with: histo ", s->common.files[0],
            text_count((uint64_t)g->samples, samples));
    if (strcmp(g->format, "raw") == 0) {
        fprintf(out, "--dtype %s ", dtype);
        if (g->rows) fprintf(out, "--shape %" PRId64 "x1x2 ", g->samples);
        if (in->width) fprintf(out, "--shape %" PRId64 "x%" PRId64 " ", in->height, in->width);
    }
    if (g->rows)
        fprintf(out, "--joint 0,1 -b '%d;%" PRId64 "' -r '0:%d;0:%" PRId64 "' ", ROW, g->rows, ROW, g->rows);
    else if (!in->width)
        fprintf(out, "-b %" PRId64 " -r %.0f:%.0f ", in->bins, axis.lo, axis.hi);
    fprintf(out, "%s\n", s->common.output);
}

int bench_command_generate(const bench_settings *s)
{
    fault f = {0};
    generation g;
    if (s->common.files_count == 0) {
        bench_inputs_describe(stdout);
        return EXIT_OK;
    }
    if (parse(&g, s, &f) != 0 || outfile_check(s->common.output, &f) != 0) return fault_report(&f);
    const size_t bytes = (size_t)g.samples * histo_dtype_size(g.input.dtype);
    if (fault_beyond_memory(&f, (double)bytes, "the samples", "ask for fewer") != 0) return fault_report(&f);
    void *samples = malloc(bytes);
    if (!samples) {
        fault_set(&f, EXIT_DATA, "no memory for %" PRId64 " samples: ask for fewer", g.samples);
        return fault_report(&f);
    }
    const histo_axis axis = bench_input_axis(&g.input, NULL);
    bench_input_make(&g.input, &axis, g.samples, samples);
    int written = write_samples(&g, samples, s, &f);
    free(samples);
    if (written != 0) return fault_report(&f);
    if (!s->common.quiet && strcmp(s->common.output, "-") != 0) print_command(&g, s, stdout);
    return EXIT_OK;
}
