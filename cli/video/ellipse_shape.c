#include "video/ellipse_shape.h"

#include <math.h>
#include <stdlib.h>

/* reach[i] for i = 0 … a: the largest j with (i / a)^2 + (j / b)^2 <= 1. */
static void find_reach(int64_t a, int64_t b, int32_t *reach)
{
    int64_t j = b;
    for (int64_t i = 0; i <= a; i++) {
        while (i * i * b * b + j * j * a * a > a * a * b * b)
            j--;
        reach[i] = (int32_t)j;
    }
}

static void add_to_rim(ellipse_shape *e, int64_t x, int64_t y)
{
    const double nx = (double)(x * e->half_height * e->half_height), ny = (double)(y * e->half_width * e->half_width);
    const double scale = (1 << RIM_NORMAL_BITS) / sqrt(nx * nx + ny * ny);
    e->rim[e->rim_count++] =
        (rim_pixel){(int32_t)x, (int32_t)y, {(int16_t)lrint(nx * scale), (int16_t)lrint(ny * scale)}};
}

/* Add the pixels of a row that the next row away from the centre does not cover, and the row's ends. */
static void add_row_to_rim(ellipse_shape *e, int64_t y)
{
    const int64_t away = llabs(y), reach = e->row_reach[away];
    const int64_t beyond = away < e->half_height ? e->row_reach[away + 1] + 1 : 0;
    const int64_t from = beyond < reach ? beyond : reach;
    for (int64_t x = -reach; x <= -from; x++)
        add_to_rim(e, x, y);
    for (int64_t x = from > 0 ? from : 1; x <= reach; x++)
        add_to_rim(e, x, y);
}

bool ellipse_shape_make(ellipse_shape *e, int64_t half_width, int64_t half_height)
{
    *e = (ellipse_shape){.half_width = half_width, .half_height = half_height};
    e->row_reach = malloc((size_t)(half_height + 1) * sizeof *e->row_reach);
    e->column_reach = malloc((size_t)(half_width + 1) * sizeof *e->column_reach);
    e->rim = malloc((size_t)(half_width + half_height + 2) * 4 * sizeof *e->rim);
    if (!e->row_reach || !e->column_reach || !e->rim) return false;
    find_reach(half_height, half_width, e->row_reach);
    find_reach(half_width, half_height, e->column_reach);
    for (int64_t y = -half_height; y <= half_height; y++) {
        e->area += 2 * e->row_reach[llabs(y)] + 1;
        add_row_to_rim(e, y);
    }
    return true;
}

void ellipse_shape_free(ellipse_shape *e)
{
    free(e->row_reach);
    free(e->column_reach);
    free(e->rim);
}
