/* Readers: one file a format, behind one small interface that streams bands of samples, so that a file larger than
 * memory is a normal input. To add a format: readers/NAME.c defines a reader_kind, and a row in readers/readers.def
 * names it. */
#ifndef CLI_READER_H
#define CLI_READER_H

#include <histo/histo.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "input/input.h"
#include "input/metadata.h"
#include "input/y4m.h"
#include "options/settings.h"

/* A piece of one page: rows x cols samples of each selected channel. The views are two-dimensional, in the samples'
 * dtype and native byte order, and valid until the next call. */
typedef struct band {
    int page;     /* 0-based */
    int64_t y, x; /* position of its first sample in the page */
    int64_t rows, cols;
    histo_view *views; /* one per selected channel, in the requested order. Without pairing, each has its own number of
                          rows, because bad cells are dropped. Channels with steps have fewer samples than pixels */
} band;

typedef enum channel_model {
    CHANNELS_PLAIN = 0, /* columns, or an array: channels have numbers and perhaps names */
    CHANNELS_GRAY,      /* an image: gray */
    CHANNELS_GRAY_ALPHA,
    CHANNELS_RGB,
    CHANNELS_RGBA,
    CHANNELS_CMYK,
    CHANNELS_YUV, /* luma, Cb and Cr, of which the latter may have fewer samples */
    CHANNELS_YUVA,
} channel_model;

/* Pixels of a page for each sample of a channel. */
typedef struct channel_step {
    int x, y;
} channel_step;

typedef struct reader reader;

/* Groups of options that a format supports; others are errors for its files. */
typedef enum reader_takes {
    TAKES_PAGES = 1,    /* --page: files may have several images */
    TAKES_DATASETS = 2, /* --dataset: files may have several arrays, by name */
    TAKES_LAYOUT = 4,   /* --dtype, --shape, --offset and --endian: files do not say */
} reader_takes;

typedef reader *reader_open_function(input *in, const read_options *options, fault *f);

typedef struct reader_kind {
    const char *name;    /* "png": what --format takes */
    const char *formats; /* "PNG images, 8 and 16 bit": a line of `histo info` */
    unsigned takes;      /* of reader_takes */
    bool once;           /* pipes are not copied where images are made from images: frames pass one by one */
    /* Does the content look like this format? head: the beginning of the (gunzipped) data. */
    bool (*recognize)(const unsigned char *head, size_t size, const char *path);
    /* Take ownership of `in` (closed with the reader, also on failure). NULL on failure. Where this is NULL, it is the
     * function NAME_open of the module NAME. */
    reader_open_function *open;
} reader_kind;

struct reader {
    const reader_kind *kind;
    input *in;
    channel_model model;
    int channels;                 /* of the data, at least 1 */
    const char *const *names;     /* [channels]; NULL: no names */
    const histo_dtype *dtypes;    /* [channels] */
    const channel_step *steps;    /* [channels]; NULL: a sample for each pixel */
    const bool *numeric;          /* [channels]; NULL: all. False if the first rows contain only words */
    int64_t pages, height, width; /* of a page; -1 if unknown. One-dimensional data has height samples and width 1 */
    int64_t pages_in_file;        /* if the file has several and none was requested, else 0; -1: several */
    y4m *video;                   /* the stream whose frames are the pages; NULL: there is none */
    metadata *about;              /* of the current page, owned; NULL: nothing, or not asked for */
    uint64_t bad;                 /* cells, or paired rows, skipped in this pass (--skip-bad) */

    /* Select the channels of bands by index, in order, possibly repeated; called once, before the first next. */
    int (*select)(reader *r, const int *channels, int count, fault *f);
    /* 1 and a band, 0 at the end, -1 on failure. A band has at most about 4 MiB of samples, unless the format cannot be
     * split. */
    int (*next)(reader *r, band *b, fault *f);
    /* Back to the first band: 0, or -1. */
    int (*rewind)(reader *r, fault *f);
    /* Free everything, including `in`. */
    void (*close)(reader *r);
};

/* Open path ("-" is standard input) with the reader for its content or options. keep: it will be read more than once.
 * NULL on failure, with a message that names the file. */
reader *reader_open(const char *path, const read_options *options, bool keep, fault *f);

/* Beginnings of saved histograms, which contain no samples. output/saved.c writes and loads them. */
#define SAVED_SET_MAGIC "histo set 1\n"

bool saved_is_set(const char *data, size_t size);    /* several, or a named one, in binary form */
bool saved_is_binary(const char *data, size_t size); /* one in binary form */
bool saved_is_object(const char *data, size_t size); /* possibly JSON */

/* Any of these; JSON only if it declares histograms. */
bool saved_begins(const char *head, size_t size);

/* The table of readers, for `histo info`; NULL past the end. */
const reader_kind *reader_kind_at(int i);

/* ---- For readers ---------------------------------------------------------------------------------------- */

/* The selected channels and a view for each. */
typedef struct selection {
    int *wanted;
    int count;
    histo_view *views;
} selection;

int selection_set(selection *s, const reader *r, const int *channels, int count, fault *f);
void selection_free(selection *s);

/* For interleaved samples: views of the selected channels of rows x cols pixels at base. */
void reader_interleaved_views(histo_view *views, const int *wanted, int count, const void *base, histo_dtype dtype,
                              int channels, int64_t rows, int64_t cols, int64_t pitch_bytes);

#endif
