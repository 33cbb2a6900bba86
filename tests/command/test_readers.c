/* The readers of arrays and text, and the input layer below them: files written here (and some of the fuzz corpus) are
 * read twice, by value and by position; and the messages for invalid files. */
#include "support/check.h"
#include "support/data.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "input/reader.h"
#include "input/readers/text/number.h"

/* ---- Files ---- */

static char folder[] = "/tmp/test_readers_XXXXXX";

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

/* The path of a file in the test's folder; valid until the next call. */
static const char *path_of(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static const char *write_bytes(const char *name, const void *bytes, size_t size)
{
    const char *path = path_of(name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    return path;
}

static const char *write_text(const char *text)
{
    return write_bytes("text", text, strlen(text));
}

static const char *write_gzip(const char *name, const char *mode, const void *bytes, size_t size)
{
    const char *path = path_of(name);
    gzFile file = gzopen(path, mode);
    assert_non_null(file);
    assert_int_equal(gzwrite(file, bytes, (unsigned)size), size);
    assert_int_equal(gzclose(file), Z_OK);
    return path;
}

/* Write a .npy file with this header and these samples. */
static const char *write_npy(const char *header, const void *samples, size_t size)
{
    unsigned char file[4096] = "\x93NUMPY\x01";
    size_t length = strlen(header);
    assert_true(10 + length + size <= sizeof file);
    file[8] = (unsigned char)length;
    memcpy(file + 10, header, length);
    if (size) memcpy(file + 10 + length, samples, size);
    return write_bytes("a.npy", file, 10 + length + size);
}

static const char *corpus(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", TEST_CORPUS, name);
    return path;
}

/* A path to a pipe with these bytes. */
static const char *pipe_with(const void *bytes, size_t size)
{
    static char path[64];
    static int end = -1;
    if (end >= 0) close(end);
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], bytes, size), size);
    close(ends[1]);
    end = ends[0];
    snprintf(path, sizeof path, "/proc/self/fd/%d", end);
    return path;
}

/* ---- Reading ---- */

static const read_options nothing_asked = {.header = -1};

static double value_of(const void *p, histo_dtype dtype)
{
    if (dtype != HISTO_F16 && dtype != HISTO_BF16) return (double)sample_value(p, dtype);
    uint16_t bits; /* a half is shown by its bits */
    memcpy(&bits, p, sizeof bits);
    return bits;
}

/* Read one channel in one pass and store every sample at its position; returns the number of samples. */
static int64_t read_pass(reader *r, double *values, int64_t room)
{
    fault f = {0};
    band b;
    int64_t samples = 0;
    int status;
    while ((status = r->next(r, &b, &f)) == 1) {
        const histo_view *v = &b.views[0];
        assert_true(b.rows == v->shape[0] && b.cols == v->shape[1]);
        for (int64_t y = 0; y < b.rows; y++)
            for (int64_t x = 0; x < b.cols; x++) {
                int64_t at = (b.y + y) * r->width + b.x + x;
                assert_in_range(at, 0, room - 1);
                values[at] = value_of((const char *)v->data + y * v->strides[0] + x * v->strides[1], v->dtype);
                samples++;
            }
    }
    if (status != 0) fail_msg("%s", f.text);
    return samples;
}

static reader *open_or_fail(const char *path, const read_options *options, bool keep)
{
    fault f = {0};
    reader *r = reader_open(path, options, keep, &f);
    if (!r) fail_msg("%s", f.text);
    return r;
}

/* A channel has exactly these values in both of two passes. Closes the reader. */
static void expect_channel(reader *r, int channel, int64_t n, const double *expected)
{
    fault f = {0};
    double *values = calloc((size_t)n + 1, sizeof *values);
    assert_non_null(values);
    assert_int_equal(reader_select(r, &channel, NULL, 1, &f), 0);
    for (int pass = 0; pass < 2; pass++) {
        if (pass) assert_int_equal(r->rewind(r, &f), 0);
        assert_int_equal(read_pass(r, values, n), n);
        for (int64_t i = 0; i < n; i++)
            if (!(values[i] == expected[i] || (isnan(values[i]) && isnan(expected[i]))))
                fail_msg("sample %d of channel %d is %.17g, not %.17g", (int)i, channel, values[i], expected[i]);
        memset(values, 0, (size_t)n * sizeof *values);
    }
    free(values);
    reader_close(r);
}

#define VALUES(...)                                                                                                    \
    (const double[])                                                                                                   \
    {                                                                                                                  \
        __VA_ARGS__                                                                                                    \
    }
#define COUNT(...) ((int64_t)(sizeof(const double[]){__VA_ARGS__} / sizeof(double)))
#define EXPECT(path, options, channel, ...)                                                                            \
    expect_channel(open_or_fail(path, options, true), channel, COUNT(__VA_ARGS__), VALUES(__VA_ARGS__))

/* Opening or reading fails with this exit status and a message with these words. */
static void refused(const char *path, const read_options *options, int status, const char *words)
{
    fault f = {0};
    reader *r = reader_open(path, options, false, &f);
    if (r) {
        band b;
        if (reader_select(r, &(int){0}, NULL, 1, &f) == 0)
            while (r->next(r, &b, &f) == 1)
                ;
        reader_close(r);
    }
    if (!strstr(f.text, words)) fail_msg("'%s' has no '%s'", f.text, words);
    assert_int_equal(f.status, status);
}

/* ---- Input ---- */

static void missing_and_unreadable_files(void **state)
{
    (void)state;
    refused(path_of("nowhere"), &nothing_asked, EXIT_DATA, "there is no such file");
    refused(folder, &nothing_asked, EXIT_DATA, "is a directory");
    refused(write_bytes("empty", "", 0), &nothing_asked, EXIT_DATA, "is empty");
    refused(write_bytes("binary", "\1\2\3\4", 4), &nothing_asked, EXIT_DATA, "--dtype");
    refused(write_bytes("utf16",
                        "\xff\xfe"
                        "1\0",
                        4),
            &nothing_asked, EXIT_DATA, "UTF-16");
    read_options odd = {.header = -1, .format = "odd"};
    refused(write_text("1 2"), &odd, EXIT_USAGE, "there is no format 'odd': --format takes png, jpeg, ");
}

static void gzip_is_undone_and_checked(void **state)
{
    (void)state;
    EXPECT(write_gzip("two.gz", "wb", "1 2 ", 4), &nothing_asked, 0, 1, 2);
    EXPECT(write_gzip("two.gz", "ab", "3 4\n", 4), &nothing_asked, 0, 1, 2, 3, 4);

    const char *path = path_of("two.gz");
    unsigned char file[256];
    FILE *stream = fopen(path, "rb");
    size_t size = fread(file, 1, sizeof file, stream);
    fclose(stream);
    refused(write_bytes("cut.gz", file, size - 1), &nothing_asked, EXIT_DATA, "truncated");
    refused(write_bytes("cut.gz", file, size / 2 + 12), &nothing_asked, EXIT_DATA, "truncated");
    memset(file + size, 0, 8);
    EXPECT(write_bytes("padded.gz", file, size + 8), &nothing_asked, 0, 1, 2, 3, 4);
    file[size] = 'x';
    refused(write_bytes("more.gz", file, size + 1), &nothing_asked, EXIT_DATA, "truncated");
    file[size - 8] ^= 1; /* in the second member's CRC */
    refused(write_bytes("flipped.gz", file, size), &nothing_asked, EXIT_DATA, "damaged");
}

static void a_pipe_is_spooled_to_be_read_twice(void **state)
{
    (void)state;
    fault f = {0};
    reader *r = open_or_fail(pipe_with("5 6 7", 5), &nothing_asked, true);
    assert_true(input_was_spooled(r->in));
    expect_channel(r, 0, 3, VALUES(5, 6, 7));

    r = open_or_fail(pipe_with("5 6 7", 5), &nothing_asked, false);
    assert_false(input_can_rewind(r->in));
    double values[3];
    assert_int_equal(reader_select(r, &(int){0}, NULL, 1, &f), 0);
    assert_int_equal(read_pass(r, values, 3), 3);
    assert_int_equal(r->rewind(r, &f), -1);
    assert_non_null(strstr(f.text, "second time"));
    reader_close(r);

    assert_int_equal(setenv("TMPDIR", path_of("nowhere"), 1), 0);
    fault full = {0};
    assert_null(reader_open(pipe_with("5", 1), &nothing_asked, true, &full));
    assert_non_null(strstr(full.text, "TMPDIR"));
    unsetenv("TMPDIR");
}

static void data_is_peeked_at_without_being_consumed(void **state)
{
    (void)state;
    fault f = {0};
    input *in = input_open(write_bytes("ab", "ab", 2), &f);
    size_t size;
    char got[4];
    assert_memory_equal(input_peek(in, &size, &f), "ab", 2);
    assert_int_equal(size, 2);
    assert_int_equal(input_data_size(in), 2);
    assert_int_equal(input_read(in, got, 1, &f), 1);
    assert_int_equal(input_read(in, got + 1, 3, &f), 1);
    assert_int_equal(input_read(in, got, 4, &f), 0);
    assert_memory_equal(got, "ab", 2);
    assert_int_equal(input_position(in), input_size(in));
    input_close(in);
}

/* ---- Arrays ---- */

#define NPY(descr, fortran, shape) "{'descr': " descr ", 'fortran_order': " fortran ", 'shape': " shape ", }\n"

static void npy_of_every_kind(void **state)
{
    (void)state;
    static const unsigned char sixteen[] = {0, 1, 0, 2, 0x80, 0, 0, 4, 0, 5, 0, 6};
    EXPECT(write_npy(NPY("'>u2'", "False", "(6,)"), sixteen, 12), &nothing_asked, 0, 1, 2, 32768, 4, 5, 6);
    EXPECT(write_npy(NPY("'>i2'", "False", "(3, 2)"), sixteen, 12), &nothing_asked, 0, 1, 2, -32768, 4, 5, 6);
    EXPECT(write_npy(NPY("'<u2'", "False", "(6L,)"), sixteen, 12), &nothing_asked, 0, 256, 512, 128, 1024, 1280, 1536);
    EXPECT(write_npy(NPY("'|u1'", "False", "()"), "\7", 1), &nothing_asked, 0, 7);
    EXPECT(write_npy(NPY("'|b1'", "False", "(2,)"), "\1\0", 2), &nothing_asked, 0, 1, 0);
    EXPECT(write_npy(NPY("'|i1'", "False", "(2,)"), "\1\377", 2), &nothing_asked, 0, 1, -1);
    EXPECT(write_npy(NPY("'<f8'", "False", "(2,)"), VALUES(1.5, -2), 16), &nothing_asked, 0, 1.5, -2);
    EXPECT(write_npy(NPY("'<f4'", "False", "(1, 2)"), (const float[]){0.5f, INFINITY}, 8), &nothing_asked, 0, 0.5,
           INFINITY);
    EXPECT(write_npy(NPY("'>f2'", "False", "(1,)"), "\x3c\x01", 2), &nothing_asked, 0, 0x3c01);
    EXPECT(write_npy(NPY("'<i8'", "False", "(1,)"), (const int64_t[]){-5}, 8), &nothing_asked, 0, -5);
}

static void arrays_become_pages(void **state)
{
    (void)state;
    /* Fortran order: rows and columns keep their meaning, though stored by columns. */
    reader *r = open_or_fail(write_npy(NPY("'|u1'", "True", "(2, 3)"), "\1\4\2\5\3\6", 6), &nothing_asked, true);
    assert_int_equal(r->height, 2);
    assert_int_equal(r->width, 3);
    expect_channel(r, 0, 6, VALUES(1, 2, 3, 4, 5, 6));
    /* A short last dimension is channels, in either order. */
    r = open_or_fail(write_npy(NPY("'>u2'", "True", "(2, 1, 3)"), "\0\1\0\2\0\3\0\4\0\5\0\6", 12), &nothing_asked,
                     true);
    assert_int_equal(r->channels, 3);
    assert_int_equal(r->height, 2);
    assert_int_equal(r->width, 1);
    expect_channel(r, 1, 2, VALUES(3, 4));
    refused(write_npy(NPY("'|u1'", "True", "(2, 1, 3)"), "\1\2\3\4\5\6\7", 7), &nothing_asked, EXIT_DATA,
            "holds 7 bytes");
    r = open_or_fail(write_npy(NPY("'|u1'", "False", "(1, 2, 3)"), "\1\2\3\4\5\6", 6), &nothing_asked, true);
    assert_int_equal(r->channels, 3);
    assert_int_equal(r->width, 2);
    expect_channel(r, 1, 2, VALUES(2, 5));
    /* Other arrays are flat. */
    r = open_or_fail(write_npy(NPY("'|u1'", "False", "(1, 1, 6)"), "\1\2\3\4\5\6", 6), &nothing_asked, true);
    assert_int_equal(r->channels, 1);
    assert_int_equal(r->height, 6);
    assert_int_equal(r->width, 1);
    expect_channel(r, 0, 6, VALUES(1, 2, 3, 4, 5, 6));
    expect_channel(open_or_fail(write_npy(NPY("'|u1'", "False", "(0, 3)"), "", 0), &nothing_asked, true), 0, 0, NULL);
}

static void npy_that_is_refused(void **state)
{
    (void)state;
    refused(write_npy(NPY("'|O'", "False", "(1,)"), "", 0), &nothing_asked, EXIT_DATA, "Python objects");
    refused(write_npy(NPY("[('x', '|S4')]", "False", "(1,)"), "1234", 4), &nothing_asked, EXIT_DATA,
            "column x holds strings, not plain numbers");
    refused(write_npy(NPY("[('x', '|O')]", "False", "(1,)"), "12345678", 8), &nothing_asked, EXIT_DATA,
            "records without fields of numbers");
    refused(write_npy(NPY("[('', '|V4')]", "False", "(1,)"), "1234", 4), &nothing_asked, EXIT_DATA, "without fields");
    refused(write_npy(NPY("[('x', '<f4'", "False", "(1,)"), "1234", 4), &nothing_asked, EXIT_DATA, "invalid");
    refused(write_npy(NPY("[('x', '<q4')]", "False", "(1,)"), "1234", 4), &nothing_asked, EXIT_DATA, "fields");
    refused(write_npy(NPY("[('x', '<f4'), ('y', '<f8', (2305843009213693952,))]", "False", "(1,)"), "", 0),
            &nothing_asked, EXIT_DATA, "fields");
    refused(write_npy(NPY("[('x', '<f4'), ('y', '|i1', (9999999,))]", "False", "(1,)"), "", 0), &nothing_asked,
            EXIT_DATA, "records of 10000003 bytes");
    refused(write_npy(NPY("[('x', '<f4')]", "False", "(2,)"), "123456", 6), &nothing_asked, EXIT_DATA,
            "holds 6 bytes of samples");
    refused(write_npy(NPY("'<U1'", "False", "(1,)"), "1234", 4), &nothing_asked, EXIT_DATA, "strings");
    refused(write_npy(NPY("'<f16'", "False", "(1,)"), "", 0), &nothing_asked, EXIT_DATA, "more than 64 bits");
    refused(write_npy(NPY("'<q8'", "False", "(1,)"), "", 0), &nothing_asked, EXIT_DATA, "'<q8'");
    refused(write_npy(NPY("'<f8'", "False", "(2,)"), "12345678", 8), &nothing_asked, EXIT_DATA,
            "holds 8 bytes of samples");
    refused(write_npy(NPY("'|u1'", "False", "(2,)"), "123", 3), &nothing_asked, EXIT_DATA, "holds 3 bytes of samples");
    refused(write_npy(NPY("'<f8'", "False", "(4611686018427387904, 8)"), "", 0), &nothing_asked, EXIT_DATA, "2^63");
    refused(write_npy(NPY("'<f8'", "False", "(99999999999999999999,)"), "", 0), &nothing_asked, EXIT_DATA, "invalid");
    refused(write_npy(NPY("'|u1'", "False", "(1,1,1,1,1,1,1,1,1)"), "1", 1), &nothing_asked, EXIT_DATA, "9 dimensions");
    refused(write_npy("{'descr': '<f8'", "", 0), &nothing_asked, EXIT_DATA, "invalid");
    refused(write_bytes("cut.npy", "\x93NUMPY\x01\0\x40\0{'descr'", 18), &nothing_asked, EXIT_DATA,
            "within its header");
    refused(write_bytes("new.npy", "\x93NUMPY\x09\0\x40\0", 10), &nothing_asked, EXIT_DATA, "version");
}

static void npz_by_name(void **state)
{
    (void)state;
    const read_options x = {.header = -1, .dataset = "x"}, y = {.header = -1, .dataset = "y"};
    const read_options z = {.header = -1, .dataset = "z"};
    EXPECT(corpus("npz/one.npz"), &nothing_asked, 0, 0, 1, 2, 3, 4, 5);
    EXPECT(corpus("npz/two.npz"), &x, 0, 0, 1, 2, 3, 4, 5);
    refused(corpus("npz/two.npz"), &y, EXIT_DATA, "strings");
    refused(corpus("npz/two.npz"), &z, EXIT_DATA, "no array 'z': its arrays of numbers are x (6 f64);");
    refused(corpus("npz/none.npz"), &nothing_asked, EXIT_DATA, "without NumPy arrays");
    refused(corpus("npz/cut.npz"), &nothing_asked, EXIT_DATA, "cut.npz");
    refused(corpus("npz/flipped.npz"), &nothing_asked, EXIT_DATA, "flipped.npz");
}

static void hdf5_by_name(void **state)
{
    (void)state;
    const read_options g = {.header = -1, .dataset = "g"}, gx = {.header = -1, .dataset = "/g/x"};
    const read_options y = {.header = -1, .dataset = "y"}, s = {.header = -1, .dataset = "s"};
    const read_options none = {.header = -1, .dataset = "none"};
    double sixty[60];
    for (int i = 0; i < 60; i++)
        sixty[i] = i;
    reader *r = open_or_fail(corpus("hdf5/one.h5"), &nothing_asked, true); /* 6 x 10, in chunks of 4 x 3 */
    assert_int_equal(r->height, 6);
    assert_int_equal(r->width, 10);
    assert_int_equal(r->dtypes[0], HISTO_I16);
    expect_channel(r, 0, 60, sixty);
    r = open_or_fail(corpus("hdf5/latest.h5"), &nothing_asked, true);
    assert_true(r->about->ndim == 3 && r->about->shape[0] == 3 && r->about->shape[1] == 4 && r->about->shape[2] == 5);
    expect_channel(r, 0, 60, sixty); /* flat */
    EXPECT(corpus("hdf5/scalar.h5"), &nothing_asked, 0, 1.5);
    EXPECT(corpus("hdf5/many.h5"), &gx, 0, 0, 1, 2);
    EXPECT(corpus("hdf5/many.h5"), &y, 0, 1, 0);
    refused(corpus("hdf5/many.h5"), &nothing_asked, EXIT_DATA, "choose one with --dataset: ");
    refused(corpus("hdf5/many.h5"), &none, EXIT_DATA, "no dataset 'none'");
    refused(corpus("hdf5/many.h5"), &g, EXIT_DATA, "g is a group");
    refused(corpus("hdf5/many.h5"), &s, EXIT_DATA, "strings");
    refused(corpus("hdf5/cut.h5"), &nothing_asked, EXIT_DATA, "truncated");
}

static void raw_samples(void **state)
{
    (void)state;
    read_options o = {.header = -1, .has_dtype = true, .dtype = HISTO_U16};
    const unsigned char bytes[] = {9, 0, 1, 0, 2, 0, 3, 0, 4};
    o.offset = 1;
    EXPECT(write_bytes("raw", bytes, 9), &o, 0, 256, 512, 768, 1024);
    o.big_endian = true;
    EXPECT(path_of("raw"), &o, 0, 1, 2, 3, 4);
    o.ndim = 2, o.shape[0] = 2, o.shape[1] = 2;
    reader *r = open_or_fail(path_of("raw"), &o, true);
    assert_int_equal(r->width, 2);
    expect_channel(r, 0, 4, VALUES(1, 2, 3, 4));
    expect_channel(open_or_fail(pipe_with(bytes, 9), &o, true), 0, 4, VALUES(1, 2, 3, 4));
    o.shape[0] = 3;
    refused(path_of("raw"), &o, EXIT_DATA, "holds 8 bytes of samples where --dtype and --shape describe 12");
    refused(pipe_with(bytes, 9), &o, EXIT_DATA, "holds 8 bytes of samples where --dtype and --shape describe 12");
    o.shape[0] = 1;
    refused(path_of("raw"), &o, EXIT_DATA, "holds 8 bytes of samples where --dtype and --shape describe 4");
    refused(pipe_with(bytes, 9), &o, EXIT_DATA, "holds more than the 4 bytes");
    o.ndim = 0, o.offset = 0;
    refused(path_of("raw"), &o, EXIT_DATA, "ends within a sample: 1 of the 2 bytes");
    refused(pipe_with(bytes, 9), &o, EXIT_DATA, "ends within a sample: 1 of the 2 bytes");
    o.offset = 10;
    refused(path_of("raw"), &o, EXIT_DATA, "before --offset 10");
    const read_options no_type = {.header = -1, .format = "raw"}, shape_only = {.header = -1, .ndim = 1, .shape = {3}};
    refused(path_of("raw"), &no_type, EXIT_USAGE, "add --dtype");
    refused(write_text("1 2 3"), &shape_only, EXIT_USAGE, "add --dtype");

    const read_options bytes_asked = {.header = -1, .bytes = true};
    EXPECT(write_text("histo"), &bytes_asked, 0, 'h', 'i', 's', 't', 'o');
}

/* Bands that must be split: long rows, long columns, many samples. */
static void arrays_larger_than_a_band(void **state)
{
    (void)state;
    enum { LONG = 3000001, LINES = 2 };
    uint16_t *samples = malloc(LONG * LINES * sizeof *samples);
    double *expected = malloc(LONG * LINES * sizeof *expected);
    assert_true(samples && expected);
    for (int i = 0; i < LONG * LINES; i++)
        expected[i] = samples[i] = (uint16_t)((unsigned)i * 2654435761u >> 16);
    write_bytes("raw", samples, LONG * LINES * sizeof *samples);
    read_options o = {.header = -1, .has_dtype = true, .dtype = HISTO_U16};
    expect_channel(open_or_fail(path_of("raw"), &o, true), 0, LONG * LINES, expected);
    o.ndim = 2, o.shape[0] = LINES, o.shape[1] = LONG;
    expect_channel(open_or_fail(path_of("raw"), &o, true), 0, LONG * LINES, expected);
    o.shape[0] = LONG, o.shape[1] = LINES;
    expect_channel(open_or_fail(path_of("raw"), &o, true), 0, LONG * LINES, expected);

    const char *path = path_of("a.npy"); /* the same array by columns */
    const char header[] = NPY("'<u2'", "True", "(3000001, 2)");
    FILE *file = fopen(path, "wb");
    fwrite("\x93NUMPY\x01\0", 1, 8, file);
    fwrite((const unsigned char[]){sizeof header - 1, 0}, 1, 2, file);
    fwrite(header, 1, sizeof header - 1, file);
    for (int x = 0; x < LINES; x++)
        for (int y = 0; y < LONG; y++)
            fwrite(&samples[y * LINES + x], 2, 1, file);
    fclose(file);
    expect_channel(open_or_fail(path, &nothing_asked, true), 0, LONG * LINES, expected);
    free(samples);
    free(expected);
}

/* ---- Text ---- */

static void numbers_are_rounded_correctly(void **state)
{
    (void)state;
    static const char *const hard[] = {
        "0",
        "-0",
        "1.",
        ".5",
        "1e22",
        "1e23",
        "9007199254740993",
        "9007199254740992.5",
        "0.1234567890123456789",
        "8.98846567431158e307",
        "2.2250738585072011e-308",
        "4.9e-324",
        "1e400",
        "-1e-400",
        "18446744073709551615",
        "18446744073709551616",
        "9999999999999999999e27",
        "9999999999999999999e-27",
        "000000000000000000000000000001.5",
        "0.00000000000000000000000000000000015",
        "1.00000000000000011102230246251565404236316680908203125",
        "1.00000000000000011102230246251565404236316680908203126",
        "inf",
        "-Infinity",
        "0e9999999999999999999",
    };
    for (size_t i = 0; i < sizeof hard / sizeof *hard; i++) {
        char text[80];
        double value;
        snprintf(text, sizeof text, "%s\n", hard[i]);
        assert_ptr_equal(number_parse(text, &value), text + strlen(hard[i]));
        double expected = strtod(hard[i], NULL);
        if (memcmp(&value, &expected, sizeof value) != 0) fail_msg("%s is %a, not %a", hard[i], value, expected);
    }
    uint64_t state64 = 1;
    for (int i = 0; i < 200000; i++) {
        state64 = state64 * 6364136223846793005u + 1442695040888963407u;
        char text[80];
        double value, expected;
        int exponent = (int)(state64 >> 58) - 32;
        int length =
            snprintf(text, sizeof text, "%.*ge%d\n", 15 + i % 3, 0.5 + (double)(state64 >> 11) * 0x1p-53, exponent);
        expected = strtod(text, NULL);
        assert_ptr_equal(number_parse(text, &value), text + length - 1);
        if (value != expected) fail_msg("%s is %a, not %a", text, value, expected);
    }
    double value;
    static const char *const none[] = {"\n", "-\n", ".\n", "e5\n", "x\n", "in\n", "+.e1\n"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_null(number_parse(none[i], &value));
    const char *unfinished = "1e+\n";
    assert_ptr_equal(number_parse(unfinished, &value), unfinished + 1);
}

static void plain_numbers(void **state)
{
    (void)state;
    EXPECT(write_text("1 2\t3\n\n# 9\n-4.5e1 +6 # 7\n"), &nothing_asked, 0, 1, 2, 3, -45, 6);
    EXPECT(write_text("1\r\nnan\r\n-inf"), &nothing_asked, 0, 1, NAN, -INFINITY);
    const read_options skip = {.header = -1, .skip_bad = true};
    reader *r = open_or_fail(write_text("1 x 2 ? 3"), &skip, true);
    expect_channel(r, 0, 3, VALUES(1, 2, 3));
    refused(write_text("1 2\n3 4.5.6\n"), &nothing_asked, EXIT_DATA, "line 2, word 2: '4.5.6' is not a number");
    refused(write_text("# nothing\n\n"), &nothing_asked, EXIT_DATA, "holds no numbers");
}

static void columns(void **state)
{
    (void)state;
    reader *r =
        open_or_fail(write_text("\xef\xbb\xbf# note\r\na,\"b \"\"q\"\"\",c\r\n1,2,x\r\n\r\n3,\"4\",\"y,\n,\"\r\n"),
                     &nothing_asked, true);
    assert_int_equal(r->channels, 3);
    assert_string_equal(r->names[0], "a");
    assert_string_equal(r->names[1], "b \"q\"");
    expect_channel(r, 1, 2, VALUES(2, 4));
    static const char *const tables[] = {"1,2\n3,4\n", "1\t2\n3\t4",          "1;2\r\n3;4\r\n",
                                         "1|2\n3|4\n", "x y\n1  2\n 3\t4 \n", "x,y\n1 , 2\n\"3\",4\n"};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        r = open_or_fail(write_text(tables[i]), &nothing_asked, true);
        assert_int_equal(r->channels, 2);
        expect_channel(r, 1, 2, VALUES(2, 4));
    }
    const read_options named = {.header = 1}, unnamed = {.header = 0}, colon = {.header = -1, .delimiter = ':'};
    r = open_or_fail(write_text("1,2\n3,4\n"), &named, true);
    assert_string_equal(r->names[1], "2");
    expect_channel(r, 1, 1, VALUES(4));
    EXPECT(write_text("1:2\n3:4\n"), &colon, 1, 2, 4);
    EXPECT(write_text("value\n1\n2\n"), &nothing_asked, 0, 1, 2);
    refused(write_text("value\n1\n"), &unnamed, EXIT_DATA, "line 1, column 0: 'value' is not a number");
    const read_options seven = {.header = -1, .delimiter = '7'};
    refused(write_text("172\n"), &seven, EXIT_USAGE, "--delimiter");
}

static void bad_cells(void **state)
{
    (void)state;
    const char *text = "a,b,c\n1,2,3\n4,x,6\n,8,9\n7,8,9\n";
    const read_options skip = {.header = -1, .skip_bad = true},
                       paired = {.header = -1, .skip_bad = true, .paired = true};
    EXPECT(write_text(text), &nothing_asked, 0, 1, 4, 7); /* without the missing value */
    refused(write_text("a,b\n1,2\n3,4\nx,8\n"), &nothing_asked, EXIT_DATA, "line 4, column 0 (a): 'x' is not a number");
    EXPECT(write_text(text), &nothing_asked, 2, 3, 6, 9, 9);
    EXPECT(write_text(text), &skip, 0, 1, 4, 7);
    refused(write_text("a,b\n\"1\n\",2\n3,4\n\"5 5\",6\n"), &nothing_asked, EXIT_DATA,
            "line 2, column 0 (a): '1?' (? is 0x0a) is not a number");
    refused(write_text("a,b\n1,\"2\n\"\n3,4\nx,6\n"), &nothing_asked, EXIT_DATA, "line 5, column 0 (a): 'x'");
    refused(write_text("a,b\n0x10,1\n"), &nothing_asked, EXIT_DATA, "'0x10' is not a number");
    refused(write_text("a,b\n\"1\"2,1\n"), &nothing_asked, EXIT_DATA, "'\"1\"2' is not a number");
    refused(write_text("a,b\n1,2\n3\n"), &nothing_asked, EXIT_DATA, "line 3: the row has 1 cell where the first has 2");
    refused(write_text("a,b\n1,2\n3,4,5\n"), &nothing_asked, EXIT_DATA, "line 3: the row has 3 cells");
    refused(write_text("a,b\n1,2\n3,\"4\n5,6\n"), &nothing_asked, EXIT_DATA, "line 3: a quote opened in this row");

    /* If columns stay paired, a bad or missing cell in any of them excludes the row, which counts once. */
    fault f = {0};
    band b;
    reader *r = open_or_fail(write_text(text), &paired, false);
    assert_int_equal(reader_select(r, (const int[]){1, 0, 1}, NULL, 3, &f), 0);
    assert_int_equal(r->next(r, &b, &f), 1);
    assert_int_equal(b.rows, 2);
    const double *views[] = {b.views[0].data, b.views[1].data, b.views[2].data};
    assert_true(views[0][0] == 2 && views[0][1] == 8 && views[1][0] == 1 && views[1][1] == 7 && views[2][1] == 8);
    assert_int_equal(r->bad, 1);
    assert_int_equal(r->missing, 1);
    assert_int_equal(r->next(r, &b, &f), 0);
    assert_int_equal(reader_select(r, (const int[]){3}, NULL, 1, &f), -1);
    assert_non_null(strstr(f.text, "no channel 3"));
    reader_close(r);

    /* Else it excludes only the cell. */
    r = open_or_fail(write_text("a,b\n1,x\n4,5\ny,z\nnan,8\n"), &skip, false);
    assert_int_equal(reader_select(r, (const int[]){0, 1}, NULL, 2, &f), 0);
    assert_int_equal(r->next(r, &b, &f), 1);
    assert_int_equal(b.views[0].shape[0], 3);
    assert_int_equal(b.views[1].shape[0], 2);
    const double *a = b.views[0].data, *other = b.views[1].data;
    assert_true(a[0] == 1 && a[1] == 4 && isnan(a[2]) && other[0] == 5 && other[1] == 8);
    assert_int_equal(r->bad, 3);
    reader_close(r);
}

/* Rows and cells across every boundary of the sliding window. */
static void text_larger_than_the_window(void **state)
{
    (void)state;
    enum { ROWS = 150000 };
    FILE *file = fopen(path_of("long.csv"), "w");
    double *expected = malloc(ROWS * sizeof *expected);
    assert_true(file && expected);
    fprintf(file, "name,value,note\r\n");
    for (int i = 0; i < ROWS; i++) {
        expected[i] = i * 1.25 - 7;
        fprintf(file, "\"n\"\"%d\n\",%.17g,%.*s\r\n", i, expected[i], i % 13, "'tis a note..");
    }
    fclose(file);
    expect_channel(open_or_fail(path_of("long.csv"), &nothing_asked, true), 1, ROWS, expected);
    file = fopen(path_of("line"), "w");
    for (int i = 0; i < ROWS; i++)
        fprintf(file, "%.17g ", expected[i]);
    fclose(file);
    expect_channel(open_or_fail(path_of("line"), &nothing_asked, true), 0, ROWS, expected);
    free(expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(missing_and_unreadable_files),
        cmocka_unit_test(gzip_is_undone_and_checked),
        cmocka_unit_test(a_pipe_is_spooled_to_be_read_twice),
        cmocka_unit_test(data_is_peeked_at_without_being_consumed),
        cmocka_unit_test(npy_of_every_kind),
        cmocka_unit_test(arrays_become_pages),
        cmocka_unit_test(npy_that_is_refused),
        cmocka_unit_test(npz_by_name),
        cmocka_unit_test(hdf5_by_name),
        cmocka_unit_test(raw_samples),
        cmocka_unit_test(arrays_larger_than_a_band),
        cmocka_unit_test(numbers_are_rounded_correctly),
        cmocka_unit_test(plain_numbers),
        cmocka_unit_test(columns),
        cmocka_unit_test(bad_cells),
        cmocka_unit_test(text_larger_than_the_window),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
