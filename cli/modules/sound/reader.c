/* Sound by libsndfile: samples in time, interleaved channels. Integers are kept as stored; lossy codecs decode to
 * 16-bit integers, or to floats if that is what they produce. */
#include <inttypes.h>
#include <sndfile.h>
#include <stdlib.h>
#include <string.h>

#include "input/readers/arrays/grid.h"
#include "input/readers/isolated_process.h"
#include "input/readers/readers.h"

typedef struct sound_about {
    int64_t frames;
    int channels, encoding; /* SF_FORMAT_PCM_16, … */
    histo_dtype dtype;
} sound_about;

typedef struct sound_reader {
    const char *name, *path;
    isolated_process *process;
    sound_about about;
    /* Used in the process in which libsndfile reads the file: */
    SNDFILE *file;
    int64_t at;
} sound_reader;

enum { DESCRIBE, READ };

static int64_t frame_bytes(const sound_about *about)
{
    return about->channels * (int64_t)histo_dtype_size(about->dtype);
}

/* ---- In the process of libsndfile ---- */

static int fault_sound(const sound_reader *r, const char *why, fault *f)
{
    return fault_set(f, EXIT_DATA, "%s cannot be read as sound (libsndfile: %s): it is truncated or damaged", r->name,
                     why);
}

static histo_dtype dtype_of(int encoding)
{
    switch (encoding) {
    case SF_FORMAT_PCM_S8:
        return HISTO_I8;
    case SF_FORMAT_PCM_U8:
        return HISTO_U8;
    case SF_FORMAT_PCM_24:
    case SF_FORMAT_PCM_32:
    case SF_FORMAT_ALAC_20:
    case SF_FORMAT_ALAC_24:
    case SF_FORMAT_ALAC_32:
        return HISTO_I32;
    case SF_FORMAT_DOUBLE:
        return HISTO_F64;
    case SF_FORMAT_FLOAT:
    case SF_FORMAT_VORBIS:
    case SF_FORMAT_OPUS:
    case SF_FORMAT_MPEG_LAYER_I:
    case SF_FORMAT_MPEG_LAYER_II:
    case SF_FORMAT_MPEG_LAYER_III:
        return HISTO_F32;
    default:
        return HISTO_I16;
    }
}

/* The lowest bits of the library's 32 that a sample does not use. */
static int unused_bits(int encoding)
{
    switch (encoding) {
    case SF_FORMAT_PCM_S8:
    case SF_FORMAT_PCM_U8:
        return 24;
    case SF_FORMAT_ALAC_20:
        return 12;
    case SF_FORMAT_PCM_24:
    case SF_FORMAT_ALAC_24:
        return 8;
    default:
        return 0;
    }
}

/* Decode 32-bit integers, and reduce them in place to the stored width. */
static int64_t read_integers(sound_reader *r, int *room, int64_t count)
{
    const sound_about *about = &r->about;
    const int shift = unused_bits(about->encoding), sign = about->dtype == HISTO_U8 ? 128 : 0;
    const int64_t got = sf_readf_int(r->file, room, count);
    for (int64_t i = 0; i < got * about->channels; i++) {
        const int value = (room[i] >> shift) + sign;
        if (about->dtype == HISTO_I32)
            room[i] = value;
        else
            ((unsigned char *)room)[i] = (unsigned char)value;
    }
    return got;
}

static int64_t decode(sound_reader *r, void *room, int64_t count)
{
    switch (r->about.dtype) {
    case HISTO_I16:
        return sf_readf_short(r->file, room, count);
    case HISTO_F32:
        return sf_readf_float(r->file, room, count);
    case HISTO_F64:
        return sf_readf_double(r->file, room, count);
    default:
        return read_integers(r, room, count);
    }
}

/* The library needs four bytes of room even for one-byte samples. */
static int64_t most_frames(const sound_about *about)
{
    const int64_t size = (int64_t)histo_dtype_size(about->dtype);
    return BAND_BYTES / ((size < 4 ? 4 : size) * about->channels);
}

static int read_frames(sound_reader *r, const isolated_request *q, char *room, fault *f)
{
    if (q->first != r->at && sf_seek(r->file, q->first, SEEK_SET) != q->first)
        return fault_sound(r, sf_strerror(r->file), f);
    r->at = q->first;
    const int64_t end = q->first + q->count, most = most_frames(&r->about);
    while (r->at < end) {
        char *to = room + (r->at - q->first) * frame_bytes(&r->about);
        const int64_t left = end - r->at, got = decode(r, to, left < most ? left : most);
        if (got < 1) return fault_sound(r, "it ends early", f);
        r->at += got;
    }
    return 0;
}

/* Some files do not record their length. */
static int64_t count_frames(sound_reader *r, void *room)
{
    int64_t frames = 0, got;
    while ((got = decode(r, room, most_frames(&r->about))) > 0)
        frames += got;
    r->at = frames;
    return frames;
}

static int describe(sound_reader *r, void *room, fault *f)
{
    SF_INFO info = {0};
    r->file = sf_open(r->path, SFM_READ, &info);
    if (!r->file) return fault_sound(r, sf_strerror(NULL), f);
    sf_command(r->file, SFC_SET_CLIPPING, NULL, SF_FALSE);
    r->about = (sound_about){.frames = info.frames,
                             .channels = info.channels,
                             .encoding = info.format & SF_FORMAT_SUBMASK,
                             .dtype = dtype_of(info.format & SF_FORMAT_SUBMASK)};
    if (info.channels < 1 || info.channels > 1024 || info.frames < 0)
        return fault_sound(r, "its header makes no sense", f);
    if (info.frames == SF_COUNT_MAX) r->about.frames = count_frames(r, room);
    memcpy(room, &r->about, sizeof r->about);
    return 0;
}

static int answer(void *self, const isolated_request *q, void *room, fault *f)
{
    return q->what == DESCRIBE ? describe(self, room, f) : read_frames(self, q, room, f);
}

/* ---- Here ---- */

static int read_grid(void *self, int64_t first, int64_t count, void *samples, unsigned char *valid, fault *f)
{
    (void)valid;
    sound_reader *r = self;
    return isolated_read(r->process, &(isolated_request){.what = READ, .first = first, .count = count}, samples,
                         (size_t)(count * frame_bytes(&r->about)), NULL, 0, f);
}

static void close_sound(void *self)
{
    sound_reader *r = self;
    isolated_close(r->process);
    free(r);
}

static uint64_t number_at(const unsigned char *p, int width, bool big)
{
    uint64_t number = 0;
    for (int i = 0; i < width; i++)
        number = number << 8 | p[big ? i : width - 1 - i];
    return number;
}

/* The number of bytes of samples that the header claims, and where they begin; 0: it does not say, or not within its
 * first bytes. Programs that write into a pipe leave 0 or the largest number there. */
static uint64_t samples_of_header(const unsigned char *head, size_t size, uint64_t *start)
{
    static const struct {
        char form[5], samples[5];
        bool big;
        int first, width; /* of the chunks, and of their sizes */
        unsigned align;
    } containers[] = {{"RIFF", "data", false, 12, 4, 2},
                      {"RF64", "data", false, 12, 4, 2},
                      {"FORM", "SSND", true, 12, 4, 2},
                      {"caff", "data", true, 8, 8, 1}};
    const uint64_t unknown = 0x7f000000;
    uint64_t bytes = 0;
    if (size >= 12 && memcmp(head, ".snd", 4) == 0) {
        *start = number_at(head + 4, 4, true);
        bytes = number_at(head + 8, 4, true);
        return bytes < unknown ? bytes : 0;
    }
    for (size_t i = 0; i < sizeof containers / sizeof *containers; i++) {
        const int width = containers[i].width;
        if (size < 12 || memcmp(head, containers[i].form, 4) != 0) continue;
        for (uint64_t at = (uint64_t)containers[i].first; at + 12 <= size;
             at = *start + bytes + bytes % containers[i].align) {
            bytes = number_at(head + at + 4, width, containers[i].big);
            *start = at + 4 + (uint64_t)width;
            if (memcmp(head + at, containers[i].samples, 4) == 0) {
                if (bytes == UINT32_MAX && memcmp(head, "RF64", 4) == 0)
                    return size < 36 ? 0 : number_at(head + 28, 8, false); /* in its first chunk, ds64 */
                return bytes < unknown || width == 8 ? bytes : 0;
            }
            if (bytes > size) break;
        }
    }
    return 0;
}

/* For a truncated file, libsndfile counts what is there: compare the claimed size of its samples with the file's. */
static int check_size(input *in, fault *f)
{
    size_t size;
    uint64_t start = 0;
    const unsigned char *head = input_peek(in, &size, f);
    if (!head) return -1;
    const uint64_t bytes = samples_of_header(head, size, &start);
    const int64_t there = input_data_size(in) - (int64_t)start;
    if (bytes > INT64_MAX || there >= (int64_t)bytes) return 0;
    return fault_set(f, EXIT_DATA,
                     "%s is truncated: %" PRId64 " of %" PRIu64 " bytes of its samples are there; copy or download it "
                     "again",
                     input_name(in), there < 0 ? 0 : there, bytes);
}

reader *sound_open(input *in, const read_options *options, fault *f)
{
    sound_reader *r = calloc(1, sizeof *r);
    if (!r) fault_set(f, EXIT_DATA, "no memory to read %s", input_name(in));
    if (!r || !(r->path = input_path(in, f)) || check_size(in, f) != 0) goto fail;
    r->name = input_name(in);
    r->process = isolated_open(r->name, r->path, "libsndfile", answer, r, f);
    if (!r->process || isolated_call(r->process, &(isolated_request){.what = DESCRIBE}, f) != 0) goto fail;
    memcpy(&r->about, isolated_memory(r->process), sizeof r->about);
    const grid_info info = {
        .dtype = r->about.dtype, .channels = r->about.channels, .ndim = 1, .shape = {r->about.frames}};
    const grid_source source = {.self = r, .read = read_grid, .close = close_sound};
    return grid_open(in, options, &info, source, f);

fail:
    if (r) close_sound(r);
    return NULL;
}
