/* libFuzzer target for histo_hist_load: any bytes are either a histogram that survives a round trip, or fail with a
 * message. Binary input is also tried with a corrected checksum, to reach the code behind the check. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "counts/hist.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "broken: %s (%s)\n", what, histo_last_error());
    abort();
}

/* Saving a loaded histogram again gives the same bytes. */
static void save_twice(const histo_hist *hist, histo_format format)
{
    void *first, *second;
    size_t first_size, second_size;
    histo_hist *loaded;
    require(histo_hist_save(hist, format, NULL, &first, &first_size) == HISTO_OK, "what was loaded can be saved");
    require(histo_hist_load(first, first_size, NULL, &loaded) == HISTO_OK, "what was saved can be loaded");
    require(histo_hist_alike(hist, loaded) == HISTO_OK, "loading keeps the axes");
    require(histo_hist_save(loaded, format, NULL, &second, &second_size) == HISTO_OK, "it can be saved again");
    require(first_size == second_size && memcmp(first, second, first_size) == 0, "the second file is the first");
    histo_free(first);
    histo_free(second);
    histo_hist_destroy(loaded);
}

static void load(const uint8_t *data, size_t size)
{
    enum { MAX_TO_SAVE = 20000 }; /* slots; larger histograms would only cost time */
    histo_hist *hist = NULL;
    histo_status status = histo_hist_load(data, size, NULL, &hist);
    if (status != HISTO_OK) {
        require(hist == NULL && histo_last_error()[0], "a failure has a message");
        return;
    }
    const bool is_sparse = histo_hist_storage(hist) == HISTO_SPARSE,
               is_small = histo_hist_size(hist, HISTO_FLOW) <= MAX_TO_SAVE;
    if (is_small || is_sparse) {
        save_twice(hist, HISTO_JSON);
        save_twice(hist, HISTO_BINARY);
    }
    histo_hist_destroy(hist);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    load(data, size);
    if (size < 4 || data[0] < 0x80) return 0;
    uint8_t *sealed = malloc(size);
    require(sealed, "memory for a copy");
    memcpy(sealed, data, size);
    uint32_t crc = histo_checksum_add(0, data, size - 4);
    for (int i = 0; i < 4; i++)
        sealed[size - 4 + (size_t)i] = (uint8_t)(crc >> 8 * i);
    load(sealed, size);
    free(sealed);
    return 0;
}
