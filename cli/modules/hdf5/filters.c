/* Filters that HDF5 lacks: LZF, from h5py, is decoded here; others come from plugins. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "modules/hdf5/hdf5.h"

enum { FILTER_LZF = 32000 };

/* Decompress into at most `room` bytes; returns their number, or 0 if the data are invalid. A byte below 32 is followed
 * by that many literal bytes and one more; any other encodes the distance and length of a repetition. */
static size_t decode_lzf(const unsigned char *in, size_t size, unsigned char *out, size_t room)
{
    size_t at = 0, made = 0;
    while (at < size) {
        size_t length = in[at++], back;
        if (length < 32) {
            length++;
            if (length > size - at || length > room - made) return 0;
            memcpy(out + made, in + at, length);
            at += length;
            made += length;
            continue;
        }
        back = (length & 31) << 8;
        length >>= 5;
        if (length == 7 && at < size) length += in[at++];
        if (at == size) return 0;
        back += in[at++] + (size_t)1;
        length += 2;
        if (back > made || length > room - made) return 0;
        for (size_t i = 0; i < length; i++, made++) /* a repetition may overlap what it writes */
            out[made] = out[made - back];
    }
    return made;
}

/* The third value is the size of a chunk. */
static size_t filter_lzf(unsigned flags, size_t count, const unsigned *values, size_t size, size_t *room, void **bytes)
{
    const size_t wanted = count > 2 ? values[2] : 0;
    if (!(flags & H5Z_FLAG_REVERSE) || wanted == 0) return 0;
    unsigned char *made = malloc(wanted);
    const size_t length = made ? decode_lzf(*bytes, size, made, wanted) : 0;
    if (length != wanted) { /* HDF5 reads the whole chunk */
        free(made);
        return 0;
    }
    free(*bytes);
    *bytes = made;
    *room = wanted;
    return length;
}

static void prepare(void)
{
    static const H5Z_class2_t lzf = {
        .version = H5Z_CLASS_T_VERS, .id = FILTER_LZF, .decoder_present = 1, .name = "lzf", .filter = filter_lzf};
    Dl_info library;
    /* Plugins use the functions of HDF5 without being linked with it, and this module loads its libraries privately. */
    if (dladdr((void *)H5Fopen, &library)) dlopen(library.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL);
    H5Zregister(&lzf);
}

int hdf5_check_filters(hid_t creation, const char *file, const char *name, fault *f)
{
    static pthread_once_t prepared = PTHREAD_ONCE_INIT;
    pthread_once(&prepared, prepare);
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
