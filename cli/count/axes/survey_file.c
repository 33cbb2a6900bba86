#define _GNU_SOURCE
#include "count/axes/survey_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/failure.h"
#include "base/text.h"

static const char magic[8] = {'\x93', 'H', 'S', 'U', 'R', 'V', '\r', '\n'};

enum {
    VERSION = 3,
    LARGEST_FILE = 1 << 28,
    MAX_COLUMNS = 1 << 20,
    MAX_PASSES = 64,
    WORD_BYTES = 16,
    AXIS_BYTES = 4 * WORD_BYTES + 4 * 8 + 5,
    CHECKSUM_BYTES = 4
};

/* ---- Fields: each function writes a value, or reads and returns it, so that a record is described once. ---- */

typedef struct stream {
    FILE *out; /* NULL: reading */
    const unsigned char *at, *end;
    bool failed; /* the file ends too early, or a field is impossible */
} stream;

static void bytes(stream *s, void *data, size_t size)
{
    if (s->out) {
        fwrite(data, 1, size, s->out);
        return;
    }
    s->failed |= size > (size_t)(s->end - s->at);
    if (s->failed) {
        memset(data, 0, size);
        return;
    }
    memcpy(data, s->at, size);
    s->at += size;
}

static uint64_t whole(stream *s, uint64_t value, int width)
{
    unsigned char little[8];
    for (int i = 0; i < width; i++)
        little[i] = (unsigned char)(value >> 8 * i);
    bytes(s, little, (size_t)width);
    value = 0;
    for (int i = 0; i < width; i++)
        value |= (uint64_t)little[i] << 8 * i;
    return value;
}

static bool flag(stream *s, bool value)
{
    const uint64_t number = whole(s, value, 1);
    s->failed |= number > 1;
    return number == 1;
}

static double number(stream *s, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits = whole(s, bits, 8);
    memcpy(&value, &bits, sizeof value);
    return value;
}

static int word(stream *s, int value, const char *const *words, int count)
{
    char text[WORD_BYTES] = "", padded[WORD_BYTES];
    if (s->out) memcpy(text, words[value], strlen(words[value]));
    bytes(s, text, sizeof text);
    for (int i = 0; i < count; i++) {
        memset(padded, 0, sizeof padded);
        memcpy(padded, words[i], strlen(words[i]));
        if (memcmp(text, padded, sizeof padded) == 0) return i;
    }
    s->failed = true;
    return 0;
}

/* ---- Records ---- */

static histo_dtype dtype_field(stream *s, histo_dtype dtype)
{
    const char *names[HISTO_DTYPE_COUNT];
    for (int i = 0; i < HISTO_DTYPE_COUNT; i++)
        names[i] = histo_dtype_name((histo_dtype)i);
    return (histo_dtype)word(s, (int)dtype, names, HISTO_DTYPE_COUNT);
}

static void spec_fields(stream *s, bins_spec *b)
{
    static const char *const kinds[] = {[BINS_DEFAULT] = "default",
                                        [BINS_NUMBER] = "number",
                                        [BINS_RULE] = "rule",
                                        [BINS_WIDTH] = "width",
                                        [BINS_EDGES] = "edges"};
    static const char *const rules[] = {
        [HISTO_RULE_NONE] = "none",   [HISTO_RULE_AUTO] = "auto",   [HISTO_RULE_FD] = "fd",
        [HISTO_RULE_SCOTT] = "scott", [HISTO_RULE_STONE] = "stone", [HISTO_RULE_STURGES] = "sturges",
        [HISTO_RULE_DOANE] = "doane", [HISTO_RULE_RICE] = "rice",   [HISTO_RULE_SQRT] = "sqrt"};
    static const char *const ranges[] = {[HISTO_RANGE_MINMAX] = "minmax",
                                         [HISTO_RANGE_PERCENTILE] = "percentiles",
                                         [HISTO_RANGE_DTYPE] = "dtype",
                                         [HISTO_RANGE_FIXED] = "fixed",
                                         [HISTO_RANGE_FROM_PERCENTILE] = "from percentile",
                                         [HISTO_RANGE_TO_PERCENTILE] = "to percentile"};
    b->kind = (bins_kind)word(s, (int)b->kind, kinds, sizeof kinds / sizeof *kinds);
    b->number = (int64_t)whole(s, (uint64_t)b->number, 8);
    b->fewer = flag(s, b->fewer);
    b->rule = (histo_rule)word(s, (int)b->rule, rules, sizeof rules / sizeof *rules);
    b->width = number(s, b->width);
    b->has_range = flag(s, b->has_range);
    b->range = (histo_range)word(s, (int)b->range, ranges, sizeof ranges / sizeof *ranges);
    b->lo = number(s, b->lo);
    b->hi = number(s, b->hi);
    b->log = flag(s, b->log);
    b->every_value = flag(s, b->every_value);
}

static void finding_fields(stream *s, axis_finding *found)
{
    histo_stats *p = &found->positive;
    uint64_t *const counts[] = {&p->samples, &p->nan, &p->infinite, &p->masked};
    double *const numbers[] = {&p->min, &p->max, &p->mean, &p->m2, &p->m3, &p->m4};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        *counts[i] = whole(s, *counts[i], 8);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        *numbers[i] = number(s, *numbers[i]);
    found->some_fraction = flag(s, found->some_fraction);
    found->samples = (int64_t)whole(s, (uint64_t)found->samples, 8);
}

/* ---- Files ---- */

static int fault_memory(fault *f)
{
    return fault_set(f, EXIT_DATA, "no memory for the surveys");
}

int survey_file_fault(const survey_file *file, fault *f)
{
    return fault_set(f, EXIT_DATA, "%s is not a survey, or is damaged: make it again", file->name);
}

int survey_file_make_room(survey_file *file, int axes, int passes, fault *f)
{
    file->room = axes * (passes + 1);
    file->axes = axes;
    file->passes = passes;
    file->specs = calloc((size_t)axes, sizeof *file->specs);
    file->dtypes = calloc((size_t)axes, sizeof *file->dtypes);
    file->pixels = calloc((size_t)axes, sizeof *file->pixels);
    file->findings = calloc((size_t)file->room, sizeof *file->findings);
    return file->specs && file->dtypes && file->pixels && file->findings ? 0 : fault_memory(f);
}

void survey_file_free(survey_file *file)
{
    for (int i = 0; i < file->room && file->findings; i++)
        free(file->findings[i].data);
    manifest_free(file->shards);
    free(file->name);
    free(file->specs);
    free(file->dtypes);
    free(file->pixels);
    free(file->findings);
}

int survey_finding_copy(survey_finding *to, const survey_finding *from, fault *f)
{
    *to = *from;
    if (!from->size) return 0;
    to->data = malloc(from->size);
    if (!to->data) return fault_memory(f);
    memcpy(to->data, from->data, from->size);
    return 0;
}

static int read_finding(stream *s, survey_finding *finding, const survey_file *file, fault *f)
{
    const uint64_t size = whole(s, 0, 8);
    if (!size && !s->failed) return 0;
    finding_fields(s, &finding->found);
    if (s->failed || size > (uint64_t)(s->end - s->at)) return survey_file_fault(file, f);
    finding->size = (size_t)size;
    finding->data = malloc(finding->size);
    if (!finding->data) return fault_memory(f);
    bytes(s, finding->data, finding->size);
    return 0;
}

/* Everything between the magic and the checksum. */
static int read_content(survey_file *file, stream *s, fault *f)
{
    const unsigned version = (unsigned)whole(s, 0, 4);
    if (!s->failed && version != VERSION)
        return fault_set(f, EXIT_DATA,
                         "%s is a survey of format %u, and this histo reads format %d: make all surveys with one "
                         "version of histo",
                         file->name, version, VERSION);
    const uint64_t size = whole(s, 0, 8);
    if (s->failed || size > (uint64_t)(s->end - s->at)) return survey_file_fault(file, f);
    if (!(file->shards = manifest_read((const char *)s->at, (size_t)size, file->name, f))) return -1;
    s->at += size;
    const uint64_t axes = whole(s, 0, 4), passes = whole(s, 0, 4), left = (uint64_t)(s->end - s->at);
    if (s->failed || axes < 1 || axes > MAX_COLUMNS || passes < 1 || passes > MAX_PASSES || axes > left / AXIS_BYTES ||
        axes * passes > left / 8)
        return survey_file_fault(file, f);
    if (survey_file_make_room(file, (int)axes, (int)passes, f) != 0) return -1;
    for (int a = 0; a < file->axes; a++) {
        file->dtypes[a] = dtype_field(s, HISTO_U8);
        file->pixels[a] = flag(s, false);
        spec_fields(s, &file->specs[a]);
    }
    for (int i = 0; i < file->axes * file->passes; i++)
        if (read_finding(s, &file->findings[i], file, f) != 0) return -1;
    return s->failed || s->at != s->end ? survey_file_fault(file, f) : 0;
}

static int read_all(survey_file *file, const char *data, size_t size, fault *f)
{
    const unsigned char *begin = (const unsigned char *)data;
    if (size < sizeof magic + CHECKSUM_BYTES || memcmp(data, magic, sizeof magic) != 0)
        return survey_file_fault(file, f);
    const size_t summed = size - CHECKSUM_BYTES;
    stream sum = {.at = begin + summed, .end = begin + size}, s = {.at = begin + sizeof magic, .end = begin + summed};
    if (whole(&sum, 0, CHECKSUM_BYTES) != text_checksum(data, summed)) return survey_file_fault(file, f);
    return read_content(file, &s, f);
}

int survey_file_read(survey_file *file, const char *path, fault *f)
{
    size_t size;
    char *data = text_of_file(path, LARGEST_FILE, &size);
    *file = (survey_file){.name = strdup(path)};
    if (!data || !file->name) {
        const int error = errno;
        free(data);
        return fault_set(f, EXIT_DATA, "%s: %s", path,
                         error == ENOENT ? "there is no such file" : strerror(error ? error : ENOMEM));
    }
    const int failed = read_all(file, data, size, f);
    free(data);
    return failed;
}

static void write_content(const survey_file *file, const char *shards, size_t size, FILE *out)
{
    stream s = {.out = out};
    fwrite(magic, 1, sizeof magic, out);
    whole(&s, VERSION, 4);
    whole(&s, size, 8);
    fwrite(shards, 1, size, out);
    whole(&s, (uint64_t)file->axes, 4);
    whole(&s, (uint64_t)file->passes, 4);
    for (int a = 0; a < file->axes; a++) {
        bins_spec spec = file->specs[a];
        dtype_field(&s, file->dtypes[a]);
        flag(&s, file->pixels[a]);
        spec_fields(&s, &spec);
    }
    for (int i = 0; i < file->axes * file->passes; i++) {
        survey_finding finding = file->findings[i];
        whole(&s, finding.size, 8);
        if (!finding.size) continue;
        finding_fields(&s, &finding.found);
        bytes(&s, finding.data, finding.size);
    }
}

int survey_file_write(const survey_file *file, FILE *out, fault *f)
{
    char *shards = NULL, *content = NULL;
    size_t shards_size = 0, size = 0;
    FILE *memory = open_memstream(&shards, &shards_size);
    if (memory) manifest_write(file->shards, memory);
    int failed = memory && fclose(memory) == 0 ? 0 : fault_memory(f);
    memory = failed ? NULL : open_memstream(&content, &size);
    if (memory) write_content(file, shards, shards_size, memory);
    if (!failed && (!memory || fclose(memory) != 0)) failed = fault_memory(f);
    if (!failed) {
        fwrite(content, 1, size, out);
        whole(&(stream){.out = out}, text_checksum(content, size), CHECKSUM_BYTES);
    }
    free(content);
    free(shards);
    return failed;
}
