#define _GNU_SOURCE
#include "output/saved.h"

#include <errno.h>
#include <inttypes.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/failure.h"
#include "input/reader.h"
#include "output/labels.h"

static const size_t largest_file = (size_t)1 << 36;

/* ---- Saving --------------------------------------------------------------------------------------------- */

/* The length of the UTF-8 character at text; 0 if invalid. */
static size_t character_bytes(const unsigned char *text)
{
    size_t size = text[0] < 0x80   ? 1
                  : text[0] < 0xc2 ? 0
                  : text[0] < 0xe0 ? 2
                  : text[0] < 0xf0 ? 3
                  : text[0] < 0xf5 ? 4
                                   : 0;
    for (size_t i = 1; i < size; i++)
        if ((text[i] & 0xc0) != 0x80) return 0;
    bool surrogate = text[0] == 0xed && text[1] >= 0xa0,
         overlong = (text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xf0 && text[1] < 0x90);
    return surrogate || overlong || (text[0] == 0xf4 && text[1] >= 0x90) ? 0 : size;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* Add a name to a tree of tsearch: 1, 0 if it is already there, -1 without memory. */
static int add_name(void **names, const char *name)
{
    void *const *node = tsearch(name, names, compare_names);
    return !node ? -1 : *node == name;
}

/* A key for series i: valid UTF-8, not empty, unique among `given`, which owns it. NULL without memory. */
static const char *make_key(const result *r, int i, void **given)
{
    enum { SUFFIX = 24 };
    char text[400];
    if (!r->series[i].name && r->count == 1)
        snprintf(text, sizeof text, "histogram");
    else
        label_of_series(r, i, text, sizeof text - SUFFIX);
    for (unsigned char *c = (unsigned char *)text; *c;) {
        size_t bytes = character_bytes(c);
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
    if (histo_hist_batch(r->series[i].hist) > 1)
        return fault_set(f, EXIT_DATA, "a batch of histograms cannot be saved: %s",
                         result_is_sparse(r) ? "draw it with --to text" : "write its table, npy or picture");
    if (histo_hist_save(r->series[i].hist, format, key, &saved, size) != HISTO_OK)
        return fault_of_library(f, EXIT_DATA, "the histogram cannot be saved");
    *data = saved;
    return 0;
}

/* Write the members of an object, after earlier ones. */
static void put_members(const char *data, size_t size, bool first, FILE *out)
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
    fputs(first ? "{" : ",", out);
    fwrite(data + begin, 1, end - begin, out);
}

/* Each histogram is saved as an object; the members of all are merged into one object. */
int saved_write_json(const result *r, FILE *out, fault *f)
{
    void *keys = NULL;
    int failed = 0;
    for (int i = 0; i < r->count && !failed; i++) {
        char *data = NULL;
        size_t size;
        const char *key = make_key(r, i, &keys);
        failed = key ? save_one(r, i, HISTO_JSON, key, &data, &size, f)
                     : fault_set(f, EXIT_DATA, "no memory for the names of %d histograms", r->count);
        if (!failed) put_members(data, size, i == 0, out);
        histo_free(data);
    }
    tdestroy(keys, free);
    if (!failed) fputs("\n}\n", out);
    return failed;
}

int saved_write_binary(const result *r, FILE *out, fault *f)
{
    bool set = r->count > 1 || r->series[0].name;
    if (set) fputs(SAVED_SET_MAGIC, out);
    for (int i = 0; i < r->count; i++) {
        char *data = NULL;
        const char *name = r->series[i].name ? r->series[i].name : "";
        size_t size;
        if (save_one(r, i, HISTO_BINARY, NULL, &data, &size, f) != 0) return -1;
        if (set) fprintf(out, "%zu %zu\n%s", strlen(name), size, name);
        fwrite(data, 1, size, out);
        histo_free(data);
    }
    return 0;
}

/* ---- Members of a JSON object, found by counting brackets outside of strings in valid JSON ---- */

typedef struct saved_member {
    char *name;        /* UTF-8, unescaped; freed by the caller; NULL if memory ran out */
    size_t begin, end; /* "name": value, from the quote on; text[end] is a comma or a bracket */
} saved_member;

/* The position after the string that begins at `at`, or size. */
static size_t string_end(const char *text, size_t size, size_t at)
{
    for (at++; at < size && text[at] != '"'; at++)
        if (text[at] == '\\') at++;
    return at < size ? at + 1 : size;
}

static uint32_t hex4(const char *digits)
{
    char four[5] = {0};
    memcpy(four, digits, 4);
    return (uint32_t)strtoul(four, NULL, 16);
}

static char *put_utf8(char *to, uint32_t c)
{
    static const struct {
        uint32_t below;
        unsigned char lead;
        int more;
    } forms[] = {{0x80, 0, 0}, {0x800, 0xc0, 1}, {0x10000, 0xe0, 2}, {0x110000, 0xf0, 3}};
    int i = 0;
    while (i < 3 && c >= forms[i].below)
        i++;
    *to++ = (char)(forms[i].lead | c >> 6 * forms[i].more);
    for (int k = forms[i].more; k-- > 0;)
        *to++ = (char)(0x80 | (c >> 6 * k & 0x3f));
    return to;
}

/* Decode the string between two quotes. */
static char *decode(const char *from, const char *end)
{
    static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    char *name = malloc((size_t)(end - from) + 1), *to = name;
    while (name && from < end) {
        const char *letter = *from == '\\' && from + 1 < end ? strchr(letters, from[1]) : NULL;
        if (letter && *letter) {
            *to++ = meanings[letter - letters];
            from += 2;
        } else if (*from == '\\' && end - from >= 6 && from[1] == 'u') {
            uint32_t c = hex4(from + 2);
            from += 6;
            if (c >= 0xd800 && c < 0xdc00 && end - from >= 6 && from[0] == '\\' && from[1] == 'u') {
                c = 0x10000 + ((c - 0xd800) << 10) + ((hex4(from + 2) - 0xdc00) & 0x3ff);
                from += 6;
            }
            to = put_utf8(to, c);
        } else {
            *to++ = *from++;
        }
    }
    if (name) *to = '\0';
    return name;
}

/* The position of the comma or bracket after the value that follows `at`. */
static size_t value_end(const char *text, size_t size, size_t at)
{
    int depth = 0;
    while (at < size) {
        char c = text[at];
        if (depth == 0 && strchr(",]}", c) && c) break;
        depth += (c == '{' || c == '[') - (c == '}' || c == ']');
        at = c == '"' ? string_end(text, size, at) : at + 1;
    }
    return at;
}

/* Find the member of the object text[0 … size) after m (all zero at first); false at the end, or if the text is not
 * JSON. */
static bool next_member(const char *text, size_t size, saved_member *m)
{
    const char *quote = memchr(text + m->end, '"', size - m->end);
    if (!quote) return false;
    m->begin = (size_t)(quote - text);
    size_t behind = string_end(text, size, m->begin);
    m->end = value_end(text, size, behind);
    if (m->end == size) return false;
    m->name = decode(quote + 1, text + behind - 1);
    return true;
}

/* ---- Loading -------------------------------------------------------------------------------------------- */

static int load_one(const char *path, const char *data, size_t size, const char *name, result *r, fault *f)
{
    histo_hist *hist;
    histo_status status = histo_hist_load(data, size, NULL, &hist);
    if (status != HISTO_OK) return fault_of_library(f, EXIT_DATA, path);
    return result_add(r, hist, name, f);
}

/* Load a member as if the object had no other: looking each up in the complete document would take quadratic time. */
static histo_status load_alone(char *text, const saved_member *m, histo_hist **hist)
{
    char *first = text + m->begin - 1, *last = text + m->end, before = *first, behind = *last;
    *first = '{';
    *last = '}';
    histo_status status = histo_hist_load(first, m->end - m->begin + 2, m->name, hist);
    *first = before;
    *last = behind;
    return status;
}

/* Unnamed histograms are saved as "histogram". */
static const char *name_of_key(const char *key)
{
    return key && strcmp(key, "histogram") != 0 ? key : NULL;
}

/* names: of the members before. Failures are repeated on the complete document, for the position in the message. */
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
    if (status != HISTO_OK) status = histo_hist_load(text, size, m->name, &hist);
    int failed =
        status != HISTO_OK ? fault_of_library(f, EXIT_DATA, path) : result_add(r, hist, name_of_key(m->name), f);
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

/* Is the object itself a histogram, rather than a set of named ones? */
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
    histo_status status = histo_hist_load(text, size, NULL, &hist);
    if (status == HISTO_INVALID) return load_members(path, text, size, r, f);
    if (status != HISTO_OK) return fault_of_library(f, EXIT_DATA, path);
    saved_member only = {0};
    if (!stands_alone(text, size)) next_member(text, size, &only);
    int failed = result_add(r, hist, name_of_key(only.name), f);
    free(only.name);
    return failed;
}

static int fault_set_file(const char *path, fault *f)
{
    return fault_set(f, EXIT_DATA, "%s is damaged: its headers and histograms do not match; save it again", path);
}

static int load_set(const char *path, const char *data, size_t size, result *r, fault *f)
{
    size_t at = strlen(SAVED_SET_MAGIC);
    while (at < size) {
        char line[64], name[1100];
        size_t name_bytes, bytes;
        const char *end = memchr(data + at, '\n', size - at);
        size_t length = end ? (size_t)(end - data) - at : sizeof line;
        if (length >= sizeof line) return fault_set_file(path, f);
        memcpy(line, data + at, length);
        line[length] = '\0';
        at += length + 1;
        if (sscanf(line, "%zu %zu", &name_bytes, &bytes) != 2 || name_bytes >= sizeof name || name_bytes > size - at ||
            bytes > size - at - name_bytes)
            return fault_set_file(path, f);
        memcpy(name, data + at, name_bytes);
        name[name_bytes] = '\0';
        at += name_bytes;
        if (load_one(path, data + at, bytes, name[0] ? name : NULL, r, f) != 0) return -1;
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
    char *data = text_of_file(piped ? "/dev/stdin" : path, largest_file, &size);
    if (!data && errno == ENOENT) return fault_set(f, EXIT_DATA, "%s: there is no such file", name);
    if (!data) return fault_set(f, EXIT_DATA, "%s cannot be read: %s", name, strerror(errno));
    int failed = 0;
    if (saved_is_set(data, size))
        failed = load_set(name, data, size, r, f);
    else if (size == 0)
        failed = fault_set(f, EXIT_DATA, "%s is empty", name);
    else if (size >= 2 && memcmp(data, "\x1f\x8b", 2) == 0)
        failed = fault_set(f, EXIT_DATA, "%s is compressed: unpack it with gunzip first", name);
    else if (!saved_is_binary(data, size) && !saved_is_object(data, size))
        failed = fault_set(f, EXIT_DATA,
                           "%s is not a saved histogram (JSON or .histo): to count its samples, use histo hist", name);
    else
        failed =
            saved_is_binary(data, size) ? load_one(name, data, size, NULL, r, f) : load_json(name, data, size, r, f);
    free(data);
    if (!failed && r->count == 0) failed = fault_set(f, EXIT_DATA, "%s holds no histogram", name);
    if (failed) return -1;
    if (!r->title && !(r->title = strdup(text_file_name(name))))
        return fault_set(f, EXIT_DATA, "no memory to load %s", name);
    return 0;
}
