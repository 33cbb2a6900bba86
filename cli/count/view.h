/* What is shown instead of the counts (or sums of weights) of bins: densities, fractions, and their running sums.
 * Totals are those of the bins, as in NumPy: flow is excluded. */
#ifndef CLI_VIEW_H
#define CLI_VIEW_H

#include "base/times.h"
#include "count/result.h"
#include "options/settings.h"

typedef struct view {
    enum {
        VIEW_COUNTS,
        VIEW_FRACTIONS, /* of the total */
        VIEW_DENSITIES, /* fractions divided by bin width: numpy.histogram's density */
        VIEW_PER_UNIT,  /* counts divided by bin width: how bins of different widths are drawn */
    } kind;
    bool cumulative, reverse;               /* sums from the first bin up, or from the last bin down */
    const time_unit *units[HISTO_MAX_AXES]; /* of widths on axes of times; NULL: plain numbers */
} view;

/* The view requested by the options, for series like this one; NULL: there is none yet. */
view view_asked(const settings *s, const series *like);
/* The view that is drawn: as view_asked, but unless counts are requested, bins of different finite widths are shown per
 * unit. Bins of equal logarithmic width are drawn on a logarithmic axis, and remain counts. */
view view_drawn(const settings *s, const series *like);
bool view_is_plain(const view *v);
/* Whether the value of several bins together is the sum of their values. */
bool view_adds_up(const view *v);

/* Adjacent bins grouped in rows: `each` per row. The first row has fewer, so that the others begin at round edges; the
 * last one has what is left. */
typedef struct bin_rows {
    int64_t bins, each, lacking;
} bin_rows;
int64_t bin_rows_count(const bin_rows *rows);
/* The first bin of a row; for the row after the last one, the number of bins. */
int64_t bin_rows_begin(const bin_rows *rows, int64_t row);

/* Convert sums of the bins in each row to what is shown. */
void view_apply(const view *v, const histo_axis *axis, const bin_rows *rows, double *values);
/* As view_apply, for two axes, the second of which is faster; not cumulative. */
void view_apply_cells(const view *v, const histo_axis axes[2], const int64_t each[2], double *values,
                      const int64_t rows[2]);

/* What is shown for the cells of a table, [cells]; NaN for flow. NULL if out of memory. Cumulative for one axis
 * only. */
double *view_of_table(const view *v, const table *t);

/* "density", "fraction", "cumulative_fraction": a name for tables; NULL for counts. */
const char *view_name(const view *v);

#endif
