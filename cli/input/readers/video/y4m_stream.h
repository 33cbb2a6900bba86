/* YUV4MPEG2 streams (y4m), as `ffmpeg -f yuv4mpegpipe` and mjpegtools write them: a header line for the stream, and for
 * each frame a line that begins with FRAME, followed by its planes. Samples of more than 8 bits are little-endian
 * words. Lines are kept verbatim, so that a writer can repeat unknown tags. */
#ifndef CLI_Y4M_H
#define CLI_Y4M_H

#include <histo/histo.h>

#include "input/stream/input.h"

enum { Y4M_PLANES = 4, Y4M_LINE_BYTES = 4096 };

typedef struct y4m_plane {
    int64_t width, height;
    int step_x, step_y; /* pixels per sample */
    size_t offset;      /* position in the frame */
} y4m_plane;

typedef enum y4m_range {
    Y4M_LIMITED = 0, /* black is 16 and white 235, times 2^(bits - 8) */
    Y4M_FULL,
} y4m_range;

typedef struct y4m_line {
    char text[Y4M_LINE_BYTES];
    size_t length; /* including the newline */
} y4m_line;

typedef struct y4m {
    input *in; /* borrowed */
    int64_t width, height;
    int bits;   /* per sample, 8 … 16 */
    int planes; /* 1: luma; 3: with Cb and Cr; 4: with alpha, too */
    y4m_range range;
    y4m_plane plane[Y4M_PLANES];
    size_t frame_bytes; /* of all planes */
    y4m_line header, frame_header;
    int64_t frames; /* number begun */
} y4m;

/* The header line of a stream with frames of the same size that have only 8-bit luma. */
void y4m_gray_header(const y4m *v, y4m_line *line);

/* Read the header line from `in`, of which nothing has been read. */
int y4m_begin(y4m *v, input *in, fault *f);

/* Read the line of the next frame: 1, 0 at the end of the stream, -1. After 1, its planes follow. */
int y4m_next(y4m *v, fault *f);

/* Read the planes, in native byte order. */
int y4m_read(y4m *v, void *planes, fault *f);

/* The planes without a copy, valid until the next call; NULL if they must be read. */
const void *y4m_map(y4m *v);

/* Swap between native and the stream's byte order, before planes that were read are written. */
void y4m_reorder(const y4m *v, void *planes);

size_t y4m_sample_bytes(const y4m *v);
/* A plane of a frame. */
histo_view y4m_view(const y4m *v, int plane, const void *planes);

#endif
