/* Views of single channels in memory where the samples of a pixel, or the cells of a row, lie side by side. */
#include "input/reader.h"

void reader_interleaved_views(histo_view *views, const int *wanted, int count, const void *base, histo_dtype dtype,
                              int channels, int64_t rows, int64_t cols, int64_t pitch_bytes)
{
    size_t size = histo_dtype_size(dtype);
    for (int i = 0; i < count; i++)
        views[i] = (histo_view){.data = (const char *)base + (size_t)wanted[i] * size,
                                .dtype = dtype,
                                .ndim = 2,
                                .shape = {rows, cols},
                                .strides = {pitch_bytes, (int64_t)size * channels}};
}
