/* libFuzzer target for the image readers: for any bytes, the reader that recognises them delivers bands of valid
 * samples, equally many in two passes, or fails with a message. What files say besides samples is read where their size
 * is odd. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../cli/input/reader.h"

extern const reader_kind reader_png, reader_jpeg, reader_tiff, reader_pnm;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "broken: %s\n", what);
    abort();
}

static int open_in_memory(const uint8_t *data, size_t size)
{
    int fd = memfd_create("image", MFD_CLOEXEC);
    require(fd >= 0 && write(fd, data, size) == (ssize_t)size && lseek(fd, 0, SEEK_SET) == 0, "the file in memory");
    return fd;
}

/* Read every sample, so that sanitizers detect any outside its buffer. */
static unsigned touch(const band *b, int count)
{
    unsigned sum = 0;
    for (int i = 0; i < count; i++) {
        const histo_view *v = &b->views[i];
        size_t bytes = histo_dtype_size(v->dtype);
        require(v->ndim == 2 && v->shape[0] == b->rows && v->shape[1] == b->cols, "views have the shape of their band");
        for (int64_t y = 0; y < b->rows; y++)
            for (int64_t x = 0; x < b->cols; x++) {
                const unsigned char *sample = (const unsigned char *)v->data + y * v->strides[0] + x * v->strides[1];
                for (size_t k = 0; k < bytes; k++)
                    sum = sum * 31 + sample[k];
            }
    }
    return sum;
}

enum { ENOUGH_SAMPLES = 1 << 22 }; /* small files can hold images that take minutes */

/* Reduce the contents of all bands to one number; *status is the reason for the end, 1 after enough samples. */
static unsigned drain(reader *r, int count, int *status, fault *f)
{
    unsigned sum = 0;
    int64_t samples = 0;
    band b;
    while ((*status = r->next(r, &b, f)) == 1 && samples < ENOUGH_SAMPLES) {
        require(b.rows > 0 && b.cols > 0 && b.y >= 0 && b.x >= 0, "bands are not empty");
        if (r->height >= 0)
            require(b.y + b.rows <= r->height && b.x + b.cols <= r->width, "bands lie within their page");
        sum = sum * 31 + touch(&b, count);
        samples += b.rows * b.cols;
    }
    return sum;
}

static void read_twice(reader *r)
{
    fault f = {0};
    int wanted[] = {r->channels - 1, 0}, status;
    require(r->select(r, wanted, 2, &f) == 0, "the first and the last channel exist");
    unsigned first = drain(r, 2, &status, &f);
    if (status == 0) {
        require(r->rewind(r, &f) == 0, "a file can be rewound");
        require(drain(r, 2, &status, &f) == first && status == 0, "the second pass is like the first");
    } else if (status < 0) {
        require(f.status != EXIT_OK && f.text[0], "a failure has its sentence");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const reader_kind *const kinds[] = {&reader_png, &reader_jpeg, &reader_tiff, &reader_pnm};
    fault f = {0};
    int fd = open_in_memory(data, size);
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    input *in = input_open(path, &f);
    size_t head_size = 0;
    const unsigned char *head = in ? input_peek(in, &head_size, &f) : NULL;
    const reader_kind *kind = NULL;
    for (size_t i = 0; head && i < sizeof kinds / sizeof *kinds && !kind; i++)
        if (kinds[i]->recognize(head, head_size, path)) kind = kinds[i];
    if (kind) {
        read_options options = {.page = -1, .about = size % 2 == 1};
        reader *r = kind->open(in, &options, &f);
        require(r || (f.status != EXIT_OK && f.text[0]), "a failure has a message");
        if (r) {
            read_twice(r);
            r->close(r);
        }
    } else if (in) {
        input_close(in);
    }
    close(fd);
    return 0;
}
