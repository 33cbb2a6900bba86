/* Selecting the reader of a file: by options, else the first in the table that recognises the content. */
#define _GNU_SOURCE
#include "input/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/module.h"
#include "input/readers/images/paged.h"
#include "input/readers/readers.h"
#include "input/readers/text/text_encoding.h"
#include "input/stream/folder.h"

#define READER(id, ...) const reader_kind reader_##id = {.name = #id, __VA_ARGS__};
#include "input/readers/readers.def"
#undef READER

static const reader_kind *const readers[] = {
#define READER(id, ...) &reader_##id,
#include "input/readers/readers.def"
#undef READER
};

enum { READER_COUNT = sizeof readers / sizeof *readers };

const reader_kind *reader_kind_at(int i)
{
    return i >= 0 && i < READER_COUNT ? readers[i] : NULL;
}

/* "png, jpeg": the names of all readers, or of those with recognisable files. */
static const char *list_readers(bool recognised, char names[512])
{
    size_t length = 0;
    names[0] = '\0';
    for (int i = 0; i < READER_COUNT; i++)
        if (readers[i]->recognise || readers[i]->begins[0].size || !recognised)
            length += (size_t)snprintf(names + length, 512 - length, length ? ", %s" : "%s", readers[i]->name);
    return names;
}

bool reader_recognises(const reader_kind *kind, const unsigned char *head, size_t size, const char *path)
{
    const size_t signatures = sizeof kind->begins / sizeof *kind->begins;
    for (size_t i = 0; i < signatures && kind->begins[i].size; i++)
        if (size >= kind->begins[i].size && memcmp(head, kind->begins[i].bytes, kind->begins[i].size) == 0) return true;
    return kind->recognise && kind->recognise(head, size, path);
}

static const reader_kind *find_named(const char *name, fault *f)
{
    char names[512];
    for (int i = 0; i < READER_COUNT; i++)
        if (strcmp(readers[i]->name, name) == 0) return readers[i];
    fault_set(f, EXIT_USAGE, "there is no format '%s': --format takes %s", name, list_readers(false, names));
    return NULL;
}

static const reader_kind *find_by_content(const unsigned char *head, size_t size, const char *path, const char *purpose,
                                          fault *f)
{
    char names[512], room[8];
    const char *suffix = strrchr(path, '.');
    int line = 0;
    if (saved_begins((const char *)head, size)) {
        fault_set(f, EXIT_DATA, "%s holds histograms, not samples: draw them with histo show", path);
        return NULL;
    }
    for (int i = 0; i < READER_COUNT; i++)
        if (reader_recognises(readers[i], head, size, path)) return readers[i];
    const int stray = text_stray_control(head, size, &line);
    if (size >= 2 && ((head[0] == 0xff && head[1] == 0xfe) || (head[0] == 0xfe && head[1] == 0xff)))
        fault_set(f, EXIT_DATA, "%s looks like UTF-16 text: convert it to UTF-8 first (iconv -f UTF-16 -t UTF-8)",
                  path);
    else if (suffix && strcasecmp(suffix, ".img") == 0)
        fault_set(f, EXIT_DATA, "%s has no header: name the .hdr file that describes it, or its samples with --dtype",
                  path);
    else if (stray >= 0)
        fault_set(f, EXIT_DATA,
                  "%s is text but for the control character %s in line %d: take such characters out%s, or read them as "
                  "they are with --format text",
                  path, text_control_name(stray, room), line,
                  stray == 0x1b ? " (colours: sed 's/\\x1b\\[[0-9;]*m//g')" : "");
    else if (purpose)
        fault_set(f, EXIT_DATA, "%s is binary and of unknown format: %s are read from %s", path, purpose,
                  list_readers(true, names));
    else
        fault_set(f, EXIT_DATA,
                  "%s is binary and of unknown format: describe its samples with --dtype (and --shape, --offset, "
                  "--endian), or count its bytes with --bytes",
                  path);
    return NULL;
}

/* Fail for options that mean nothing for this format: the user expected another format. */
static int reject_idle_options(const reader_kind *kind, const read_options *o, const char *path, fault *f)
{
    const bool layout = kind->takes & TAKES_LAYOUT;
    if (!layout && o->has_dtype)
        return fault_set(f, EXIT_USAGE, "--dtype describes raw binary samples and does not go with --%s%s",
                         o->format ? "format " : "", o->format ? o->format : "bytes");
    if (!layout && (o->ndim || o->offset || o->big_endian))
        return fault_set(
            f, EXIT_USAGE,
            "%s was read as %s, and --shape, --offset and --endian describe raw binary samples: add --dtype", path,
            kind->name);
    if (!(kind->takes & TAKES_DATASETS) && o->dataset)
        return fault_set(
            f, EXIT_USAGE,
            "%s was read as %s, and --dataset is for files that hold several arrays or tables: leave it out", path,
            kind->name);
    if (!(kind->takes & TAKES_QUERIES) && o->query)
        return fault_set(f, EXIT_USAGE, "%s was read as %s, and --query is for SQLite databases: leave it out", path,
                         kind->name);
    if (!(kind->takes & TAKES_WINDOWS) && o->window)
        return fault_set(f, EXIT_USAGE,
                         "%s was read as %s, and --window is for DICOM images: stretch a range with -r LO:HI", path,
                         kind->name);
    if (!(kind->takes & TAKES_RAW) && o->raw)
        return fault_set(f, EXIT_USAGE, "%s was read as %s, whose samples are read as they are stored: leave --raw out",
                         path, kind->name);
    if (!(kind->takes & TAKES_PAGES) && o->page > 0)
        return fault_set(f, EXIT_USAGE, "%s was read as %s, which has one page: leave --page out", path, kind->name);
    return 0;
}

static const char *module_of(const reader_kind *kind)
{
    return kind->module ? kind->module : kind->name;
}

bool reader_is_there(const reader_kind *kind)
{
    return kind->open || kind->pages || module_is_there(module_of(kind));
}

/* NAME_open or NAME_pages of the format's module. */
static void *find_in_module(const reader_kind *kind, const input *in, fault *f)
{
    char name[32];
    if (kind->library && !reader_is_there(kind)) {
        fault_set(
            f, EXIT_DATA,
            "%s is in the format %s, which this build of histo cannot read: build it with %s, or convert the file%s%s",
            input_name(in), kind->name, kind->library, kind->convert ? ": " : "", kind->convert ? kind->convert : "");
        return NULL;
    }
    snprintf(name, sizeof name, "%s_%s", kind->name, kind->paged ? "pages" : "open");
    return module_symbol(module_of(kind), name, input_name(in), f);
}

reader *reader_open_as(const reader_kind *kind, input *in, const read_options *options, fault *f)
{
    reader_open_function *open = kind->open;
    const paged_format *pages = kind->pages;
    void *symbol = open || pages ? NULL : find_in_module(kind, in, f);
    if (symbol && kind->paged) pages = symbol;
    if (symbol && !kind->paged) open = (reader_open_function *)symbol;
    reader *r = pages ? paged_open(pages, in, options, f) : open ? open(in, options, f) : NULL;
    if (r)
        r->kind = kind;
    else
        input_close(in);
    return r;
}

void reader_close(reader *r)
{
    if (!r) return;
    input *in = r->in;
    reader_destroy(r);
    input_close(in);
}

int reader_select(reader *r, const int *channels, const channel_form *forms, int count, fault *f)
{
    selection *s = &r->selected;
    for (int i = 0; i < count; i++) /* another reader of this file may have found it */
        if (channels[i] >= r->channels && r->find_more) r->find_more(r);
    for (int i = 0; i < count; i++)
        if (channels[i] < 0 || channels[i] >= r->channels)
            return fault_set(f, EXIT_USAGE, "%s has no channel %d: its channels are 0 to %d", input_name(r->in),
                             channels[i], r->channels - 1);
    if (count < 1) return fault_set(f, EXIT_USAGE, "no channel of %s was asked for", input_name(r->in));
    const size_t n = (size_t)count;
    arena_free(&s->memory);
    *s = (selection){.count = count};
    s->wanted = arena_take(&s->memory, n, sizeof *s->wanted);
    s->views = arena_take(&s->memory, n, sizeof *s->views);
    if (forms) s->forms = arena_take(&s->memory, n, sizeof *s->forms);
    if (!s->wanted || !s->views || (forms && !s->forms))
        return fault_set(f, EXIT_DATA, "no memory to read %d channels of %s", count, input_name(r->in));
    memcpy(s->wanted, channels, n * sizeof *channels);
    if (forms) memcpy(s->forms, forms, n * sizeof *forms);
    return r->select ? r->select(r, f) : 0;
}

/* Open the file, or the one that represents a directory; *kind is that of the directory. */
static input *open_path(const char *path, const reader_kind **kind, fault *f)
{
    char *zarr = folder_zarr(path), *dicom = NULL;
    if (!zarr && (!*kind || *kind == &reader_dicom)) dicom = folder_dicom(path, *kind);
    input *in = input_open(zarr ? zarr : dicom ? dicom : path, f);
    if (in && dicom) {
        *kind = &reader_dicom;
        if (input_rename(in, path, f) != 0) {
            input_close(in);
            in = NULL;
        }
    }
    free(zarr);
    free(dicom);
    return in;
}

reader *reader_open(const char *path, const read_options *options, bool keep, fault *f)
{
    const reader_kind *kind = NULL;
    if (options->format) {
        kind = find_named(options->format, f);
        if (!kind) return NULL;
    } else if (options->bytes) {
        kind = &reader_bytes;
    } else if (options->has_dtype) {
        kind = &reader_raw;
    }
    input *in = open_path(path, &kind, f);
    if (!in) return NULL;
    input_wait_with(in, options->waiter);
    size_t size = 0;
    const unsigned char *head = input_peek(in, &size, f);
    if (!head) goto fail;
    if (size == 0) {
        fault_set(f, EXIT_DATA, "%s is empty", input_name(in));
        goto fail;
    }
    if (!kind) kind = find_by_content(head, size, input_name(in), options->purpose, f);
    if (!kind || reject_idle_options(kind, options, input_name(in), f) != 0) goto fail;
    if (keep && !(kind->once && options->about) && input_keep(in, f) != 0) goto fail;
    return reader_open_as(kind, in, options, f);

fail:
    input_close(in);
    return NULL;
}

/* ---- Saved histograms ------------------------------------------------------------------------------------ */

static bool begins_with(const char *data, size_t size, const char *magic)
{
    return size >= strlen(magic) && memcmp(data, magic, strlen(magic)) == 0;
}

bool saved_is_set(const char *data, size_t size)
{
    return begins_with(data, size, SAVED_SET_MAGIC);
}

bool saved_is_binary(const char *data, size_t size)
{
    return begins_with(data, size, "\x93HISTO\r\n");
}

bool saved_is_object(const char *data, size_t size)
{
    size_t at = 0;
    while (at < size && strchr(" \t\r\n", data[at]) && data[at])
        at++;
    return at < size && data[at] == '{';
}

bool saved_begins(const char *head, size_t size)
{
    return saved_is_set(head, size) || saved_is_binary(head, size) ||
           (saved_is_object(head, size) && memmem(head, size, "\"uhi_schema\"", 12));
}

/* ---- For readers ---------------------------------------------------------------------------------------- */

void *reader_create(size_t size, input *in, reader_functions functions, fault *f)
{
    reader *r = calloc(1, size);
    if (!r) {
        fault_set(f, EXIT_DATA, "no memory to read %s", input_name(in));
        return NULL;
    }
    *r = (reader){.in = in,
                  .pages = 1,
                  .select = functions.select,
                  .next = functions.next,
                  .rewind = functions.rewind,
                  .close = functions.close};
    return r;
}

void reader_destroy(reader *r)
{
    if (r->close) r->close(r);
    metadata_release(r->about);
    arena_free(&r->selected.memory);
    arena_free(&r->memory);
    free(r);
}

void reader_interleaved_views(histo_view *views, const int *wanted, int count, const void *base, histo_dtype dtype,
                              int channels, int64_t rows, int64_t cols, int64_t pitch_bytes)
{
    size_t size = histo_dtype_size(dtype);
    for (int i = 0; i < count; i++)
        views[i] = (histo_view){.data = (const char *)base + (size_t)wanted[i] * size,
                                .dtype = dtype,
                                .ndim = 2,
                                .shape = {rows, cols},
                                .strides = {pitch_bytes, (int64_t)size * channels}};
}
