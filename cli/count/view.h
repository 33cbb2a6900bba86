/* What is shown of the bins instead of their counts (or sums of weights): densities, fractions, and their running sums.
 * Totals are those of the bins, as in NumPy: flow takes no part. */
#ifndef CLI_VIEW_H
#define CLI_VIEW_H

#include "base/times.h"
#include "count/result.h"
#include "options/settings.h"

typedef struct view {
    enum {
        VIEW_COUNTS,
        VIEW_FRACTIONS, /* of the total */
        VIEW_DENSITIES, /* fractions by the width of the bin: numpy.histogram's density */
        VIEW_PER_UNIT,  /* counts by the width of the bin: how bins of different widths are drawn */
    } kind;
    bool cumulative, reverse;               /* sums from the first bin up, or from the last bin down */
    const time_unit *units[HISTO_MAX_AXES]; /* of widths on axes of times; NULL: of the numbers there */
} view;

/* What the options ask for, for series like this one; NULL: there is none yet. */
view view_asked(const settings *s, const series *like);
/* What is drawn: as view_asked, but unless counts are asked for, those of bins of different finite widths are per unit.
 * Bins of equal width in the logarithm are drawn on a logarithmic axis, and remain counts. */
view view_drawn(const settings *s, const series *like);
bool view_is_plain(const view *v);
/* Whether the value of several bins together is the sum of theirs. */
bool view_adds_up(const view *v);

/* Neighbouring bins in rows: `each` in a row, of which the first row lacks some, so that the others begin at round
 * edges; the last one has what is left. */
typedef struct bin_rows {
    int64_t bins, each, lacking;
} bin_rows;
int64_t bin_rows_count(const bin_rows *rows);
/* The first bin of a row; of the row after the last one, the number of bins. */
int64_t bin_rows_begin(const bin_rows *rows, int64_t row);

/* Sums of the bins in each row become what is shown. */
void view_apply(const view *v, const histo_axis *axis, const bin_rows *rows, double *values);
/* As view_apply, for two axes, the second of which is the faster one; not cumulative. */
void view_apply_cells(const view *v, const histo_axis axes[2], const int64_t each[2], double *values,
                      const int64_t rows[2]);

/* What is shown of the cells of a table, [cells]; NaN for flow. NULL without memory. Only of one axis cumulative. */
double *view_of_table(const view *v, const table *t);

/* "density", "fraction", "cumulative_fraction": a name for tables; NULL for counts. */
const char *view_name(const view *v);

#endif
