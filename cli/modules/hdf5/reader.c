/* HDF5: one dataset of numbers, or of records as a table. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "input/readers/arrays/tiled.h"
#include "input/readers/isolated_process.h"
#include "input/readers/readers.h"
#include "modules/hdf5/hdf5.h"

/* Held wherever HDF5 is called, which may be built without thread safety. */
static pthread_mutex_t of_library = PTHREAD_MUTEX_INITIALIZER;

typedef struct hdf5_file {
    input *in;
    hid_t file, dataset, memory_type;
    int ndim;
    bool chunked;
    int64_t chunk[HISTO_MAX_DIMS];
    hdf5_chunks *chunks; /* NULL: HDF5 decodes them */
    isolated_process *trial;
    bool has_pointers; /* some strings have variable length */
    void *strings;     /* a box with pointers to strings allocated by HDF5; NULL: none */
    hid_t strings_space;
} hdf5_file;

/* Decode the chunks of a box; HDF5 only loads the stored bytes. */
static hdf5_chunk decode_box(hdf5_file *h, const int64_t *from, const int64_t *size, void *buffer)
{
    int64_t at[HISTO_MAX_DIMS];
    hdf5_chunk state = CHUNK_GOOD;
    if (!h->chunks) return CHUNK_LEFT;
    hdf5_chunks_first(h->chunks, from, at);
    do {
        pthread_mutex_lock(&of_library);
        H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* for this thread */
        state = hdf5_chunks_load(h->chunks, h->dataset, at);
        pthread_mutex_unlock(&of_library);
        if (state == CHUNK_GOOD) state = hdf5_chunks_decode(h->chunks, at, from, size, buffer);
    } while (state == CHUNK_GOOD && hdf5_chunks_next(h->chunks, from, size, at));
    return state;
}

/* Free the strings of the last box, which must be unchanged since it was read. */
static void free_strings(hdf5_file *h)
{
    if (!h->strings) return;
    H5Dvlen_reclaim(h->memory_type, h->strings_space, H5P_DEFAULT, h->strings);
    H5Sclose(h->strings_space);
    h->strings = NULL;
}

static int read_by_library(hdf5_file *h, const int64_t *from, const int64_t *size, void *buffer, fault *f)
{
    hsize_t start[HISTO_MAX_DIMS], count[HISTO_MAX_DIMS];
    for (int d = 0; d < h->ndim; d++) {
        start[d] = (hsize_t)from[d];
        count[d] = (hsize_t)size[d];
    }
    free_strings(h);
    hid_t in_file = H5Dget_space(h->dataset);
    hid_t in_memory = h->ndim ? H5Screate_simple(h->ndim, count, NULL) : H5Screate(H5S_SCALAR);
    const bool good = in_file >= 0 && in_memory >= 0 &&
                      (!h->ndim || H5Sselect_hyperslab(in_file, H5S_SELECT_SET, start, NULL, count, NULL) >= 0) &&
                      H5Dread(h->dataset, h->memory_type, in_memory, in_file, H5P_DEFAULT, buffer) >= 0;
    const int result = good ? 0 : hdf5_fault(input_name(h->in), "its data", f);
    if (good && h->has_pointers) {
        h->strings = buffer;
        h->strings_space = in_memory;
        in_memory = -1;
    }
    if (in_memory >= 0) H5Sclose(in_memory);
    if (in_file >= 0) H5Sclose(in_file);
    return result;
}

/* ---- Strings of variable length: HDF5 crashes on damaged ones, so a separate process reads them first ---- */

typedef struct hdf5_box {
    int64_t from[HISTO_MAX_DIMS], size[HISTO_MAX_DIMS];
} hdf5_box;

static int answer(void *self, const isolated_request *q, void *memory, fault *f)
{
    hdf5_file *h = self;
    const hdf5_box *box = memory;
    (void)q;
    size_t bytes = H5Tget_size(h->memory_type);
    for (int d = 0; d < h->ndim; d++)
        bytes *= (size_t)box->size[d]; /* at most a band's */
    void *buffer = calloc(1, bytes);
    if (!buffer) return fault_set(f, EXIT_DATA, "no memory to read %s", input_name(h->in));
    const int failed = read_by_library(h, box->from, box->size, buffer, f);
    free_strings(h);
    free(buffer);
    return failed;
}

/* The descriptor of the file, which the process keeps open. */
static int descriptor_of(const hdf5_file *h)
{
    hid_t access = H5Fget_access_plist(h->file);
    const bool by_stream = H5Pget_driver(access) == H5FD_STDIO;
    void *handle = NULL;
    const bool has_handle = H5Fget_vfd_handle(h->file, H5P_DEFAULT, &handle) >= 0 && handle;
    H5Pclose(access);
    return !has_handle ? -1 : by_stream ? fileno(*(FILE **)handle) : *(int *)handle;
}

/* Both processes share the file position, so it is restored. */
static int try_box(hdf5_file *h, const int64_t *from, const int64_t *size, fault *f)
{
    hdf5_box *box = isolated_memory(h->trial);
    const int fd = descriptor_of(h);
    const off_t place = lseek(fd, 0, SEEK_CUR);
    for (int d = 0; d < h->ndim; d++) {
        box->from[d] = from[d];
        box->size[d] = size[d];
    }
    const int failed = isolated_call(h->trial, &(isolated_request){0}, f);
    lseek(fd, place, SEEK_SET);
    return failed;
}

static int begin_trial(hdf5_file *h, fault *f)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor_of(h));
    isolated_close(h->trial);
    h->trial = h->has_pointers ? isolated_open(input_name(h->in), path, "HDF5", answer, h, f) : NULL;
    return h->has_pointers && !h->trial ? -1 : 0;
}

static int read_box(void *self, const int64_t *from, const int64_t *size, void *buffer, fault *f)
{
    hdf5_file *h = self;
    const hdf5_chunk decoded = decode_box(h, from, size, buffer);
    if (decoded == CHUNK_GOOD) return 0;
    if (decoded == CHUNK_DAMAGED)
        return fault_set(f, EXIT_DATA, "%s: a chunk is damaged: its samples are not as many as its shape says",
                         input_name(h->in));
    pthread_mutex_lock(&of_library);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* for this thread */
    const bool failed = (h->trial && try_box(h, from, size, f) != 0) || read_by_library(h, from, size, buffer, f) != 0;
    pthread_mutex_unlock(&of_library);
    return failed ? -1 : 0;
}

static int64_t select_columns(void *self, column_table *columns, const bool *wanted, fault *f)
{
    hdf5_file *h = self;
    int64_t size = -1;
    pthread_mutex_lock(&of_library);
    free_strings(h);
    hid_t type = H5Dget_type(h->dataset), made = hdf5_record_in_memory(type, columns, wanted);
    h->has_pointers = false;
    for (int c = 0; c < columns->count; c++)
        h->has_pointers = h->has_pointers || (wanted[c] && columns->column[c].string.kind == STRING_POINTER);
    if (made < 0) {
        hdf5_fault(input_name(h->in), "its type", f);
    } else {
        H5Tclose(h->memory_type);
        h->memory_type = made;
        size = begin_trial(h, f) == 0 ? (int64_t)H5Tget_size(made) : -1;
    }
    H5Tclose(type);
    pthread_mutex_unlock(&of_library);
    return size;
}

static void close_file(void *self)
{
    hdf5_file *h = self;
    pthread_mutex_lock(&of_library);
    free_strings(h);
    if (h->memory_type >= 0) H5Tclose(h->memory_type);
    if (h->dataset >= 0) H5Dclose(h->dataset);
    if (h->file >= 0) H5Fclose(h->file);
    pthread_mutex_unlock(&of_library);
    hdf5_chunks_close(h->chunks);
    isolated_close(h->trial);
    free(h);
}

/* Whether data stored in the header are complete. HDF5 would read as many as the shape claims, beyond their end. */
static bool has_all_data(hid_t dataset, const array_info *info)
{
    hid_t type = H5Dget_type(dataset);
    int64_t bytes = (int64_t)H5Tget_size(type);
    H5Tclose(type);
    for (int d = 0; d < info->ndim; d++)
        if (__builtin_mul_overflow(bytes, info->shape[d], &bytes)) return false;
    return (hsize_t)bytes <= H5Dget_storage_size(dataset);
}

/* Open the dataset, with a chunk cache for chunks that are read in several steps. */
static int open_dataset(hdf5_file *h, const char *path, bool raw, array_info *info, fault *f)
{
    const char *file = input_name(h->in);
    int64_t split;
    h->dataset = H5Dopen2(h->file, path, H5P_DEFAULT);
    if (h->dataset < 0) return hdf5_fault(file, path, f);
    if (hdf5_describe(h->dataset, file, path, info, &h->memory_type, f) != 0) return -1;
    h->ndim = info->ndim;
    if (raw)
        array_info_forget_missing(info);
    else if (!info->record_bytes && unpack_is_idle(&info->rule))
        info->rule = hdf5_rule(h->file, h->dataset, &info->dtype);

    hid_t creation = H5Dget_create_plist(h->dataset);
    if (creation < 0) return hdf5_fault(file, path, f);
    int failed = hdf5_check_filters(creation, file, path, f);
    hsize_t chunk[H5S_MAX_RANK];
    h->chunked = H5Pget_layout(creation) == H5D_CHUNKED && H5Pget_chunk(creation, h->ndim, chunk) == h->ndim;
    for (int d = 0; d < h->ndim && h->chunked; d++)
        h->chunk[d] = (int64_t)chunk[d];
    bool filtered = H5Pget_nfilters(creation) > 0;
    if (!failed && H5Pget_layout(creation) == H5D_COMPACT && !has_all_data(h->dataset, info))
        failed = fault_set(f, EXIT_DATA, "%s: dataset %s is damaged: it has fewer samples than it claims", file, path);
    if (!failed && !tiled_split_bytes(info, h->chunked ? h->chunk : NULL, &split))
        failed = fault_set(f, EXIT_DATA, "%s: dataset %s is damaged: it is too large", file, path);
    if (!failed && split == 0 && !info->record_bytes)
        h->chunks = hdf5_chunks_open(h->dataset, creation, h->memory_type, info);
    H5Pclose(creation);
    if (failed) return -1;
    if (h->chunked && filtered && split > 0) {
        hid_t access = H5Pcreate(H5P_DATASET_ACCESS);
        H5Pset_chunk_cache(access, 1, (size_t)split, 1.0);
        H5Dclose(h->dataset);
        h->dataset = H5Dopen2(h->file, path, access);
        H5Pclose(access);
        if (h->dataset < 0) return hdf5_fault(file, path, f);
    }
    return 0;
}

static int open_file(hdf5_file *h, const char *path, fault *f)
{
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* we report its messages; it must not print them */
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_file_locking(access, false, true); /* read-only, possibly on a file system without locks */
    /* The default driver needs a real path, which unnamed files do not have. */
    char *real = realpath(path, NULL);
    if (!real) H5Pset_fapl_stdio(access);
    free(real);
    h->file = H5Fopen(path, H5F_ACC_RDONLY, access);
    if (h->file < 0) hdf5_fault(input_name(h->in), "it", f);
    H5Pclose(access);
    return h->file < 0 ? -1 : 0;
}

static int prepare(hdf5_file *h, const read_options *options, array_info *info, fault *f)
{
    const char *path = input_path(h->in, f);
    pthread_mutex_lock(&of_library);
    char *dataset =
        path && open_file(h, path, f) == 0 ? hdf5_choose(h->file, input_name(h->in), options->dataset, f) : NULL;
    int failed = dataset ? open_dataset(h, dataset, options->raw, info, f) : -1;
    pthread_mutex_unlock(&of_library);
    free(dataset);
    return failed;
}

reader *hdf5_open(input *in, const read_options *options, fault *f)
{
    hdf5_file *h = calloc(1, sizeof *h);
    if (!h) {
        fault_set(f, EXIT_DATA, "no memory to read %s", input_name(in));
        return NULL;
    }
    *h = (hdf5_file){.in = in, .file = -1, .dataset = -1, .memory_type = -1};
    array_info info = {0};
    if (prepare(h, options, &info, f) != 0) {
        array_info_free(&info);
        close_file(h);
        return NULL;
    }
    const tiled_source source = {.self = h, .read = read_box, .select = select_columns, .close = close_file};
    return tiled_open(in, source, &info, h->chunked ? h->chunk : NULL, f);
}
