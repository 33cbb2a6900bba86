/* Random problems as a picture: a dot each. */
#include <stdlib.h>

#include "bench/command/picture.h"
#include "bench/command/plotted.h"

int picture_of_random(const random_result *result, const bench_settings *s, fault *f)
{
    plot_series series[RANDOM_CLASSES] = {{0}};
    plot_dots dots = {.series = calloc((size_t)result->count + 1, sizeof *dots.series)};
    double *x = calloc((size_t)result->count + 1, sizeof *x), *y = calloc((size_t)result->count + 1, sizeof *y);
    int classes[RANDOM_CLASSES], written = -1;
    plot p = {.title = "Random problems: per cent of the bound",
              .x_label = "samples",
              .y_label = "per cent of the bound",
              .footer = "The bound is the time to read the samples, and at the read roof to read and write the "
                        "counters.",
              .log_x = true,
              .log_y = true,
              .series = series,
              .dots = &dots};
    for (int c = 0; c < RANDOM_CLASSES; c++)
        classes[c] = -1;
    for (int i = 0; i < result->count && x && y && dots.series; i++) {
        const random_verdict *v = &result->verdict[i];
        if (v->outcome != RANDOM_EXACT) continue;
        if (classes[v->class] < 0) {
            classes[v->class] = p.nseries;
            series[p.nseries] = (plot_series){.name = random_class_names[v->class], .color = plot_palette(p.nseries)};
            p.nseries++;
        }
        x[dots.count] = (double)v->problem.samples;
        y[dots.count] = 100 * random_share(v);
        dots.series[dots.count++] = classes[v->class];
    }
    dots.x = x;
    dots.y = y;
    if (x && y && dots.series)
        written = picture_write(&p, s->image, f);
    else
        fault_set(f, EXIT_DATA, "no memory for a picture of %d problems", result->count);
    free(x);
    free(y);
    free(dots.series);
    return written;
}
