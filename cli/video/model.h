/* The target of the search: the histogram of a region of a frame, or a saved one. */
#ifndef CLI_VIDEO_MODEL_H
#define CLI_VIDEO_MODEL_H

#include "count/result.h"
#include "video/planes.h"

typedef struct model {
    result saved;
    histo_hist *hist; /* one of the saved ones, or counted here */
    histo_map *map;   /* its back projection */
} model;

void model_free(model *m);

/* Load the only histogram of a file. */
int model_load(model *m, const char *path, fault *f);

/* The name of a loaded model; NULL: none. */
const char *model_name(const model *m);

/* Write what was counted on the axes of the space to --output, a .json or .histo file. */
int model_save(const model *m, const space *sp, const reader *r, const settings *s, fault *f);

/* Check that a saved model has the colours of the space; its name lists the channels that --joint has counted. */
int model_check_space(const model *m, const space *sp, const settings *s, fault *f);

/* Count a window of the planes in *hist, which is created if it is NULL; the caller destroys it. Options, which may be
 * NULL, have weights or a mask of the window's shape. */
int model_count(histo_hist **hist, planes *p, const int64_t window[4], const histo_fill_options *options, fault *f);

/* Back projection: a map from samples to 0 … 255. */
int model_project(model *m, const space *sp, fault *f);

/* Check that the window of --OPTION is inside the frames. */
int model_check_window(const char *option, const int64_t window[4], int64_t width, int64_t height, const char *name,
                       fault *f);

#endif
