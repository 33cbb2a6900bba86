#include "counts/saved/bytes.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/checksum.h"
#include "base/memory.h"
#include "base/threads/monitor.h"

unsigned char *histo_bytes_extend(histo_bytes *out, size_t size)
{
    if (out->failed) return NULL;
    if (size > out->capacity - out->size) {
        size_t wanted, capacity = out->capacity < 4096 ? 4096 : out->capacity;
        unsigned char *data = NULL;
        if (!__builtin_add_overflow(out->size, size, &wanted)) {
            while (capacity < wanted && capacity <= SIZE_MAX / 2)
                capacity *= 2;
            if (capacity < wanted) capacity = wanted;
            if (histo_memory_suffices(capacity - out->capacity)) data = histo_realloc(out->data, capacity);
        }
        if (!data) {
            out->failed = true;
            return NULL;
        }
        out->data = data;
        out->capacity = capacity;
    }
    unsigned char *added = out->data + out->size;
    out->size += size;
    return added;
}

bool histo_bytes_ends(histo_bytes *out, int64_t work)
{
    if (!out->failed && histo_monitor_stops("saving", work, 0, 0)) out->failed = out->cancelled = true;
    return out->failed;
}

histo_status histo_bytes_checksum(const char *stage, const void *data, size_t size, uint32_t *crc)
{
    histo_status status = HISTO_OK;
    *crc = 0;
    for (size_t begin = 0; begin < size && status == HISTO_OK; begin += HISTO_MUCH_WORK) {
        const size_t some = size - begin < HISTO_MUCH_WORK ? size - begin : HISTO_MUCH_WORK;
        *crc = histo_checksum_add(*crc, (const char *)data + begin, some);
        status = histo_go_on(stage, (int64_t)some, (int64_t)begin, (int64_t)size);
    }
    return status;
}

void histo_bytes_put(histo_bytes *out, const void *data, size_t size)
{
    unsigned char *to = histo_bytes_extend(out, size);
    if (to && size) memcpy(to, data, size);
}

void histo_bytes_print(histo_bytes *out, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (n >= 0 && (size_t)n < sizeof text)
        histo_bytes_put(out, text, (size_t)n);
    else
        out->failed = true;
}

void histo_bytes_put_le(histo_bytes *out, uint64_t value, int width)
{
    unsigned char *to = histo_bytes_extend(out, (size_t)width);
    for (int i = 0; to && i < width; i++)
        to[i] = (unsigned char)(value >> 8 * i);
}
