/* Saving to memory, in either format. */
#include <stdlib.h>

#include "counts/saved/binary.h"
#include "counts/saved/uhi.h"

histo_status histo_hist_save(const histo_hist *hist, histo_format format, const char *name, void **data, size_t *size)
{
    if (!hist || !data || !size)
        return histo_fail(HISTO_INVALID, "the histogram, or the place for the saved data or its size, is NULL");
    if (format != HISTO_JSON && format != HISTO_BINARY)
        return histo_fail(HISTO_INVALID, "unknown format %d", (int)format);
    histo_status status = histo_accumulators_to_host(&hist->accumulators);
    if (status != HISTO_OK) return status;
    histo_bytes out = {0};
    if (format == HISTO_JSON)
        status = histo_uhi_save(hist, name, &out);
    else
        histo_binary_save(hist, &out);
    if (status == HISTO_OK && out.failed) status = histo_fail_memory(out.capacity, "a saved histogram, and more");
    if (status != HISTO_OK) {
        free(out.data);
        return status;
    }
    *data = out.data;
    *size = out.size;
    return HISTO_OK;
}
