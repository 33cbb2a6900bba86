#include "apply/tiles.h"

#include <stdlib.h>
#include <string.h>

#include "base/failure.h"

static bool fits(int64_t count, int64_t length)
{
    return length % count == 0;
}

static int64_t padded_size(int64_t count, int64_t length)
{
    return (length + count - length % count) / count;
}

static int64_t ceiling(int64_t length, int64_t size)
{
    return (length + size - 1) / size;
}

tile_grid tiles_fit(const int64_t count[3], int64_t depth, int64_t height, int64_t width)
{
    const bool whole = fits(count[1], height) && fits(count[2], width);
    return (tile_grid){.count = {count[0], count[1], count[2]},
                       .size = {ceiling(depth, count[0]), whole ? height / count[1] : padded_size(count[1], height),
                                whole ? width / count[2] : padded_size(count[2], width)}};
}

tile_grid tiles_of_size(const int64_t size[2], int64_t height, int64_t width)
{
    return (tile_grid){.count = {1, ceiling(height, size[0]), ceiling(width, size[1])},
                       .size = {INT32_MAX, size[0], size[1]}};
}

static int fault_memory(fault *f)
{
    return fault_set(f, EXIT_DATA, "no memory for the histograms of tiles: take fewer tiles, or fewer bins with -b N");
}

static int64_t rows_of_tiles(const tiles *t)
{
    return t->grid.count[0] * t->grid.count[1];
}

static int64_t rows_below(const tiles *t)
{
    return t->grid.count[1] * t->grid.size[1] - t->height;
}

static int64_t padded_width(const tiles *t)
{
    return t->grid.count[2] * t->grid.size[2];
}

int tiles_begin(tiles *t, const tile_grid *grid, int64_t height, int64_t width, const histo_axis *axis,
                histo_dtype dtype, fault *f)
{
    *t = (tiles){.grid = *grid, .height = height, .width = width, .axis = *axis, .dtype = dtype};
    const double tables = (double)rows_of_tiles(t) * (double)grid->count[2];
    const double each = (double)axis->bins + 3;
    if (fault_beyond_memory(f, tables * each * 3 * sizeof(uint64_t), "the histograms of tiles",
                            "take fewer tiles, or fewer bins with -b N") != 0)
        return -1;
    t->rows = calloc((size_t)rows_of_tiles(t), sizeof(histo_hist *));
    const size_t below = (size_t)(rows_below(t) * width) * histo_dtype_size(dtype);
    t->below = malloc(below ? below : 1);
    if (!t->rows || !t->below) return fault_memory(f);
    const histo_hist_options options = {.batch = grid->count[2]};
    for (int64_t r = 0; r < rows_of_tiles(t); r++)
        if (histo_hist_create(&t->rows[r], 1, axis, &options) != HISTO_OK)
            return fault_of_library(f, EXIT_DATA, "the histograms of tiles");
    return 0;
}

void tiles_free(tiles *t)
{
    for (int64_t r = 0; t->rows && r < rows_of_tiles(t); r++)
        histo_hist_destroy(t->rows[r]);
    histo_plan_destroy(t->plan);
    free(t->rows);
    free(t->padded);
    free(t->below);
    *t = (tiles){0};
}

/* Where place i of a line that continues by reflection comes from. */
static int64_t reflected(int64_t i, int64_t length)
{
    if (length == 1) return 0;
    while (i < 0 || i >= length)
        i = i < 0 ? -i : 2 * (length - 1) - i;
    return i;
}

/* Contiguous rows of the width of all tiles. */
static int pad(tiles *t, const histo_view *rows, histo_view *padded, fault *f)
{
    const int64_t shape[] = {rows->shape[0], padded_width(t)};
    const size_t size = histo_dtype_size(t->dtype), need = (size_t)(shape[0] * shape[1]) * size;
    if (need > t->room) {
        free(t->padded);
        t->padded = malloc(need);
        t->room = t->padded ? need : 0;
        if (!t->padded) return fault_memory(f);
    }
    unsigned char *to = t->padded;
    for (int64_t y = 0; y < shape[0]; y++) {
        const char *from = (const char *)rows->data + y * rows->strides[0];
        for (int64_t x = 0; x < shape[1]; x++, to += size)
            memcpy(to, from + reflected(x, t->width) * rows->strides[1], size);
    }
    *padded = histo_view_nd(t->padded, t->dtype, 2, shape);
    return 0;
}

/* Count rows of the padded image, of one row of tiles. */
static int count(tiles *t, int64_t tile, const histo_view *rows, const histo_plan_options *options, fault *f)
{
    const int64_t width = t->grid.size[2];
    const histo_view view = {.data = rows->data,
                             .dtype = t->dtype,
                             .ndim = 3,
                             .batch_ndim = 1,
                             .shape = {t->grid.count[2], rows->shape[0], width},
                             .strides = {width * rows->strides[1], rows->strides[0], rows->strides[1]}};
    histo_hist *hist = t->rows[t->page / t->grid.size[0] * t->grid.count[1] + tile];
    histo_status status = HISTO_OK;
    if (!t->plan) status = histo_plan_create(&t->plan, hist, &view, NULL, options);
    if (status == HISTO_OK) status = histo_plan_fill(t->plan, hist, &view, NULL);
    return status == HISTO_OK ? 0 : fault_of_library(f, EXIT_DATA, "the histograms of tiles");
}

/* Rows from row y of the padded image on. */
static int add_rows(tiles *t, int64_t y, const histo_view *rows, const histo_plan_options *options, fault *f)
{
    histo_view all = *rows;
    if (padded_width(t) != t->width && pad(t, rows, &all, f) != 0) return -1;
    for (int64_t done = 0, n; done < rows->shape[0]; done += n) {
        const int64_t at = y + done, tile = at / t->grid.size[1], end = (tile + 1) * t->grid.size[1];
        histo_view part = all;
        n = end - at < rows->shape[0] - done ? end - at : rows->shape[0] - done;
        part.data = (const char *)all.data + done * all.strides[0];
        part.shape[0] = n;
        if (count(t, tile, &part, options, f) != 0) return -1;
    }
    return 0;
}

/* Keep the rows that continue the page. */
static void keep_below(tiles *t, int64_t y, const histo_view *rows)
{
    const size_t size = histo_dtype_size(t->dtype);
    for (int64_t i = 0; i < rows_below(t); i++) {
        const int64_t row = reflected(t->height + i, t->height) - y;
        if (row < 0 || row >= rows->shape[0]) continue;
        unsigned char *to = t->below + (size_t)(i * t->width) * size;
        for (int64_t x = 0; x < t->width; x++, to += size)
            memcpy(to, (const char *)rows->data + row * rows->strides[0] + x * rows->strides[1], size);
    }
}

int tiles_add(tiles *t, int64_t y, const histo_view *rows, const histo_plan_options *options, fault *f)
{
    const int64_t end = y + rows->shape[0];
    keep_below(t, y, rows);
    if (add_rows(t, y, rows, options, f) != 0) return -1;
    if (end < t->height) return 0;
    if (rows_below(t) > 0) {
        const int64_t shape[] = {rows_below(t), t->width};
        const histo_view below = histo_view_nd(t->below, t->dtype, 2, shape);
        if (add_rows(t, t->height, &below, options, f) != 0) return -1;
    }
    t->page++;
    return 0;
}

/* The tables of a row of tiles, to values. */
static histo_status equalize_row(const tiles *t, int64_t row, histo_within within, const histo_make_options *options,
                                 double *values)
{
    const histo_map_options batch = {.batch = t->grid.count[2], .within = within};
    histo_map *map = NULL;
    histo_status status = histo_map_create(&map, 1, &t->axis, &batch);
    if (status == HISTO_OK) status = histo_map_equalize(map, t->rows[row], options);
    if (status == HISTO_OK) status = histo_map_read(map, values, histo_map_size(map));
    histo_map_destroy(map);
    return status;
}

int tiles_map(const tiles *t, histo_within within, const histo_make_options *options, histo_map **map, fault *f)
{
    const histo_map_options all = {.batch = rows_of_tiles(t) * t->grid.count[2], .within = within};
    if (histo_map_create(map, 1, &t->axis, &all) != HISTO_OK)
        return fault_of_library(f, EXIT_DATA, "the tables of tiles");
    const int64_t size = histo_map_size(*map), each = size / rows_of_tiles(t);
    double *values = malloc((size_t)size * sizeof *values);
    histo_status status = HISTO_OK;
    if (!values) return fault_memory(f);
    for (int64_t r = 0; r < rows_of_tiles(t) && status == HISTO_OK; r++)
        status = equalize_row(t, r, within, options, values + r * each);
    if (status == HISTO_OK) status = histo_map_write(*map, values, size);
    free(values);
    return status == HISTO_OK ? 0 : fault_of_library(f, EXIT_DATA, "the tables of tiles");
}
