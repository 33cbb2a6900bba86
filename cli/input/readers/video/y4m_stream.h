/* YUV4MPEG2 streams (y4m), as `ffmpeg -f yuv4mpegpipe` and mjpegtools write them: a line about the stream, and for each
 * frame a line that begins with FRAME, and its planes. Samples of more than 8 bits are little-endian words. Lines are
 * kept as they are, so that a writer can repeat tags that nobody here knows. */
#ifndef CLI_Y4M_H
#define CLI_Y4M_H

#include <histo/histo.h>

#include "input/stream/input.h"

enum { Y4M_PLANES = 4, Y4M_LINE_BYTES = 4096 };

typedef struct y4m_plane {
    int64_t width, height;
    int step_x, step_y; /* pixels for each sample */
    size_t offset;      /* bytes in the frame */
} y4m_plane;

typedef enum y4m_range {
    Y4M_LIMITED = 0, /* black is 16 and white 235, times 2^(bits - 8) */
    Y4M_FULL,
} y4m_range;

typedef struct y4m_line {
    char text[Y4M_LINE_BYTES];
    size_t length; /* with the newline */
} y4m_line;

typedef struct y4m {
    input *in; /* borrowed */
    int64_t width, height;
    int bits;   /* of a sample, 8 … 16 */
    int planes; /* 1: luma; 3: with Cb and Cr; 4: with alpha, too */
    y4m_range range;
    y4m_plane plane[Y4M_PLANES];
    size_t frame_bytes; /* of all planes */
    y4m_line header, frame_header;
    int64_t frames; /* begun */
} y4m;

/* The line about a stream of frames like these that have nothing but 8-bit luma. */
void y4m_gray_header(const y4m *v, y4m_line *line);

/* Read the line about the stream from `in`, of which nothing has been read. */
int y4m_begin(y4m *v, input *in, fault *f);

/* Read the line of the next frame: 1, 0 at the end of the stream, -1. After 1, its planes are next. */
int y4m_next(y4m *v, fault *f);

/* Read the planes, in native byte order. */
int y4m_read(y4m *v, void *planes, fault *f);

/* The planes without a copy, valid until the next call; NULL if they have to be read. */
const void *y4m_map(y4m *v);

/* Exchange the native byte order and the stream's, before planes that were read are written. */
void y4m_reorder(const y4m *v, void *planes);

size_t y4m_sample_bytes(const y4m *v);
/* A plane of a frame. */
histo_view y4m_view(const y4m *v, int plane, const void *planes);

#endif
