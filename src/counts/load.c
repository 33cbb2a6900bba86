/* Loading from memory, in either format. */
#include "counts/binary.h"
#include "counts/uhi.h"

histo_status histo_hist_load(const void *data, size_t size, const char *name, histo_hist **hist)
{
    if (!data || !hist) return histo_fail(HISTO_INVALID, "the data, or the place for the histogram, is NULL");
    if (size == 0) return histo_fail(HISTO_CORRUPT, "byte 0: the file is empty");
    return histo_binary_is(data, size) ? histo_binary_load(data, size, hist) : histo_uhi_load(data, size, name, hist);
}
