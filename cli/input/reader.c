/* Which reader a file gets: the one that the options call for, else the first in the table that recognises the
 * content. */
#include "input/reader.h"

#include <stdio.h>
#include <string.h>

#include "input/readers/readers.h"
#include "output/saved.h"

static const reader_kind *const readers[] = {
#define READER(name) &reader_##name,
#include "input/readers/readers.def"
#undef READER
};

enum { READER_COUNT = sizeof readers / sizeof *readers };

const reader_kind *reader_kind_at(int i)
{
    return i >= 0 && i < READER_COUNT ? readers[i] : NULL;
}

/* "png, jpeg": the names of all readers, or of those that recognise their files. */
static const char *list_readers(bool recognised, char known[512])
{
    size_t length = 0;
    known[0] = '\0';
    for (int i = 0; i < READER_COUNT; i++)
        if (readers[i]->recognize || !recognised)
            length += (size_t)snprintf(known + length, 512 - length, length ? ", %s" : "%s", readers[i]->name);
    return known;
}

static const reader_kind *find_named(const char *name, fault *f)
{
    char known[512];
    for (int i = 0; i < READER_COUNT; i++)
        if (strcmp(readers[i]->name, name) == 0) return readers[i];
    fault_set(f, EXIT_USAGE, "there is no format '%s': --format takes %s", name, list_readers(false, known));
    return NULL;
}

static const reader_kind *find_by_content(const unsigned char *head, size_t size, const char *path, const char *purpose,
                                          fault *f)
{
    char known[512];
    if (saved_begins(head, size)) {
        fault_set(f, EXIT_DATA, "%s holds histograms, not samples: see them with histo show", path);
        return NULL;
    }
    for (int i = 0; i < READER_COUNT; i++)
        if (readers[i]->recognize && readers[i]->recognize(head, size, path)) return readers[i];
    if (size >= 2 && ((head[0] == 0xff && head[1] == 0xfe) || (head[0] == 0xfe && head[1] == 0xff)))
        fault_set(f, EXIT_DATA, "%s seems to be UTF-16 text: convert it to UTF-8 first (iconv -f UTF-16 -t UTF-8)",
                  path);
    else if (purpose)
        fault_set(f, EXIT_DATA, "%s is binary and of no format known here: %s are read from %s", path, purpose,
                  list_readers(true, known));
    else
        fault_set(f, EXIT_DATA,
                  "%s is binary and of no format known here: describe its samples with --dtype (and --shape, --offset, "
                  "--endian), or count its bytes with --bytes",
                  path);
    return NULL;
}

/* Options that the chosen reader would not look at were meant for another one: refuse them rather than ignore them. */
static int refuse_idle_options(const reader_kind *kind, const read_options *o, const char *path, fault *f)
{
    bool raw = kind == &reader_raw, datasets = kind == &reader_hdf5 || kind == &reader_npz;
    bool pages = !(raw || datasets || kind == &reader_npy || kind == &reader_bytes || kind == &reader_text);
    if (!raw && o->has_dtype)
        return fault_set(f, EXIT_USAGE, "--dtype describes raw binary samples and cannot go with --%s%s",
                         o->format ? "format " : "", o->format ? o->format : "bytes");
    if (!raw && (o->ndim || o->offset || o->big_endian))
        return fault_set(
            f, EXIT_USAGE,
            "%s was taken as %s, and --shape, --offset and --endian describe raw binary samples: add --dtype", path,
            kind->name);
    if (!datasets && o->dataset)
        return fault_set(f, EXIT_USAGE, "%s was taken as %s, and --dataset is for HDF5 and .npz files: leave it out",
                         path, kind->name);
    if (!pages && o->page > 0)
        return fault_set(f, EXIT_USAGE, "%s was taken as %s, which has one page: leave --page out", path, kind->name);
    return 0;
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
    input *in = input_open(path, f);
    if (!in) return NULL;
    size_t size = 0;
    const unsigned char *head = input_peek(in, &size, f);
    if (!head) goto fail;
    if (size == 0) {
        fault_set(f, EXIT_DATA, "%s is empty", input_name(in));
        goto fail;
    }
    if (!kind) kind = find_by_content(head, size, input_name(in), options->purpose, f);
    if (!kind || refuse_idle_options(kind, options, input_name(in), f) != 0) goto fail;
    if (keep && input_keep(in, f) != 0) goto fail;
    return kind->open(in, options, f);

fail:
    input_close(in);
    return NULL;
}
