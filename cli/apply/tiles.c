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

tile_grid tiles_fit(const int64_t count[3], int64_t overlap, int64_t depth, int64_t height, int64_t width)
{
    const int64_t rows = count[1] * overlap, columns = count[2] * overlap;
    const bool whole = fits(rows, height) && fits(columns, width);
    return (tile_grid){.count = {count[0], rows, columns},
                       .size = {ceiling(depth, count[0]), whole ? height / rows : padded_size(rows, height),
                                whole ? width / columns : padded_size(columns, width)},
                       .overlap = overlap};
}

tile_grid tiles_of_size(const int64_t size[2], int64_t overlap, int64_t height, int64_t width)
{
    const int64_t rows = ceiling(height, size[0]), columns = ceiling(width, size[1]);
    return (tile_grid){.count = {1, rows * overlap, columns * overlap},
                       .size = {INT32_MAX, size[0] / overlap, size[1] / overlap},
                       .overlap = overlap};
}

/* The number of tiles along dimension d, 1 or 2. */
static int64_t tiles_along(const tile_grid *g, int d)
{
    return g->count[d] - g->overlap + 1;
}

/* The number of tables along it: those of the first and last tile are repeated where no tile is centred on a cell. */
static int64_t tables_along(const tile_grid *g, int d)
{
    return tiles_along(g, d) + g->overlap / 2 * 2;
}

/* The tile that a table belongs to. */
static int64_t tile_of(const tile_grid *g, int d, int64_t index)
{
    const int64_t at = index - g->overlap / 2, last = tiles_along(g, d) - 1;
    return at < 0 ? 0 : at > last ? last : at;
}

void tiles_place(const tile_grid *g, int ndim, histo_apply_options *options)
{
    options->tiles.ndim = ndim;
    for (int k = 0; k < ndim; k++) {
        const int d = 3 - ndim + k;
        options->tiles.count[k] = d ? tables_along(g, d) : g->count[0];
        options->tiles.size[k] = g->size[d];
        if (d && g->overlap % 2 == 0) options->origin[k] += g->size[d] / 2; /* an even number of cells */
    }
}

static int fault_memory(fault *f)
{
    return fault_set(f, EXIT_DATA, "no memory for the histograms of tiles: take fewer tiles, or fewer bins with -b N");
}

static int64_t rows_of_tiles(const tiles *t)
{
    return t->grid.count[0] * tiles_along(&t->grid, 1);
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
    const double tables = (double)grid->count[0] * (double)tables_along(grid, 1) * (double)tables_along(grid, 2);
    const double each = (double)axis->bins + 3;
    if (fault_beyond_memory(f, tables * each * 3 * sizeof(uint64_t), "the histograms of tiles",
                            "take fewer tiles, or fewer bins with -b N") != 0)
        return -1;
    t->rows = calloc((size_t)rows_of_tiles(t), sizeof(histo_hist *));
    const size_t below = (size_t)(rows_below(t) * width) * histo_dtype_size(dtype);
    for (int k = 0; k < 2; k++)
        t->below[k] = malloc(below ? below : 1);
    if (!t->rows || !t->below[0] || !t->below[1]) return fault_memory(f);
    const histo_hist_options options = {.batch = tiles_along(grid, 2)};
    for (int64_t r = 0; r < rows_of_tiles(t); r++)
        if (histo_hist_create(&t->rows[r], 1, axis, &options) != HISTO_OK)
            return fault_of_library(f, EXIT_DATA, "the histograms of tiles");
    return 0;
}

void tiles_free(tiles *t)
{
    for (int64_t r = 0; t->rows && r < rows_of_tiles(t); r++)
        histo_hist_destroy(t->rows[r]);
    free(t->rows);
    for (int k = 0; k < 2; k++) {
        histo_plan_destroy(t->plan[k]);
        free(t->padded[k].data);
        free(t->below[k]);
    }
    *t = (tiles){0};
}

/* The source of position i on a line extended by reflection. */
static int64_t reflected(int64_t i, int64_t length)
{
    if (length == 1) return 0;
    while (i < 0 || i >= length)
        i = i < 0 ? -i : 2 * (length - 1) - i;
    return i;
}

/* Copy rows, padded to the width of all tiles. */
static int pad(const tiles *t, const histo_view *rows, scratch *room, histo_view *padded, fault *f)
{
    const int64_t shape[] = {rows->shape[0], padded_width(t)};
    const size_t size = histo_dtype_size(rows->dtype), need = (size_t)(shape[0] * shape[1]) * size;
    if (!scratch_reserve(room, need)) return fault_memory(f);
    unsigned char *to = room->data;
    for (int64_t y = 0; y < shape[0]; y++) {
        const char *from = (const char *)rows->data + y * rows->strides[0];
        for (int64_t x = 0; x < shape[1]; x++, to += size)
            memcpy(to, from + reflected(x, t->width) * rows->strides[1], size);
    }
    *padded = histo_view_nd(room->data, rows->dtype, 2, shape);
    return 0;
}

/* The tiles that contain the rows of a row of cells: tiles, rows, columns. */
static histo_view in_tiles(const tiles *t, const histo_view *rows)
{
    const tile_grid *g = &t->grid;
    return (histo_view){
        .data = rows->data,
        .dtype = rows->dtype,
        .ndim = 3,
        .batch_ndim = 1,
        .shape = {tiles_along(g, 2), rows->shape[0], g->size[2] * g->overlap},
        .strides = {g->size[2] * rows->strides[1], rows->strides[0], rows->strides[1]},
    };
}

/* Count rows of the padded image, within one row of cells, in all rows of tiles that contain it. */
static int count(tiles *t, int64_t cell, const histo_view rows[2], const histo_plan_options *options, fault *f)
{
    const tile_grid *g = &t->grid;
    const bool masked = rows[1].data != NULL;
    const histo_view view = in_tiles(t, &rows[0]), where = in_tiles(t, &rows[1]);
    const histo_fill_options fill = {.mask = masked ? &where : NULL};
    histo_plan **plan = &t->plan[masked];
    const int64_t first = cell < g->overlap ? 0 : cell - g->overlap + 1, end = tiles_along(g, 1);
    for (int64_t tile = first; tile <= cell && tile < end; tile++) {
        histo_hist *hist = t->rows[t->page / g->size[0] * end + tile];
        histo_status status = HISTO_OK;
        if (!*plan) status = histo_plan_create(plan, hist, &view, &fill, options);
        if (status == HISTO_OK) status = histo_plan_fill(*plan, hist, &view, &fill);
        if (status != HISTO_OK) return fault_of_library(f, EXIT_DATA, "the histograms of tiles");
    }
    return 0;
}

/* Add rows of samples, and of their mask (or without data), from row y of the padded image on. */
static int add_rows(tiles *t, int64_t y, const histo_view rows[2], const histo_plan_options *options, fault *f)
{
    histo_view all[] = {rows[0], rows[1]};
    for (int k = 0; k < 2; k++)
        if (rows[k].data && padded_width(t) != t->width && pad(t, &rows[k], &t->padded[k], &all[k], f) != 0) return -1;
    for (int64_t done = 0, n; done < rows[0].shape[0]; done += n) {
        const int64_t at = y + done, cell = at / t->grid.size[1], end = (cell + 1) * t->grid.size[1];
        histo_view part[] = {all[0], all[1]};
        n = end - at < rows[0].shape[0] - done ? end - at : rows[0].shape[0] - done;
        for (int k = 0; k < 2 && all[k].data; k++) {
            part[k].data = (const char *)all[k].data + done * all[k].strides[0];
            part[k].shape[0] = n;
        }
        if (count(t, cell, part, options, f) != 0) return -1;
    }
    return 0;
}

/* Keep the rows whose reflection extends the page. */
static void keep_below(const tiles *t, int64_t y, const histo_view *rows, unsigned char *below)
{
    const size_t size = histo_dtype_size(rows->dtype);
    for (int64_t i = 0; i < rows_below(t); i++) {
        const int64_t row = reflected(t->height + i, t->height) - y;
        if (row < 0 || row >= rows->shape[0]) continue;
        unsigned char *to = below + (size_t)(i * t->width) * size;
        for (int64_t x = 0; x < t->width; x++, to += size)
            memcpy(to, (const char *)rows->data + row * rows->strides[0] + x * rows->strides[1], size);
    }
}

int tiles_add(tiles *t, int64_t y, const histo_view *rows, const histo_view *counted, const histo_plan_options *options,
              fault *f)
{
    const int64_t end = y + rows->shape[0], shape[] = {rows_below(t), t->width};
    const histo_view both[] = {*rows, counted ? *counted : (histo_view){0}};
    if (counted && !t->masked) memset(t->below[1], 1, (size_t)(shape[0] * shape[1]));
    t->masked |= counted != NULL;
    keep_below(t, y, rows, t->below[0]);
    if (counted) keep_below(t, y, counted, t->below[1]);
    if (add_rows(t, y, both, options, f) != 0) return -1;
    if (end < t->height) return 0;
    if (rows_below(t) > 0) {
        const histo_view below[] = {histo_view_nd(t->below[0], t->dtype, 2, shape),
                                    t->masked ? histo_view_nd(t->below[1], HISTO_U8, 2, shape) : (histo_view){0}};
        if (add_rows(t, t->height, below, options, f) != 0) return -1;
    }
    t->page++;
    t->masked = false;
    return 0;
}

/* Make the tables of a row of tiles, as values. */
static histo_status equalize_row(const tiles *t, int64_t row, histo_within within, const histo_make_options *options,
                                 double *values)
{
    const histo_map_options batch = {.batch = tiles_along(&t->grid, 2), .within = within};
    histo_map *map = NULL;
    histo_status status = histo_map_create(&map, 1, &t->axis, &batch);
    if (status == HISTO_OK) status = histo_map_equalize(map, t->rows[row], options);
    if (status == HISTO_OK) status = histo_map_read(map, values, histo_map_size(map));
    histo_map_destroy(map);
    return status;
}

/* The values of all tables; row: room for those of a row of tiles. */
static histo_status equalize(const tiles *t, histo_within within, const histo_make_options *options, int64_t length,
                             double *row, double *values)
{
    const tile_grid *g = &t->grid;
    for (int64_t page = 0; page < g->count[0]; page++)
        for (int64_t y = 0; y < tables_along(g, 1); y++) {
            const int64_t tile = page * tiles_along(g, 1) + tile_of(g, 1, y);
            const histo_status status = equalize_row(t, tile, within, options, row);
            if (status != HISTO_OK) return status;
            for (int64_t x = 0; x < tables_along(g, 2); x++, values += length)
                memcpy(values, row + tile_of(g, 2, x) * length, (size_t)length * sizeof *values);
        }
    return HISTO_OK;
}

int tiles_map(const tiles *t, histo_within within, const histo_make_options *options, histo_map **map, fault *f)
{
    const tile_grid *g = &t->grid;
    const histo_map_options all = {.batch = g->count[0] * tables_along(g, 1) * tables_along(g, 2), .within = within};
    if (histo_map_create(map, 1, &t->axis, &all) != HISTO_OK)
        return fault_of_library(f, EXIT_DATA, "the tables of tiles");
    const int64_t size = histo_map_size(*map), length = size / all.batch;
    double *values = malloc((size_t)size * sizeof *values);
    double *row = malloc((size_t)(tiles_along(g, 2) * length) * sizeof *row);
    histo_status status = HISTO_OK;
    int failed = values && row ? 0 : fault_memory(f);
    if (!failed) status = equalize(t, within, options, length, row, values);
    if (!failed && status == HISTO_OK) status = histo_map_write(*map, values, size);
    if (status != HISTO_OK) failed = fault_of_library(f, EXIT_DATA, "the tables of tiles");
    free(values);
    free(row);
    return failed;
}
