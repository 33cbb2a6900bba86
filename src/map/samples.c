#include "map/samples.h"

#include "base/threads/threads.h"
#include "cpu/kernels/kernels.h"
#include "view/dtype.h"
#include "view/view.h"

enum { LEAST_PER_THREAD = 1 << 16 };

histo_status histo_map_check_view(const histo_view *view, const histo_view *like, const char *what)
{
    histo_status status = histo_view_check_mask(view, what);
    if (status == HISTO_OK && !histo_dtype_is_plain(view->dtype))
        return histo_fail(HISTO_UNSUPPORTED, "%s: maps take no swapped samples and no bits: convert them first", what);
    return status == HISTO_OK && view != like ? histo_view_same_shape(view, like, what) : status;
}

histo_status histo_map_check_samples(const histo_map *map, const histo_view *views, const histo_apply_options *options)
{
    histo_status status = histo_check_reserved(options->reserved, sizeof options->reserved, "histo_apply_options");
    for (int a = 0; a < map->naxes && status == HISTO_OK; a++)
        status = histo_map_check_view(&views[a], &views[0], "samples");
    if (status == HISTO_OK && options->mask) status = histo_map_check_view(options->mask, &views[0], "mask");
    return status == HISTO_OK ? histo_threads_check(options->threads) : status;
}

const void *histo_map_contiguous(const char *at, int64_t stride, size_t size, int n, void *gathered)
{
    if (histo_map_is_contiguous(at, stride, size)) return at;
    histo_cpu_kernels_usable()->gather(gathered, at, stride, size, n);
    return gathered;
}

/* Whether these are neighbouring bytes of pixels. *first: the axis of the first channel. */
static bool are_channels(int naxes, const histo_dtype *dtypes, const char *const *at, const int64_t *strides,
                         int *first)
{
    *first = 0;
    for (int a = 0; a < naxes; a++) {
        if (histo_dtype_size(dtypes[a]) != 1 || strides[a] != strides[0]) return false;
        if ((uintptr_t)at[a] < (uintptr_t)at[*first]) *first = a;
    }
    if (naxes < 2 || strides[0] < naxes || strides[0] > HISTO_MAX_CHANNELS) return false;
    unsigned channels = 0;
    for (int a = 0; a < naxes; a++) {
        const uintptr_t channel = (uintptr_t)at[a] - (uintptr_t)at[*first];
        channels |= channel < (uintptr_t)naxes ? 1U << channel : 0;
    }
    return channels == (1U << naxes) - 1;
}

void histo_map_gather(int naxes, const histo_dtype *dtypes, const char *const *at, const int64_t *strides, int n,
                      histo_gathered gathered, const void **samples)
{
    int first;
    if (are_channels(naxes, dtypes, at, strides, &first)) {
        uint8_t *out[HISTO_MAX_CHANNELS];
        for (int a = 0; a < naxes; a++)
            samples[a] = out[at[a] - at[first]] = (uint8_t *)gathered[a];
        histo_cpu_kernels_usable()->split_channels((const uint8_t *)at[first], (int)strides[0], naxes, n, out);
        return;
    }
    for (int a = 0; a < naxes; a++)
        samples[a] = histo_map_contiguous(at[a], strides[a], histo_dtype_size(dtypes[a]), n, gathered[a]);
}

int histo_map_threads(int64_t samples, int wanted)
{
    const int64_t worthwhile = samples / LEAST_PER_THREAD + 1;
    const int threads = histo_threads_for(wanted);
    return threads < worthwhile ? threads : (int)worthwhile;
}
