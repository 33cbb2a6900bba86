/* Loading from memory, in any format. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/floats.h"
#include "counts/saved/binary.h"
#include "counts/saved/uhi.h"
#include "plan/total.h"

/* ---- Sets ---- */

/* Files of the command that hold more than one unnamed histogram. Each part is preceded by a line: "NAME-BYTES BYTES"
 * for a histogram, with the name before it; "times AXIS", without a part; or words that end with the number of
 * bytes. */
static const char set_magic[] = "histo set 1\n";

typedef struct set_reader {
    const char *data;
    size_t size, at;
    uint64_t name_bytes, bytes; /* the lengths of the name at `at`, and of the histogram after it */
} set_reader;

/* Advance to the next histogram: 1, 0 at the end, -1 if the set is damaged. */
static int next_histogram(set_reader *in)
{
    enum { LONGEST_LINE = 64 };
    while (in->at < in->size) {
        char line[LONGEST_LINE];
        const char *begin = in->data + in->at, *end = memchr(begin, '\n', in->size - in->at);
        const size_t length = end ? (size_t)(end - begin) : sizeof line;
        if (length >= sizeof line) return -1;
        memcpy(line, begin, length);
        line[length] = '\0';
        in->at += length + 1;
        const size_t left = in->size - in->at;
        if (sscanf(line, "%" SCNu64 " %" SCNu64, &in->name_bytes, &in->bytes) == 2)
            return in->name_bytes <= left && in->bytes <= left - in->name_bytes ? 1 : -1;
        const char *last = strrchr(line, ' ');
        uint64_t bytes = 0;
        if (!last || (strncmp(line, "times ", 6) != 0 && sscanf(last, "%" SCNu64, &bytes) != 1) || bytes > left)
            return -1;
        in->at += bytes;
    }
    return 0;
}

/* Bytes that are not a valid name are ignored. */
static histo_status name_it(histo_hist *hist, const char *bytes, size_t size)
{
    char name[HISTO_MAX_NAME + 1];
    if (size == 0 || size > HISTO_MAX_NAME || memchr(bytes, 0, size)) return HISTO_OK;
    memcpy(name, bytes, size);
    name[size] = '\0';
    const histo_status status = histo_hist_set_name(hist, name);
    return status == HISTO_INVALID ? HISTO_OK : status;
}

static histo_status load_of_set(const char *data, size_t size, const char *name, histo_hist **hist)
{
    set_reader in = {.data = data, .size = size, .at = sizeof set_magic - 1};
    const char *found = NULL, *found_name = NULL;
    size_t bytes = 0, name_bytes = 0;
    int more, all = 0;
    while ((more = next_histogram(&in)) > 0) {
        const bool named = name && strlen(name) == in.name_bytes && memcmp(data + in.at, name, in.name_bytes) == 0;
        if (!found && (named || !name)) {
            found_name = data + in.at;
            name_bytes = in.name_bytes;
            found = found_name + name_bytes;
            bytes = in.bytes;
        }
        in.at += in.name_bytes + in.bytes;
        all++;
    }
    if (more < 0) return histo_fail(HISTO_CORRUPT, "byte %zu: the headers of the set are damaged", in.at);
    if (!name && all > 1) return histo_fail(HISTO_INVALID, "the set has %d histograms: choose one by its name", all);
    if (!found) return histo_fail(HISTO_INVALID, "the set has no histogram%s%.100s", name ? " " : "", name ? name : "");
    histo_hist *loaded;
    histo_status status = histo_binary_load((const unsigned char *)found, bytes, &loaded);
    if (status != HISTO_OK) return status;
    status = name_it(loaded, found_name, name_bytes);
    if (status == HISTO_OK)
        *hist = loaded;
    else
        histo_hist_destroy(loaded);
    return status;
}

/* ---- Any format ---- */

static histo_status load_any(const void *data, size_t size, const char *name, histo_hist **hist)
{
    if (size >= sizeof set_magic - 1 && memcmp(data, set_magic, sizeof set_magic - 1) == 0)
        return load_of_set(data, size, name, hist);
    return histo_binary_is(data, size) ? histo_binary_load(data, size, hist)
                                       : histo_uhi_load(data, size, name, NULL, hist);
}

/* Hand a loaded histogram to the caller, unless its counts add up to 2^64 or more. */
static histo_status give(histo_status status, histo_hist *loaded, histo_hist **hist)
{
    if (status != HISTO_OK) return status;
    status = histo_total_find(&loaded->accumulators, &loaded->accumulators.most);
    if (status == HISTO_OK) {
        *hist = loaded;
        return HISTO_OK;
    }
    histo_hist_destroy(loaded);
    return status == HISTO_INVALID ? histo_fail(HISTO_CORRUPT, "the counts add up to 2^64 or more") : status;
}

histo_status histo_hist_load(const void *data, size_t size, const char *name, histo_hist **hist)
{
    HISTO_STANDARD_FLOATS;
    if (hist) *hist = NULL;
    histo_hist *loaded = NULL;
    if (!data || !hist) return histo_fail(HISTO_INVALID, "the data, or the place for the histogram, is NULL");
    if (size == 0) return histo_fail(HISTO_CORRUPT, "byte 0: the file is empty");
    const histo_status status = load_any(data, size, name, &loaded);
    return give(status, loaded, hist);
}

histo_status histo_hist_load_outline(const void *data, size_t size, int64_t cells, histo_dtype dtype,
                                     const void *values, const double *variances, histo_hist **hist)
{
    HISTO_STANDARD_FLOATS;
    if (hist) *hist = NULL;
    histo_hist *loaded = NULL;
    if (!data || !hist) return histo_fail(HISTO_INVALID, "the document, or the place for the histogram, is NULL");
    if (dtype != HISTO_U64 && dtype != HISTO_F64)
        return histo_fail(HISTO_INVALID, "values of cells are of HISTO_U64 or HISTO_F64");
    if (cells < 0) return histo_fail(HISTO_INVALID, "cells is %lld: give 0 or more", (long long)cells);
    if (variances && !values) return histo_fail(HISTO_INVALID, "there are variances without values");
    const histo_uhi_arrays arrays = {cells, dtype, values, variances};
    const histo_status status = histo_uhi_load(data, size, NULL, &arrays, &loaded);
    return give(status, loaded, hist);
}
