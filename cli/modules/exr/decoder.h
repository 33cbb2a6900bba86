/* OpenEXR's C++ library behind C functions. It decodes rows of planes; exceptions become messages. */
#ifndef CLI_MODULES_EXR_DECODER_H
#define CLI_MODULES_EXR_DECODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A source of a file's bytes. */
typedef struct exr_source {
    void *user;
    /* Bytes read at a position; fewer than size only at the end; -1 on failure. */
    int64_t (*read_at)(void *user, int64_t at, void *to, size_t size);
    int64_t size;
} exr_source;

typedef enum exr_type { EXR_U32, EXR_F16, EXR_F32 } exr_type;

typedef struct exr_part {
    bool deep;                        /* pixels with several samples: rows cannot be read */
    int32_t left, top, right, bottom; /* pixels, inclusive */
    int32_t block_rows;               /* rows stored together: of tiles, or of a block of scanlines */
    int32_t tile_width;               /* 0: no tiles */
    int channels;
} exr_part;

typedef struct exr_channel {
    const char *name; /* valid until the decoder is closed */
    exr_type type;
    int32_t step_x, step_y; /* pixels per sample */
} exr_channel;

/* Where the samples of a channel go: contiguous rows, beginning with the first of the rows read. */
typedef struct exr_plane {
    int channel;
    void *to;
    size_t pitch; /* bytes per row */
} exr_plane;

typedef struct exr_decoder exr_decoder;

enum { EXR_COMPLAINT_BYTES = 160 };

/* NULL on failure, with a message; threads: number of decoding threads, besides the caller's. */
exr_decoder *exr_decoder_open(const exr_source *source, int threads, char complaint[EXR_COMPLAINT_BYTES]);
void exr_decoder_close(exr_decoder *d); /* NULL is allowed */

int exr_decoder_parts(const exr_decoder *d);
exr_part exr_decoder_part(const exr_decoder *d, int part);
/* In the order of the file; channels must have room for all. */
void exr_decoder_channels(const exr_decoder *d, int part, exr_channel *channels);

/* Decode rows first … last of these channels. False on failure, with a message. */
bool exr_decoder_read(exr_decoder *d, int part, int32_t first, int32_t last, const exr_plane *planes, int count,
                      char complaint[EXR_COMPLAINT_BYTES]);

#ifdef __cplusplus
}
#endif

#endif
