/* Writing video: the lines and frames of a YUV4MPEG2 stream. */
#ifndef CLI_CLIP_H
#define CLI_CLIP_H

#include "input/readers/video/y4m_stream.h"
#include "output/outfile.h"

/* Open path for what is made of the video `from`, if it is a name for video. NULL with the sentence. */
outfile *clip_open(const char *path, const char *from, fault *f);

int clip_begin(outfile *clip, const y4m_line *header, fault *f);
/* Write a frame, which is then on its way to whoever reads the stream. */
int clip_frame(outfile *clip, const y4m_line *header, const void *planes, size_t bytes, fault *f);

#endif
