#define _GNU_SOURCE
#include "input/readers/arrays/plain.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct plain {
    plain_place place;
    char *name;
    int64_t pixel, bytes; /* size of a stored pixel, and of all */
    int64_t position;     /* in the source */
} plain;

static int fault_truncated(const plain *p, int64_t available, fault *f)
{
    return fault_set(f, EXIT_DATA,
                     "%s is truncated: its header describes %" PRId64 " bytes of samples, of which %" PRId64
                     " are there; copy or download it again",
                     p->name, p->bytes, available < 0 ? 0 : available);
}

/* Move to this byte of the source. */
static int go_to(plain *p, int64_t byte, fault *f)
{
    const byte_source *from = &p->place.bytes;
    if (byte == p->position) return 0;
    if (from->seek && p->place.size >= 0) {
        p->position = byte;
        return from->seek(from->self, byte, f);
    }
    if (byte < p->position) {
        if (from->rewind(from->self, f) != 0) return -1;
        p->position = 0;
    }
    const int64_t skipped = byte_source_skip(from, byte - p->position, f);
    if (skipped < 0) return -1;
    p->position += skipped;
    return p->position == byte ? 0 : fault_truncated(p, p->position - p->place.start, f);
}

static int plain_read(void *self, int64_t first, int64_t count, void *samples, unsigned char *valid, fault *f)
{
    (void)valid;
    plain *p = self;
    const scaling *s = &p->place.scaling;
    const size_t size = histo_dtype_size(s->from);
    const int64_t bytes = count * p->pixel;
    if (go_to(p, p->place.start + first * p->pixel, f) != 0) return -1;
    const int64_t got = byte_source_read_full(&p->place.bytes, samples, (size_t)bytes, f);
    if (got < 0) return -1;
    p->position += got;
    if (got < bytes) return fault_truncated(p, p->position - p->place.start, f);
    if (p->place.swapped) array_swap_bytes(samples, size, (size_t)bytes / size);
    if (!s->none) scaling_apply(s, samples, samples, bytes / (int64_t)size);
    return 0;
}

static void plain_close(void *self)
{
    plain *p = self;
    p->place.bytes.close(p->place.bytes.self);
    free(p->name);
    free(p);
}

static int measure(plain *p, const grid_info *info, fault *f)
{
    p->pixel = info->channels * (int64_t)histo_dtype_size(p->place.scaling.from);
    p->bytes = p->pixel;
    for (int d = 0; d < info->ndim; d++)
        if (info->shape[d] < 0 || __builtin_mul_overflow(p->bytes, info->shape[d], &p->bytes) ||
            p->bytes > INT64_MAX / 2 || p->place.start > INT64_MAX / 2)
            return fault_set(f, EXIT_DATA, "%s is damaged: its header describes more than 2^62 bytes", p->name);
    const int64_t available = p->place.size - p->place.start;
    return p->place.size >= 0 && available < p->bytes ? fault_truncated(p, available, f) : 0;
}

reader *plain_open(input *in, const read_options *options, grid_info *info, const plain_place *place, fault *f)
{
    plain *p = calloc(1, sizeof *p);
    char *name = strdup(place->name);
    if (p && name) {
        p->place = *place;
        p->name = name;
        info->dtype = place->scaling.to;
        if (measure(p, info, f) == 0) {
            const bool anywhere = place->bytes.seek && place->size >= 0;
            const grid_source source = {.self = p, .read = plain_read, .close = plain_close, .anywhere = anywhere};
            return grid_open(in, options, info, source, f);
        }
    }
    fault_set(f, EXIT_DATA, "no memory to read %s", place->name);
    place->bytes.close(place->bytes.self);
    free(name);
    free(p);
    return NULL;
}

static void close_input(void *self)
{
    input_close(self);
}

byte_source byte_source_owning(input *in, const read_options *options)
{
    byte_source source = byte_source_of_input(in, options);
    source.close = close_input;
    return source;
}

input *plain_beside(const char *beside, const char *name, fault *f)
{
    const char *slash = strrchr(beside, '/');
    const int directory = name[0] == '/' || !slash ? 0 : (int)(slash - beside) + 1;
    char *path;
    if (asprintf(&path, "%.*s%s", directory, beside, name) < 0) {
        fault_set(f, EXIT_DATA, "no memory to open %s", name);
        return NULL;
    }
    struct stat status;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode) &&
        !S_ISDIR(status.st_mode)) { /* opening a pipe could wait forever */
        fault_set(f, EXIT_DATA, "%s, which %s names, is not a regular file", path, beside);
        free(path);
        return NULL;
    }
    input *in = input_open(path, f);
    size_t size;
    if (in && !input_peek(in, &size, f)) {
        input_close(in);
        in = NULL;
    }
    free(path);
    return in;
}

int plain_take_beside(plain_place *place, const char *file, const read_options *options, fault *f)
{
    input *samples = plain_beside(place->name, file, f);
    if (!samples) return -1;
    place->bytes = byte_source_owning(samples, options);
    place->size = input_data_size(samples);
    place->start = 0;
    place->name = input_name(samples);
    return 0;
}

int plain_take_end(plain_place *place, int64_t bytes, fault *f)
{
    if (place->size < 0)
        return fault_set(f, EXIT_DATA, "%s has its samples at its end, which is unknown: name a plain file",
                         place->name);
    if (place->size - bytes > place->start) place->start = place->size - bytes;
    return 0;
}
