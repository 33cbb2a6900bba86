#include "input/feed/band_cache.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* A run stays below 256 MiB: this is what threads and libraries leave of that. */
enum { MOST_KEPT = 200 << 20, LEAST_KEPT = 16 << 20, OF_A_THREAD = 16 << 20 };

/* The cache may take one part in this many of the available memory. */
enum { SHARE = 8 };

/* Small bands share a memory block, since each mapping takes the system time. The unused part of a block takes no
 * memory. */
enum { ROOM_BYTES = 1 << 20, LARGEST_IN_ROOM = ROOM_BYTES / 4, ALIGNMENT = 64 };

struct band_room {
    atomic_int users; /* bands, and the thread that adds more */
    size_t used;
};

static atomic_size_t reserved;

size_t band_cache_limit(int threads)
{
    const size_t available = histo_memory_available() / SHARE;
    const int64_t left = MOST_KEPT - (int64_t)threads * OF_A_THREAD;
    const size_t cacheable = left > LEAST_KEPT ? (size_t)left : LEAST_KEPT;
    return available < cacheable ? available : cacheable;
}

bool band_cache_reserve(size_t bytes, size_t limit)
{
    if (atomic_fetch_add(&reserved, bytes) + bytes <= limit) return true;
    reserved -= bytes;
    return false;
}

void band_cache_release(size_t bytes)
{
    reserved -= bytes;
}

/* ---- Memory --------------------------------------------------------------------------------------------- */

static size_t round_up(size_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static void leave(band_room *room)
{
    if (atomic_fetch_sub(&room->users, 1) == 1) free(room);
}

void band_room_leave(band_room **room)
{
    if (*room) leave(*room);
    *room = NULL;
}

static bool find_memory(cached_band *to, band_room **room)
{
    band_room *last = *room;
    to->room = NULL;
    if (to->bytes > LARGEST_IN_ROOM) return (to->memory = malloc(to->bytes)) != NULL;
    if (!last || last->used + to->bytes > ROOM_BYTES) {
        band_room_leave(room);
        if (!(last = aligned_alloc(ALIGNMENT, ROOM_BYTES))) return false;
        *last = (band_room){.users = 1, .used = round_up(sizeof *last)};
        *room = last;
    }
    to->room = last;
    to->memory = (char *)last + last->used;
    last->users++;
    last->used += round_up(to->bytes);
    return true;
}

void cached_band_free(cached_band *cached)
{
    if (cached->room)
        leave(cached->room);
    else
        free(cached->memory);
    cached->memory = NULL;
    cached->room = NULL;
}

/* ---- Copies --------------------------------------------------------------------------------------------- */

static size_t view_bytes(const histo_view *v)
{
    return (size_t)(v->shape[0] * v->shape[1]) * histo_dtype_size(v->dtype);
}

/* The memory from the first to the last sample of all views; false if a stride is negative. */
static bool extent_of(const band *b, int views, const char **begin, const char **end)
{
    *begin = *end = NULL;
    for (int i = 0; i < views; i++) {
        const histo_view *v = &b->views[i];
        if (v->strides[0] < 0 || v->strides[1] < 0) return false;
        if (view_bytes(v) == 0) continue;
        const char *first = v->data, *last = first + (v->shape[0] - 1) * v->strides[0] +
                                             (v->shape[1] - 1) * v->strides[1] + (int64_t)histo_dtype_size(v->dtype);
        if (!*begin || first < *begin) *begin = first;
        if (!*end || last > *end) *end = last;
    }
    return true;
}

static void pack(char *to, const histo_view *v)
{
    const size_t size = histo_dtype_size(v->dtype), row = (size_t)v->shape[1] * size;
    for (int64_t y = 0; y < v->shape[0]; y++, to += row) {
        const char *from = (const char *)v->data + y * v->strides[0];
        if (v->strides[1] == (int64_t)size)
            memcpy(to, from, row);
        else
            for (int64_t x = 0; x < v->shape[1]; x++)
                memcpy(to + (size_t)x * size, from + x * v->strides[1], size);
    }
}

/* The bytes of the marks for missing values. */
static size_t marks_bytes(const band *b, int views)
{
    size_t bytes = 0;
    for (int i = 0; b->valid && i < views; i++)
        bytes += b->valid[i].data ? view_bytes(&b->valid[i]) : 0;
    return bytes;
}

/* The band's views in memory are followed by those of the marks, whose data begin at `at`. */
static void copy_marks(band *to, const band *from, int views, char *at)
{
    to->valid = to->views + views;
    for (int i = 0; i < views; i++) {
        const histo_view *v = &from->valid[i];
        to->valid[i] = *v;
        if (!v->data) continue;
        pack(at, v);
        to->valid[i] = histo_view_nd(at, HISTO_U8, 2, v->shape);
        at += view_bytes(v);
    }
}

/* Contiguous samples are copied as they are; if other data lie in between, each view becomes an array. */
bool cached_band_copy(cached_band *to, const band *from, int views, band_room **room)
{
    const char *begin, *end;
    size_t packed = 0;
    for (int i = 0; i < views; i++)
        packed += round_up(view_bytes(&from->views[i]));
    const bool simple = extent_of(from, views, &begin, &end);
    const bool whole = simple && begin && (size_t)(end - begin) <= packed + packed / 4;
    const size_t lists = from->valid ? 2 : 1, list = (size_t)views * sizeof *from->views;
    const size_t head = round_up(lists * list);
    const size_t samples = whole ? (size_t)(end - begin) : packed;
    to->bytes = head + samples + marks_bytes(from, views);
    if (!find_memory(to, room)) return false;
    to->band = *from;
    to->band.views = to->memory;
    if (from->valid) copy_marks(&to->band, from, views, (char *)to->memory + head + samples);
    char *at = (char *)to->memory + head;
    if (whole) memcpy(at, begin, (size_t)(end - begin));
    for (int i = 0; i < views; i++) {
        const histo_view *v = &from->views[i];
        histo_view *copy = &to->band.views[i];
        *copy = *v;
        if (whole) {
            copy->data = view_bytes(v) ? at + ((const char *)v->data - begin) : at;
            continue;
        }
        pack(at, v);
        copy->data = at;
        copy->strides[1] = (int64_t)histo_dtype_size(v->dtype);
        copy->strides[0] = v->shape[1] * copy->strides[1];
        at += round_up(view_bytes(v));
    }
    return true;
}
