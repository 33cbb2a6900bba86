/* Histograms with names and statistics, counted or loaded: the input of all writers. */
#ifndef CLI_RESULT_H
#define CLI_RESULT_H

#include <histo/histo.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/fault.h"
#include "count/order/order.h"
#include "input/reader.h"
#include "shards/manifest.h"

/* Names of the bins of an axis, which several series may share. */
typedef struct bin_names {
    atomic_int users;
    int64_t count;
    int64_t others; /* number of distinct values that share the last bin, "other"; 0: it is a bin like any other */
    char **text;    /* UTF-8 */
} bin_names;

/* Room for the names of this many bins, initially NULL; NULL if out of memory. */
bin_names *bin_names_make(int64_t count);
/* The names of the bins of a frozen dictionary; NULL if out of memory. */
bin_names *bin_names_of_words(const dictionary *d);
void bin_names_free(bin_names *names);
bool bin_names_alike(const bin_names *x, const bin_names *y);

/* What the edges of an axis represent, if not plain numbers. */
typedef struct axis_form {
    values_kind kind;
    const char *unit; /* of numbers in text; NULL: unknown */
    bool characters;  /* bins are bytes or letters, shown as characters */
    bin_names *names; /* for VALUES_WORDS, whose bins are those of an integer axis from 0 */
} axis_form;

/* Statistics of the samples besides counts. */
typedef enum moments_kind {
    MOMENTS_NONE,
    MOMENTS_SAVED, /* their sums, unless the bins determine them */
    MOMENTS_EXACT, /* the statistics that follow from these, or from the bins: extremes, mean and deviation */
    MOMENTS_ORDER, /* these, and quantiles if the samples can be read again */
    MOMENTS_ALL,   /* exact statistics and higher moments, whose rounding errors depend on the order */
} moments_kind;

/* One histogram: entry `entry` of the batch in hist. The entries of a batch are consecutive. */
typedef struct series {
    char *name; /* NULL: unnamed */
    histo_hist *hist;
    int64_t entry;
    bool shares_hist;       /* another series owns it */
    bool rest;              /* the group of all values without a group of their own */
    histo_power_sums *sums; /* of the samples, one per axis; NULL: unknown, or the bins determine them */
    histo_stats *stats;     /* one per axis, derived from the sums if these are known; NULL: unknown */
    axis_form forms[HISTO_MAX_AXES];

    sample_order *order;       /* of the samples, [HISTO_MAX_AXES]; NULL: unknown */
    order_in_passing *finding; /* [HISTO_MAX_AXES]: finds the order while samples are counted; NULL: nothing does */
} series;

typedef struct result {
    int count;
    series *series;
    char *title;                      /* of drawings */
    char *axis_names[HISTO_MAX_AXES]; /* each may be NULL */
    char ran[512];                    /* the strategy and its speed; "" if nothing was counted */
    manifest *shards;                 /* the run that it is part of; NULL: none */
} result;

/* Add a series. The result takes ownership of hist, also on failure. name is copied and may be NULL. */
int result_add(result *r, histo_hist *hist, const char *name, fault *f);
void result_free(result *r);

void series_free(series *s);
void series_stop_finding(series *s);
/* Compute the statistics of a series that has sums. */
void series_read_sums(series *s);

/* Set the names of the bins of axis a, which the result shares; NULL: none. */
void result_name_bins(result *r, int i, int a, bin_names *names);
const bin_names *result_bin_names(const result *r, int i, int a);

int result_naxes(const result *r);
/* Whether the bins of the first series are shown as characters. */
bool result_has_characters(const result *r);
bool result_is_weighted(const result *r);
/* Whether any of the series is sparse. */
bool result_is_sparse(const result *r);
/* The end of the group, starting at `first`, of series with equal axes (every bit of every edge) and weighting. */
int result_group_end(const result *r, int first);
/* Whether all series have the same number of axes and the same weighting. */
bool result_is_uniform(const result *r);

/* The numbers of one series, valid as long as the result. Tables of a batch share parts of the first one's arrays. */
typedef struct table {
    int naxes;
    histo_axis axes[HISTO_MAX_AXES];
    int64_t bins[HISTO_MAX_AXES];
    int64_t cells;     /* number of slots: product of bins + 3, the last axis fastest; or of those in `occupied` */
    int64_t *occupied; /* sorted occupied slots of a sparse histogram; NULL: all slots */
    uint64_t *counts;
    double *sum_w, *sum_w2; /* NULL without weights; sum_w2 also for sums of weights alone */
    uint64_t samples, masked;
    uint64_t under[HISTO_MAX_AXES], over[HISTO_MAX_AXES], nan[HISTO_MAX_AXES];
} table;

/* How to read sparse histograms: as a list, or as all slots, for pictures. */
typedef enum table_kind { TABLE_OF_OCCUPIED, TABLE_OF_ALL } table_kind;

/* Read the tables of all series: [r->count], freed by the caller; NULL on failure. */
table *tables_read(const result *r, table_kind kind, fault *f);
void tables_free(table *tables, const result *r);

/* The value of a cell in drawings: the sum of weights, or the count without weights. */
double table_value(const table *t, int64_t cell);
/* The sum over all cells; only with weights. */
double table_sum_of_weights(const table *t);

/* The index of a position in a table of all slots: a slot on each axis (0: underflow, then bins, overflow, NaN). */
int64_t table_cell(const table *t, const int64_t *slots);
/* Advance to the next cell and its position, in order; false at the end. *cell is -1 initially. */
bool table_next(const table *t, int64_t *cell, int64_t *slots);
/* Whether the position is in a bin of every axis. */
bool table_is_bin(const table *t, const int64_t *slots);

/* Statistics of the bins of axis a: samples are taken at the centre of their bin or, if `whole`, at the bin's
 * integer. */
histo_stats table_stats(const table *t, int a, bool whole);

#endif
