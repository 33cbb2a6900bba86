/* DICOM: the frames of an image, or of the images of a series, as a volume, or as pages. Values are those that the
 * header rescales them to, as Hounsfield units; padding is missing. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "input/readers/arrays/grid.h"
#include "input/readers/arrays/scaling.h"
#include "input/readers/isolated_process.h"
#include "input/readers/readers.h"
#include "input/stream/folder.h"
#include "modules/dicom/decode.h"
#include "modules/dicom/series.h"

/* What all slices have in common. */
typedef struct dicom_volume {
    grid_info info;
    bool gaps;
} dicom_volume;

typedef struct dicom_reader {
    const char *name, *path, *dataset;
    bool raw;  /* values are as stored, and none is missing */
    bool bare; /* files may lack the 128 bytes in front */
    isolated_process *process;
    dicom_volume volume;
    /* What follows is used in the process in which GDCM reads the files: */
    void *memory;        /* shared */
    dicom_series series; /* if it is not a directory: of this one slice */
    dicom_slice only;
    const dicom_slice *slice; /* whose file is open; NULL: none is */
    dicom_file *file;
    dicom_about about;
    scaling scaling;
    const unsigned char *frame;
    int64_t frame_number; /* among all; -1: none is decoded */
} dicom_reader;

enum { DESCRIBE, READ };

static histo_dtype stored_dtype(const dicom_about *about)
{
    static const histo_dtype floats[] = {[4] = HISTO_F32, [8] = HISTO_F64};
    static const histo_dtype integers[2][5] = {{[1] = HISTO_U8, [2] = HISTO_U16, [4] = HISTO_U32},
                                               {[1] = HISTO_I8, [2] = HISTO_I16, [4] = HISTO_I32}};
    return about->kind == DICOM_FLOATS ? floats[about->bytes] : integers[about->is_signed][about->bytes];
}

/* ---- In the process of GDCM ---- */

static int fault_file(const char *name, const char *why, fault *f)
{
    return fault_set(f, EXIT_DATA, "%s cannot be read as DICOM (GDCM): %s", name, why);
}

static int64_t load(const unsigned char *at, int bytes, bool is_signed)
{
    if (bytes == 1) return is_signed ? (int8_t)*at : *at;
    if (bytes == 2) {
        uint16_t value;
        memcpy(&value, at, sizeof value);
        return is_signed ? (int16_t)value : value;
    }
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return is_signed ? (int32_t)value : (int64_t)value;
}

/* Copy samples without the bits that are not theirs, and note padding. */
static void copy_integers(const dicom_about *about, const unsigned char *from, char *to, unsigned char *valid,
                          int64_t count)
{
    const int unused = 64 - about->stored;
    for (int64_t i = 0; i < count; i++) {
        const uint64_t bits = (uint64_t)load(from + i * about->bytes, about->bytes, about->is_signed) << unused;
        const int64_t value = about->is_signed ? (int64_t)bits >> unused : (int64_t)(bits >> unused);
        memcpy(to + i * about->bytes, (const char *)&value + (LITTLE_ENDIAN_MACHINE ? 0 : 8 - about->bytes),
               (size_t)about->bytes);
        if (about->pads) valid[i] = value < about->pad_from || value > about->pad_to;
    }
}

static scaling scaling_of_image(const dicom_about *about)
{
    return scaling_of(stored_dtype(about), about->kind == DICOM_INTEGERS ? about->stored : 0, about->slope,
                      about->intercept);
}

/* Samples as they are stored (--raw): forget what the header says about their meaning. */
static void ignore_meaning(dicom_about *about)
{
    about->slope = 1;
    about->intercept = 0;
    about->pads = false;
}

/* Open the file of a slice, instead of another one. */
static int open_slice(dicom_reader *r, const dicom_slice *slice, fault *f)
{
    char why[256] = "";
    const dicom_about *expected = &slice->about, *found = &r->about;
    const char *name = slice->path == r->path ? r->name : slice->path;
    isolated_reads(r->memory, name, slice->path);
    dicom_decode_close(r->file);
    r->frame_number = -1;
    r->slice = NULL;
    r->file = dicom_decode_open(slice->path, &r->about, why);
    if (!r->file) return fault_file(name, why, f);
    r->slice = slice;
    if (r->raw) ignore_meaning(&r->about);
    r->scaling = scaling_of_image(found);
    if (slice->path == r->path) return 0;
    const histo_dtype to = r->volume.info.dtype;
    if (found->columns != expected->columns || found->rows != expected->rows || found->frames != expected->frames ||
        found->channels != expected->channels || scaling_common(r->scaling.to, to) != to ||
        (found->pads && !r->volume.gaps))
        return fault_file(name, "its pixels are not those that its header says", f);
    scaling_make(&r->scaling, to);
    return 0;
}

static const dicom_slice *slice_of(const dicom_series *s, int64_t frame)
{
    int first = 0, end = s->count;
    while (end - first > 1) {
        const int middle = first + (end - first) / 2;
        if (s->slices[middle].first <= frame)
            first = middle;
        else
            end = middle;
    }
    return &s->slices[first];
}

static int decode_frame(dicom_reader *r, int64_t frame, fault *f)
{
    char why[256] = "";
    const dicom_slice *slice = slice_of(&r->series, frame);
    if (frame == r->frame_number) return 0;
    if (slice != r->slice && open_slice(r, slice, f) != 0) return -1;
    r->frame = dicom_decode_frame(r->file, frame - slice->first, why);
    r->frame_number = r->frame ? frame : -1;
    return r->frame ? 0 : fault_file(slice->path == r->path ? r->name : slice->path, why, f);
}

static int read_pixels(dicom_reader *r, const isolated_request *q, char *values, unsigned char *valid, fault *f)
{
    const dicom_about *about = &r->about;
    const grid_info *info = &r->volume.info;
    const int64_t area = info->block, value_bytes = info->channels * (int64_t)histo_dtype_size(info->dtype);
    for (int64_t done = 0, n; done < q->count; done += n) {
        const int64_t at = q->first + done, left = area - at % area;
        n = q->count - done < left ? q->count - done : left;
        if (decode_frame(r, at / area, f) != 0) return -1;
        const unsigned char *from = r->frame + at % area * about->channels * about->bytes;
        char *to = values + done * value_bytes;
        memset(valid + done, 1, (size_t)n);
        if (about->kind == DICOM_INTEGERS)
            copy_integers(about, from, to, valid + done, n * about->channels);
        else
            memcpy(to, from, (size_t)(n * about->channels * about->bytes));
        scaling_apply(&r->scaling, to, to, n * about->channels);
    }
    return 0;
}

/* The only file, as a series. */
static int take_file(dicom_reader *r, fault *f)
{
    if (r->dataset)
        return fault_set(f, EXIT_USAGE,
                         "%s is one DICOM file, and --dataset is for series in directories: leave it out", r->name);
    if (strcmp(text_file_name(r->name), "DICOMDIR") == 0)
        return fault_set(f, EXIT_DATA, "%s lists the images of its directory: name the directory", r->name);
    r->only.path = (char *)r->path;
    r->series = (dicom_series){.slices = &r->only, .count = 1, .times = 1};
    if (open_slice(r, &r->only, f) != 0) return -1;
    r->only.about = r->about;
    r->series.frames = r->about.frames;
    return 0;
}

static int describe(dicom_reader *r, dicom_volume *v, fault *f)
{
    r->frame_number = -1;
    if (folder_is(r->path) ? dicom_series_find(&r->series, r->path, r->dataset, r->bare, r->memory, f)
                           : take_file(r, f))
        return -1;
    const dicom_series *s = &r->series;
    for (int i = 0; r->raw && i < s->count; i++)
        ignore_meaning(&s->slices[i].about);
    const dicom_about *one = &s->slices[0].about;
    *v = (dicom_volume){.info = {.model = one->channels == 3 ? CHANNELS_RGB : CHANNELS_GRAY,
                                 .channels = one->channels,
                                 .ndim = 4,
                                 .shape = {s->times, s->frames / s->times, one->rows, one->columns},
                                 .block = one->rows * one->columns,
                                 .dtype = scaling_of_image(one).to}};
    for (int i = 0; i < s->count; i++) {
        const dicom_about *about = &s->slices[i].about;
        v->info.dtype = scaling_common(v->info.dtype, scaling_of_image(about).to);
        v->gaps = v->gaps || (about->pads && about->channels == 1);
    }
    r->volume = *v;
    return 0;
}

static int answer(void *self, const isolated_request *q, void *memory, fault *f)
{
    dicom_reader *r = self;
    r->memory = memory;
    if (q->what == READ) return read_pixels(r, q, memory, (unsigned char *)memory + BAND_BYTES, f);
    return describe(r, memory, f);
}

/* ---- Here ---- */

static int read_grid(void *self, int64_t first, int64_t count, void *samples, unsigned char *valid, fault *f)
{
    dicom_reader *r = self;
    const grid_info *info = &r->volume.info;
    const size_t bytes = (size_t)(count * info->channels) * histo_dtype_size(info->dtype);
    return isolated_read(r->process, &(isolated_request){.what = READ, .first = first, .count = count}, samples, bytes,
                         valid, count, f);
}

static void close_file(void *self)
{
    dicom_reader *r = self;
    isolated_close(r->process);
    free(r);
}

reader *dicom_open(input *in, const read_options *options, fault *f)
{
    dicom_reader *r = calloc(1, sizeof *r);
    if (!r) fault_set(f, EXIT_DATA, "no memory to read %s", input_name(in));
    if (!r) goto fail;
    r->name = input_name(in);
    r->dataset = options->dataset;
    r->raw = options->raw;
    r->bare = options->format;
    r->path = folder_is(r->name) ? r->name : input_path(in, f);
    r->process = r->path ? isolated_open(r->name, r->path, "GDCM", answer, r, f) : NULL;
    if (!r->process || isolated_call(r->process, &(isolated_request){.what = DESCRIBE}, f) != 0) goto fail;
    memcpy(&r->volume, isolated_memory(r->process), sizeof r->volume);
    const grid_source source = {.self = r, .read = read_grid, .close = close_file, .gaps = r->volume.gaps};
    return grid_open(in, options, &r->volume.info, source, f);

fail:
    if (r) close_file(r);
    return NULL;
}
