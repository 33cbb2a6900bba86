/* NumPy's .npy and raw samples: the source's array, or rows x columns x channels; pages come first. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "output/images/images.h"
#include "output/npy_header.h"

const char *npy_limit(const image_page *page)
{
    return page->dtype == HISTO_BF16 ? "has no bf16" : NULL;
}

static int begin_npy(image_file *file, fault *f)
{
    const image_page *p = &file->page;
    int64_t shape[HISTO_MAX_DIMS];
    if (image_alike(file, f) != 0) return -1;
    if (file->number > 0 && file->pages < 1) return image_refused(file, "the number of pages is not known", f);
    if (file->number > 0) return 0;
    const int ndim = image_shape(file, shape);
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

const image_codec npy_codec = {.begin = begin_npy};

const image_codec raw_codec = {.begin = image_alike};
