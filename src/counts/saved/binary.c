#include "counts/saved/binary.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "axis/whole.h"
#include "base/bits.h"
#include "base/checksum.h"
#include "base/memory.h"
#include "base/threads/monitor.h"

/* A first byte that is not text, and line ends that reveal text-mode transfers. */
static const unsigned char magic[8] = {0x93, 'H', 'I', 'S', 'T', 'O', '\r', '\n'};

enum { FIRST_VERSION = 1, OF_SPARSE = 1, WITH_TEXTS = 2, LAST_VERSION = FIRST_VERSION + OF_SPARSE + WITH_TEXTS };
enum { BLOCK = HISTO_EXACT_BLOCK, SPARSE = 128, WINDOW_BYTES = 9, SPECIAL_BIT = HISTO_EXACT_WINDOWS, CRC_BYTES = 4 };

/* The edges stored for an axis: doubles, or integers that doubles cannot represent. */
enum { NO_EDGES, EDGES, EDGES_I64, EDGES_U64 };

enum { LOWEST = 1 << 14 }; /* the smallest positive double, in units of window 0 */

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* ---- Saving ---- */

/* Element i of an array of uint64_t or double. */
static uint64_t value_in(const void *array, int64_t i)
{
    uint64_t value;
    memcpy(&value, (const unsigned char *)array + i * 8, sizeof value);
    return value;
}

/* Store the lowest `width` bytes of value; returns the position after them. */
static unsigned char *put_le(unsigned char *to, uint64_t value, int width)
{
    for (int i = 0; i < width; i++)
        *to++ = (unsigned char)(value >> 8 * i);
    return to;
}

/* Write n <= BLOCK values from `begin` on. */
static void put_block(histo_bytes *out, const void *array, int64_t begin, int64_t n)
{
    uint64_t any = 0;
    int64_t nonzero = 0;
    for (int64_t i = begin; i < begin + n; i++) {
        uint64_t value = value_in(array, i);
        any |= value;
        nonzero += value != 0;
    }
    int width = any ? (71 - __builtin_clzll(any)) / 8 : 0;
    bool sparse = 2 + nonzero * (2 + width) < n * width;
    histo_bytes_put_le(out, (uint64_t)(width | (sparse ? SPARSE : 0)), 1);
    if (sparse) histo_bytes_put_le(out, (uint64_t)nonzero, 2);
    unsigned char *to = histo_bytes_extend(out, (size_t)(sparse ? nonzero * (2 + width) : n * width));
    for (int64_t i = 0; to && width && i < n; i++) {
        uint64_t value = value_in(array, begin + i);
        if (sparse && value == 0) continue;
        if (sparse) to = put_le(to, (uint64_t)i, 2);
        to = put_le(to, value, width);
    }
}

static void put_array(histo_bytes *out, const void *array, int64_t n)
{
    for (int64_t begin = 0; begin < n && !histo_bytes_ends(out, BLOCK); begin += BLOCK)
        put_block(out, array, begin, least(BLOCK, n - begin));
}

static void put_sparse(histo_bytes *out, const histo_list *list)
{
    uint64_t block[BLOCK], before = UINT64_MAX; /* so that no difference is 0 */
    histo_bytes_put_le(out, (uint64_t)list->n, 8);
    for (int64_t begin = 0; begin < list->n && !histo_bytes_ends(out, BLOCK); begin += BLOCK) {
        int64_t n = least(BLOCK, list->n - begin);
        for (int64_t i = 0; i < n; i++) {
            block[i] = list->entries[begin + i].slot - before;
            before = list->entries[begin + i].slot;
        }
        put_block(out, block, 0, n);
    }
    for (int64_t begin = 0; begin < list->n && !histo_bytes_ends(out, BLOCK); begin += BLOCK) {
        int64_t n = least(BLOCK, list->n - begin);
        for (int64_t i = 0; i < n; i++)
            block[i] = list->entries[begin + i].count;
        put_block(out, block, 0, n);
    }
}

static void put_axis(histo_bytes *out, const histo_axis *axis)
{
    histo_bytes_put_le(out, axis->kind, 1);
    histo_bytes_put_le(out, axis->closed, 1);
    static const unsigned char stored[] = {
        [HISTO_EDGES_F64] = EDGES, [HISTO_EDGES_I64] = EDGES_I64, [HISTO_EDGES_U64] = EDGES_U64};
    histo_bytes_put_le(out, axis->edges ? stored[axis->edge_type] : NO_EDGES, 1);
    histo_bytes_put_le(out, (uint64_t)axis->bins, 8);
    histo_bytes_put_le(out, histo_bits_of(axis->power), 8);
    if (!axis->edges) {
        histo_bytes_put_le(out, histo_bits_of(axis->lo), 8);
        histo_bytes_put_le(out, histo_bits_of(axis->hi), 8);
    }
    for (int64_t i = 0; axis->edges && i <= axis->bins && !histo_bytes_ends(out, 1); i++)
        histo_bytes_put_le(out, ((const uint64_t *)axis->edges)[i], 8); /* bit patterns of doubles, too */
}

static void put_windows(histo_bytes *out, const histo_exact_windows *windows)
{
    unsigned char bits[WINDOW_BYTES] = {0};
    for (int k = 0; k < HISTO_EXACT_WINDOWS; k++)
        if (windows->touched[k]) bits[k / 8] |= (unsigned char)(1 << k % 8);
    if (windows->special) bits[SPECIAL_BIT / 8] |= 1 << SPECIAL_BIT % 8;
    histo_bytes_put(out, bits, sizeof bits);
}

static uint64_t zigzag(int64_t digit)
{
    return digit < 0 ? (uint64_t)(-2 * digit - 1) : (uint64_t)digit * 2;
}

/* Write n <= BLOCK sums from `begin` on. */
static void put_exact_block(histo_bytes *out, const histo_exact_windows *windows, const histo_exact *e, int64_t begin,
                            int64_t n)
{
    uint64_t values[BLOCK];
    histo_exact_block block;
    histo_exact_block_start(&block, e, begin, begin + n);
    bool more = histo_exact_block_next(&block);
    for (int k = 0; k < HISTO_EXACT_WINDOWS; k++) {
        while (more && block.window < k)
            more = histo_exact_block_next(&block);
        if (!windows->touched[k]) continue;
        for (int64_t i = 0; i < n; i++)
            values[i] = more && block.window == k ? zigzag(block.digit[i]) : 0;
        put_block(out, values, 0, n);
    }
    if (!windows->special) return;
    for (int64_t i = 0; i < n; i++)
        values[i] = e->special[begin + i];
    put_block(out, values, 0, n);
}

/* Write the sums of w, then of w^2, of each BLOCK slots. */
static void put_exact(histo_bytes *out, const histo_exact *const exact[2], const histo_exact_windows windows[2])
{
    for (int64_t begin = 0; begin < exact[0]->slots && !histo_bytes_ends(out, BLOCK); begin += BLOCK)
        for (int power = 0; power < 2 && exact[power]; power++)
            put_exact_block(out, &windows[power], exact[power], begin, least(BLOCK, exact[0]->slots - begin));
}

static void put_text(histo_bytes *out, const char *text)
{
    const size_t size = text ? strlen(text) : 0;
    histo_bytes_put_le(out, size, 4);
    histo_bytes_put(out, text, size);
}

void histo_binary_save(const histo_hist *hist, histo_bytes *out)
{
    const histo_accumulators *accumulators = &hist->accumulators;
    const histo_exact *const exact[2] = {accumulators->exact_w, accumulators->exact_w2};
    int64_t all = accumulators->sparse ? 0 : accumulators->batch * accumulators->slots;
    histo_bytes_put(out, magic, sizeof magic);
    const bool texts = hist->name || hist->metadata;
    const unsigned features = (accumulators->sparse ? OF_SPARSE : 0U) | (texts ? WITH_TEXTS : 0U);
    histo_bytes_put_le(out, FIRST_VERSION + features, 4);
    histo_bytes_put_le(out, hist->weighting, 1);
    histo_bytes_put_le(out, (uint64_t)hist->naxes, 1);
    histo_bytes_put_le(out, (uint64_t)accumulators->batch, 8);
    for (int a = 0; a < hist->naxes; a++)
        put_axis(out, &hist->axes[a]);
    histo_exact_windows windows[2];
    for (int power = 0; power < 2 && exact[power]; power++) {
        windows[power] = histo_exact_used(exact[power]);
        put_windows(out, &windows[power]);
    }
    if (texts) put_text(out, hist->name);
    if (texts) put_text(out, hist->metadata);
    put_array(out, accumulators->masked, accumulators->batch);
    put_array(out, accumulators->counts, all);
    if (accumulators->sparse) {
        const histo_list list = histo_sparse_all(accumulators->sparse);
        put_sparse(out, &list);
    }
    if (accumulators->sum_w) put_array(out, accumulators->sum_w, all);
    if (accumulators->sum_w2) put_array(out, accumulators->sum_w2, all);
    if (exact[0]) put_exact(out, exact, windows);
    uint32_t checksum = 0;
    if (!out->failed && histo_bytes_checksum("saving", out->data, out->size, &checksum) != HISTO_OK)
        out->failed = out->cancelled = true;
    histo_bytes_put_le(out, checksum, CRC_BYTES);
}

/* ---- Loading ---- */

typedef struct saved_bytes {
    const unsigned char *data;
    size_t size, at; /* size excludes the checksum */
} saved_bytes;

static histo_status corrupt(const saved_bytes *in, const char *format, ...) __attribute__((format(printf, 2, 3)));

static histo_status corrupt(const saved_bytes *in, const char *format, ...)
{
    char what[256];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return histo_fail(HISTO_CORRUPT, "byte %zu: %s", in->at, what);
}

/* Turn the library's complaint about an invalid argument into one about the file. */
static histo_status blame_file(const saved_bytes *in, histo_status status)
{
    return status == HISTO_INVALID ? corrupt(in, "%s", histo_last_error()) : status;
}

static size_t left(const saved_bytes *in)
{
    return in->size - in->at;
}

/* Skip the next bytes and return their address; NULL if there are fewer. */
static const unsigned char *take(saved_bytes *in, size_t size)
{
    if (size > left(in)) return NULL;
    const unsigned char *bytes = in->data + in->at;
    in->at += size;
    return bytes;
}

static uint64_t value_of(const unsigned char *bytes, int width)
{
    uint64_t value = 0;
    for (int i = 0; i < width; i++)
        value |= (uint64_t)bytes[i] << 8 * i;
    return value;
}

static histo_status get(saved_bytes *in, int width, uint64_t *value)
{
    const unsigned char *bytes = take(in, (size_t)width);
    *value = 0;
    if (!bytes) return corrupt(in, "the file ends where %d more bytes should follow", width);
    *value = value_of(bytes, width);
    return HISTO_OK;
}

/* Read a value from 0 to `most`. */
static histo_status get_up_to(saved_bytes *in, int width, uint64_t most, const char *what, uint64_t *value)
{
    histo_status status = get(in, width, value);
    if (status != HISTO_OK || *value <= most) return status;
    in->at -= (size_t)width;
    return corrupt(in, "%s is %llu, not 0 to %llu", what, (unsigned long long)*value, (unsigned long long)most);
}

/* Store n <= BLOCK values from `begin` on, none above `most`, in an array of uint64_t or double that is all zero, so
 * that only memory with nonzero values is touched. */
static histo_status get_block(saved_bytes *in, uint64_t most, void *array, int64_t begin, int64_t n)
{
    uint64_t head = 0, nonzero = 0;
    histo_status status = get(in, 1, &head);
    if (status != HISTO_OK) return status;
    int width = (int)head & ~SPARSE;
    bool sparse = head & SPARSE;
    if (width > 8 || (sparse && width == 0)) {
        in->at--;
        return corrupt(in, "a block starts with %d, which is not a width", (int)head);
    }
    if (sparse) status = get_up_to(in, 2, (uint64_t)n, "the number of values in a block", &nonzero);
    if (status != HISTO_OK) return status;
    int64_t entries = sparse ? (int64_t)nonzero : n;
    int step = sparse ? 2 + width : width;
    size_t start = in->at;
    const unsigned char *bytes = take(in, (size_t)(entries * step));
    if (!bytes) return corrupt(in, "the file ends within a block of %lld bytes", (long long)(entries * step));
    for (int64_t i = 0, next = 0; width && i < entries; i++, bytes += step) {
        int64_t index = sparse ? (int64_t)value_of(bytes, 2) : i;
        uint64_t value = value_of(bytes + step - width, width);
        if (index < next || index >= n || value > most) {
            in->at = start + (size_t)(i * step);
            return corrupt(in, value > most ? "a value is too large"
                                            : "the indices in a block do not increase, or leave it");
        }
        memcpy((unsigned char *)array + (begin + index) * 8, &value, sizeof value);
        next = index + 1;
    }
    return HISTO_OK;
}

static const char loading[] = "loading";

static histo_status get_array(saved_bytes *in, void *array, int64_t n)
{
    histo_status status = HISTO_OK;
    for (int64_t begin = 0; begin < n && status == HISTO_OK; begin += BLOCK)
        if ((status = histo_go_on(loading, BLOCK, begin, n)) == HISTO_OK)
            status = get_block(in, UINT64_MAX, array, begin, least(BLOCK, n - begin));
    return status;
}

/* Everything before the arrays. */
typedef struct header {
    histo_hist_options kind;
    int naxes;
    histo_axis axes[HISTO_MAX_AXES]; /* edges are allocated */
    int64_t slots;
    histo_exact_windows windows[2];
    char *name, *metadata; /* allocated, or NULL */
} header;

static void header_free(header *h)
{
    for (int a = 0; a < h->naxes; a++)
        histo_axis_free_given(&h->axes[a]);
    histo_free(h->name);
    histo_free(h->metadata);
}

static histo_status get_whole_edges(saved_bytes *in, bool is_signed, histo_axis *axis)
{
    const size_t count = (size_t)axis->bins + 1;
    if (axis->kind != HISTO_VARIABLE) return corrupt(in, "an axis of kind %d has integer edges", (int)axis->kind);
    if (count > left(in) / sizeof(uint64_t)) return corrupt(in, "the file ends within the %zu edges of an axis", count);
    uint64_t *edges = histo_malloc(count * sizeof *edges);
    if (!edges) return histo_fail_memory(count * sizeof *edges, "the edges of an axis");
    const unsigned char *bytes = take(in, count * sizeof *edges);
    for (size_t i = 0; i < count; i++)
        edges[i] = value_of(bytes + 8 * i, 8);
    axis->edges = edges;
    axis->edge_type = is_signed ? HISTO_EDGES_I64 : HISTO_EDGES_U64;
    return HISTO_OK;
}

static histo_status get_edges(saved_bytes *in, histo_axis *axis)
{
    size_t count = (size_t)axis->bins + 1;
    if (count > left(in) / sizeof(double)) return corrupt(in, "the file ends within the %zu edges of an axis", count);
    double *edges = histo_malloc(count * sizeof *edges);
    if (!edges) return histo_fail_memory(count * sizeof *edges, "the edges of an axis");
    const unsigned char *bytes = take(in, count * sizeof *edges);
    for (size_t i = 0; i < count; i++)
        edges[i] = histo_double_of(value_of(bytes + 8 * i, 8));
    axis->edges = edges;
    axis->lo = edges[0];
    axis->hi = edges[count - 1];
    return HISTO_OK;
}

static histo_status get_axis(saved_bytes *in, histo_axis *axis)
{
    uint64_t kind, closed, stored, bins, power, lo, hi;
    histo_status status = get_up_to(in, 1, HISTO_AXIS_KIND_COUNT - 1, "the kind of an axis", &kind);
    if (status == HISTO_OK) status = get_up_to(in, 1, 1, "the closed flag of an axis", &closed);
    if (status == HISTO_OK) status = get_up_to(in, 1, EDGES_U64, "the edges flag of an axis", &stored);
    if (status == HISTO_OK) status = get_up_to(in, 8, HISTO_MAX_BINS, "the number of bins of an axis", &bins);
    if (status == HISTO_OK) status = get(in, 8, &power);
    if (status != HISTO_OK) return status;
    *axis = (histo_axis){
        .kind = (histo_axis_kind)kind, .closed = closed, .bins = (int64_t)bins, .power = histo_double_of(power)};
    if (stored == EDGES) return get_edges(in, axis);
    if (stored) return get_whole_edges(in, stored == EDGES_I64, axis);
    status = get(in, 8, &lo);
    if (status == HISTO_OK) status = get(in, 8, &hi);
    if (status != HISTO_OK) return status;
    axis->lo = histo_double_of(lo);
    axis->hi = histo_double_of(hi);
    return HISTO_OK;
}

static histo_status get_windows(saved_bytes *in, histo_exact_windows *windows)
{
    const unsigned char *bits = take(in, WINDOW_BYTES);
    if (!bits) return corrupt(in, "the file ends within the windows of the sums");
    for (int k = 0; k < HISTO_EXACT_WINDOWS; k++)
        windows->touched[k] = bits[k / 8] >> k % 8 & 1;
    windows->special = bits[SPECIAL_BIT / 8] >> SPECIAL_BIT % 8 & 1;
    return HISTO_OK;
}

/* The number of sums per slot: w, and w^2. */
static int sums(histo_weighting weighting)
{
    return 1 + histo_has_squares(weighting);
}

/* The number of arrays of batch * slots values in the file. */
static int64_t arrays(const header *h)
{
    int64_t n = 1 + histo_is_fast(h->kind.weighting) * sums(h->kind.weighting);
    for (int power = 0; power < 2; power++) {
        n += h->windows[power].special;
        for (int k = 0; k < HISTO_EXACT_WINDOWS; k++)
            n += h->windows[power].touched[k];
    }
    return n;
}

/* Before this check, neither memory nor time may be proportional to the number of bins: each block of the arrays takes
 * at least a byte of the file. */
static histo_status check_sizes(const saved_bytes *in, header *h)
{
    int64_t bins;
    histo_status status = HISTO_OK;
    for (int a = 0; a < h->naxes && status == HISTO_OK; a++) {
        status = histo_axis_check_description(&h->axes[a]);
        if (status == HISTO_OK && histo_axis_is_uniform(&h->axes[a]) == histo_axis_has_edges(&h->axes[a]))
            return corrupt(in, "axis %d has edges where a formula gives them, or none where they are needed", a);
    }
    if (status == HISTO_OK) status = histo_slots_count(h->naxes, h->axes, &h->kind, &bins, &h->slots);
    if (status != HISTO_OK) return blame_file(in, status);
    /* Memory for sparse counts is allocated once their number is known. */
    int64_t values = h->kind.storage == HISTO_SPARSE ? h->kind.batch : h->kind.batch * h->slots;
    if ((values - 1) / BLOCK + 1 > (int64_t)left(in) / arrays(h))
        return corrupt(in, "the file ends here, too early for a batch of %lld histograms of %lld slots",
                       (long long)h->kind.batch, (long long)h->slots);
    return HISTO_OK;
}

/* *text is NULL if there is none. */
static histo_status get_text(saved_bytes *in, uint64_t most, char **text)
{
    uint64_t size;
    histo_status status = get_up_to(in, 4, most, "the length of a text", &size);
    if (status != HISTO_OK || size == 0) return status;
    const unsigned char *bytes = take(in, size);
    if (!bytes) return corrupt(in, "the file ends within a text of %llu bytes", (unsigned long long)size);
    if (memchr(bytes, 0, size)) return corrupt(in, "a text has a NUL");
    *text = histo_malloc(size + 1);
    if (!*text) return histo_fail_memory(size, "the name or the metadata of a histogram");
    memcpy(*text, bytes, size);
    (*text)[size] = '\0';
    return HISTO_OK;
}

static histo_status get_header(saved_bytes *in, header *h)
{
    uint64_t version, weighting, naxes, batch;
    in->at = sizeof magic;
    histo_status status = get(in, 4, &version);
    if (status != HISTO_OK) return status;
    if (version < FIRST_VERSION || version > LAST_VERSION)
        return histo_fail(HISTO_UNSUPPORTED, "the file has format version %u, this library reads versions %d to %d",
                          (unsigned)version, FIRST_VERSION, LAST_VERSION);
    const unsigned features = (unsigned)version - FIRST_VERSION;
    status = get_up_to(in, 1, HISTO_WEIGHT_REPRODUCIBLE_SUM, "the weighting", &weighting);
    if (status == HISTO_OK) status = get_up_to(in, 1, HISTO_MAX_AXES, "the number of axes", &naxes);
    if (status == HISTO_OK) status = get_up_to(in, 8, INT64_MAX, "the batch", &batch);
    if (status != HISTO_OK) return status;
    if (naxes == 0) return corrupt(in, "there are no axes");
    h->kind = (histo_hist_options){.batch = (int64_t)batch,
                                   .weighting = (histo_weighting)weighting,
                                   .storage = features & OF_SPARSE ? HISTO_SPARSE : HISTO_DENSE};
    if (h->kind.storage == HISTO_SPARSE && weighting != HISTO_UNWEIGHTED)
        return corrupt(in, "the weighting is %d, and sparse histograms have none", (int)weighting);
    for (; h->naxes < (int)naxes && status == HISTO_OK; h->naxes++)
        status = get_axis(in, &h->axes[h->naxes]);
    int powers = histo_is_reproducible(h->kind.weighting) ? sums(h->kind.weighting) : 0;
    for (int power = 0; power < powers && status == HISTO_OK; power++)
        status = get_windows(in, &h->windows[power]);
    if (status == HISTO_OK && features & WITH_TEXTS) status = get_text(in, HISTO_MAX_NAME, &h->name);
    if (status == HISTO_OK && features & WITH_TEXTS) status = get_text(in, HISTO_MAX_METADATA, &h->metadata);
    return status == HISTO_OK ? check_sizes(in, h) : status;
}

static int32_t unzigzag(uint64_t value)
{
    return (int32_t)(value & 1 ? -(int64_t)(value / 2) - 1 : (int64_t)(value / 2));
}

static histo_status get_digits(saved_bytes *in, histo_exact *e, int window, int64_t begin, int64_t n)
{
    uint64_t block[BLOCK] = {0};
    histo_status status = get_block(in, UINT32_MAX, block, 0, n);
    for (int64_t i = 0; i < n && status == HISTO_OK; i++) {
        int32_t digit = unzigzag(block[i]);
        if (window == 0 && digit % LOWEST) return corrupt(in, "a sum is none of doubles, as it has lower bits");
        histo_exact_add_digit_alone(e, begin + i, window, digit);
    }
    return status;
}

static histo_status get_flags(saved_bytes *in, histo_exact *e, int64_t begin, int64_t n)
{
    uint64_t block[BLOCK] = {0};
    const uint64_t all = HISTO_EXACT_POSITIVE_INFINITY | HISTO_EXACT_NEGATIVE_INFINITY | HISTO_EXACT_NAN;
    histo_status status = get_block(in, all, block, 0, n);
    for (int64_t i = 0; i < n && status == HISTO_OK; i++)
        histo_exact_add_special(e, begin + i, (uint8_t)block[i]);
    return status;
}

static histo_status get_exact_block(saved_bytes *in, const histo_exact_windows *windows, histo_exact *e, int64_t begin,
                                    int64_t n)
{
    histo_status status = HISTO_OK;
    for (int k = 0; k < HISTO_EXACT_WINDOWS && status == HISTO_OK; k++)
        if (windows->touched[k]) status = get_digits(in, e, k, begin, n);
    return status == HISTO_OK && windows->special ? get_flags(in, e, begin, n) : status;
}

static histo_status get_exact(saved_bytes *in, const histo_exact_windows windows[2], histo_exact *const exact[2])
{
    for (int power = 0; power < 2 && exact[power]; power++) {
        histo_status status = histo_exact_reserve(exact[power], &windows[power], 1);
        if (status != HISTO_OK) return status;
    }
    for (int64_t begin = 0; begin < exact[0]->slots; begin += BLOCK) {
        int64_t n = least(BLOCK, exact[0]->slots - begin);
        histo_status status = histo_go_on(loading, BLOCK, begin, exact[0]->slots);
        if (status != HISTO_OK) return status;
        for (int power = 0; power < 2 && exact[power]; power++) {
            status = get_exact_block(in, &windows[power], exact[power], begin, n);
            if (status != HISTO_OK) return status;
        }
    }
    return HISTO_OK;
}

/* Make the histogram, all zero. */
static histo_status make_hist(const saved_bytes *in, const header *h, histo_hist **hist)
{
    histo_status status = histo_hist_make(hist, h->naxes, h->axes, &h->kind);
    for (int a = 0; a < h->naxes && status == HISTO_OK; a++)
        if (h->axes[a].edges && !histo_axis_is_whole(&h->axes[a]))
            status = histo_axis_check_kept(&(*hist)->axes[a], h->axes[a].edges);
    if (status == HISTO_OK) status = histo_hist_set_name(*hist, h->name);
    if (status == HISTO_OK) status = histo_hist_set_metadata(*hist, h->metadata);
    return blame_file(in, status);
}

/* Read the slots of a list, each as the distance from its predecessor, or the counts; no value is 0. */
static histo_status get_entries(saved_bytes *in, histo_list *list, uint64_t all, bool counts)
{
    uint64_t slot = UINT64_MAX;
    for (int64_t begin = 0; begin < list->n; begin += BLOCK) {
        uint64_t block[BLOCK] = {0};
        int64_t n = least(BLOCK, list->n - begin);
        histo_status status = histo_go_on(loading, BLOCK, begin, list->n);
        if (status == HISTO_OK) status = get_block(in, counts ? UINT64_MAX : all, block, 0, n);
        if (status != HISTO_OK) return status;
        for (int64_t i = 0; i < n; i++) {
            histo_entry *entry = &list->entries[begin + i];
            if (counts && !block[i]) return corrupt(in, "an occupied slot has no count");
            if (counts) {
                entry->count = block[i];
                continue;
            }
            slot += block[i];
            if (!block[i] || slot >= all) return corrupt(in, "the occupied slots do not rise, or leave the histogram");
            entry->slot = slot;
        }
    }
    return HISTO_OK;
}

/* No value is 0, so each takes at least a byte. */
static histo_status get_sparse(saved_bytes *in, const histo_accumulators *accumulators)
{
    uint64_t occupied;
    histo_status status = get_up_to(in, 8, left(in) / 2, "the number of occupied slots", &occupied);
    if (status != HISTO_OK || !occupied) return status;
    histo_list list = {(int64_t)occupied, histo_malloc(occupied * sizeof *list.entries)};
    if (!list.entries) return histo_fail_memory(occupied * sizeof *list.entries, "the occupied slots of a histogram");
    const uint64_t all = (uint64_t)(accumulators->batch * accumulators->slots);
    status = get_entries(in, &list, all, false);
    if (status == HISTO_OK) status = get_entries(in, &list, all, true);
    if (status == HISTO_OK) status = histo_sparse_add(accumulators->sparse, list);
    if (status != HISTO_OK) histo_list_free(&list);
    return status;
}

static histo_status get_bank(saved_bytes *in, const header *h, const histo_accumulators *accumulators)
{
    int64_t all = accumulators->sparse ? 0 : accumulators->batch * accumulators->slots;
    histo_status status = get_array(in, accumulators->masked, accumulators->batch);
    if (status == HISTO_OK && accumulators->sparse) status = get_sparse(in, accumulators);
    if (status == HISTO_OK) status = get_array(in, accumulators->counts, all);
    if (status == HISTO_OK && accumulators->sum_w) status = get_array(in, accumulators->sum_w, all);
    if (status == HISTO_OK && accumulators->sum_w2) status = get_array(in, accumulators->sum_w2, all);
    histo_exact *const exact[2] = {accumulators->exact_w, accumulators->exact_w2};
    if (status == HISTO_OK && exact[0]) status = get_exact(in, h->windows, exact);
    if (status == HISTO_OK && left(in)) return corrupt(in, "%zu bytes follow the histogram", left(in));
    return status;
}

bool histo_binary_is(const unsigned char *data, size_t size)
{
    return size > 0 && memcmp(data, magic, size < sizeof magic ? size : sizeof magic) == 0;
}

histo_status histo_binary_load(const unsigned char *data, size_t size, histo_hist **out)
{
    if (size < sizeof magic + CRC_BYTES)
        return histo_fail(HISTO_CORRUPT, "byte %zu: the file ends within its header", size);
    saved_bytes in = {data, size - CRC_BYTES, 0};
    uint32_t checksum;
    histo_status status = histo_bytes_checksum(loading, data, in.size, &checksum);
    if (status != HISTO_OK) return status;
    if (checksum != value_of(data + in.size, CRC_BYTES))
        return histo_fail(HISTO_CORRUPT, "byte %zu: the checksum does not match: the file is truncated or damaged",
                          in.size);
    header h = {0};
    histo_hist *hist = NULL;
    status = get_header(&in, &h);
    if (status == HISTO_OK) status = make_hist(&in, &h, &hist);
    if (status == HISTO_OK) status = get_bank(&in, &h, &hist->accumulators);
    header_free(&h);
    if (status == HISTO_OK)
        *out = hist;
    else
        histo_hist_destroy(hist);
    return status;
}
