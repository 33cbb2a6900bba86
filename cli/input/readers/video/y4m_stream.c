#define _GNU_SOURCE
#include "input/readers/video/y4m_stream.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char magic[] = "YUV4MPEG2";
static const char frame_magic[] = "FRAME";

enum { MOST_FRAME_BYTES = 1 << 30 };

static int malformed(const y4m *v, const char *complaint, fault *f)
{
    return fault_set(f, EXIT_DATA, "%s: %s: the video is damaged, or not YUV4MPEG2", input_name(v->in), complaint);
}

/* ---- The line about the stream ---- */

/* Chroma formats; "p10" and the like may follow the first four, a number of bits may follow mono. */
static const struct {
    const char *name;
    int planes, step_x, step_y;
} formats[] = {
    {"420", 3, 2, 2},     {"422", 3, 2, 1},      {"444", 3, 1, 1},      {"411", 3, 4, 1},      {"mono", 1, 1, 1},
    {"420jpeg", 3, 2, 2}, {"420mpeg2", 3, 2, 2}, {"420paldv", 3, 2, 2}, {"444alpha", 4, 1, 1},
};

static bool read_bits(const char *digits, size_t length, int *bits)
{
    if (length < 1 || length > 2 || strspn(digits, "0123456789") < length) return false;
    *bits = digits[0] - '0';
    if (length == 2) *bits = *bits * 10 + digits[1] - '0';
    return *bits >= 8 && *bits <= 16;
}

static bool set_format(y4m *v, const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        const size_t own = strlen(formats[i].name);
        if (length < own || memcmp(name, formats[i].name, own) != 0) continue;
        v->bits = 8;
        const bool mono = formats[i].planes == 1;
        const char *rest = name + own + (mono || own == length ? 0 : 1);
        const bool deep = own < length && (mono || name[own] == 'p');
        if (own < length && !(deep && read_bits(rest, length - (size_t)(rest - name), &v->bits))) continue;
        v->planes = formats[i].planes;
        for (int p = 1; p < v->planes; p++)
            v->plane[p] = (y4m_plane){.step_x = p < 3 ? formats[i].step_x : 1, .step_y = p < 3 ? formats[i].step_y : 1};
        return true;
    }
    return false;
}

static int64_t read_size(const char *digits, size_t length)
{
    int64_t size = 0;
    if (length < 1 || length > 9) return 0;
    for (size_t i = 0; i < length; i++) {
        if (digits[i] < '0' || digits[i] > '9') return 0;
        size = size * 10 + digits[i] - '0';
    }
    return size;
}

/* One tag, such as W1920; unknown ones are ignored. */
static int take_tag(y4m *v, const char *tag, size_t length, fault *f)
{
    const char *value = tag + 1;
    const size_t size = length - 1;
    static const char range[] = "COLORRANGE=FULL";
    switch (*tag) {
    case 'W':
        v->width = read_size(value, size);
        return v->width ? 0 : malformed(v, "its width is not a number of 1 to 9 digits", f);
    case 'H':
        v->height = read_size(value, size);
        return v->height ? 0 : malformed(v, "its height is not a number of 1 to 9 digits", f);
    case 'C':
        if (set_format(v, value, size)) return 0;
        return fault_set(f, EXIT_DATA,
                         "%s has the chroma format '%.*s', which is unknown: 420, 422, 444, 411, 444alpha and mono are "
                         "read, with 8 to 16 bits: convert it with ffmpeg -pix_fmt yuv420p",
                         input_name(v->in), (int)(size < 40 ? size : 40), value);
    case 'X':
        if (size == sizeof range - 1 && memcmp(value, range, size) == 0) v->range = Y4M_FULL;
        return 0;
    default:
        return 0;
    }
}

static int set_planes(y4m *v, fault *f)
{
    size_t bytes = 0;
    v->plane[0] = (y4m_plane){.step_x = 1, .step_y = 1};
    for (int p = 0; p < v->planes; p++) {
        y4m_plane *to = &v->plane[p];
        to->width = (v->width + to->step_x - 1) / to->step_x;
        to->height = (v->height + to->step_y - 1) / to->step_y;
        to->offset = bytes;
        const int64_t row = to->width * (int64_t)y4m_sample_bytes(v);
        if (row > MOST_FRAME_BYTES / to->height || bytes + (size_t)(row * to->height) > MOST_FRAME_BYTES)
            return fault_set(f, EXIT_DATA,
                             "%s claims frames of %" PRId64 " x %" PRId64
                             " pixels, more than the limit of 1 GiB: make them smaller, or check that the file is not "
                             "damaged",
                             input_name(v->in), v->width, v->height);
        bytes += (size_t)(row * to->height);
    }
    v->frame_bytes = bytes;
    return 0;
}

static int parse_header(y4m *v, fault *f)
{
    const char *at = v->header.text + sizeof magic - 1, *end = v->header.text + v->header.length - 1;
    set_format(v, "420", 3);
    while (at < end) {
        const char *stop = memchr(at, ' ', (size_t)(end - at));
        if (!stop) stop = end;
        if (stop > at && take_tag(v, at, (size_t)(stop - at), f) != 0) return -1;
        at = stop + 1;
    }
    if (!v->width || !v->height) return malformed(v, "its first line gives no width and height", f);
    return set_planes(v, f);
}

void y4m_gray_header(const y4m *v, y4m_line *line)
{
    static const char gray[] = "Cmono XCOLORRANGE=FULL\n";
    const char *at = v->header.text, *end = v->header.text + v->header.length - 1;
    const size_t room = Y4M_LINE_BYTES - sizeof gray;
    line->length = 0;
    while (at < end) {
        const char *stop = memchr(at, ' ', (size_t)(end - at));
        const size_t length = (size_t)((stop ? stop : end) - at);
        if (length > 0 && *at != 'C' && *at != 'X' && line->length + length < room) { /* those concern colours */
            memcpy(line->text + line->length, at, length);
            line->length += length;
            line->text[line->length++] = ' ';
        }
        at += length + 1;
    }
    memcpy(line->text + line->length, gray, sizeof gray - 1);
    line->length += sizeof gray - 1;
}

/* ---- Lines ---- */

/* Read `size` bytes: returns how many there were, -1 on failure. */
static int64_t read_full(const y4m *v, void *to, size_t size, fault *f)
{
    size_t filled = 0;
    while (filled < size) {
        int64_t got = input_read(v->in, (char *)to + filled, size - filled, f);
        if (got < 0) return -1;
        if (got == 0) break;
        filled += (size_t)got;
    }
    return (int64_t)filled;
}

/* Read up to the newline of the line: 1, 0 if the data end before, -1. */
static int complete_line(const y4m *v, y4m_line *line, const char *what, fault *f)
{
    while (line->text[line->length - 1] != '\n') {
        if (line->length == Y4M_LINE_BYTES) return malformed(v, what, f);
        int64_t got = input_read(v->in, line->text + line->length, 1, f);
        if (got <= 0) return (int)got;
        line->length++;
    }
    return 1;
}

int y4m_begin(y4m *v, input *in, fault *f)
{
    *v = (y4m){.in = in};
    v->header.length = sizeof magic;
    int64_t got = read_full(v, v->header.text, v->header.length, f);
    if (got < 0) return -1;
    const char after = v->header.text[sizeof magic - 1];
    if (got < (int64_t)sizeof magic || memcmp(v->header.text, magic, sizeof magic - 1) != 0 ||
        (after != ' ' && after != '\n'))
        return malformed(v, "it does not begin with YUV4MPEG2", f);
    int whole = complete_line(v, &v->header, "its first line is longer than 4096 bytes", f);
    if (whole == 0) return malformed(v, "it ends within its first line", f);
    return whole < 0 ? -1 : parse_header(v, f);
}

static int truncated(const y4m *v, fault *f)
{
    return fault_set(f, EXIT_DATA, "%s ends within frame %" PRId64 ": the video is cut off, get a complete copy",
                     input_name(v->in), v->frames - 1);
}

int y4m_next(y4m *v, fault *f)
{
    char complaint[64];
    v->frame_header.length = sizeof frame_magic; /* followed by a newline or a blank */
    int64_t got = read_full(v, v->frame_header.text, v->frame_header.length, f);
    if (got <= 0) return (int)got;
    v->frames++;
    const size_t begun = (size_t)got < sizeof frame_magic - 1 ? (size_t)got : sizeof frame_magic - 1;
    const char next = v->frame_header.text[sizeof frame_magic - 1];
    snprintf(complaint, sizeof complaint, "frame %" PRId64 " does not begin with FRAME", v->frames - 1);
    if (memcmp(v->frame_header.text, frame_magic, begun) != 0) return malformed(v, complaint, f);
    if ((size_t)got < sizeof frame_magic) return truncated(v, f);
    if (next != '\n' && next != ' ') return malformed(v, complaint, f);
    int whole = complete_line(v, &v->frame_header, "the line before a frame is longer than 4096 bytes", f);
    return whole == 0 ? truncated(v, f) : whole;
}

/* ---- Planes ---- */

size_t y4m_sample_bytes(const y4m *v)
{
    return v->bits > 8 ? 2 : 1;
}

histo_view y4m_view(const y4m *v, int plane, const void *planes)
{
    const y4m_plane *p = &v->plane[plane];
    return histo_view_nd((const char *)planes + p->offset, y4m_sample_bytes(v) == 1 ? HISTO_U8 : HISTO_U16, 2,
                         (const int64_t[]){p->height, p->width});
}

static bool is_foreign(const y4m *v)
{
    return v->bits > 8 && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__;
}

void y4m_reorder(const y4m *v, void *planes)
{
    if (!is_foreign(v)) return;
    for (uint16_t *sample = planes, *end = sample + v->frame_bytes / 2; sample < end; sample++)
        *sample = __builtin_bswap16(*sample);
}

int y4m_read(y4m *v, void *planes, fault *f)
{
    int64_t got = read_full(v, planes, v->frame_bytes, f);
    if (got < 0) return -1;
    if ((size_t)got < v->frame_bytes) return truncated(v, f);
    y4m_reorder(v, planes);
    return 0;
}

const void *y4m_map(y4m *v)
{
    return is_foreign(v) ? NULL : input_map(v->in, v->frame_bytes);
}
