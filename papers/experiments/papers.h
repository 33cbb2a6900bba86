/* The experiments of the papers (papers.def): what is measured, running them, and the results as tables. */
#ifndef BENCH_PAPERS_H
#define BENCH_PAPERS_H

#include "bench/core/options.h"
#include "bench/core/race.h"

typedef enum papers_measure {
    PAPERS_RATE,
    PAPERS_RELATIVE,
    PAPERS_CONFLICTS,
    PAPERS_DRAWN,
    PAPERS_WINNERS,
    PAPERS_LOST,
    PAPERS_OVERFLOWS
} papers_measure;

/* Whose configuration a series has. */
typedef enum papers_terms { PAPERS_AS_PUBLISHED, PAPERS_ON_EQUAL_TERMS } papers_terms;

typedef struct papers_experiment {
    const char *paper, *kind, *number; /* "ross", "figure", "6.3"; "5 and 6" is both */
    const char *title;
    papers_measure measure;
    const char *inputs, *bins, *samples, *series[2]; /* see papers.def; series by papers_terms */
    const char *claim;
} papers_experiment;

enum { PAPERS_MAX_SERIES = 24, PAPERS_MAX_POINTS = 128 };

typedef struct papers_series {
    char label[48];
    papers_terms terms;
    bench_contender contender; /* its name is "cuda/plan" of a plan; its params may be several combinations */
    bench_placement placement;
    bool baseline; /* what others are compared with, whatever device was asked for */
    bool measured; /* its device is there */
} papers_series;

typedef struct papers_point {
    bench_input input;
    int64_t samples; /* wanted; 0: the device's default */
    char params[48]; /* of the GPU's strategies, besides those of their series; "" */
} papers_point;

/* What a series reached at a point. */
typedef struct papers_cell {
    double value;     /* in the experiment's measure; NaN: none */
    double rate;      /* Gsamples/s; NaN */
    double published; /* NaN */
    int64_t samples;  /* timed at once: fewer than wanted where these would take too long; 0: none */
    bool wrong;       /* failed, or counted wrong */
    char chosen[96];  /* the strategy, by a plan; the parameters, of several combinations */
    char reason[160]; /* why there is no value */
} papers_cell;

typedef struct papers_result {
    const papers_experiment *experiment;
    int series_count, points; /* points: those measured */
    papers_series series[PAPERS_MAX_SERIES];
    papers_point point[PAPERS_MAX_POINTS];
    papers_cell cell[PAPERS_MAX_POINTS][PAPERS_MAX_SERIES];
    uint64_t *counts[PAPERS_MAX_POINTS]; /* of PAPERS_DRAWN: those of the input's bins; else NULL */
    int left;                            /* points that were not measured */
} papers_result;

typedef struct papers_options {
    bench_options common;   /* HISTO_DEVICE_AUTO: the CPU, and the GPU if there is one */
    const int64_t *samples; /* instead of the experiments' own; 0 of them: those */
    int samples_count;
    const int64_t *bins; /* likewise, of inputs that have a # */
    int bins_count;
    double begun_s;
} papers_options;

/* Experiment i of the table; NULL past the end. */
const papers_experiment *papers_at(int i);

/* True for experiments of this paper (NULL: any), and of this "figure", "table" or "section" (NULL: any). */
bool papers_selected(const papers_experiment *e, const char *paper, const char *kind, const char *number);

/* The series and points of an experiment, without measuring. */
histo_status papers_plan(const papers_experiment *e, const papers_options *options, papers_result *result);

/* Measure. What an earlier experiment of this process measured in the same way is taken from there. After a failure the
 * result holds what was measured. Call papers_free in any case. */
histo_status papers_run(const papers_experiment *e, const papers_options *options, papers_result *result);
void papers_free(papers_result *result);

/* "Ross 2014, figures 5 and 6: Types": its name in a heading. Returns text. */
char *papers_heading(const papers_experiment *experiment, char *text, size_t size);
/* "Ross 2014". */
const char *papers_title(const char *paper);

/* "4096" or the input's name: how a point is called. Returns text. */
char *papers_point_name(const papers_result *result, int point, char *text, size_t size);
/* "Gsamples/s", "speed-up over sequential": what values are. Returns text. */
char *papers_value_name(const papers_result *result, char *text, size_t size);
/* Do the points differ by one number, bins or samples? Which is on the x axis, then; NULL: none. */
const char *papers_axis(const papers_result *result);
double papers_position(const papers_result *result, int point);

/* ---- Results ---- */

void papers_list(FILE *to);
void papers_print(const papers_result *result, FILE *to);
/* A heading, and a line for each value. */
void papers_tsv_begin(FILE *to);
void papers_tsv(const papers_result *result, FILE *to);
/* An element of a list. */
void papers_json(const papers_result *result, json_writer *json);

#endif
