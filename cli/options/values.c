/* Messages quote what was written and show a valid value. */
#define _GNU_SOURCE
#include "options/values.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "options/nearest.h"

/* The numbers of a list such as 3x4: how many; -1 if it is none, or has more than `most`. All are 0 or more. */
static int parse_naturals(const char *text, const char *dividers, int64_t *numbers, int most)
{
    for (int count = 0; count < most; text++) {
        size_t length = strcspn(text, dividers);
        char item[TEXT_NUMBER_BYTES];
        if (length >= sizeof item || !isdigit((unsigned char)*text)) return -1;
        memcpy(item, text, length);
        item[length] = '\0';
        if (!text_to_i64(item, &numbers[count++])) return -1;
        text += length;
        if (!*text) return count;
    }
    return -1;
}

/* A whole number from smallest to largest. */
static int parse_whole(const char *option, const char *text, int64_t smallest, int64_t largest, int64_t *value,
                       fault *f)
{
    if (text_to_i64(text, value) && *value >= smallest && *value <= largest) return 0;
    if (largest == INT64_MAX)
        return fault_set(f, EXIT_USAGE, "--%s takes a whole number, %" PRId64 " or more, not '%s'", option, smallest,
                         text);
    return fault_set(f, EXIT_USAGE, "--%s takes a whole number from %" PRId64 " to %" PRId64 ", not '%s'", option,
                     smallest, largest, text);
}

static int parse_int(const char *option, const char *text, int smallest, int largest, int *value, fault *f)
{
    int64_t whole;
    if (parse_whole(option, text, smallest, largest, &whole, f) != 0) return -1;
    *value = (int)whole;
    return 0;
}

/* NumPy's names, and its codes, which count bytes and stand behind a byte order. */
static const struct {
    const char *name, *code;
    histo_dtype dtype;
} numpy_dtypes[] = {
    {"uint8", "u1", HISTO_U8},    {"int8", "i1", HISTO_I8},     {"uint16", "u2", HISTO_U16},
    {"int16", "i2", HISTO_I16},   {"uint32", "u4", HISTO_U32},  {"int32", "i4", HISTO_I32},
    {"uint64", "u8", HISTO_U64},  {"int64", "i8", HISTO_I64},   {"float16", "f2", HISTO_F16},
    {"float32", "f4", HISTO_F32}, {"float64", "f8", HISTO_F64}, {"bfloat16", "", HISTO_BF16},
};

static bool parse_dtype(const char *text, histo_dtype *dtype)
{
    bool has_order = *text && strchr("<>=|", *text);
    if (!has_order && histo_dtype_parse(text, dtype) == HISTO_OK) return true;
    for (size_t i = 0; i < sizeof numpy_dtypes / sizeof *numpy_dtypes; i++) {
        if (strcmp(has_order ? text + 1 : text, has_order ? numpy_dtypes[i].code : numpy_dtypes[i].name) != 0) continue;
        *dtype = numpy_dtypes[i].dtype;
        return !has_order || (text[1] && (*text != '|' || text[2] == '1')); /* '|': it has no byte order */
    }
    return false;
}

int value_dtype(settings *s, char *text, fault *f)
{
    if (parse_dtype(text, &s->read.dtype)) {
        s->read.has_dtype = true;
        return 0;
    }
    return fault_set(
        f, EXIT_USAGE,
        "there is no sample type '%s': --dtype takes u8 i8 u16 i16 u32 i32 u64 i64 f16 bf16 f32 f64 (bits), "
        "NumPy's names (uint8), or NumPy's codes with a byte order (<f4, >u2: bytes)",
        text);
}

int value_shape(settings *s, char *text, fault *f)
{
    int64_t samples = 1;
    int ndim = parse_naturals(text, "x,", s->read.shape, HISTO_MAX_DIMS);
    if (ndim < 0)
        return fault_set(f, EXIT_USAGE,
                         "'%s' is not a shape: --shape takes up to %d whole numbers, as in 3x480x640 or 3,480,640",
                         text, HISTO_MAX_DIMS);
    for (int d = 0; d < ndim; d++) {
        if (s->read.shape[d] == 0)
            return fault_set(f, EXIT_USAGE, "a shape of '%s' holds no sample: each number of --shape must be 1 or more",
                             text);
        if (__builtin_mul_overflow(samples, s->read.shape[d], &samples))
            return fault_set(f, EXIT_USAGE, "a shape of '%s' is larger than any file: make --shape fit the data", text);
    }
    s->read.ndim = ndim;
    return 0;
}

int value_offset(settings *s, char *text, fault *f)
{
    return parse_whole("offset", text, 0, INT64_MAX, &s->read.offset, f);
}

int value_endian(settings *s, char *text, fault *f)
{
    s->read.big_endian = strcmp(text, "big") == 0;
    if (s->read.big_endian || strcmp(text, "little") == 0) return 0;
    return fault_set(f, EXIT_USAGE, "--endian is little or big, not '%s'", text);
}

int value_pairs(settings *s, char *text, fault *f)
{
    s->pairs = strcmp(text, "ring") == 0 ? HISTO_PAIRS_RING : HISTO_PAIRS_APART;
    if (s->pairs == HISTO_PAIRS_RING || strcmp(text, "apart") == 0) return 0;
    return fault_set(f, EXIT_USAGE, "--pairs is ring or apart, not '%s'", text);
}

int value_page(settings *s, char *text, fault *f)
{
    int64_t page = -1;
    if (strcmp(text, "all") != 0 && (!text_to_i64(text, &page) || page < 0 || page > INT32_MAX))
        return fault_set(f, EXIT_USAGE, "--page takes the number of a page, from 0, or all, not '%s'", text);
    s->read.page = (int)page;
    s->read.has_page = true;
    return 0;
}

int value_delimiter(settings *s, char *text, fault *f)
{
    static const struct {
        const char *name;
        char character;
    } named[] = {{"comma", ','}, {"semicolon", ';'}, {"tab", '\t'}, {"\\t", '\t'}, {"space", ' '}, {"pipe", '|'}};
    s->read.delimiter = text[0] && !text[1] ? text[0] : '\0';
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (strcmp(text, named[i].name) == 0) s->read.delimiter = named[i].character;
    if (s->read.delimiter) return 0;
    return fault_set(f, EXIT_USAGE,
                     "--delimiter takes one character, or comma, semicolon, tab, space or pipe, not '%s'", text);
}

int value_header(settings *s, char *text, fault *f)
{
    s->read.header = strcmp(text, "yes") == 0;
    if (s->read.header || strcmp(text, "no") == 0) return 0;
    return fault_set(f, EXIT_USAGE, "--header is yes or no, not '%s'", text);
}

static int parse_region(const char *option, const char *text, int64_t region[4], fault *f)
{
    int64_t right, bottom;
    if (parse_naturals(text, ",", region, 4) != 4)
        return fault_set(f, EXIT_USAGE,
                         "'%s' is not a region: --%s takes left, top, width and height in pixels, as in 100,50,640,480",
                         text, option);
    if (region[2] == 0 || region[3] == 0)
        return fault_set(f, EXIT_USAGE, "the region '%s' is empty: width and height of --%s must be 1 or more", text,
                         option);
    if (__builtin_add_overflow(region[0], region[2], &right) || __builtin_add_overflow(region[1], region[3], &bottom))
        return fault_set(f, EXIT_USAGE, "the region '%s' exceeds any page: make --%s fit the data", text, option);
    return 0;
}

int value_roi(settings *s, char *text, fault *f)
{
    s->has_roi = true;
    return parse_region("roi", text, s->roi, f);
}

int value_window(settings *s, char *text, fault *f)
{
    return parse_region("window", text, s->window, f);
}

int value_model_roi(settings *s, char *text, fault *f)
{
    return parse_region("model-roi", text, s->model_roi, f);
}

int value_space(settings *s, char *text, fault *f)
{
    s->space = text;
    if (strcmp(text, "hsv") == 0 || strcmp(text, "none") == 0) return 0;
    return fault_set(f, EXIT_USAGE, "--space is hsv or none, not '%s'", text);
}

int value_track_method(settings *s, char *text, fault *f)
{
    s->method = text;
    if (strcmp(text, "meanshift") == 0 || strcmp(text, "camshift") == 0 || strcmp(text, "comaniciu") == 0) return 0;
    return fault_set(f, EXIT_USAGE, "--method is meanshift, camshift or comaniciu, not '%s'", text);
}

/* An end of a range: the number, or `open` where nothing is written. */
static bool parse_end(const char *text, double open, double *value)
{
    *value = open;
    return !*text || text_to_f64(text, value);
}

int value_where(settings *s, char *text, fault *f)
{
    char ends[2 * TEXT_NUMBER_BYTES];
    char *equals = strrchr(text, '=');
    const char *range = equals ? equals + 1 : text;
    char *colon = strlen(range) < sizeof ends ? strchr(strcpy(ends, range), ':') : NULL;
    if (colon) *colon = '\0';
    if (!colon || !parse_end(ends, -INFINITY, &s->where[0]) || !parse_end(colon + 1, INFINITY, &s->where[1]))
        return fault_set(f, EXIT_USAGE,
                         "'%s' is not a range: --where takes LO:HI, LO: or :HI, or NAME=LO:HI for another column",
                         text);
    if (equals == text)
        return fault_set(f, EXIT_USAGE, "--where '%s' names no column before the '=': write NAME=LO:HI", text);
    if (s->where[0] > s->where[1])
        return fault_set(f, EXIT_USAGE, "the range '%s' of --where ends before it begins: put the smaller number first",
                         range);
    if (equals) *equals = '\0';
    s->where_column = equals ? text : NULL;
    s->has_where = true;
    return 0;
}

int value_color(settings *s, char *text, fault *f)
{
    static const char *const tones[] = {"luma", "each", "joint", "value"};
    for (size_t i = 0; i < sizeof tones / sizeof *tones; i++)
        if (strcmp(text, tones[i]) == 0) s->color = tones[i];
    if (s->color) return 0;
    return fault_set(f, EXIT_USAGE, "--color is luma, each, joint or value, not '%s'", text);
}

int value_bits(settings *s, char *text, fault *f)
{
    return parse_int("bits", text, 1, 16, &s->bits, f);
}

int value_bin_count(settings *s, char *text, fault *f)
{
    return parse_whole("bins", text, 1, 1 << 24, &s->bin_count, f);
}

int value_smooth(settings *s, char *text, fault *f)
{
    return parse_int("smooth", text, 1, 1024, &s->smooth, f);
}

int value_equalize_rule(settings *s, char *text, fault *f)
{
    s->rule = strcmp(text, "cdf") == 0 ? HISTO_EQUALIZE_CDF : HISTO_EQUALIZE_MINIMUM;
    if (s->rule == HISTO_EQUALIZE_CDF || strcmp(text, "minimum") == 0) return 0;
    return fault_set(f, EXIT_USAGE, "--rule is minimum or cdf, not '%s'", text);
}

int value_quantiles(const char *text, double **quantiles, fault *f)
{
    int count = 1;
    for (const char *c = text; *c; c++)
        count += *c == ',';
    char *items = strdup(text), *rest = items;
    *quantiles = malloc((size_t)count * sizeof **quantiles);
    int failed = items && *quantiles ? 0 : fault_set(f, EXIT_DATA, "no memory for %d quantiles", count);
    for (int i = 0; i < count && !failed; i++) {
        const char *item = text_trim(strsep(&rest, ","));
        double percent;
        if (!text_to_f64(item, &percent) || !(percent >= 0 && percent <= 100))
            failed =
                fault_set(f, EXIT_USAGE, "-q takes percentages from 0 to 100, as in -q 1,50,99, not '%.40s'", item);
        else
            (*quantiles)[i] = percent / 100;
    }
    free(items);
    if (!failed) return count;
    free(*quantiles);
    *quantiles = NULL;
    return -1;
}

int value_quantile_rule(settings *s, char *text, fault *f)
{
    if (histo_quantile_rule_parse(text, &s->quantile_rule) == HISTO_OK) return 0;
    return fault_set(f, EXIT_USAGE,
                     "there is no rule '%.40s': --rule takes the methods of numpy.quantile, as in --rule nearest",
                     text);
}

int value_metric(settings *s, char *text, fault *f)
{
    histo_metric metric;
    s->metric = text;
    if (histo_metric_parse(text, &metric) == HISTO_OK) return 0;
    return fault_set(
        f, EXIT_USAGE,
        "there is no metric '%.40s': --metric takes correlation, chi-square, chi-square-alt, intersection, "
        "bhattacharyya, kl-divergence, js-divergence, kolmogorov or earth-mover",
        text);
}

enum { MOST_TILES = 1 << 16 };

/* Whole numbers of at least 1, as in 8x8: how many; 0 if the text is anything else. */
static int parse_sizes(const char *text, int64_t *sizes, int most)
{
    const int count = parse_naturals(text, "x,", sizes, most);
    for (int i = 0; i < count; i++)
        if (sizes[i] < 1 || sizes[i] > MOST_TILES) return 0;
    return count;
}

int value_tiles(settings *s, char *text, fault *f)
{
    int64_t sizes[3] = {0, 0, 1};
    if (parse_sizes(text, sizes, 3) < 2)
        return fault_set(
            f, EXIT_USAGE,
            "--tiles takes numbers of columns and rows of tiles, and of pages, as in 8x8 or 8x8x4, not '%s'", text);
    for (int i = 0; i < 3; i++)
        s->tiles[2 - i] = sizes[i];
    return 0;
}

int value_tile_size(settings *s, char *text, fault *f)
{
    int64_t sizes[2];
    if (parse_sizes(text, sizes, 2) < 2)
        return fault_set(f, EXIT_USAGE, "--tile-size takes width and height in pixels, as in 64x64, not '%s'", text);
    s->tile_size[0] = sizes[1];
    s->tile_size[1] = sizes[0];
    return 0;
}

int value_overlap(settings *s, char *text, fault *f)
{
    return parse_int("overlap", text, 1, 16, &s->overlap, f);
}

int value_clip(settings *s, char *text, fault *f)
{
    if (text_to_f64(text, &s->clip) && !isnan(s->clip)) return 0;
    return fault_set(f, EXIT_USAGE, "--clip takes a number such as 2, or 0 for no limit, not '%s'", text);
}

int value_landmarks(settings *s, char *text, fault *f)
{
    enum { MOST = 60 };
    static const char itk[] = "itk:";
    const size_t skip = strncmp(text, itk, sizeof itk - 1) == 0 ? sizeof itk - 1 : 0;
    int64_t count;
    s->landmarks_itk = skip > 0;
    if (!text_to_i64(text + skip, &count) || count < (skip ? 1 : 2) || count > MOST)
        return fault_set(f, EXIT_USAGE, "--landmarks takes a whole number from 2 to %d, or itk:N, not '%s'", MOST,
                         text);
    s->landmarks = (int)count;
    return 0;
}

int value_target(settings *s, char *text, fault *f)
{
    char ends[2 * TEXT_NUMBER_BYTES];
    char *colon = strlen(text) < sizeof ends ? strchr(strcpy(ends, text), ':') : NULL;
    if (colon) *colon = '\0';
    s->has_target = colon && text_to_f64(ends, &s->target[0]) && text_to_f64(colon + 1, &s->target[1]) &&
                    isfinite(s->target[0]) && isfinite(s->target[1]) && s->target[0] != s->target[1];
    if (s->has_target) return 0;
    return fault_set(f, EXIT_USAGE, "'%s' is not a range of results: --to takes two different numbers, LO:HI", text);
}

int value_split_method(settings *s, char *text, fault *f)
{
    s->split_name = text;
    if (histo_split_method_parse(text, &s->split) == HISTO_OK) return 0;
    return fault_set(f, EXIT_USAGE,
                     "--method is otsu, li, yen, isodata, triangle, minimum, mean or max-entropy, not '%s'", text);
}

int value_classes(settings *s, char *text, fault *f)
{
    return parse_int("classes", text, 2, 256, &s->classes, f);
}

int value_search(settings *s, char *text, fault *f)
{
    return parse_whole("search", text, 1, 1 << 20, &s->search, f);
}

int value_sigma(settings *s, char *text, fault *f)
{
    if (text_to_f64(text, &s->sigma) && s->sigma > 0 && isfinite(s->sigma)) return 0;
    return fault_set(f, EXIT_USAGE, "--sigma takes a number above 0, as in --sigma 6, not '%.40s'", text);
}

int value_size(settings *s, char *text, fault *f)
{
    int64_t size[2];
    if (parse_naturals(text, "x,", size, 2) != 2)
        return fault_set(f, EXIT_USAGE, "'%s' is not a size: --size takes width and height in pixels, as in 800x600",
                         text);
    for (int i = 0; i < 2; i++)
        if (size[i] < PICTURE_MIN_SIZE || size[i] > PICTURE_MAX_SIZE)
            return fault_set(f, EXIT_USAGE,
                             "a picture of '%s' pixels cannot be drawn: width and height of --size are %d to %d", text,
                             PICTURE_MIN_SIZE, PICTURE_MAX_SIZE);
    s->plot_width = (int)size[0];
    s->plot_height = (int)size[1];
    return 0;
}

int value_device(settings *s, char *text, fault *f)
{
    enum { MAX_DEVICES = 1024 };
    static const char numbered[] = "cuda:";
    int64_t ordinal = 0;
    if (strcmp(text, "auto") == 0)
        s->device = HISTO_DEVICE_AUTO;
    else if (strcmp(text, "cpu") == 0)
        s->device = HISTO_DEVICE_CPU;
    else if (strcmp(text, "cuda") == 0 ||
             (strncmp(text, numbered, sizeof numbered - 1) == 0 &&
              parse_naturals(text + sizeof numbered - 1, "", &ordinal, 1) == 1 && ordinal < MAX_DEVICES))
        s->device = HISTO_DEVICE_CUDA((int)ordinal);
    else
        return fault_set(f, EXIT_USAGE,
                         "there is no device '%s': --device takes auto, cpu, cuda, or cuda:N with its number", text);
    return 0;
}

int value_strategy(settings *s, char *text, fault *f)
{
    const char *name = strchr(text, '/') ? strchr(text, '/') + 1 : text;
    nearest meant = {.word = name};
    histo_strategy_info info;
    for (int i = 0; histo_strategy_describe(i, &info) == HISTO_OK; i++) {
        size_t prefix = (size_t)(name - text);
        bool same_backend =
            !prefix || (strlen(info.backend) == prefix - 1 && strncmp(text, info.backend, prefix - 1) == 0);
        if (same_backend && strcmp(name, info.name) == 0) {
            s->strategy = text;
            return 0;
        }
        nearest_try(&meant, info.name);
    }
    if (meant.best)
        return fault_set(f, EXIT_USAGE, "there is no strategy '%s': did you mean %s? ('histo strategies' lists them)",
                         text, meant.best);
    return fault_set(f, EXIT_USAGE, "there is no strategy '%s': 'histo strategies' lists them", text);
}

int value_strategies(settings *s, char *text, fault *f)
{
    for (const char *at = text; *at; at += strcspn(at, ",")) {
        char name[64];
        at += *at == ',';
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at, ","), at);
        if (value_strategy(s, name, f) != 0) return -1;
    }
    s->strategy = text;
    return *text ? 0 : fault_set(f, EXIT_USAGE, "--strategy is empty: 'histo strategies' lists the names");
}

int value_param(settings *s, char *text, fault *f)
{
    static char joined[1024]; /* lives as long as the process */
    const char *equals = strchr(text, '=');
    if (!equals || equals == text || !equals[1])
        return fault_set(f, EXIT_USAGE, "--param takes NAME=VALUE, not '%s'", text);
    if (!s->params) joined[0] = '\0';
    size_t length = strlen(joined);
    if (strlen(text) + 2 > sizeof joined - length)
        return fault_set(f, EXIT_USAGE, "--param takes at most %zu characters in all: leave some out", sizeof joined);
    if (length) joined[length++] = ',';
    strcpy(joined + length, text);
    s->params = joined;
    return 0;
}

enum { MAX_THREADS = 1024 };

int value_threads(settings *s, char *text, fault *f)
{
    return parse_int("threads", text, 1, MAX_THREADS, &s->threads, f);
}

int value_environment(fault *f)
{
    static const char *const levels[] = {"", "baseline", "avx2", "avx512", "avx512vbmi2"};
    const char *threads = getenv("HISTO_THREADS"), *cpu = getenv("HISTO_CPU");
    int64_t number;
    bool known = !cpu;
    if (threads && *threads && !(text_to_i64(threads, &number) && number >= 1 && number <= MAX_THREADS))
        return fault_set(f, EXIT_USAGE, "HISTO_THREADS is '%s': it must be a whole number from 1 to %d, or not set",
                         threads, MAX_THREADS);
    for (size_t i = 0; i < sizeof levels / sizeof *levels && !known; i++)
        known = strcmp(cpu, levels[i]) == 0;
    if (known) return 0;
    return fault_set(f, EXIT_USAGE, "HISTO_CPU is '%s': it must be baseline, avx2, avx512 or avx512vbmi2, or not set",
                     cpu);
}

/* "1000" or "2^20" */
static bool parse_count(const char *text, int64_t *count)
{
    int64_t power;
    if (strncmp(text, "2^", 2) != 0) return text_to_i64(text, count);
    if (!text_to_i64(text + 2, &power) || power < 0 || power > 62) return false;
    *count = INT64_C(1) << power;
    return true;
}

/* A number, or the first and last of a range that is doubled: "256..4096". */
static bool parse_range(const char *text, int64_t *first, int64_t *last)
{
    char begin[TEXT_NUMBER_BYTES];
    const char *dots = strstr(text, "..");
    snprintf(begin, sizeof begin, "%.*s", dots ? (int)(dots - text) : (int)sizeof begin - 1, text);
    if (!parse_count(begin, first)) return false;
    *last = *first;
    return !dots || (parse_count(dots + 2, last) && *last >= *first);
}

int value_counts(const char *option, const char *text, int64_t largest, int64_t *numbers, int most, fault *f)
{
    int count = 0;
    for (const char *at = text;; at++) {
        size_t length = strcspn(at, ",");
        char item[2 * TEXT_NUMBER_BYTES];
        int64_t first, last;
        snprintf(item, sizeof item, "%.*s", (int)length, at);
        if (length >= sizeof item || !parse_range(item, &first, &last) || first < 1 || last > largest)
            return fault_set(f, EXIT_USAGE,
                             "--%s takes whole numbers from 1 to %" PRId64 ", as in 1000 or 2^20, not '%.*s'", option,
                             largest, (int)length, at);
        if (count > 0 && first <= numbers[count - 1])
            return fault_set(f, EXIT_USAGE, "the numbers of --%s must increase, and %.*s follows a larger one", option,
                             (int)length, at);
        for (int64_t n = first; n <= last; n *= 2) {
            if (count == most) return fault_set(f, EXIT_USAGE, "--%s takes at most %d numbers", option, most);
            numbers[count++] = n;
            if (n > last / 2) break;
        }
        at += length;
        if (!*at) return count;
    }
}

int value_samples(settings *s, char *text, fault *f)
{
    static const char *const units[] = {"KiB", "MiB", "GiB"};
    int64_t most = INT64_C(1) << 40, *value = &s->samples;
    size_t digits = strspn(text, "0123456789");
    int shift = 0;
    s->sample_list = NULL;
    if (strchr(text, ',') || strstr(text, "..")) {
        s->sample_list = text;
        return 0;
    }
    for (int u = 0; u < 3; u++)
        if (strcmp(text + digits, units[u]) == 0) shift = 10 * (u + 1);
    s->samples = s->bytes = 0;
    if (shift) {
        text[digits] = '\0';
        value = &s->bytes;
    }
    if (strncmp(text, "2^", 2) == 0 && parse_count(text, value) && *value <= most) return 0;
    if (parse_whole("samples", text, 1, most >> shift, value, f) != 0) return -1;
    *value <<= shift;
    return 0;
}

int value_budget(settings *s, char *text, fault *f)
{
    if (text_to_f64(text, &s->budget_s) && s->budget_s > 0) return 0;
    return fault_set(f, EXIT_USAGE, "--budget takes seconds, more than 0, not '%s'", text);
}

int value_repeat(settings *s, char *text, fault *f)
{
    return parse_int("repeat", text, 1, 101, &s->repeat, f);
}

int value_seed(settings *s, char *text, fault *f)
{
    return parse_whole("seed", text, 0, INT64_MAX, &s->seed, f);
}

int value_count(settings *s, char *text, fault *f)
{
    return parse_whole("count", text, 1, 1000000, &s->count, f);
}

int value_effort(settings *s, char *text, fault *f)
{
    static const char *const names[] = {
        [HISTO_ESTIMATE] = "estimate", [HISTO_COMPILE] = "compile", [HISTO_MEASURE] = "measure"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(text, names[i]) != 0) continue;
        s->effort = (histo_effort)i;
        return 0;
    }
    return fault_set(f, EXIT_USAGE, "there is no effort '%s': --effort takes estimate, compile or measure", text);
}
