/* HDF5: one numeric dataset, read in tiles of complete chunks, so that each chunk is decompressed once. Arrays become
 * pages by the conventions in array.h. A tile of a flattened array is delivered as bands of its contiguous runs, so
 * that the position of each band is exact. */
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input/reader.h"
#include "input/readers/array.h"
#include "input/readers/names.h"
#include "input/readers/readers.h"

typedef struct h5_reader {
    reader base;
    hid_t file, dataset, memory_type;
    array_info info;
    array_page page;
    histo_dtype dtypes[4];
    selection selected;
    unsigned char *buffer;
    int64_t sample_bytes;
    int64_t block[HISTO_MAX_DIMS]; /* complete chunks, read before the next block begins */
    int64_t tile[HISTO_MAX_DIMS];  /* the part of a block read at once */
    /* Position: the block, its tile, and in a flattened page the tile's run. */
    int64_t at_block[HISTO_MAX_DIMS], at_tile[HISTO_MAX_DIMS];
    int64_t start[HISTO_MAX_DIMS], count[HISTO_MAX_DIMS]; /* the tile in the buffer */
    int64_t run, runs, run_length;
    bool begun, ended;
} h5_reader;

/* ---- Messages of HDF5 ----------------------------------------------------------------------------------- */

/* The innermost message of the error stack is the cause. */
static herr_t take_first_message(unsigned n, const H5E_error2_t *error, void *text)
{
    if (n == 0 && error->desc) snprintf(text, 160, "%s", error->desc);
    return 0;
}

static int fault_hdf5(const char *file, const char *what, fault *f)
{
    char cause[160] = "no reason given";
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_first_message, cause);
    return fault_set(f, EXIT_DATA,
                     "%s: %s cannot be read (HDF5: %s); it is damaged, or of a later version: check it with h5dump",
                     file, what, cause);
}

/* ---- Types ---------------------------------------------------------------------------------------------- */

typedef struct float_fields {
    size_t sign, exponent, exponent_size, mantissa, mantissa_size;
} float_fields;

static bool has_fields(hid_t type, float_fields want, size_t bias)
{
    float_fields is;
    return H5Tget_fields(type, &is.sign, &is.exponent, &is.exponent_size, &is.mantissa, &is.mantissa_size) >= 0 &&
           is.sign == want.sign && is.exponent == want.exponent && is.exponent_size == want.exponent_size &&
           is.mantissa == want.mantissa && is.mantissa_size == want.mantissa_size && H5Tget_ebias(type) == bias;
}

/* The dtype that represents every value of a float type, and its HDF5 memory type (closed by the caller). */
static hid_t float_in_memory(hid_t type, histo_dtype *dtype)
{
    const float_fields half = {15, 10, 5, 0, 10}, brain = {15, 7, 8, 0, 7};
    size_t size = H5Tget_size(type);
    bool is_half = size == 2 && has_fields(type, half, 15), is_brain = size == 2 && has_fields(type, brain, 127);
    if (is_half || is_brain) {
        *dtype = is_half ? HISTO_F16 : HISTO_BF16;
        hid_t copy = H5Tcopy(type);
        H5Tset_order(copy, LITTLE_ENDIAN_MACHINE ? H5T_ORDER_LE : H5T_ORDER_BE);
        return copy;
    }
    if (size > 8) return -1;
    *dtype = size <= 4 ? HISTO_F32 : HISTO_F64;
    return H5Tcopy(size <= 4 ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE);
}

static hid_t integer_in_memory(hid_t type, histo_dtype *dtype)
{
    size_t size = H5Tget_size(type);
    bool is_signed = H5Tget_sign(type) == H5T_SGN_2;
    if (size == 0 || size > 8) return -1;
    if (size == 1) {
        *dtype = is_signed ? HISTO_I8 : HISTO_U8;
        return H5Tcopy(is_signed ? H5T_NATIVE_INT8 : H5T_NATIVE_UINT8);
    }
    if (size == 2) {
        *dtype = is_signed ? HISTO_I16 : HISTO_U16;
        return H5Tcopy(is_signed ? H5T_NATIVE_INT16 : H5T_NATIVE_UINT16);
    }
    if (size <= 4) {
        *dtype = is_signed ? HISTO_I32 : HISTO_U32;
        return H5Tcopy(is_signed ? H5T_NATIVE_INT32 : H5T_NATIVE_UINT32);
    }
    *dtype = is_signed ? HISTO_I64 : HISTO_U64;
    return H5Tcopy(is_signed ? H5T_NATIVE_INT64 : H5T_NATIVE_UINT64);
}

/* An enumeration of FALSE and TRUE, as h5py stores booleans. */
static bool is_boolean(hid_t type)
{
    bool found = H5Tget_nmembers(type) == 2;
    for (unsigned i = 0; found && i < 2; i++) {
        char *name = H5Tget_member_name(type, i);
        found = name && strcmp(name, i ? "TRUE" : "FALSE") == 0;
        H5free_memory(name);
    }
    return found;
}

/* The memory type for a dataset's type, or -1 with the reason in *what. */
static hid_t type_in_memory(hid_t type, histo_dtype *dtype, const char **what)
{
    hid_t result = -1;
    H5T_class_t class = H5Tget_class(type);
    *what = "samples of an unsupported type";
    if (class == H5T_INTEGER || class == H5T_FLOAT) {
        result = class == H5T_INTEGER ? integer_in_memory(type, dtype) : float_in_memory(type, dtype);
        *what = "numbers of more than 64 bits";
    } else if (class == H5T_ENUM && is_boolean(type)) {
        *dtype = HISTO_U8;
        return H5Tcopy(H5T_NATIVE_UINT8);
    } else if (class == H5T_ENUM) {
        hid_t integers = H5Tget_super(type);
        result = integer_in_memory(integers, dtype);
        H5Tclose(integers);
    } else if (class == H5T_COMPOUND) {
        *what = "compound records";
    } else if (class == H5T_STRING) {
        *what = "strings";
    } else if (class == H5T_VLEN || class == H5T_ARRAY) {
        *what = "arrays within an array";
    } else if (class == H5T_REFERENCE) {
        *what = "references";
    }
    return result;
}

/* ---- Datasets ------------------------------------------------------------------------------------------- */

static int describe_shape(hid_t dataset, const char *file, const char *name, array_info *info, fault *f)
{
    hid_t space = H5Dget_space(dataset);
    H5S_class_t class = H5Sget_simple_extent_type(space);
    hsize_t dims[H5S_MAX_RANK];
    int ndim = H5Sget_simple_extent_dims(space, dims, NULL);
    if (space < 0 || ndim < 0) fault_hdf5(file, name, f);
    if (space >= 0) H5Sclose(space);
    if (space < 0 || ndim < 0) return -1;
    if (class == H5S_NULL)
        return fault_set(f, EXIT_DATA, "%s: dataset %s is empty: choose another with --dataset", file, name);
    if (ndim > HISTO_MAX_DIMS)
        return fault_set(f, EXIT_DATA, "%s: dataset %s has %d dimensions, and %d are the most", file, name, ndim,
                         HISTO_MAX_DIMS);
    info->ndim = ndim;
    for (int d = 0; d < ndim; d++) {
        if (dims[d] > INT64_MAX)
            return fault_set(f, EXIT_DATA, "%s: dataset %s is damaged: it is too large", file, name);
        info->shape[d] = (int64_t)dims[d];
    }
    return 0;
}

/* Describe a dataset; the caller closes *memory_type. */
static int describe(hid_t dataset, const char *file, const char *name, array_info *info, hid_t *memory_type, fault *f)
{
    const char *what;
    *info = (array_info){0};
    hid_t type = H5Dget_type(dataset);
    if (type < 0) return fault_hdf5(file, name, f);
    hid_t in_memory = type_in_memory(type, &info->dtype, &what);
    info->boolean = H5Tget_class(type) == H5T_ENUM && is_boolean(type);
    H5Tclose(type);
    if (in_memory < 0)
        return fault_set(f, EXIT_DATA, "%s: dataset %s holds %s, not plain numbers: choose another with --dataset",
                         file, name, what);
    if (describe_shape(dataset, file, name, info, f) != 0) {
        H5Tclose(in_memory);
        return -1;
    }
    *memory_type = in_memory;
    return 0;
}

typedef struct listing {
    const char *file;
    name_list numeric;
    char *first;
    fault why; /* the first rejected one is not a candidate */
} listing;

static herr_t list_object(hid_t root, const char *path, const H5O_info_t *object, void *data)
{
    listing *l = data;
    if (object->type != H5O_TYPE_DATASET) return 0;
    hid_t dataset = H5Dopen2(root, path, H5P_DEFAULT);
    if (dataset < 0) {
        fault_hdf5(l->file, path, &l->why);
        return 0;
    }
    array_info info;
    hid_t memory_type;
    if (describe(dataset, l->file, path, &info, &memory_type, &l->why) == 0) {
        H5Tclose(memory_type);
        if (l->numeric.count == 0) l->first = strdup(path);
        name_list_add(&l->numeric, path);
    }
    H5Dclose(dataset);
    return 0;
}

/* The requested dataset, or the only numeric one: its path (freed by the caller), or NULL. */
static char *choose(hid_t file, const char *name, const char *wanted, fault *f)
{
    hid_t object = wanted ? H5Oopen(file, wanted, H5P_DEFAULT) : -1;
    H5I_type_t kind = object >= 0 ? H5Iget_type(object) : H5I_BADID;
    if (object >= 0) H5Oclose(object);
    if (kind == H5I_DATASET) return strdup(wanted);
    listing l = {.file = name};
    H5Ovisit2(file, H5_INDEX_NAME, H5_ITER_NATIVE, list_object, &l, H5O_INFO_BASIC);
    const char *list = name_list_text(&l.numeric);
    if (!wanted && l.numeric.count == 1) return l.first;
    free(l.first);
    if (kind == H5I_GROUP)
        fault_set(f, EXIT_DATA, "%s: %s is a group: choose one of its datasets with --dataset; those of numbers are %s",
                  name, wanted, list);
    else if (kind != H5I_BADID)
        fault_set(f, EXIT_DATA, "%s: %s is a named type: choose a dataset with --dataset; those of numbers are %s",
                  name, wanted, list);
    else if (wanted)
        fault_set(f, EXIT_DATA, "%s has no dataset '%s': its datasets of numbers are %s; choose one with --dataset",
                  name, wanted, list);
    else if (l.numeric.count == 0 && l.why.status != EXIT_OK)
        fault_set(f, l.why.status, "%s", l.why.text);
    else if (l.numeric.count == 0)
        fault_set(f, EXIT_DATA, "%s holds no dataset of numbers that can be read: inspect it with h5dump", name);
    else
        fault_set(f, EXIT_DATA, "%s holds %d datasets of numbers: choose one with --dataset: %s", name, l.numeric.count,
                  list);
    return NULL;
}

/* ---- Tiles ---------------------------------------------------------------------------------------------- */

static int64_t box_bytes(const h5_reader *r, const int64_t *box)
{
    int64_t bytes = r->sample_bytes;
    for (int d = 0; d < r->info.ndim; d++)
        bytes *= box[d];
    return bytes;
}

/* Plan blocks of chunks of a band's size, grown along the last dimensions first, and tiles that split larger blocks
 * along the first. chunk is NULL for contiguous datasets. */
static void plan_tiles(h5_reader *r, const hsize_t *chunk)
{
    const int ndim = r->info.ndim;
    const int64_t *shape = r->info.shape;
    for (int d = 0; d < ndim; d++)
        r->block[d] = chunk && chunk[d] < (hsize_t)shape[d] ? (int64_t)chunk[d] : shape[d];
    if (r->page.channels > 1) r->block[2] = shape[2];
    for (int d = ndim - 1; d >= 0; d--) {
        int64_t fit = BAND_BYTES / box_bytes(r, r->block);
        if (fit < 2) break;
        r->block[d] = shape[d] / r->block[d] < fit ? shape[d] : r->block[d] * fit;
        if (r->block[d] < shape[d]) break;
    }
    memcpy(r->tile, r->block, sizeof r->tile);
    for (int d = 0; d < ndim; d++) {
        while (box_bytes(r, r->tile) > BAND_BYTES && r->tile[d] > 1)
            r->tile[d] = (r->tile[d] + 1) / 2;
    }
}

/* Advance by `step` through [0, size), the last dimension fastest; false at the end. */
static bool advance(int ndim, int64_t *at, const int64_t *step, const int64_t *size)
{
    for (int d = ndim - 1; d >= 0; d--) {
        at[d] += step[d];
        if (at[d] < size[d]) return true;
        at[d] = 0;
    }
    return false;
}

static void block_size(const h5_reader *r, int64_t *size)
{
    for (int d = 0; d < r->info.ndim; d++) {
        int64_t left = r->info.shape[d] - r->at_block[d];
        size[d] = r->block[d] < left ? r->block[d] : left;
    }
}

/* Advance to the next tile; false at the end. */
static bool next_tile(h5_reader *r)
{
    int64_t size[HISTO_MAX_DIMS];
    block_size(r, size);
    if (!r->begun) {
        r->begun = true;
        return true;
    }
    if (advance(r->info.ndim, r->at_tile, r->tile, size)) return true;
    return advance(r->info.ndim, r->at_block, r->block, r->info.shape);
}

static int read_tile(h5_reader *r, fault *f)
{
    const int ndim = r->info.ndim;
    hsize_t start[HISTO_MAX_DIMS], count[HISTO_MAX_DIMS];
    int64_t size[HISTO_MAX_DIMS];
    block_size(r, size);
    for (int d = 0; d < ndim; d++) {
        int64_t left = size[d] - r->at_tile[d];
        r->start[d] = r->at_block[d] + r->at_tile[d];
        r->count[d] = r->tile[d] < left ? r->tile[d] : left;
        start[d] = (hsize_t)r->start[d];
        count[d] = (hsize_t)r->count[d];
    }
    hid_t in_file = H5Dget_space(r->dataset);
    hid_t in_memory = ndim ? H5Screate_simple(ndim, count, NULL) : H5Screate(H5S_SCALAR);
    bool good = in_file >= 0 && in_memory >= 0 &&
                (!ndim || H5Sselect_hyperslab(in_file, H5S_SELECT_SET, start, NULL, count, NULL) >= 0) &&
                H5Dread(r->dataset, r->memory_type, in_memory, in_file, H5P_DEFAULT, r->buffer) >= 0;
    int result = good ? 0 : fault_hdf5(input_name(r->base.in), "its data", f);
    if (in_memory >= 0) H5Sclose(in_memory);
    if (in_file >= 0) H5Sclose(in_file);
    return result;
}

/* Find the runs of the tile in a flattened page: the trailing dimensions that it covers completely, and one more. */
static void find_runs(h5_reader *r)
{
    int64_t samples = box_bytes(r, r->count) / r->sample_bytes;
    r->run = 0;
    r->run_length = 1;
    for (int d = r->info.ndim - 1; d >= 0; d--) {
        r->run_length *= r->count[d];
        if (r->count[d] < r->info.shape[d]) break;
    }
    r->runs = samples / r->run_length;
}

/* The position of the next run in the flattened array. */
static int64_t run_position(const h5_reader *r)
{
    int64_t first = r->run * r->run_length, position = 0, stride = 1;
    for (int d = r->info.ndim - 1; d >= 0; d--) {
        position += (r->start[d] + first % r->count[d]) * stride;
        first /= r->count[d];
        stride *= r->info.shape[d];
    }
    return position;
}

/* ---- The reader ----------------------------------------------------------------------------------------- */

static int h5_select(reader *base, const int *channels, int count, fault *f)
{
    return selection_set(&((h5_reader *)base)->selected, base, channels, count, f);
}

static int h5_next(reader *base, band *b, fault *f)
{
    h5_reader *r = (h5_reader *)base;
    if (r->run == r->runs) {
        r->ended = r->ended || r->page.bytes == 0 || !next_tile(r);
        if (r->ended) return 0;
        if (read_tile(r, f) != 0) return -1;
        find_runs(r);
    }
    const unsigned char *samples = r->buffer;
    if (r->page.flat) {
        samples += r->run * r->run_length * r->sample_bytes;
        *b = (band){.y = run_position(r), .rows = r->run_length, .cols = 1};
        r->run++;
    } else {
        *b = (band){.y = r->start[0], .x = r->start[1], .rows = r->count[0], .cols = r->count[1]};
        r->run = r->runs;
    }
    b->views = r->selected.views;
    reader_interleaved_views(b->views, r->selected.wanted, r->selected.count, samples, r->info.dtype, r->page.channels,
                             b->rows, b->cols, b->cols * r->page.channels * r->sample_bytes);
    return 1;
}

static int h5_rewind(reader *base, fault *f)
{
    (void)f;
    h5_reader *r = (h5_reader *)base;
    memset(r->at_block, 0, sizeof r->at_block);
    memset(r->at_tile, 0, sizeof r->at_tile);
    r->run = r->runs = 0;
    r->begun = r->ended = false;
    return 0;
}

static void h5_close(reader *base)
{
    h5_reader *r = (h5_reader *)base;
    if (r->memory_type >= 0) H5Tclose(r->memory_type);
    if (r->dataset >= 0) H5Dclose(r->dataset);
    if (r->file >= 0) H5Fclose(r->file);
    selection_free(&r->selected);
    metadata_release(base->about);
    free(r->buffer);
    input_close(base->in);
    free(r);
}

/* Check that every filter of the dataset is available. */
static int check_filters(hid_t creation, const char *file, const char *name, fault *f)
{
    for (int i = 0, n = H5Pget_nfilters(creation); i < n; i++) {
        char filter[64] = "";
        size_t values = 0;
        unsigned flags;
        H5Z_filter_t id = H5Pget_filter2(creation, (unsigned)i, &flags, &values, NULL, sizeof filter, filter, NULL);
        if (id < 0 || H5Zfilter_avail(id) <= 0)
            return fault_set(
                f, EXIT_DATA,
                "%s: dataset %s is compressed with '%.60s' (HDF5 filter %d), which is not installed: install "
                "its plugin, or rewrite the dataset with h5repack -f GZIP=1",
                file, name, filter, (int)id);
    }
    return 0;
}

/* Open the dataset with a chunk cache for the largest piece that HDF5 decompresses at once. */
static int open_dataset(h5_reader *r, const char *path, fault *f)
{
    const char *file = input_name(r->base.in);
    r->dataset = H5Dopen2(r->file, path, H5P_DEFAULT);
    if (r->dataset < 0) return fault_hdf5(file, path, f);
    if (describe(r->dataset, file, path, &r->info, &r->memory_type, f) != 0) return -1;
    if (!array_page_of(&r->info, &r->page))
        return fault_set(f, EXIT_DATA, "%s: dataset %s is damaged: it is too large", file, path);
    r->sample_bytes = (int64_t)histo_dtype_size(r->info.dtype);

    hid_t creation = H5Dget_create_plist(r->dataset);
    if (creation < 0) return fault_hdf5(file, path, f);
    int failed = check_filters(creation, file, path, f);
    hsize_t chunk[H5S_MAX_RANK];
    bool chunked =
        H5Pget_layout(creation) == H5D_CHUNKED && H5Pget_chunk(creation, r->info.ndim, chunk) == r->info.ndim;
    bool filtered = H5Pget_nfilters(creation) > 0;
    H5Pclose(creation);
    if (failed || r->page.bytes == 0) return failed;
    plan_tiles(r, chunked ? chunk : NULL);
    if (chunked && filtered && memcmp(r->tile, r->block, sizeof r->tile) != 0) {
        hid_t access = H5Pcreate(H5P_DATASET_ACCESS);
        H5Pset_chunk_cache(access, 1, (size_t)box_bytes(r, r->block), 1.0);
        H5Dclose(r->dataset);
        r->dataset = H5Dopen2(r->file, path, access);
        H5Pclose(access);
        if (r->dataset < 0) return fault_hdf5(file, path, f);
    }
    return 0;
}

static int open_file(h5_reader *r, const char *path, fault *f)
{
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* we report its messages; it must not print them */
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_file_locking(access, false, true); /* read-only, possibly on a file system without locks */
    /* The default driver needs a real path, which an unnamed temporary file does not have. */
    if (input_was_spooled(r->base.in)) H5Pset_fapl_stdio(access);
    r->file = H5Fopen(path, H5F_ACC_RDONLY, access);
    if (r->file < 0) fault_hdf5(input_name(r->base.in), "it", f);
    H5Pclose(access);
    return r->file < 0 ? -1 : 0;
}

static int prepare(h5_reader *r, const read_options *options, fault *f)
{
    const char *name = input_name(r->base.in), *path = input_path(r->base.in, f);
    if (!path || open_file(r, path, f) != 0) return -1;
    char *dataset = choose(r->file, name, options->dataset, f);
    int failed = dataset ? open_dataset(r, dataset, f) : -1;
    free(dataset);
    if (failed) return -1;

    r->buffer = aligned_alloc(4096, BAND_BYTES);
    r->base.about = metadata_create();
    if (!r->buffer || !r->base.about) return fault_set(f, EXIT_DATA, "no memory to read %s", name);
    r->base.about->ndim = r->info.ndim;
    memcpy(r->base.about->shape, r->info.shape, sizeof r->info.shape);
    r->base.about->boolean = r->info.boolean;
    for (int c = 0; c < r->page.channels; c++)
        r->dtypes[c] = r->info.dtype;
    r->base.channels = r->page.channels;
    r->base.height = r->page.height;
    r->base.width = r->page.width;
    return 0;
}

reader *hdf5_open(input *in, const read_options *options, fault *f)
{
    h5_reader *r = calloc(1, sizeof *r);
    if (!r) {
        fault_set(f, EXIT_DATA, "no memory to read %s", input_name(in));
        input_close(in);
        return NULL;
    }
    r->file = r->dataset = r->memory_type = -1;
    r->base = (reader){.kind = &reader_hdf5,
                       .in = in,
                       .model = CHANNELS_PLAIN,
                       .dtypes = r->dtypes,
                       .pages = 1,
                       .select = h5_select,
                       .next = h5_next,
                       .rewind = h5_rewind,
                       .close = h5_close};
    if (prepare(r, options, f) == 0) return &r->base;
    h5_close(&r->base);
    return NULL;
}
