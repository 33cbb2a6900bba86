/* For fuzz targets of one reader: give it the bytes as a file in memory, and read all its bands twice. Whatever the
 * bytes, it delivers bands of valid samples within its page, the same in both passes, or fails with a sentence. */
#ifndef TESTS_FUZZ_DRAIN_H
#define TESTS_FUZZ_DRAIN_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "input/readers/readers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A small file can declare an array that takes hours. */
enum { DRAIN_ENOUGH_SAMPLES = 1 << 21 };

static void require(bool holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "broken: %s\n", what);
    abort();
}

/* Read every sample, so that a sanitizer sees those outside of their buffer. */
static uint64_t drain_view(const histo_view *v, uint64_t sum)
{
    size_t bytes = histo_dtype_size(v->dtype);
    for (int64_t y = 0; y < v->shape[0]; y++)
        for (int64_t x = 0; x < v->shape[1]; x++) {
            const unsigned char *sample = (const unsigned char *)v->data + y * v->strides[0] + x * v->strides[1];
            for (size_t k = 0; k < bytes; k++)
                sum = sum * 31 + sample[k];
        }
    return sum;
}

/* What all bands hold, in one number; *status is what ended them, 1 if there were enough. */
static uint64_t drain_pass(reader *r, const int *wanted, int count, int *status, fault *f)
{
    uint64_t sum = 0;
    int64_t samples = 0;
    band b;
    while ((*status = r->next(r, &b, f)) == 1 && samples < DRAIN_ENOUGH_SAMPLES) {
        require(b.rows > 0 && b.cols > 0 && b.y >= 0 && b.x >= 0, "bands are not empty");
        require(r->height < 0 || b.y + b.rows <= r->height, "bands lie within the height of their page");
        require(r->width < 0 || b.x + b.cols <= r->width, "bands lie within the width of their page");
        for (int i = 0; i < count; i++) {
            const histo_view *v = &b.views[i];
            const channel_step step = r->steps ? r->steps[wanted[i]] : (channel_step){1, 1};
            const int64_t rows = (b.rows + step.y - 1) / step.y, cols = (b.cols + step.x - 1) / step.x;
            require(v->ndim == 2 && v->shape[0] >= 0 && v->shape[0] <= rows && v->shape[1] == cols,
                    "views have the shape of their band, but for bad cells");
            sum = drain_view(v, sum);
            if (b.valid && b.valid[i].data) sum = drain_view(&b.valid[i], sum);
        }
        samples += b.rows * b.cols;
    }
    return sum + r->bad;
}

static void drain_reader(reader *r)
{
    fault f = {0};
    int wanted[] = {r->channels - 1, 0}, status;
    if (reader_select(r, wanted, NULL, 2, &f) != 0) {
        require(r->numeric && f.text[0], "the first and the last channel exist");
        return;
    }
    uint64_t first = drain_pass(r, wanted, 2, &status, &f);
    if (status == 0) {
        require(r->rewind(r, &f) == 0, "a file can be rewound");
        require(drain_pass(r, wanted, 2, &status, &f) == first && status == 0, "the second pass is like the first");
    } else if (status < 0) {
        require(f.status != EXIT_OK && f.text[0], "a failure has its sentence");
    }
}

static inline void drain_bytes(const reader_kind *kind, const uint8_t *data, size_t size, const read_options *options)
{
    fault f = {0};
    if (!kind->open && !kind->pages) return; /* this build lacks its library */
    int fd = memfd_create("data", MFD_CLOEXEC);
    require(fd >= 0 && write(fd, data, size) == (ssize_t)size, "the file in memory");
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    input *in = input_open(path, &f);
    require(in != NULL, "the file in memory opens");
    size_t head_size = 0;
    reader *r = NULL;
    if (input_peek(in, &head_size, &f))
        r = reader_open_as(kind, in, options, &f);
    else
        input_close(in);
    require(r || (f.status != EXIT_OK && f.text[0]), "a failure has a message");
    if (r) {
        drain_reader(r);
        reader_close(r);
    }
    close(fd);
}

#endif
