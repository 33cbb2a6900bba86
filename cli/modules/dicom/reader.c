/* DICOM: the frames of an image, or of the images of a series, as a volume, or as pages. Values are rescaled as the
 * header says, to Hounsfield units, for instance, or are what is displayed; padding is missing. */
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
#include "modules/dicom/values.h"

/* What all slices have in common. */
typedef struct dicom_volume {
    grid_info info;
    bool gaps, white_first, is_dose;
    bool placed; /* in space, with the axes of DICOM */
    double first[3], steps[3][3];
} dicom_volume;

typedef struct dicom_reader {
    const char *name, *path, *dataset;
    dicom_reading how;
    isolated_process *process;
    dicom_volume volume;
    /* Used in the process in which GDCM reads the files: */
    dicom_series series; /* without a directory: of this single slice */
    dicom_slice only;
    const dicom_slice *slice; /* whose file is open; NULL: none */
    dicom_file *file;
    dicom_about about;
    const unsigned char *frame;
    int64_t frame_number; /* among all frames; -1: none is decoded */
} dicom_reader;

enum { DESCRIBE, READ };

/* ---- In the process of GDCM ---- */

static int fault_file(const char *name, const char *why, fault *f)
{
    return fault_set(f, EXIT_DATA, "%s cannot be read as DICOM (GDCM): %s", name, why);
}

/* Open the file of a slice, instead of another one. */
static int open_slice(dicom_reader *r, const dicom_slice *slice, fault *f)
{
    char why[256] = "";
    const dicom_about *expected = &slice->about, *found = &r->about;
    const char *name = slice->path == r->path ? r->name : slice->path;
    isolated_reads(r->how.memory, name, slice->path);
    dicom_decode_close(r->file);
    r->frame_number = -1;
    r->slice = NULL;
    dicom_place *place = slice->path == r->path ? &r->only.place : NULL;
    r->file = dicom_decode_open(slice->path, &r->how.wishes, &r->about, place, why);
    if (!r->file) return fault_file(name, why, f);
    r->slice = slice;
    if (slice->path == r->path) return 0;
    const histo_dtype to = r->volume.info.dtype;
    if (found->columns != expected->columns || found->rows != expected->rows || found->frames != expected->frames ||
        found->channels != expected->channels || scaling_common(found->dtype, to) != to ||
        (found->pads && !r->volume.gaps))
        return fault_file(name, "its pixels are not those that its header says", f);
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
        dicom_values(about, dicom_decode_meaning(r->file, at / area - r->slice->first), from, info->dtype, to,
                     valid + done, n * about->channels);
    }
    return 0;
}

/* Make the only file a series. */
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

/* The position of the slices in space, unless they are frames of files. */
static void find_place(const dicom_series *s, dicom_volume *v)
{
    const dicom_place *one = &s->slices[0].place, *last = &s->slices[s->count - 1].place;
    v->placed =
        one->has_position && one->spacing[0] > 0 && one->spacing[1] > 0 && s->frames == s->count && s->times == 1;
    for (int d = 0; d < 3; d++) {
        const int e = (d + 1) % 3, g = (d + 2) % 3;
        const double normal = one->row[e] * one->column[g] - one->row[g] * one->column[e];
        v->first[d] = one->position[d];
        v->steps[0][d] = one->row[d] * one->spacing[1];
        v->steps[1][d] = one->column[d] * one->spacing[0];
        v->steps[2][d] = s->count > 1 ? (last->position[d] - one->position[d]) / (s->count - 1)
                                      : normal * (one->thickness > 0 ? one->thickness : 1);
    }
}

static int describe(dicom_reader *r, dicom_volume *v, fault *f)
{
    r->frame_number = -1;
    if (folder_is(r->path) ? dicom_series_find(&r->series, r->path, r->dataset, &r->how, f) : take_file(r, f))
        return -1;
    const dicom_series *s = &r->series;
    const dicom_about *one = &s->slices[0].about;
    *v = (dicom_volume){.info = {.model = one->channels == 3 ? CHANNELS_RGB : CHANNELS_GRAY,
                                 .channels = one->channels,
                                 .ndim = 4,
                                 .shape = {s->times, s->frames / s->times, one->rows, one->columns},
                                 .block = one->rows * one->columns,
                                 .dtype = one->dtype},
                        .white_first = one->white_first && !r->how.wishes.window,
                        .is_dose = one->is_dose && !r->how.wishes.window};
    for (int i = 0; i < s->count; i++) {
        const dicom_about *about = &s->slices[i].about;
        v->info.dtype = scaling_common(v->info.dtype, about->dtype);
        v->gaps = v->gaps || (about->pads && !r->how.wishes.window);
    }
    find_place(s, v);
    r->volume = *v;
    return 0;
}

static int answer(void *self, const isolated_request *q, void *memory, fault *f)
{
    dicom_reader *r = self;
    r->how.memory = memory;
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
    r->how = (dicom_reading){.wishes = {.raw = options->raw, .window = options->window}, .bare = options->format};
    r->path = folder_is(r->name) ? r->name : input_path(in, f);
    r->process = r->path ? isolated_open(r->name, r->path, "GDCM", answer, r, f) : NULL;
    if (!r->process || isolated_call(r->process, &(isolated_request){.what = DESCRIBE}, f) != 0) goto fail;
    memcpy(&r->volume, isolated_memory(r->process), sizeof r->volume);
    const grid_source source = {.self = r, .read = read_grid, .close = close_file, .gaps = r->volume.gaps};
    dicom_volume volume = r->volume;
    reader *opened = grid_open(in, options, &volume.info, source, f);
    if (opened) opened->about->white_first = volume.white_first;
    if (opened && volume.placed) metadata_place(opened->about, volume.first, volume.steps, true);
    if (opened && volume.is_dose) opened->note = "its samples times DoseGridScaling, which is not applied, are doses";
    return opened;

fail:
    if (r) close_file(r);
    return NULL;
}
