/* Applications: images equalized, matched, segmented, registered and tracked by the library, beside the libraries that
 * people use for this. Every result is compared with theirs. */
#ifndef BENCH_APPS_H
#define BENCH_APPS_H

#include "bench/apps/apps_images.h"
#include "bench/core/device.h"
#include "bench/core/options.h"

enum { APPS_MAX_INPUTS = 2, APPS_MAX_TARGETS = 2 };

typedef struct apps_row apps_row;
typedef struct apps_table apps_table;

/* An application on its input. */
typedef struct apps_job {
    const apps_table *table;
    const apps_row *row;
    const apps_photo *photo;
    int threads; /* on the CPU; 0: the default */
    bool quick;  /* smaller images */
    /* By begin, in host memory from apps_image_allocate, C-contiguous; freed with the job. The result may be NULL where
     * nothing is compared. */
    histo_view inputs[APPS_MAX_INPUTS], result;
    int input_count;
    const char *words; /* for peers, instead of the row's; or NULL */
    int64_t bytes;     /* that must be read and written, for the rate; 0: no rate is told */
    double roof_us;    /* what that takes at least; 0: unknown */
    /* Elements of the result that are not the CPU's, set by `result` on other devices. */
    int64_t differences;
    void *state;
} apps_job;

/* Our time is at most that of `library` divided by `factor`, or at most `us`, or that of the roof divided by `share`.
 */
typedef struct apps_target {
    const char *library;      /* NULL: the fastest peer */
    double factor, us, share; /* 0: not asked */
} apps_target;

/* What the images of a row are. */
typedef struct apps_images {
    histo_dtype dtype;
    int64_t count, height, width; /* of a volume, all its sides are the width */
    int64_t levels;               /* bins, one for each */
} apps_images;

struct apps_engine;
struct apps_frame;

/* Do the work of a frame, or enqueue it on the stream. */
typedef histo_status apps_step(const apps_job *job, const struct apps_engine *e, const struct apps_frame *f,
                               void *stream);

/* One line of the table. */
struct apps_row {
    const char *name;  /* "equalize/u8/4k" */
    const char *work;  /* what peers are asked to do: a method in apps_peers.py; NULL: nothing */
    const char *words; /* and with what: numbers or paths, separated by spaces; NULL: none */
    apps_target targets[APPS_MAX_TARGETS];
    const char *reference; /* the peer whose result ours must equal */
    double tolerance;      /* the largest difference of an element that is none */
    /* Make inputs, and all that does not belong to the time. The table's end is called in any case. */
    histo_status (*begin)(apps_job *job);
    apps_step *step; /* what is timed */
    apps_images images;
    bool tiled;      /* 8 x 8 tiles, a histogram each, with a clip of 2 */
    int64_t numbers; /* results that are not an image */
    bool counts;     /* these are u64; others f64 */
    /* The roof: how often the job's bytes are copied, or read; or reading each frame, measured. */
    double copying, reading;
    bool reads_frames;
    bool measured; /* counted by a plan that has timed the strategies */
};

/* The applications on one kind of device. */
struct apps_table {
    const apps_row *rows;
    int count;
    /* Between these, the row's begin may fill the histograms that it does not measure: make engines from the inputs and
     * the result; prepare the step. */
    histo_status (*place)(apps_job *job);
    histo_status (*ready)(apps_job *job);
    /* The time of one run, in microseconds. */
    histo_status (*time)(apps_job *job, double *us);
    /* Put the result of the last run into job->result; NULL: it is there. */
    histo_status (*result)(apps_job *job);
    void (*end)(apps_job *job);
    /* Write a line on how a device is measured that bounds applications, by a roof; NULL: none. */
    histo_status (*describe)(FILE *to);
};

extern const apps_table apps_cpu, apps_commands, apps_cuda;

/* names: "NAME,…" or the beginnings of names; NULL: all. *measured counts the rows measured; *wrong those whose results
 * are not what they must be. */
histo_status bench_apps(const bench_options *options, const apps_photo *photo, const char *names, int *measured,
                        int *wrong);

#endif
