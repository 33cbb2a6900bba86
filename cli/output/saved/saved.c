#define _GNU_SOURCE
#include "output/saved/saved.h"

#include <errno.h>
#include <inttypes.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/failure.h"
#include "base/progress.h"
#include "base/text.h"
#include "input/reader.h"
#include "input/stream/decoder.h"
#include "output/forms.h"
#include "output/labels.h"
#include "output/saved/json_members.h"
#include "output/saved/moments.h"
#include "output/saved/saved_metadata.h"

static const size_t largest_file = (size_t)1 << 36;

/* ---- Saving --------------------------------------------------------------------------------------------- */

static int compare_names(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* Add a name to a tree of tsearch: 1, 0 if it is already there, -1 if out of memory. */
static int add_name(void **names, const char *name)
{
    void *const *node = tsearch(name, names, compare_names);
    return !node ? -1 : *node == name;
}

/* A key for series i: valid UTF-8, not empty, unique among `given`, which owns it. NULL if out of memory. */
static const char *make_key(const result *r, int i, void **given)
{
    enum { SUFFIX = 24 };
    char text[400];
    if (!r->series[i].name && r->count == 1)
        snprintf(text, sizeof text, "histogram");
    else
        label_of_series(r, i, text, sizeof text - SUFFIX);
    for (char *c = text; *c;) {
        size_t bytes = text_character_bytes(c);
        if (!bytes) *c = '?';
        c += bytes ? bytes : 1;
    }
    size_t length = strlen(text);
    for (int suffix = i;; suffix++) {
        if (*text && strcmp(text, "uhi_schema") != 0) {
            char *key = strdup(text);
            int added = key ? add_name(given, key) : -1;
            if (added > 0) return key;
            free(key);
            if (added < 0) return NULL;
        }
        snprintf(text + length, SUFFIX, " (%d)", suffix);
    }
}

static int save_one(const result *r, int i, histo_format format, const char *key, char **data, size_t *size, fault *f)
{
    void *saved;
    histo_hist_set_name(r->series[i].hist, NULL); /* the key, or the set, stores it */
    if (histo_hist_batch(r->series[i].hist) > 1)
        return fault_set(f, EXIT_DATA, "a batch of histograms cannot be saved: %s",
                         result_is_sparse(r) ? "draw it with --to text" : "write its table, npy or picture");
    progress_watch("saving");
    const histo_status status = histo_hist_save(r->series[i].hist, format, key, &saved, size);
    progress_unwatch();
    if (status != HISTO_OK) return fault_of_library(f, EXIT_DATA, "the histogram cannot be saved");
    *data = saved;
    return 0;
}

/* Write the members of an object, after earlier ones. */
static void put_members(int i, const char *data, size_t size, FILE *out)
{
    size_t begin = 0, end = size;
    while (begin < size && data[begin] != '{')
        begin++;
    while (end > begin && data[end - 1] != '}')
        end--;
    begin++;
    end--;
    while (end > begin && strchr(" \n", data[end - 1]))
        end--;
    fputs(i == 0 ? "{" : ",", out);
    fwrite(data + begin, 1, end - begin, out);
}

static int put_with_forms(const result *r, int i, const char *data, size_t size, FILE *out, fault *f)
{
    char *with = forms_any(r, i) ? forms_in_json(r, i, data, &size) : NULL;
    if (forms_any(r, i) && !with) return fault_set(f, EXIT_DATA, "no memory for the names of bins");
    put_members(i, with ? with : data, size, out);
    free(with);
    return 0;
}

/* Each histogram is saved as an object; the members of all are merged into one object. */
int saved_write_json(const result *r, const settings *s, FILE *out, fault *f)
{
    void *keys = NULL;
    int failed = 0;
    for (int i = 0; i < r->count && !failed; i++) {
        char *data = NULL;
        size_t size;
        const char *key = make_key(r, i, &keys);
        failed = key ? saved_metadata_set(r, i, s, f)
                     : fault_set(f, EXIT_DATA, "no memory for the names of %d histograms", r->count);
        if (!failed) failed = save_one(r, i, HISTO_JSON, key, &data, &size, f);
        if (!failed) failed = put_with_forms(r, i, data, size, out, f);
        histo_free(data);
    }
    tdestroy(keys, free);
    if (!failed) fputs("\n}\n", out);
    return failed;
}

/* False if out of memory. */
static bool put_manifest(const manifest *m, FILE *to)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out) manifest_write(m, out);
    const bool good = out && fclose(out) == 0;
    if (good) fprintf(to, "shards %08" PRIx32 " %zu\n%s", text_checksum(text, size), size, text);
    free(text);
    return good;
}

/* Write the line of moments in a set. */
static int put_moments_line(const series *of, FILE *out, fault *f)
{
    size_t size;
    char *text = moments_text(of, &size);
    if (!text) return fault_set(f, EXIT_DATA, "no memory for the moments of a histogram");
    fprintf(out, "moments %zu\n%s", size, text);
    free(text);
    return 0;
}

int saved_write_binary(const result *r, bool with_moments, FILE *out, fault *f)
{
    bool set = r->count > 1 || r->series[0].name || r->shards || forms_any(r, 0);
    for (int i = 0; i < r->count && with_moments; i++)
        set = set || r->series[i].sums;
    if (set) fputs(SAVED_SET_MAGIC, out);
    if (r->shards && !put_manifest(r->shards, out)) return fault_set(f, EXIT_DATA, "no memory for the list of files");
    for (int i = 0; i < r->count; i++) {
        char *data = NULL;
        const char *name = r->series[i].name ? r->series[i].name : "";
        size_t size;
        if (saved_metadata_set(r, i, NULL, f) != 0 || save_one(r, i, HISTO_BINARY, NULL, &data, &size, f) != 0)
            return -1;
        forms_put(r, i, out);
        if (with_moments && r->series[i].sums && put_moments_line(&r->series[i], out, f) != 0) {
            histo_free(data);
            return -1;
        }
        if (set) fprintf(out, "%zu %zu\n%s", strlen(name), size, name);
        fwrite(data, 1, size, out);
        histo_free(data);
    }
    return 0;
}

/* ---- Loading -------------------------------------------------------------------------------------------- */

static histo_status load_watched(const void *data, size_t size, const char *key, histo_hist **hist)
{
    progress_watch("loading");
    const histo_status status = histo_hist_load(data, size, key, hist);
    progress_unwatch();
    return status;
}

static int load_one(const char *path, const char *data, size_t size, const char *name, result *r, fault *f)
{
    histo_hist *hist;
    histo_status status = load_watched(data, size, NULL, &hist);
    if (status != HISTO_OK) return fault_of_library(f, EXIT_DATA, path);
    return result_add(r, hist, name ? name : histo_hist_name(hist), f);
}

/* Load a member as if the object had no other: looking each up in the complete document would take quadratic time. */
static histo_status load_alone(char *text, const saved_member *m, histo_hist **hist)
{
    char *first = text + m->begin - 1, *last = text + m->end, before = *first, behind = *last;
    *first = '{';
    *last = '}';
    histo_status status = load_watched(first, m->end - m->begin + 2, m->name, hist);
    *first = before;
    *last = behind;
    return status;
}

/* Unnamed histograms are saved as "histogram". */
static const char *name_of_key(const char *key)
{
    return key && strcmp(key, "histogram") != 0 ? key : NULL;
}

/* names: of the earlier members. Failures are repeated on the complete document, for the position in the message. */
static int load_member(const char *path, char *text, size_t size, const saved_member *m, void **names, result *r,
                       fault *f)
{
    histo_hist *hist;
    int added = m->name ? add_name(names, m->name) : -1;
    if (added < 0) {
        free(m->name);
        return fault_set(f, EXIT_DATA, "no memory to load %s", path);
    }
    histo_status status = added ? load_alone(text, m, &hist) : HISTO_INVALID;
    if (status != HISTO_OK) status = load_watched(text, size, m->name, &hist);
    int failed =
        status != HISTO_OK ? fault_of_library(f, EXIT_DATA, path) : result_add(r, hist, name_of_key(m->name), f);
    if (!failed) failed = forms_from_json(r, text + m->value, m->end - m->value, path, f);
    if (!failed) failed = saved_metadata_give_moments(r, path, f);
    if (!added) free(m->name);
    return failed;
}

static int load_members(const char *path, char *text, size_t size, result *r, fault *f)
{
    void *names = NULL;
    int failed = 0;
    for (saved_member m = {0}; !failed && next_member(text, size, &m);)
        failed = load_member(path, text, size, &m, &names, r, f);
    tdestroy(names, free);
    return failed;
}

/* Whether the object itself is a histogram, rather than a set of named ones. */
static bool stands_alone(const char *text, size_t size)
{
    bool found = false;
    for (saved_member m = {0}; !found && next_member(text, size, &m); free(m.name))
        found = m.name && strcmp(m.name, "uhi_schema") == 0;
    return found;
}

/* Try the complete document first: INVALID means JSON with several histograms. */
static int load_json(const char *path, char *text, size_t size, result *r, fault *f)
{
    histo_hist *hist;
    histo_status status = load_watched(text, size, NULL, &hist);
    if (status == HISTO_INVALID) return load_members(path, text, size, r, f);
    if (status != HISTO_OK) return fault_of_library(f, EXIT_DATA, path);
    saved_member only = {.end = size};
    if (!stands_alone(text, size)) {
        only.end = 0;
        next_member(text, size, &only);
    }
    int failed = result_add(r, hist, name_of_key(only.name), f);
    if (!failed) failed = forms_from_json(r, text + only.value, only.end - only.value, path, f);
    if (!failed) failed = saved_metadata_give_moments(r, path, f);
    free(only.name);
    return failed;
}

static int fault_set_file(const char *path, fault *f)
{
    return fault_set(f, EXIT_DATA, "%s is damaged: its headers and histograms do not match; save it again", path);
}

enum { SET_LINE_BYTES = 64 };

/* Read the line at *at and advance past it; false if it is too long. */
static bool take_line(const char *data, size_t size, size_t *at, char line[SET_LINE_BYTES])
{
    const char *end = memchr(data + *at, '\n', size - *at);
    size_t length = end ? (size_t)(end - data) - *at : SET_LINE_BYTES;
    if (length >= SET_LINE_BYTES) return false;
    memcpy(line, data + *at, length);
    line[length] = '\0';
    *at += length + 1;
    return true;
}

static void drop_manifest(result *r)
{
    manifest_free(r->shards);
    r->shards = NULL;
}

/* Read the manifest that may be at *at, and advance past it. */
static int load_manifest(const char *path, const char *data, size_t size, size_t *at, result *r, fault *f)
{
    char line[SET_LINE_BYTES];
    size_t bytes, behind = *at;
    uint32_t sum;
    if (!take_line(data, size, &behind, line) || sscanf(line, "shards %8" SCNx32 " %zu", &sum, &bytes) != 2) return 0;
    if (bytes > size - behind || text_checksum(data + behind, bytes) != sum) return fault_set_file(path, f);
    drop_manifest(r);
    r->shards = manifest_read(data + behind, bytes, path, f);
    *at = behind + bytes;
    return r->shards ? 0 : -1;
}

static int load_set(const char *path, const char *data, size_t size, result *r, fault *f)
{
    size_t at = strlen(SAVED_SET_MAGIC);
    if (load_manifest(path, data, size, &at, r, f) != 0) return -1;
    saved_forms forms = {0};
    const char *moments = NULL; /* of the next histogram */
    size_t moments_bytes = 0;
    while (at < size) {
        char line[SET_LINE_BYTES], name[1100];
        size_t name_bytes, bytes;
        if (!take_line(data, size, &at, line)) return fault_set_file(path, f);
        const int taken = forms_take(&forms, line, data, size, &at);
        if (taken < 0) return fault_set_file(path, f);
        if (taken) continue;
        if (sscanf(line, "moments %zu", &bytes) == 1) {
            if (bytes > size - at) return fault_set_file(path, f);
            moments = data + at;
            moments_bytes = bytes;
            at += bytes;
            continue;
        }
        if (sscanf(line, "%zu %zu", &name_bytes, &bytes) != 2 || name_bytes >= sizeof name || name_bytes > size - at ||
            bytes > size - at - name_bytes)
            return fault_set_file(path, f);
        memcpy(name, data + at, name_bytes);
        name[name_bytes] = '\0';
        at += name_bytes;
        if (load_one(path, data + at, bytes, name[0] ? name : NULL, r, f) != 0) {
            forms_free(&forms);
            return -1;
        }
        if (!forms_give(&forms, r) || (moments && !moments_give(r, moments, moments_bytes)))
            return fault_set_file(path, f);
        moments = NULL;
        at += bytes;
    }
    return 0;
}

bool saved_is_file(const char *path)
{
    struct stat status;
    fault ignored = {0};
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode)) return false;
    input *in = input_open(path, &ignored);
    size_t size = 0;
    const unsigned char *head = in ? input_peek(in, &size, &ignored) : NULL;
    const bool saved = head && saved_begins((const char *)head, size);
    input_close(in);
    return saved;
}

int saved_load(const char *path, result *r, fault *f)
{
    bool piped = strcmp(path, "-") == 0;
    const char *name = piped ? "standard input" : path;
    size_t size;
    const bool first = r->count == 0;
    const compression *compressed;
    char *data = text_of_file(piped ? "/dev/stdin" : path, largest_file, &size);
    if (!data && errno == ENOENT) return fault_set(f, EXIT_DATA, "%s: there is no such file", name);
    if (!data) return fault_set(f, EXIT_DATA, "%s cannot be read: %s", name, strerror(errno));
    int failed = 0;
    if (saved_is_set(data, size))
        failed = load_set(name, data, size, r, f);
    else if (size == 0)
        failed = fault_set(f, EXIT_DATA, "%s is empty", name);
    else if ((compressed = compression_of((const unsigned char *)data, size)))
        failed = fault_set(f, EXIT_DATA, "%s is compressed by %s: decompress it first, with %s", name, compressed->name,
                           compressed->command);
    else if (!saved_is_binary(data, size) && !saved_is_object(data, size))
        failed = fault_set(f, EXIT_DATA,
                           "%s is not a saved histogram (JSON or .histo): to count its samples, use histo hist", name);
    else
        failed =
            saved_is_binary(data, size) ? load_one(name, data, size, NULL, r, f) : load_json(name, data, size, r, f);
    free(data);
    if (!failed && r->count == 0) failed = fault_set(f, EXIT_DATA, "%s holds no histogram", name);
    if (!first) drop_manifest(r);
    if (failed) return -1;
    if (!r->title && !(r->title = strdup(text_file_name(name))))
        return fault_set(f, EXIT_DATA, "no memory to load %s", name);
    return 0;
}

int saved_refuse_samples(const settings *s, fault *f)
{
    if (!s->by && !s->weights) return 0;
    return fault_set(f, EXIT_USAGE, "samples of a saved histogram are counted already: leave --%s out",
                     s->by ? "by" : "weights");
}
