/* Readers: one file per format, behind one small interface that streams bands of samples, so that a file larger than
 * memory is a normal input. A format is a row in readers/readers.def and a file of functions that the row names. If it
 * needs a library, these are in modules/NAME, which is loaded when a file needs it, except recognise.c. */
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
    int page;     /* from 0 */
    int64_t y, x; /* position of its first sample in the page */
    int64_t rows, cols;
    histo_view *views; /* one per selected channel, in the requested order. Without pairing, each has its own number of
                        * rows, because bad cells are dropped. Subsampled channels have fewer samples than pixels */
    histo_view *valid; /* u8 with the views' shapes, 0 where a value is missing; without data for channels that miss
                        * none; NULL: nothing is missing. Missing floats are NaN */
} band;

typedef enum channel_model {
    CHANNELS_PLAIN = 0, /* columns, or an array: channels have numbers and perhaps names */
    CHANNELS_GRAY,      /* an image: gray */
    CHANNELS_GRAY_ALPHA,
    CHANNELS_RGB,
    CHANNELS_RGBA,
    CHANNELS_CMYK,
    CHANNELS_YUV, /* luma, Cb and Cr; the latter two may be subsampled */
    CHANNELS_YUVA,
} channel_model;

/* How many pixels of a page a sample of a channel covers. */
typedef struct channel_step {
    int x, y;
} channel_step;

/* The kind of a channel's values. */
typedef enum values_kind {
    VALUES_NUMBERS = 0, /* in the channel's dtype */
    VALUES_INTEGERS,    /* i64 or u64, exactly, from text whose numbers are otherwise read as f64 */
    VALUES_WORDS,       /* strings, as codes in a dictionary: u32 */
    VALUES_TIMES,       /* microseconds since 1970, UTC: i64 */
    VALUES_TRUTHS,      /* whether numbers in text are within the ranges of a condition, exactly: u8, 1 or 0 */
} values_kind;

/* How a selected channel is read, which determines the dtype of its views. */
typedef struct channel_form {
    values_kind kind;
    histo_dtype dtype;
    dictionary *words;                 /* for VALUES_WORDS: what the codes stand for; not owned by the reader */
    const struct condition *condition; /* for VALUES_TRUTHS */
    bool looks;                        /* VALUES_NUMBERS of text, which may turn out to be integers */
    time_epoch epoch;                  /* VALUES_TIMES, f64, that are read as numbers; or none, and text is parsed */
    bool stated;                       /* the file specifies the times */
    const char *unit;                  /* VALUES_NUMBERS of text with this unit; or NULL */
    bool blank;                        /* no value has been seen yet; the next file with one determines the kind */
    time_cycle cycle;                  /* VALUES_TIMES whose positions in a day, week or year are counted, as words */
    time_epoch span;                   /* VALUES_NUMBERS that are time spans, in this unit; or none */
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

/* Groups of options that a format supports; for other formats they are errors. */
typedef enum reader_takes {
    TAKES_PAGES = 1,    /* --page: files may have several images */
    TAKES_DATASETS = 2, /* --dataset: files may have several named arrays */
    TAKES_LAYOUT = 4,   /* --dtype, --shape, --offset and --endian: files do not specify these */
    TAKES_RAW = 8,      /* --raw: samples may be scaled, or missing */
    TAKES_QUERIES = 16, /* --query: files are databases */
    TAKES_WINDOWS = 32, /* --window: files specify how values are displayed */
} reader_takes;

/* Open a reader of `in`, which outlives it and is not closed with it; NULL on failure. */
typedef reader *reader_open_function(input *in, const read_options *options, fault *f);

/* Whether a file looks like the format. head: the beginning of its data, decompressed. */
typedef bool reader_recognise_function(const unsigned char *head, size_t size, const char *path);

/* The first bytes of files of a format. */
typedef struct signature {
    size_t size;
    const char *bytes;
} signature;

typedef struct reader_kind {
    const char *name;    /* "png": for --format */
    const char *formats; /* "PNG images, 8 and 16 bit": a line of `histo info` */
    unsigned takes;      /* flags of reader_takes */
    bool once;           /* when images are made from images, pipes are not copied first: frames are processed one by
                          * one */
    /* How the format is recognised: by signatures, or by a function. Formats with neither are read only when options
     * name them. */
    signature begins[4];
    reader_recognise_function *recognise;
    /* One of the two: the function that opens any reader, or the one that reads an image's pages
     * (readers/images/paged.h). If both are NULL, the format's module is not linked into this program, and defines
     * NAME_open or, with `paged`, NAME_pages. */
    reader_open_function *open;
    const struct paged_format *pages;
    bool paged;
    const char *module;  /* NULL: it is named like the format */
    const char *library; /* "libwebp (Debian: libwebp-dev)": builds without it lack the module; NULL: needs none */
    const char *convert; /* a command that converts files without it; or NULL */
} reader_kind;

struct reader {
    const reader_kind *kind;
    input *in;
    channel_model model;
    int channels;                 /* of the data, at least 1 */
    const char *const *names;     /* [channels]; NULL: unnamed */
    const histo_dtype *dtypes;    /* [channels] */
    const channel_step *steps;    /* [channels]; NULL: a sample for each pixel */
    const bool *numeric;          /* [channels]; NULL: all. False if the first rows contain only words */
    bool may_have_header;         /* the first row of text is read as values, but looks like names */
    const bool *booleans;         /* [channels]: numbers that are 0 and 1, for false and true; NULL: none */
    const values_kind *kinds;     /* [channels]: the apparent kind of their values; NULL: VALUES_NUMBERS */
    const bool *blank;            /* [channels]: none of its values has been seen; NULL: not examined */
    const time_style *styles;     /* [channels]: how dates in text are written; NULL: in unambiguous forms */
    const bool *reals;            /* [channels]: numbers are written with a point or an exponent; NULL: unknown */
    const char *const *unit_of;   /* [channels]: of their numbers, each NULL if unknown; NULL: all unknown */
    const time_epoch *epochs;     /* [channels]: the times, or spans, that their numbers represent; NULL: none */
    bool declares;                /* the file declares the kind of its values; otherwise they are text, which can also
                                   * be read as words, or as integers that doubles cannot represent */
    int64_t pages, height, width; /* of a page; -1 if unknown. One-dimensional data has height samples and width 1 */
    int64_t pages_in_file;        /* if the file has several and none was requested, else 0; -1: several */
    int64_t copies;               /* reduced versions of the page, and previews, that were skipped */
    bool first_only;              /* only the first of pages_in_file can be read */
    int64_t data_bytes;           /* of samples that are in files next to the input; 0: they are in the input */
    int64_t whole_bytes;          /* of samples that are all in memory from the first band on, also in the next pass; or
                                   * 0 */
    bool maps;                    /* bands are mapped from the file */
    y4m *video;                   /* the stream whose frames are the pages; NULL: none */
    metadata *about;              /* of the current page, owned; NULL: none, or not requested */
    bool takes_forms;             /* channels can be read in ways other than VALUES_NUMBERS. To read words, the reader
                                   * passes each to dictionary_code; missing ones are left out like missing numbers */
    selection selected;
    arena memory;     /* freed with the reader */
    int64_t comments; /* lines skipped before the first row */
    uint64_t bad;     /* cells, or paired rows, skipped in this pass (--skip-bad) */
    uint64_t missing; /* the same for missing values */
    uint64_t ragged;  /* rows with a different number of cells than the first, skipped in this pass (--skip-bad) */
    const char *const *column_notes; /* [channels]: a similar remark about a column; NULL: none */
    const char *note;                /* a remark about the file for standard error; or NULL */

    /* Parts of the samples that can be read by themselves: pixels of an array; rows of text, by the position of their
     * first byte; strips or rows of tiles of TIFF; blocks of HDF5 chunks. 0: only everything can be read, and the next
     * two are NULL. */
    int64_t units;
    /* From now on, deliver bands of units first … end - 1. A rewind undoes it. */
    int (*take)(reader *r, int64_t first, int64_t end, fault *f);
    /* The unit that the next band begins with; -1 if it continues one. */
    int64_t (*unit)(const reader *r);
    bool rows;    /* units are rows of text, in which newlines may be quoted */
    bool guesses; /* the start of a range is right only if the range before it ends at the same unit */

    /* Search all of the data for columns, before any is selected: returns whether there are more. NULL: not
     * possible. */
    bool (*find_more)(reader *r);
    /* Prepare for the selection, which is in `selected`; NULL: nothing to prepare. */
    int (*select)(reader *r, fault *f);
    /* 1 and a band, 0 at the end, -1 on failure. A band has at most about 4 MiB of samples, unless the format cannot be
     * split. */
    int (*next)(reader *r, band *b, fault *f);
    /* Go back to the first band: 0, or -1. */
    int (*rewind)(reader *r, fault *f);
    /* Free what neither `memory` nor `selected` holds, but not the struct; NULL: nothing to free. */
    void (*close)(reader *r);
    /* Stored bytes read so far, for a progress bar; NULL: the position of `in`. */
    int64_t (*position)(const reader *r);
    /* Start decoding before the first next. NULL: the reader does not decode ahead. */
    void (*start)(reader *r);
    /* Whether the last pass is cached completely. NULL if `start` is. */
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

/* The first bytes of saved histograms, which contain no samples. output/saved/saved.c writes and loads them. */
#define SAVED_SET_MAGIC "histo set 1\n"

bool saved_is_set(const char *data, size_t size);    /* several, or a named one, in binary form */
bool saved_is_binary(const char *data, size_t size); /* one in binary form */
bool saved_is_object(const char *data, size_t size); /* possibly JSON */

/* Any of these; JSON only if it declares histograms. */
bool saved_begins(const char *head, size_t size);

/* The table of readers, for `histo info`; NULL past the end. */
const reader_kind *reader_kind_at(int i);
/* Whether everything needed to read this format is present. */
bool reader_is_there(const reader_kind *kind);
/* Whether a file that begins like this looks like the format. */
bool reader_recognises(const reader_kind *kind, const unsigned char *head, size_t size, const char *path);

/* ---- For readers ---------------------------------------------------------------------------------------- */

/* The functions of a reader; select and close may be NULL. */
typedef struct reader_functions {
    int (*select)(reader *r, fault *f);
    int (*next)(reader *r, band *b, fault *f);
    int (*rewind)(reader *r, fault *f);
    void (*close)(reader *r);
} reader_functions;

/* A zeroed struct of `size` bytes that begins with a reader of one page, with these functions; NULL if out of
 * memory. */
void *reader_create(size_t size, input *in, reader_functions functions, fault *f);
/* Free the reader, but leave its input open: what an open function does before it fails. */
void reader_destroy(reader *r);

/* For interleaved samples: views of the selected channels of rows x cols pixels at base. */
void reader_interleaved_views(histo_view *views, const int *wanted, int count, const void *base, histo_dtype dtype,
                              int channels, int64_t rows, int64_t cols, int64_t pitch_bytes);

#endif
