/* The rows of an axis, each with equally many bins. */
#include <math.h>

#include "options/steps.h"
#include "output/terminal/terminal.h"

/* Whether all edges are multiples of a step of 1, 2 or 5 times a power of ten, and how many steps the first edge is
 * from 0. */
static bool has_round_edges(const histo_axis *axis, steps *s)
{
    const double width = (axis->hi - axis->lo) / (double)axis->bins;
    if (!(width > 0) || !isfinite(width)) return false;
    *s = steps_round(width);
    bool round = steps_cover(s, axis->lo, axis->lo, false) && steps_at(s, 0) == axis->lo;
    for (int64_t i = 0; i <= axis->bins && round; i++)
        round = fabs(steps_at(s, i) - histo_axis_edge(axis, i)) <= width * 1e-6;
    return round;
}

/* Rows of `wide` steps, starting at multiples of that: returns whether they are few enough. */
static bool fit_rows(bin_rows *rows, int64_t wide, const steps *s, int64_t most)
{
    const int64_t first = s->first / s->step;
    if (wide % s->step) return false;
    rows->each = wide / s->step;
    rows->lacking = (first % rows->each + rows->each) % rows->each;
    return bin_rows_count(rows) <= most;
}

bin_rows rows_of_axis(const histo_axis *axis, int64_t most, histo_axis *full)
{
    enum { LARGEST = 1 << 20 };
    steps s;
    bin_rows rows = {axis->bins, bins_in_a_row(axis->bins, most), 0};
    *full = (histo_axis){0};
    const bool power = (axis->bins & (axis->bins - 1)) == 0; /* for bytes, say, so that rows are alike */
    if (rows.each == 1 || power || axis->bins > LARGEST || !has_round_edges(axis, &s)) return rows;
    int64_t ten = 1;
    for (int digit = 0; !fit_rows(&rows, (const int64_t[]){1, 2, 5}[digit] * ten, &s, most); digit = (digit + 1) % 3)
        if (digit == 2) ten *= 10;
    bin_rows finer = rows; /* if there are few rows, rows of 4 steps may give more */
    const int64_t four = rows.each * s.step == ten ? 4 * ten / 10 : 4 * ten;
    if (bin_rows_count(&rows) <= most / 3 && fit_rows(&finer, four, &s, most) && finer.each < rows.each) rows = finer;
    const int64_t count = bin_rows_count(&rows);
    *full = histo_axis_regular(count, steps_at(&s, -rows.lacking), steps_at(&s, count * rows.each - rows.lacking));
    return rows;
}
