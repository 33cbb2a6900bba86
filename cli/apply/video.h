/* Jobs on video: each frame's luma is counted, mapped and written; chroma, alpha and all header lines are unchanged. If
 * results are class numbers, they are gray video. */
#ifndef CLI_VIDEO_H
#define CLI_VIDEO_H

#include "apply/job.h"

/* Run a job whose pages are a video, from its beginning to the complete result. */
int video_run(job *j, fault *f);

#endif
