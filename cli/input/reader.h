/* Readers: one file a format, behind one small interface that streams bands of samples, so that a file larger than
 * memory is a normal input. A format is a row in readers/readers.def and a file of functions that the row names. If it
 * needs a library, these are in modules/NAME, which is loaded when a file needs it, but for recognise.c. */
#ifndef CLI_READER_H
#define CLI_READER_H

#include <histo/histo.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/dates/cycle.h"
#include "base/dates/reading.h"
#include "base/fault.h"
#include "input/metadata.h"
#include "input/readers/video/y4m_stream.h"
#include "input/samples/dictionary.h"
#include "input/samples/epoch.h"
#include "input/stream/input.h"
#include "options/settings.h"

/* A piece of one page: rows x cols samples of each selected channel. The views are two-dimensional, in the samples'
 * dtype and native byte order, and valid until the next call. */
typedef struct band {
    int page;     /* 0-based */
    int64_t y, x; /* position of its first sample in the page */
    int64_t rows, cols;
    histo_view *views; /* one per selected channel, in the requested order. Without pairing, each has its own number of
                          rows, because bad cells are dropped. Channels with steps have fewer samples than pixels */
    histo_view *valid; /* u8 of the views' shapes, 0 where a value is missing; without data where none of the
                                channel's is; NULL: none is. Missing floats are NaN */
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

/* What the values of a channel are. */
typedef enum values_kind {
    VALUES_NUMBERS = 0, /* in the channel's dtype */
    VALUES_INTEGERS,    /* i64 or u64, exactly, from text whose numbers are otherwise read as f64 */
    VALUES_WORDS,       /* strings, as codes in a dictionary: u32 */
    VALUES_TIMES,       /* microseconds since 1970, UTC: i64 */
    VALUES_TRUTHS,      /* whether numbers in text are in the ranges of a condition, exactly: u8, 1 or 0 */
} values_kind;

/* How a selected channel is read: the dtype of its views follows. */
typedef struct channel_form {
    values_kind kind;
    histo_dtype dtype;
    dictionary *words;                 /* of VALUES_WORDS: what the codes stand for; not owned by the reader */
    const struct condition *condition; /* of VALUES_TRUTHS */
    bool looks;                        /* VALUES_NUMBERS of text, which may turn out to be integers */
    time_epoch epoch;                  /* VALUES_TIMES, f64, that are read as numbers; or none, and text is parsed */
    bool stated;                       /* the file says which times they are */
    const char *unit;                  /* VALUES_NUMBERS of text with this unit; or NULL */
    bool blank;                        /* no value was seen yet, and the next file with one says what they are */
    time_cycle cycle;                  /* VALUES_TIMES whose places in a day, week or year are counted, as words */
    time_epoch span;                   /* VALUES_NUMBERS that are spans, in this unit; or none */
} channel_form;

/* The channels of bands, in the order of their views. */
typedef struct selection {
    int *wanted;
    int count;
    histo_view *views;   /* of a band, for `next` to fill */
    channel_form *forms; /* how they are read; NULL: as VALUES_NUMBERS */
    arena memory;        /* of the selection, and of what readers allocate for it */
} selection;

typedef struct reader reader;

/* Groups of options that a format supports; others are errors for its files. */
typedef enum reader_takes {
    TAKES_PAGES = 1,    /* --page: files may have several images */
    TAKES_DATASETS = 2, /* --dataset: files may have several arrays, by name */
    TAKES_LAYOUT = 4,   /* --dtype, --shape, --offset and --endian: files do not say */
    TAKES_RAW = 8,      /* --raw: samples may be scaled, or missing */
    TAKES_QUERIES = 16, /* --query: files are databases */
    TAKES_WINDOWS = 32, /* --window: files say how values are shown */
} reader_takes;

/* A reader of `in`, which outlives it and is not closed with it; NULL on failure. */
typedef reader *reader_open_function(input *in, const read_options *options, fault *f);

/* Does a file look like the format? head: the beginning of its data, decompressed. */
typedef bool reader_recognise_function(const unsigned char *head, size_t size, const char *path);

/* Bytes that files of a format begin with. */
typedef struct signature {
    size_t size;
    const char *bytes;
} signature;

typedef struct reader_kind {
    const char *name;    /* "png": what --format takes */
    const char *formats; /* "PNG images, 8 and 16 bit": a line of `histo info` */
    unsigned takes;      /* of reader_takes */
    bool once;           /* pipes are not copied where images are made from images: frames pass one by one */
    /* What tells the format from others: a signature, or a function. Formats with neither are only read when options
     * name them. */
    signature begins[4];
    reader_recognise_function *recognise;
    /* One of the two: the function that opens any reader, or what reads an image's pages (readers/images/paged.h).
     * Where both are NULL, the format's module is not linked into this program, and defines NAME_open or, if `paged`
     * says so, NAME_pages. */
    reader_open_function *open;
    const struct paged_format *pages;
    bool paged;
    const char *module;  /* NULL: it has the format's name */
    const char *library; /* "libwebp (Debian: libwebp-dev)": builds without it lack the module; NULL: none does */
    const char *convert; /* a command that does without it; or NULL */
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
    bool may_have_header;         /* the first row of text is read as values, but looks like names */
    const bool *booleans;         /* [channels]: numbers that are 0 and 1, false and true; NULL: none is */
    const values_kind *kinds;     /* [channels]: what their values seem to be; NULL: VALUES_NUMBERS */
    const bool *blank;            /* [channels]: no value was seen of it; NULL: not looked for */
    const time_style *styles;     /* [channels]: how dates in text are written; NULL: in forms that say all */
    const bool *reals;            /* [channels]: numbers are written with a point or an exponent; NULL: unknown */
    const char *const *unit_of;   /* [channels]: of their numbers, each NULL if unknown; NULL: none is known */
    const time_epoch *epochs;     /* [channels]: the times, or spans, that their numbers are; NULL: none is one */
    bool declares;                /* the file says what values are; else they are written, and can be read as words or
                                     integers beyond those that doubles hold, too */
    int64_t pages, height, width; /* of a page; -1 if unknown. One-dimensional data has height samples and width 1 */
    int64_t pages_in_file;        /* if the file has several and none was requested, else 0; -1: several */
    int64_t copies;               /* smaller ones of the page, and previews, that were left out without a request */
    bool first_only;              /* only the first of pages_in_file can be read */
    int64_t data_bytes;           /* of samples that are not in the input, but in files beside it; 0: they are in it */
    int64_t whole_bytes;          /* of samples that are all in memory after the first band, also in the next pass; 0 */
    bool maps;                    /* bands are in memory that is mapped from the file */
    y4m *video;                   /* the stream whose frames are the pages; NULL: there is none */
    metadata *about;              /* of the current page, owned; NULL: nothing, or not asked for */
    bool takes_forms;             /* channels can be read in other ways than VALUES_NUMBERS. To read words, the reader
                                     passes each to dictionary_code; missing ones are left out like missing numbers */
    selection selected;
    arena memory;     /* freed with the reader */
    int64_t comments; /* lines before the first row that were left out */
    uint64_t bad;     /* cells, or paired rows, skipped in this pass (--skip-bad) */
    uint64_t missing; /* the same of values that are missing */
    uint64_t ragged;  /* rows with another number of cells than the first, skipped in this pass (--skip-bad) */
    const char *const *column_notes; /* [channels]: the same of what is read of a column; NULL: none */
    const char *note;                /* what a remark on standard error says about the file; or NULL */

    /* Parts of the samples can be read by themselves: of an array, by pixels; of rows of text, by the byte that a row
     * begins with; of TIFF, by strips or rows of tiles; of HDF5, by blocks of chunks. 0: only all of them, and the next
     * two are NULL.
     */
    int64_t units;
    /* From now on, bands are those of units first … end - 1. A rewind undoes it. */
    int (*take)(reader *r, int64_t first, int64_t end, fault *f);
    /* The unit that the next band begins with; -1 if it continues one. */
    int64_t (*unit)(const reader *r);
    bool rows;    /* they are rows of text, in which newlines may be quoted */
    bool guesses; /* the unit where a take begins is right if the unit where the one before it ends is the same */

    /* Look for columns in all of the data, before any is selected: whether there are more. NULL: there are none. */
    bool (*find_more)(reader *r);
    /* Prepare for what was selected, which is in `selected`; NULL: there is nothing to prepare. */
    int (*select)(reader *r, fault *f);
    /* 1 and a band, 0 at the end, -1 on failure. A band has at most about 4 MiB of samples, unless the format cannot be
     * split. */
    int (*next)(reader *r, band *b, fault *f);
    /* Back to the first band: 0, or -1. */
    int (*rewind)(reader *r, fault *f);
    /* Free what neither `memory` nor `selected` holds, but not the struct; NULL: there is nothing. */
    void (*close)(reader *r);
    /* Stored bytes read so far, for a progress bar; NULL: that of `in`. */
    int64_t (*position)(const reader *r);
    /* Begin to decode before the first next. NULL: the reader does not decode ahead. */
    void (*start)(reader *r);
    /* Is all of the last pass cached? NULL where `start` is. */
    bool (*caches_all)(const reader *r);
};

/* Open path ("-" is standard input) with the reader for its content or options. keep: it will be read more than once.
 * NULL on failure, with a message that names the file. */
reader *reader_open(const char *path, const read_options *options, bool keep, fault *f);
/* Free the reader and close its input; NULL is allowed. */
void reader_close(reader *r);

/* Select the channels of bands by index, in order, possibly repeated: before the first next, and again before a rewind.
 * forms: how each is read, if the reader takes forms; NULL: as VALUES_NUMBERS. */
int reader_select(reader *r, const int *channels, const channel_form *forms, int count, fault *f);

/* Read `in` as this format. Takes ownership of `in`, also on failure: NULL, with a message. */
reader *reader_open_as(const reader_kind *kind, input *in, const read_options *options, fault *f);

/* Beginnings of saved histograms, which contain no samples. output/saved/saved.c writes and loads them. */
#define SAVED_SET_MAGIC "histo set 1\n"

bool saved_is_set(const char *data, size_t size);    /* several, or a named one, in binary form */
bool saved_is_binary(const char *data, size_t size); /* one in binary form */
bool saved_is_object(const char *data, size_t size); /* possibly JSON */

/* Any of these; JSON only if it declares histograms. */
bool saved_begins(const char *head, size_t size);

/* The table of readers, for `histo info`; NULL past the end. */
const reader_kind *reader_kind_at(int i);
/* Is all there that reads this format? */
bool reader_is_there(const reader_kind *kind);
/* Does a file that begins so look like this format? */
bool reader_recognises(const reader_kind *kind, const unsigned char *head, size_t size, const char *path);

/* ---- For readers ---------------------------------------------------------------------------------------- */

/* The functions of a reader, of which select and close may be NULL. */
typedef struct reader_functions {
    int (*select)(reader *r, fault *f);
    int (*next)(reader *r, band *b, fault *f);
    int (*rewind)(reader *r, fault *f);
    void (*close)(reader *r);
} reader_functions;

/* A zeroed struct of `size` bytes that begins with a reader of one page, with these functions; NULL without memory. */
void *reader_create(size_t size, input *in, reader_functions functions, fault *f);
/* Free the reader, but leave its input open: what an open function does before it fails. */
void reader_destroy(reader *r);

/* For interleaved samples: views of the selected channels of rows x cols pixels at base. */
void reader_interleaved_views(histo_view *views, const int *wanted, int count, const void *base, histo_dtype dtype,
                              int channels, int64_t rows, int64_t cols, int64_t pitch_bytes);

#endif
