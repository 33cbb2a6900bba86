/* FITS: a file has units, each an image or a table; --dataset selects one. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "input/readers/names.h"
#include "modules/fits/fits.h"

enum { LONGEST_PATH = FLEN_FILENAME - 16 };

int fits_fault(const fits_unit *u, int status, fault *f)
{
    char brief[FLEN_STATUS] = "", message[FLEN_ERRMSG] = "", last[FLEN_ERRMSG] = "";
    fits_get_errstatus(status, brief);
    while (fits_read_errmsg(message) > 0)
        memcpy(last, message, sizeof last);
    return fault_set(f, EXIT_DATA,
                     "%s%s%s cannot be read (cfitsio: %s%s%s): it is truncated or damaged; check it with fitsverify",
                     u->name, u->about.label[0] ? ", " : "", u->about.label, brief, last[0] ? "; " : "", last);
}

double fits_key(fitsfile *file, const char *key, double otherwise)
{
    int status = 0;
    double value = otherwise;
    if (fits_read_key(file, TDOUBLE, key, &value, NULL, &status) != 0) value = otherwise;
    fits_clear_errmsg();
    return value;
}

void fits_raise(void *samples, int64_t count)
{
    uint64_t *values = samples;
    for (int64_t i = 0; i < count; i++)
        values[i] ^= UINT64_C(1) << 63;
}

int64_t fits_image_pixels(fitsfile *file)
{
    int status = 0, dims = 0;
    LONGLONG size[16], pixels = 1;
    if (fits_get_img_dim(file, &dims, &status) || dims < 1 || dims > 16) return 0;
    if (fits_get_img_sizell(file, dims, size, &status)) return 0;
    for (int d = 0; d < dims; d++)
        if (size[d] < 0 || __builtin_mul_overflow(pixels, size[d], &pixels)) return 0;
    return pixels;
}

/* ---- Choosing a unit ---- */

typedef struct found {
    int count, first; /* units with data */
    bool primary;     /* has an image */
    name_list list;
} found;

/* Whether the current unit has data. */
static bool has_data(fitsfile *file)
{
    int status = 0, kind = 0, columns = 0;
    LONGLONG rows = 0;
    fits_get_hdu_type(file, &kind, &status);
    if (kind == IMAGE_HDU) return fits_image_pixels(file) > 0;
    return fits_get_num_rowsll(file, &rows, &status) == 0 && fits_get_num_cols(file, &columns, &status) == 0 &&
           columns > 0;
}

/* "2 (SCI)". */
static void label_unit(fitsfile *file, int unit, char *label, size_t size)
{
    int status = 0;
    char name[FLEN_VALUE] = "";
    if (fits_read_key(file, TSTRING, "EXTNAME", name, NULL, &status) == 0 && name[0])
        snprintf(label, size, "%d (%s)", unit, name);
    else
        snprintf(label, size, "%d", unit);
    fits_clear_errmsg();
}

static void survey(fitsfile *file, found *all)
{
    int status = 0, kind;
    *all = (found){.first = -1};
    for (int unit = 0; fits_movabs_hdu(file, unit + 1, &kind, &status) == 0; unit++) {
        char label[FLEN_VALUE + 16];
        if (!has_data(file)) continue;
        if (all->count++ == 0) all->first = unit;
        all->primary = all->primary || unit == 0;
        label_unit(file, unit, label, sizeof label);
        name_list_add(&all->list, label);
    }
    fits_clear_errmsg();
}

/* The number of the unit with this name: "2", "SCI" or "SCI,2"; -1 if there is none. */
static int find_named(fitsfile *file, const char *wanted)
{
    int status = 0, kind, unit = 0;
    char *end, name[FLEN_VALUE];
    const long number = strtol(wanted, &end, 10);
    if (isdigit((unsigned char)wanted[0]) && *end == '\0' && number < 1 << 20)
        return fits_movabs_hdu(file, (int)number + 1, &kind, &status) == 0 ? (int)number : -1;
    const char *comma = strrchr(wanted, ',');
    const long version = comma ? strtol(comma + 1, &end, 10) : 0;
    const bool versioned = comma && end > comma + 1 && *end == '\0';
    snprintf(name, sizeof name, "%.*s", (int)(versioned ? comma - wanted : (long)strlen(wanted)), wanted);
    if (fits_movnam_hdu(file, ANY_HDU, name, versioned ? (int)version : 0, &status) != 0) return -1;
    fits_get_hdu_num(file, &unit);
    return unit - 1;
}

/* Move to the requested unit, else the only one with data or a primary image. */
static int choose(fits_unit *u, const char *wanted, fault *f)
{
    found all;
    int status = 0, kind;
    int unit = wanted ? find_named(u->file, wanted) : -1;
    fits_clear_errmsg();
    if (unit < 0) {
        survey(u->file, &all);
        const char *list = name_list_text(&all.list);
        if (wanted)
            return fault_set(
                f, EXIT_DATA,
                "%s has no image or table '%.60s': it has %s; choose one by its number or name with --dataset", u->name,
                wanted, list);
        if (all.count == 0) return fault_set(f, EXIT_DATA, "%s holds no image and no table with data", u->name);
        if (all.count > 1 && !all.primary)
            return fault_set(f, EXIT_DATA,
                             "%s holds %d images and tables: choose one by its number or name with --dataset: %s",
                             u->name, all.count, list);
        unit = all.first;
    }
    if (fits_movabs_hdu(u->file, unit + 1, &kind, &status) != 0) return fits_fault(u, status, f);
    label_unit(u->file, unit, u->about.label, sizeof u->about.label);
    if (!has_data(u->file))
        return fault_set(f, EXIT_DATA, "%s, %s has no data: choose another image or table with --dataset", u->name,
                         u->about.label);
    return 0;
}

/* ---- In the process of cfitsio ---- */

typedef struct fits_reader {
    fits_unit unit;
    const char *path, *dataset;
    bool paged; /* a page other than the first was requested */
    isolated_process *process;
    column columns[MOST_COLUMNS];
} fits_reader;

enum { DESCRIBE, READ };

static int describe(fits_reader *r, fits_about *about, fault *f)
{
    fits_unit *u = &r->unit;
    int status = 0, kind = 0;
    if (fits_open_diskfile(&u->file, r->path, READONLY, &status) != 0) return fits_fault(u, status, f);
    if (choose(u, r->dataset, f) != 0) return -1;
    fits_get_hdu_type(u->file, &kind, &status);
    u->about.table = kind != IMAGE_HDU;
    if ((u->about.table ? fits_table_describe : fits_image_describe)(u, f) != 0) return -1;
    if (u->about.table && r->paged)
        return fault_set(f, EXIT_USAGE, "%s, %s is a table, which has one page: leave --page out", u->name,
                         u->about.label);
    if (u->about.table && u->raw)
        return fault_set(f, EXIT_USAGE, "%s, %s is a table, and --raw is for images of FITS: leave it out", u->name,
                         u->about.label);
    *about = u->about;
    return 0;
}

static int answer(void *self, const isolated_request *q, void *room, fault *f)
{
    fits_reader *r = self;
    unsigned char *valid = (unsigned char *)room + BAND_BYTES;
    if (q->what == DESCRIBE) return describe(r, room, f);
    return (r->unit.about.table ? fits_table_read : fits_image_read)(&r->unit, q, room, valid, f);
}

/* ---- Here ---- */

static int read_pixels(void *self, int64_t first, int64_t count, void *samples, unsigned char *valid, fault *f)
{
    fits_reader *r = self;
    const size_t bytes = (size_t)count * histo_dtype_size(r->unit.about.grid.dtype);
    return isolated_read(r->process, &(isolated_request){.what = READ, .first = first, .count = count}, samples, bytes,
                         valid, count, f);
}

/* The values of a column, in pieces, as a row may be larger than a band. */
static int read_column(void *self, int c, int64_t first, int64_t rows, void *samples, unsigned char *valid, fault *f)
{
    fits_reader *r = self;
    const column *from = &r->columns[c];
    const int64_t size = (int64_t)fits_column_bytes(from), all = rows * from->values, fit = BAND_BYTES / size;
    for (int64_t done = 0, n; done < all; done += n) {
        n = all - done < fit ? all - done : fit;
        const isolated_request q = {.what = READ, .column = c, .first = first * from->values + done, .count = n};
        if (isolated_read(r->process, &q, (char *)samples + done * size, (size_t)(n * size), valid + done, n, f) != 0)
            return -1;
    }
    return 0;
}

static void close_file(void *self)
{
    fits_reader *r = self;
    isolated_close(r->process);
    free(r);
}

static reader *open_columns(fits_reader *r, input *in, fault *f)
{
    const fits_about *about = &r->unit.about;
    for (int c = 0; c < about->count; c++) {
        const fits_column *from = &about->columns[c];
        r->columns[c] = from->is;
        r->columns[c].name = from->name;
        r->columns[c].words = from->words[0] ? from->words : NULL;
    }
    const columns_source source = {.self = r, .read = read_column, .close = close_file};
    return fits_columns_open(in, r->columns, about->count, about->rows, source, f);
}

reader *fits_open(input *in, const read_options *options, fault *f)
{
    const char *name = input_name(in);
    fits_reader *r = calloc(1, sizeof *r);
    if (!r) fault_set(f, EXIT_DATA, "no memory to read %s", name);
    if (!r || !(r->path = input_path(in, f))) goto fail;
    if (strlen(r->path) > LONGEST_PATH) {
        fault_set(f, EXIT_DATA, "%s: the path is longer than cfitsio can take", name);
        goto fail;
    }
    r->unit.name = name;
    r->unit.raw = options->raw;
    r->dataset = options->dataset;
    r->paged = options->has_page && options->page > 0;
    r->process = isolated_open(name, r->path, "cfitsio", answer, r, f);
    if (!r->process || isolated_call(r->process, &(isolated_request){.what = DESCRIBE}, f) != 0) goto fail;
    memcpy(&r->unit.about, isolated_memory(r->process), sizeof r->unit.about);
    if (r->unit.about.table) return open_columns(r, in, f);
    const grid_source source = {.self = r, .read = read_pixels, .close = close_file, .gaps = r->unit.about.gaps};
    return grid_open(in, options, &r->unit.about.grid, source, f);

fail:
    if (r) close_file(r);
    return NULL;
}
