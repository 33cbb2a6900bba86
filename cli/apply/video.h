/* Jobs on video: each frame's luma is counted, mapped and written; chroma, alpha and all lines of the stream stay.
 * Where results are numbers of classes, they are gray video. */
#ifndef CLI_VIDEO_H
#define CLI_VIDEO_H

#include "apply/job.h"

/* The job whose pages are a video, from its beginning to the complete result. */
int video_run(job *j, fault *f);

#endif
