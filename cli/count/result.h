/* Histograms with names and statistics, counted or loaded: what all writers take. */
#ifndef CLI_RESULT_H
#define CLI_RESULT_H

#include <histo/histo.h>
#include <stdbool.h>

#include "base/fault.h"

/* One histogram: entry `entry` of the batch that hist holds. Those of a batch follow each other. */
typedef struct series {
    char *name; /* NULL: it needs none */
    histo_hist *hist;
    int64_t entry;
    bool shares_hist;   /* another series frees it */
    histo_stats *stats; /* one for each axis, or NULL: not known */
} series;

typedef struct result {
    int count;
    series *series;
    char *title;                      /* of drawings */
    char *axis_names[HISTO_MAX_AXES]; /* each may be NULL */
    bool bytes;                       /* the bins are bytes, called by their characters: a histogram named "bytes" is */
    char ran[512];                    /* which strategy ran, and how fast; "" if nothing did */
} result;

/* Add a series; hist is owned by the result from now on, also on failure. name is copied and may be NULL. */
int result_add(result *r, histo_hist *hist, const char *name, fault *f);
void result_free(result *r);

int result_naxes(const result *r);
bool result_is_weighted(const result *r);
/* Is any of the series sparse? */
bool result_is_sparse(const result *r);
/* The series from `first` on that have its axes, to the bit of every edge, and its weighting: one behind the last. */
int result_group_end(const result *r, int first);
/* Do all series have as many axes, and the same weighting? */
bool result_is_uniform(const result *r);

/* The numbers of one series, as long as the result lives. The tables of a batch share parts of the first one's
 * arrays. */
typedef struct table {
    int naxes;
    histo_axis axes[HISTO_MAX_AXES];
    int64_t bins[HISTO_MAX_AXES];
    int64_t cells;     /* slots: product of bins + 3, the last axis fastest; or those in `occupied` */
    int64_t *occupied; /* the slots of a sparse histogram that have counts, rising; NULL: all there are */
    uint64_t *counts;
    double *sum_w, *sum_w2; /* NULL if there are no weights */
    uint64_t samples, masked;
    uint64_t under[HISTO_MAX_AXES], over[HISTO_MAX_AXES], nan[HISTO_MAX_AXES];
} table;

/* What tables of sparse histograms have: a list, or all slots, as pictures want them. */
typedef enum table_kind { TABLE_OF_OCCUPIED, TABLE_OF_ALL } table_kind;

/* The tables of all series: [r->count], to be freed; NULL on failure. */
table *tables_read(const result *r, table_kind kind, fault *f);
void tables_free(table *tables, const result *r);

/* What drawings show of a cell: the sum of weights if there are weights, else the count. */
double table_value(const table *t, int64_t cell);

/* Position of a slot of each axis (0: underflow, then the bins, overflow, NaN), and the cell it stands for in a table
 * of all slots. */
int64_t table_cell(const table *t, const int64_t *slots);
/* To the next cell in order, and its position: false after the last. The first time *cell is -1. */
bool table_next(const table *t, int64_t *cell, int64_t *slots);
/* Is this a position in a bin of every axis? */
bool table_is_bin(const table *t, const int64_t *slots);

/* Statistics of the bins of axis a alone: each sample taken to lie in the middle of its bin, or where `whole`, to be
 * the whole number that the bin is for. */
histo_stats table_stats(const table *t, int a, bool whole);

#endif
