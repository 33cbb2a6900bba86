/* Counts two parts of the data in histograms of their own, as two threads or two machines would; saves one, loads it
 * where the other is, and merges them. HISTO_JSON instead of HISTO_BINARY is for other programs: the schema is UHI's.
 */
#include "must.h"

static histo_hist *count(const int *data, int64_t n)
{
    histo_axis axis = histo_axis_integer(0, 4);
    histo_view samples = histo_view_1d(data, HISTO_I32, n);
    histo_hist *hist;
    must(histo_hist_create(&hist, 1, &axis, NULL));
    must(histo_hist_fill(hist, &samples, NULL));
    return hist;
}

int main(void)
{
    const int data[] = {0, 1, 1, 2, 3, 3, 3, 3, 0, 2};
    histo_hist *here = count(data, 5), *there = count(data + 5, 5), *loaded;
    void *bytes;
    size_t size;
    must(histo_hist_save(there, HISTO_BINARY, NULL, &bytes, &size)); /* write these bytes to a file, or send them */
    must(histo_hist_load(bytes, size, NULL, &loaded));
    must(histo_hist_merge(here, loaded));
    histo_free(bytes);

    uint64_t counts[4];
    must(histo_hist_read_counts(here, HISTO_BINS, counts, 4, NULL));
    for (int i = 0; i < 4; i++)
        printf("%d: %ju\n", i, (uintmax_t)counts[i]);
    histo_hist_destroy(here);
    histo_hist_destroy(there);
    histo_hist_destroy(loaded);
}
