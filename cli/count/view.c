#include "count/view.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

int64_t bin_rows_count(const bin_rows *rows)
{
    return (rows->bins + rows->lacking + rows->each - 1) / rows->each;
}

int64_t bin_rows_begin(const bin_rows *rows, int64_t row)
{
    const int64_t begin = row * rows->each - rows->lacking;
    return begin < 0 ? 0 : begin < rows->bins ? begin : rows->bins;
}

static double width_of_row(const histo_axis *axis, const bin_rows *rows, int64_t row)
{
    return histo_axis_edge(axis, bin_rows_begin(rows, row + 1)) - histo_axis_edge(axis, bin_rows_begin(rows, row));
}

/* The total width of `each` adjacent bins; the last row may have fewer. */
static double width_of(const histo_axis *axis, int64_t each, int64_t row)
{
    const bin_rows rows = {axis->bins, each, 0};
    return width_of_row(axis, &rows, row);
}

static double least_width(const histo_axis *axis)
{
    double least = INFINITY;
    for (int64_t i = 0; i < axis->bins; i++)
        least = fmin(least, width_of(axis, 1, i));
    return least;
}

view view_asked(const settings *s, const series *like)
{
    view v = {.kind = s->density     ? VIEW_DENSITIES
                      : s->normalize ? VIEW_FRACTIONS
                                     : VIEW_COUNTS,
              .cumulative = s->cumulative,
              .reverse = s->reverse};
    for (int a = 0; like && a < histo_hist_naxes(like->hist); a++) {
        const histo_axis axis = histo_hist_axis(like->hist, a);
        if (like->forms[a].kind == VALUES_TIMES) v.units[a] = time_unit_within(least_width(&axis));
    }
    return v;
}

bool view_is_plain(const view *v)
{
    return v->kind == VIEW_COUNTS && !v->cumulative;
}

bool view_adds_up(const view *v)
{
    return !v->cumulative && (v->kind == VIEW_COUNTS || v->kind == VIEW_FRACTIONS);
}

/* Whether the widths differ by more than rounding. */
static bool is_unequal(const histo_axis *axis)
{
    double most = 0;
    if (axis->kind != HISTO_VARIABLE || !isfinite(axis->lo) || !isfinite(axis->hi)) return false;
    const double least = least_width(axis);
    for (int64_t i = 0; i < axis->bins; i++)
        most = fmax(most, width_of(axis, 1, i));
    const double rounding = 4 * DBL_EPSILON * fmax(fabs(axis->lo), fabs(axis->hi));
    return least > 0 && most > least * (1 + 1e-6) + rounding;
}

view view_drawn(const settings *s, const series *like)
{
    const histo_axis axis = histo_hist_axis(like->hist, 0);
    view v = view_asked(s, like);
    if (view_is_plain(&v) && !s->counts && is_unequal(&axis)) v.kind = VIEW_PER_UNIT;
    return v;
}

/* The unit by which widths on axis a are divided. */
static double unit_of(const view *v, int a)
{
    return v->units[a] ? v->units[a]->us : 1;
}

static double total_of(const view *v, const double *values, int64_t n)
{
    double total = 0;
    if (v->kind == VIEW_COUNTS || v->kind == VIEW_PER_UNIT) return 1;
    for (int64_t i = 0; i < n; i++)
        total += values[i];
    return total;
}

static void add_up(const view *v, double *values, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        double *value = &values[v->reverse ? n - 1 - i : i];
        *value = sum += *value;
    }
}

void view_apply(const view *v, const histo_axis *axis, const bin_rows *rows, double *values)
{
    const int64_t n = bin_rows_count(rows);
    const double total = total_of(v, values, n), unit = unit_of(v, 0);
    const bool by_width = !v->cumulative && (v->kind == VIEW_DENSITIES || v->kind == VIEW_PER_UNIT);
    if (v->cumulative) add_up(v, values, n);
    for (int64_t i = 0; i < n; i++) { /* in NumPy's order of operations */
        const double width = by_width ? width_of_row(axis, rows, i) / unit : 1;
        values[i] = values[i] == 0 ? 0 : values[i] / width / total;
    }
}

void view_apply_cells(const view *v, const histo_axis axes[2], const int64_t each[2], double *values,
                      const int64_t rows[2])
{
    const double total = total_of(v, values, rows[0] * rows[1]), unit = unit_of(v, 0) * unit_of(v, 1);
    const bool by_area = v->kind == VIEW_DENSITIES || v->kind == VIEW_PER_UNIT;
    for (int64_t x = 0; x < rows[0]; x++)
        for (int64_t y = 0; y < rows[1]; y++) {
            double *value = &values[x * rows[1] + y];
            if (*value == 0) continue;
            if (by_area) *value = *value / width_of(&axes[0], each[0], x) / (width_of(&axes[1], each[1], y) / unit);
            *value /= total;
        }
}

double *view_of_table(const view *v, const table *t)
{
    double *values = malloc((size_t)t->cells * sizeof *values + 1), total = 0;
    int64_t slots[HISTO_MAX_AXES];
    if (!values) return NULL;
    for (int64_t cell = -1; table_next(t, &cell, slots);) {
        values[cell] = table_is_bin(t, slots) ? table_value(t, cell) : (double)NAN;
        if (!isnan(values[cell])) total += values[cell];
    }
    if (v->cumulative) {
        view_apply(v, &t->axes[0], &(bin_rows){t->bins[0], 1, 0}, values + 1);
        return values;
    }
    for (int64_t cell = -1; table_next(t, &cell, slots);) {
        if (isnan(values[cell]) || values[cell] == 0) continue;
        for (int a = 0; a < t->naxes && v->kind == VIEW_DENSITIES; a++)
            values[cell] /= width_of(&t->axes[a], 1, slots[a] - 1) / unit_of(v, a);
        values[cell] /= total;
    }
    return values;
}

const char *view_name(const view *v)
{
    static const char *const names[][2] = {[VIEW_COUNTS] = {NULL, "cumulative"},
                                           [VIEW_FRACTIONS] = {"fraction", "cumulative_fraction"},
                                           [VIEW_DENSITIES] = {"density", "cumulative_fraction"},
                                           [VIEW_PER_UNIT] = {"per_unit", "cumulative"}};
    return names[v->kind][v->cumulative];
}
