/* The samples to count: a file through its reader, selected channels, region of interest, mask, range filter and
 * weights, as pieces ready for histo_hist_fill. */
#ifndef CLI_SAMPLES_H
#define CLI_SAMPLES_H

#include "input/samples/select.h"
#include "shards/division.h"

typedef struct piece {
    int page;
    int64_t y, x, width;                      /* position in the page or region, and width */
    const histo_view *views;                  /* one per counted source, all of equal shape */
    const histo_view *weights, *mask, *where; /* or NULL */
    const histo_view *by;                     /* the group of each row, as a bin of its dictionary; NULL: no groups */
    bool filters_itself;                      /* each source filters itself */
    double where_lo, where_hi;
    histo_pairs pairs;      /* if the single view is a stack of images; else pairing is 0 */
    const int64_t *offsets; /* of segments, for one-dimensional views; or NULL */
} piece;

typedef struct samples samples;

/* keep: several passes are possible. all: how counted sources are read, and columns: which they are, as for
 * choice_make. */
samples *samples_open(const char *path, const settings *s, channel_forms *all, named_columns *columns, bool keep,
                      fault *f);
void samples_close(samples *in);

const choice *samples_choice(const samples *in);
const reader *samples_reader(const samples *in);
/* Keep missing values in place: missing floats are NaN, and missing integers an error. */
void samples_keep_missing(samples *in);
/* The number of separately counted segments; 1 without --segments. */
int64_t samples_segments(const samples *in);

/* 1 and a piece, valid until the next call; 0 at the end; -1. */
int samples_next(samples *in, piece *p, fault *f);
int samples_rewind(samples *in, fault *f);

/* The number of units that the file can be divided into; at least 1, the whole. */
int64_t samples_units(const samples *in);
/* Continue with these units of the file, at least one. */
int samples_take(samples *in, unit_range units, fault *f);
/* The reader's position, if it may have guessed where units begin; else -1. */
int64_t samples_guess(const samples *in);

/* The position of the next piece: after this many pieces of a unit, with this many cells left out until then. */
typedef struct samples_place {
    int64_t unit, pieces;
    uint64_t bad, missing, ragged;
} samples_place;

samples_place samples_at(const samples *in);
/* Move to the position of an earlier process, and continue from there to `end`, a number of units. */
int samples_continue(samples *in, samples_place from, int64_t end, fault *f);

/* What was left out of a file: cells, or paired rows, and pages, as in the reader. */
typedef struct leftovers {
    uint64_t bad, missing, ragged;
    int64_t pages_in_file, copies;
    bool first_only;
    int64_t comments;
    const char *note; /* as in the reader; or NULL */
} leftovers;

/* After the last piece. */
leftovers samples_leftovers(const samples *in);
/* Unless --quiet: print on standard error what was left out. */
void leftovers_remark(const leftovers *l, const char *name, const settings *s);
/* Unless --quiet: print how many rows of text had a different length than the first. */
void remark_ragged(const char *name, uint64_t rows, const settings *s);
void samples_remark(const samples *in);

/* Which samples of source i of the piece are present, for surveys and statistics; i is 0 for a joint histogram. The
 * options refer to p. */
histo_fill_options piece_filter(const piece *p, int i);
/* The same with the weights and segments of a fill. */
histo_fill_options piece_fill(const piece *p, int i);

/* Stored bytes read so far, for a progress bar. */
int64_t samples_position(const samples *in);
/* Make a reader that decodes ahead start doing so. */
void samples_start(samples *in);
/* Read again in the forms that have changed. */
int samples_reform(samples *in, fault *f);

#endif
