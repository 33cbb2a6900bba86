/* Reading the JSON of the Unified Histogram Interface, written by us or by others. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/locale.h"
#include "base/memory.h"
#include "counts/saved/uhi_loader.h"

histo_status histo_uhi_blame(const histo_uhi_loader *l, size_t at, histo_status status)
{
    return status == HISTO_INVALID ? FAIL(at, "%s", histo_last_error()) : status;
}

int histo_uhi_choice(const histo_uhi_loader *l, size_t at, int n, const char *const *names)
{
    int i = n - 1;
    while (i >= 0 && !histo_json_is(&l->doc, at, names[i]))
        i--;
    return i;
}

histo_status histo_uhi_check_array(const histo_uhi_loader *l, size_t at)
{
    return histo_json_type(&l->doc, at) == '[' ? HISTO_OK : FAIL(at, "an array should stand here");
}

histo_status histo_uhi_find_details(const histo_uhi_loader *l, size_t writer_info, int n, const char *const *keys,
                                    size_t *members)
{
    static const char *const writer[] = {"histo"};
    size_t ours = 0;
    memset(members, 0, (size_t)n * sizeof *members);
    histo_status status = writer_info ? histo_json_find(&l->doc, writer_info, 1, writer, 0, &ours) : HISTO_OK;
    return status == HISTO_OK && ours ? histo_json_find(&l->doc, ours, n, keys, 0, members) : status;
}

histo_status histo_uhi_check_memory(const histo_uhi_loader *l, size_t at, int64_t slots, int64_t bytes_each)
{
    const int64_t modest = INT64_C(64) << 20, per_byte = 8192;
    int64_t limit =
        l->doc.size > (size_t)(INT64_MAX / 2 / per_byte) ? INT64_MAX : modest + (int64_t)l->doc.size * per_byte;
    if (l->arrays || slots <= limit / bytes_each) return HISTO_OK;
    return FAIL(at, "%lld slots are too many for a file of %zu bytes", (long long)slots, l->doc.size);
}

/* ---- writer_info ---- */

static size_t skip_digits(const histo_uhi_loader *l, size_t at)
{
    while (l->doc.text[at] >= '0' && l->doc.text[at] <= '9')
        at++;
    return at;
}

/* Read a list of values (format: uhi.h) for `size` slots. */
static histo_status read_list(const histo_uhi_loader *l, size_t at, histo_uhi_sink to, int64_t size)
{
    if (!at) return HISTO_OK;
    const char *text = l->doc.text;
    if (text[at] != '"') return FAIL(at, "a list of values in a string should stand here");
    int64_t next = 0;
    for (at++; text[at] != '"';) {
        size_t digits = skip_digits(l, at);
        if (digits > at && text[digits] == ':') {
            uint64_t index = 0;
            bool fits = true;
            for (size_t i = at; i < digits && fits; i++) {
                fits = index <= (uint64_t)size / 10;
                index = index * 10 + (uint64_t)(text[i] - '0');
                fits = fits && index < (uint64_t)size;
            }
            if (!fits || (int64_t)index < next) return FAIL(at, "the indices do not increase, or leave the histogram");
            next = (int64_t)index;
            at = digits + 1;
        }
        size_t end = histo_json_number_end(&l->doc, at);
        if (!histo_goes_on(l->doc.pace, STEPS_A_VALUE)) return l->doc.pace->status;
        if (!end || next >= size) return FAIL(at, "no value of a list should stand here");
        histo_status status = histo_uhi_read_value(l, at, to, next++);
        if (status != HISTO_OK) return status;
        at = end + (text[end] == ',' || text[end] == ' ');
    }
    return HISTO_OK;
}

/* Lists apply only to the cells that they were written with, so they need a checksum. */
static histo_status check_lists(const histo_uhi_loader *l)
{
    for (int i = MASKED; i < DETAILS; i++)
        if (l->details[i] && !l->details[CHECKSUM])
            return FAIL(l->details[i], "writer_info.histo has this list, but no checksum");
    return HISTO_OK;
}

static histo_status read_checksum(const histo_uhi_loader *l)
{
    const size_t at = l->details[CHECKSUM];
    const histo_lane lanes[3] = {{l->hist->accumulators.counts, NULL}, l->sums[0], l->sums[1]};
    char checksum[9];
    if (!at) return HISTO_OK;
    uint32_t sum;
    const histo_status status = histo_cells_checksum(l->hist, lanes, &sum);
    if (status != HISTO_OK) return status;
    snprintf(checksum, sizeof checksum, "%08" PRIx32, sum);
    if (histo_json_is(&l->doc, at, checksum)) return HISTO_OK;
    return FAIL(at,
                "other software changed the axes or the values (their checksum is now %s): remove this checksum and "
                "the lists next to it to load the rest",
                checksum);
}

static histo_status read_lists(histo_uhi_loader *l)
{
    const histo_accumulators *accumulators = &l->hist->accumulators;
    int64_t all = accumulators->batch * accumulators->slots;
    for (int i = SUM_W; i <= SUM_W2; i++)
        if (l->details[i] && !l->sums[i - SUM_W].sums) return FAIL(l->details[i], "the histogram has no weights");
    const histo_uhi_sink masked = {.lane = {accumulators->masked, NULL}},
                         counts = {{accumulators->counts, NULL}, &l->own};
    histo_status status = read_list(l, l->details[MASKED], masked, accumulators->batch);
    if (status == HISTO_OK) status = read_list(l, l->details[COUNTS], counts, all);
    if (status == HISTO_OK) status = read_list(l, l->details[SUM_W], (histo_uhi_sink){.lane = l->sums[0]}, all);
    if (status == HISTO_OK) status = read_list(l, l->details[SUM_W2], (histo_uhi_sink){.lane = l->sums[1]}, all);
    return status;
}

static histo_status add_exactly(const histo_uhi_loader *l, histo_exact *exact, const double *sums)
{
    histo_exact_windows windows = {0};
    int planes = 0;
    histo_pace *const pace = l->doc.pace;
    for (int64_t i = 0; i < exact->slots && histo_goes_on(pace, 1); i++)
        histo_exact_touch(&windows, sums[i]);
    if (pace->status != HISTO_OK) return pace->status;
    for (int k = 0; k < HISTO_EXACT_WINDOWS; k++)
        planes += windows.touched[k];
    histo_status status = histo_uhi_check_memory(l, l->values, exact->slots, 1 + planes * (int64_t)sizeof(int64_t));
    if (status == HISTO_OK) status = histo_exact_reserve(exact, &windows, 1);
    for (int64_t i = 0; i < exact->slots && status == HISTO_OK && histo_goes_on(pace, STEPS_A_VALUE); i++)
        histo_exact_add(exact, i, sums[i]);
    return status == HISTO_OK ? pace->status : status;
}

/* ---- Documents ---- */

/* Find the histogram in the document: the one with that name, or the only one. The document may also be a bare
 * histogram. */
static histo_status choose(histo_uhi_loader *l, const char *name, size_t *chosen)
{
    static const char *const schema[] = {"uhi_schema"};
    size_t root = histo_json_root(&l->doc), alone, hist = 0;
    *chosen = root;
    histo_status status = histo_json_find(&l->doc, root, 1, schema, 0, &alone);
    if (status != HISTO_OK) return status;
    if (alone && name) return histo_fail(HISTO_INVALID, "the file holds one histogram, without a name: ask for none");
    if (alone) return HISTO_OK;
    for (histo_json_walk walk = histo_json_enter(&l->doc, root); histo_json_next(&walk);) {
        if (name && !histo_json_is(&l->doc, walk.key, name)) continue;
        if (hist && name) return FAIL(walk.key, "the name of this histogram is here twice");
        if (hist) return histo_fail(HISTO_INVALID, "the file holds several histograms: choose one by its name");
        hist = walk.value;
        l->key = walk.key;
    }
    if (l->doc.pace->status != HISTO_OK) return l->doc.pace->status;
    *chosen = hist;
    if (hist) return HISTO_OK;
    if (name) return histo_fail(HISTO_INVALID, "the file holds no histogram named \"%.200s\"", name);
    return FAIL(root, "the file holds no histogram");
}

/* A key that is not a valid name, such as an empty one, leaves the histogram unnamed. */
static histo_status keep_name(const histo_uhi_loader *l)
{
    if (!l->key || (histo_json_is(&l->doc, l->key, HISTO_UHI_NAMELESS) && !l->details[NAMED])) return HISTO_OK;
    if (histo_json_end(&l->doc, l->key) - l->key > 6 * (size_t)HISTO_MAX_NAME + 2) return HISTO_OK;
    char *name;
    histo_status status = histo_json_string(&l->doc, l->key, &name);
    if (status == HISTO_OK && name) status = histo_hist_set_name(l->hist, name);
    histo_free(name);
    return status == HISTO_INVALID ? HISTO_OK : status;
}

static histo_status keep_metadata(const histo_uhi_loader *l, size_t at)
{
    if (!at || histo_json_type(&l->doc, at) == 'n') return HISTO_OK;
    if (histo_json_type(&l->doc, at) != '{') return FAIL(at, "the metadata should be an object");
    const size_t size = histo_json_end(&l->doc, at) - at;
    char *text = histo_malloc(size + 1);
    if (!text) return histo_fail_memory(size, "the metadata of a histogram");
    memcpy(text, l->doc.text + at, size);
    text[size] = '\0';
    const histo_status status = histo_hist_set_metadata(l->hist, text);
    histo_free(text);
    return histo_uhi_blame(l, at, status);
}

static histo_status read_histogram(histo_uhi_loader *l, size_t at)
{
    enum { SCHEMA, AXES, STORAGE, WRITER, METADATA, KEYS };
    static const char *const keys[] = {"uhi_schema", "axes", "storage", "writer_info", "metadata"};
    static const char *const details[] = {
        [WEIGHTING] = "weighting", [STORED] = "storage", [NAMED] = "named", [CHECKSUM] = "checksum",
        [MASKED] = "masked",       [COUNTS] = "counts",  [SUM_W] = "sum_w", [SUM_W2] = "sum_w2",
    };
    size_t members[KEYS];
    double schema;
    histo_status status = histo_json_find(&l->doc, at, KEYS, keys, WRITER, members);
    if (status == HISTO_OK) status = histo_json_number(&l->doc, members[SCHEMA], &schema);
    if (status != HISTO_OK) return status;
    if (schema != 1) return FAIL_UNSUPPORTED(members[SCHEMA], "only schema 1 is supported");
    status = histo_uhi_find_details(l, members[WRITER], DETAILS, details, l->details);
    if (status == HISTO_OK && l->details[STORED]) {
        if (!histo_json_is(&l->doc, l->details[STORED], "sparse"))
            return FAIL(l->details[STORED], "this is not a storage");
        l->storage = HISTO_SPARSE;
    }
    if (status == HISTO_OK) status = histo_uhi_read_axes(l, members[AXES]);
    if (status == HISTO_OK) status = histo_uhi_read_storage(l, members[STORAGE]);
    if (status == HISTO_OK) status = histo_uhi_prepare(l);
    if (status == HISTO_OK) status = histo_uhi_read_values(l);
    if (status == HISTO_OK) status = check_lists(l);
    if (status == HISTO_OK) status = read_lists(l);
    if (status == HISTO_OK && l->storage == HISTO_SPARSE) status = histo_uhi_keep_counts(l);
    if (status == HISTO_OK) status = read_checksum(l);
    if (status == HISTO_OK) status = keep_name(l);
    if (status == HISTO_OK) status = keep_metadata(l, members[METADATA]);
    histo_exact *const exact[] = {l->hist ? l->hist->accumulators.exact_w : NULL,
                                  l->hist ? l->hist->accumulators.exact_w2 : NULL};
    for (int s = 0; s < 2 && exact[s] && status == HISTO_OK; s++)
        status = add_exactly(l, exact[s], l->sums[s].sums);
    return status;
}

static histo_status load(histo_uhi_loader *l, const char *name)
{
    size_t at;
    histo_status status = histo_json_check(&l->doc);
    if (status == HISTO_OK) status = choose(l, name, &at);
    return status == HISTO_OK ? read_histogram(l, at) : status;
}

histo_status histo_uhi_load(const char *text, size_t size, const char *name, const histo_uhi_arrays *arrays,
                            histo_hist **hist)
{
    histo_pace pace = {.stage = "loading"};
    histo_uhi_loader l = {.doc = {.text = text, .size = size, .pace = &pace}, .arrays = arrays};
    histo_c_locale locale;
    histo_status status = histo_c_locale_begin(&locale);
    if (status != HISTO_OK) return status;
    status = load(&l, name);
    histo_c_locale_end(&locale);
    for (int a = 0; a < l.naxes; a++)
        histo_axis_free_given(&l.axes[a]);
    histo_free(l.own_sums);
    histo_free(l.cells.at);
    histo_free(l.own.at);
    if (status == HISTO_OK)
        *hist = l.hist;
    else
        histo_hist_destroy(l.hist);
    return status;
}
