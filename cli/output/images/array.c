/* NumPy's .npy and raw samples: the source's array, or rows x columns x channels; pages come first. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "output/images/images.h"
#include "output/npy_header.h"

typedef struct array_file {
    image_file file;
    int64_t height, width; /* of the first page */
} array_file;

const char *npy_limit(const image_page *page)
{
    return page->dtype == HISTO_BF16 ? "has no bf16" : NULL;
}

/* The shape: that of the source if it is an array with as many samples. */
static int shape_of(const image_file *file, int64_t shape[HISTO_MAX_DIMS])
{
    const image_page *p = &file->page;
    int64_t samples = 1;
    int ndim = 0;
    for (int d = 0; p->about && d < p->about->ndim; d++)
        samples *= p->about->shape[d];
    if (p->about && p->about->ndim &&
        samples == p->height * p->width * p->channels * (file->pages > 1 ? file->pages : 1)) {
        memcpy(shape, p->about->shape, sizeof p->about->shape);
        return p->about->ndim;
    }
    if (file->pages > 1) shape[ndim++] = file->pages;
    shape[ndim++] = p->height;
    shape[ndim++] = p->width;
    if (p->channels > 1) shape[ndim++] = p->channels;
    return ndim;
}

/* Pages of an array have one size. */
static int check_size(image_file *file, fault *f)
{
    array_file *a = (array_file *)file;
    const image_page *p = &file->page;
    if (file->number == 0) {
        a->height = p->height;
        a->width = p->width;
    }
    if (p->height == a->height && p->width == a->width) return 0;
    return fault_set(f, EXIT_DATA,
                     "%s: pages of an array have one size, and page %d has another: choose one with --page",
                     outfile_name(file->out), file->number);
}

static int begin_npy(image_file *file, fault *f)
{
    const image_page *p = &file->page;
    int64_t shape[HISTO_MAX_DIMS];
    if (check_size(file, f) != 0) return -1;
    if (file->number > 0 && file->pages < 1) return image_refused(file, "the number of pages is not known", f);
    if (file->number > 0) return 0;
    const int ndim = shape_of(file, shape);
    char dtype[8], numbers[256] = "";
    const char kind = p->boolean ? 'b' : p->dtype >= HISTO_F16 ? 'f' : *histo_dtype_name(p->dtype);
    const size_t size = histo_dtype_size(p->dtype);
    snprintf(dtype, sizeof dtype, "'%c%c%zu'", size == 1 ? '|' : npy_byte_order(), kind, size);
    for (int d = 0; d < ndim; d++)
        snprintf(numbers + strlen(numbers), sizeof numbers - strlen(numbers), "%s%" PRId64 "%s", d ? " " : "", shape[d],
                 d < ndim - 1 || ndim == 1 ? "," : "");
    npy_put_header(dtype, numbers, p->about && p->about->fortran, outfile_stream(file->out));
    return 0;
}

const image_codec npy_codec = {.size = sizeof(array_file), .begin = begin_npy};

const image_codec raw_codec = {.size = sizeof(array_file), .begin = check_size};
