/* Writing video: the lines and frames of a YUV4MPEG2 stream. */
#ifndef CLI_CLIP_H
#define CLI_CLIP_H

#include "input/readers/video/y4m_stream.h"
#include "output/outfile.h"

/* Open path for a video made from the video `from`, if its name is that of a video. NULL with a message. */
outfile *clip_open(const char *path, const char *from, fault *f);

int clip_begin(outfile *clip, const y4m_line *header, fault *f);
/* Write a frame, and flush the stream. */
int clip_frame(outfile *clip, const y4m_line *header, const void *planes, size_t bytes, fault *f);

#endif
