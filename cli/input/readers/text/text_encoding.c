#include "input/readers/text/text_encoding.h"

#include <stdio.h>

/* The number of bytes that follow the first byte of a UTF-8 character; -1 if it is not one. */
static int tail_of(unsigned char c)
{
    if (c < 0x80) return 0;
    if (c >= 0xc2 && c < 0xe0) return 1;
    if (c >= 0xe0 && c < 0xf0) return 2;
    return c >= 0xf0 && c < 0xf5 ? 3 : -1;
}

bool text_is_utf8(const char *text, size_t size)
{
    int tail = 0;
    for (size_t i = 0; i < size; i++) {
        const unsigned char c = (unsigned char)text[i];
        if (((c & 0xc0) == 0x80) != (tail > 0)) return false;
        tail = tail > 0 ? tail - 1 : tail_of(c);
        if (tail < 0) return false;
    }
    return tail == 0;
}

size_t text_from_windows(const char *text, size_t size, char *to)
{
    static const unsigned short below_a0[32] = {
        0x20ac, 0x81,   0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021, 0x02c6, 0x2030, 0x0160,
        0x2039, 0x0152, 0x8d,   0x017d, 0x8f,   0x90,   0x2018, 0x2019, 0x201c, 0x201d, 0x2022,
        0x2013, 0x2014, 0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0x9d,   0x017e, 0x0178,
    };
    const char *begin = to;
    for (size_t i = 0; i < size; i++) {
        const unsigned char byte = (unsigned char)text[i];
        const unsigned c = byte >= 0x80 && byte < 0xa0 ? below_a0[byte - 0x80] : byte;
        if (c < 0x80) {
            *to++ = (char)c;
            continue;
        }
        if (c < 0x800) {
            *to++ = (char)(0xc0 | c >> 6);
        } else {
            *to++ = (char)(0xe0 | c >> 12);
            *to++ = (char)(0x80 | (c >> 6 & 0x3f));
        }
        *to++ = (char)(0x80 | (c & 0x3f));
    }
    return (size_t)(to - begin);
}

int text_stray_control(const unsigned char *text, size_t size, int *line)
{
    int first = -1, newlines = 0;
    size_t controls = 0;
    for (size_t i = 0; i < size; i++) {
        newlines += text[i] == '\n';
        if ((text[i] >= ' ' && text[i] != 0x7f) || (text[i] >= '\t' && text[i] <= '\r')) continue;
        if (controls++ == 0) {
            first = text[i];
            *line = newlines + 1;
        }
    }
    for (int cut = 0; size && (text[size - 1] & 0x80) && cut < 3; cut++)
        size--; /* the last character may be cut off */
    return newlines && 4 * controls <= size && text_is_utf8((const char *)text, size) ? first : -1;
}

const char *text_control_name(int control, char room[8])
{
    if (control == 0x1b) return "ESC";
    if (control == 0) return "NUL";
    snprintf(room, 8, "0x%02x", (unsigned)control & 0xffu);
    return room;
}
