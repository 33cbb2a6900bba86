/* Saving to memory, in either format. */

#include "base/floats.h"
#include "base/threads/monitor.h"
#include "counts/saved/binary.h"
#include "counts/saved/uhi.h"

static histo_status save(const histo_hist *hist, histo_format format, const bool (*flow)[2], const char *name,
                         void **data, size_t *size)
{
    histo_status status = histo_accumulators_to_host(&hist->accumulators);
    if (status != HISTO_OK) return status;
    histo_bytes out = {0};
    if (format == HISTO_JSON)
        status = histo_uhi_save(hist, flow, name, &out);
    else
        histo_binary_save(hist, &out);
    if (status == HISTO_OK && out.cancelled) status = histo_fail_cancelled("saving");
    if (status == HISTO_OK && out.failed) status = histo_fail_memory(out.capacity, "a saved histogram, and more");
    if (status != HISTO_OK) {
        histo_free(out.data);
        return status;
    }
    *data = out.data;
    *size = out.size;
    return HISTO_OK;
}

histo_status histo_hist_save(const histo_hist *hist, histo_format format, const char *name, void **data, size_t *size)
{
    HISTO_STANDARD_FLOATS;
    if (data) *data = NULL;
    if (size) *size = 0;
    if (!hist || !data || !size)
        return histo_fail(HISTO_INVALID, "the histogram, or the place for the saved data or its size, is NULL");
    if (format != HISTO_JSON && format != HISTO_BINARY)
        return histo_fail(HISTO_INVALID, "unknown format %d", (int)format);
    return save(hist, format, NULL, name, data, size);
}

histo_status histo_hist_save_outline(const histo_hist *hist, const bool (*flow)[2], void **data, size_t *size)
{
    HISTO_STANDARD_FLOATS;
    if (data) *data = NULL;
    if (size) *size = 0;
    if (!hist || !flow || !data || !size)
        return histo_fail(HISTO_INVALID, "the histogram, its flow, or the place for the document or its size, is NULL");
    if (histo_hist_storage(hist) == HISTO_SPARSE)
        return histo_fail(HISTO_UNSUPPORTED, "a sparse histogram has no array of cells: save all of it");
    return save(hist, HISTO_JSON, flow, NULL, data, size);
}
