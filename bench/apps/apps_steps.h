/* The applications themselves, on a CPU or a GPU: their inputs, and what they do with a frame. */
#ifndef BENCH_APPS_STEPS_H
#define BENCH_APPS_STEPS_H

#include "bench/apps/apps.h"

/* One image, or the images that are counted together, and its result. */
typedef struct apps_frame {
    histo_view in[APPS_MAX_INPUTS], out;
} apps_frame;

/* What is made once, on one device. */
typedef struct apps_engine {
    int threads;
    histo_hist *hist[2];
    histo_plan *plan[2]; /* NULL: that of histo_hist_fill */
    histo_map *map;
    apps_frame frame; /* where its first frame lies */
} apps_engine;

struct apps_graph;

/* The state of a job. */
typedef struct apps_work {
    int naxes, hists;
    histo_axis axes[2];
    int64_t batch;
    int engines;
    apps_engine engine[2];    /* the first is measured; on a GPU, the other computes the results that it must have */
    struct apps_graph *graph; /* on a GPU */
} apps_work;

/* Histograms and a map for each engine. */
histo_status apps_make_engine(const apps_work *w, apps_engine *e);
void apps_end(apps_job *job);

/* The tiles of images as batch entries. */
histo_view apps_tiles_of(const histo_view *image);

size_t apps_bytes_of(const histo_view *view);

/* As apps_row.begin: images; an image of hue, saturation and value, and a map made of a region; two volumes. */
histo_status apps_begin_image(apps_job *job);
histo_status apps_begin_pair(apps_job *job);
histo_status apps_begin_colors(apps_job *job);
histo_status apps_begin_volumes(apps_job *job);

/* For other begins: the state; an input; the row's images, of u8 or of 12 bits in u16 from the photograph, which are
 * copies of one if there are several; a result of numbers. */
histo_status apps_begin(apps_job *job, int naxes, const histo_axis *axes);
histo_status apps_add_input(apps_job *job, histo_dtype dtype, int ndim, const int64_t *shape, void **memory);
histo_status apps_add_images(apps_job *job);
histo_status apps_add_numbers(apps_job *job);
/* From the inputs and the result to what is timed. */
histo_status apps_place_and_ready(apps_job *job);

/* Count input views into histogram h from zero. */
histo_status apps_count(const apps_engine *e, int h, const histo_view *views, void *stream);

apps_step apps_apply, apps_equalize, apps_match, apps_match_both, apps_otsu, apps_project;

/* Hue and saturation of interleaved pixels, and the window that the map is made of: x, y, width, height. */
void apps_colors_of(const histo_view *pixels, histo_view views[2]);
extern const int64_t apps_window[4];

#endif
