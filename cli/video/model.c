#include "video/model.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/failure.h"
#include "output/saved/saved.h"
#include "output/write.h"

void model_free(model *m)
{
    if (!m->saved.count) histo_hist_destroy(m->hist);
    result_free(&m->saved);
    histo_map_destroy(m->map);
}

int model_load(model *m, const char *path, fault *f)
{
    if (saved_load(path, &m->saved, f) != 0) return -1;
    if (m->saved.count != 1)
        return fault_set(f, EXIT_DATA, "the model %s holds %d histograms where one is needed", path, m->saved.count);
    m->hist = m->saved.series[0].hist;
    return 0;
}

const char *model_name(const model *m)
{
    return m->saved.count ? m->saved.series[0].name : NULL;
}

int model_save(const model *m, const space *sp, const reader *r, const settings *s, fault *f)
{
    char names[SPACE_CHANNELS][16], name[sizeof names] = "";
    series counted = {.name = name, .hist = m->hist};
    result whole = {.count = 1, .series = &counted};
    output to;
    for (int a = 0; a < sp->naxes; a++) {
        snprintf(names[a], sizeof names[a], "%s", space_axis_name(sp, a, r));
        snprintf(name + strlen(name), sizeof name - strlen(name), "%s%s", a ? "," : "", names[a]);
        whole.axis_names[a] = names[a];
    }
    int failed = output_open(&to, s, f);
    if (!failed) failed = output_write(&to, &whole, f);
    output_close(&to);
    return failed;
}

/* Whether a name is a list of channels, as --joint writes it: r,g,b. */
static bool names_channels(const char *name)
{
    for (size_t i = 0; name[i]; i++)
        if (i % 2 ? name[i] != ',' : !strchr("rgbyuvcmka", name[i])) return false;
    return *name != '\0';
}

int model_check_space(const model *m, const space *sp, const settings *s, fault *f)
{
    const char *name = model_name(m);
    if (!name || s->axes) return 0;
    const color_space counted = space_of_name(name);
    if (counted == SPACE_HSV && sp->kind == SPACE_NONE)
        return fault_set(f, EXIT_USAGE, "the model %s has counted %s: it is for images in colour, without --space none",
                         s->model, name);
    if (counted && counted != sp->kind)
        return fault_set(f, EXIT_USAGE, "the model %s has counted %s: it is for --space %s", s->model, name,
                         space_name(counted));
    if (!sp->kind || !names_channels(name)) return 0;
    return fault_set(f, EXIT_USAGE, "the model %s has counted %s, not %s: add --space none", s->model, name,
                     sp->kind == SPACE_HSV ? "hue and saturation" : "opponent colours");
}

int model_count(histo_hist **hist, planes *p, const int64_t window[4], const histo_fill_options *options, fault *f)
{
    const space *sp = p->space;
    const bool weighted = options && options->weights;
    const histo_hist_options sums = {.weighting = weighted ? HISTO_WEIGHT_REPRODUCIBLE_SUM : HISTO_UNWEIGHTED};
    histo_view views[SPACE_CHANNELS];
    planes_window(p, window, views);
    if (!*hist && histo_hist_create(hist, sp->naxes, sp->axes, &sums) != HISTO_OK)
        return fault_of_library(f, EXIT_USAGE, "the bins");
    if (histo_hist_fill(*hist, views, options) != HISTO_OK) return fault_of_library(f, EXIT_DATA, "the window");
    return 0;
}

int model_project(model *m, const space *sp, fault *f)
{
    if (histo_map_create(&m->map, sp->naxes, sp->axes, NULL) != HISTO_OK)
        return fault_of_library(f, EXIT_USAGE, "the bins");
    if (histo_map_project(m->map, m->hist, NULL, &(histo_make_options){.hi = 255}) != HISTO_OK)
        return fault_of_library(f, EXIT_DATA, "the model");
    return 0;
}

int model_check_window(const char *option, const int64_t window[4], int64_t width, int64_t height, const char *name,
                       fault *f)
{
    if (window[0] + window[2] <= width && window[1] + window[3] <= height) return 0;
    return fault_set(f, EXIT_USAGE,
                     "--%s %" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 " reaches outside %s, which has %" PRId64
                     " x %" PRId64 " pixels",
                     option, window[0], window[1], window[2], window[3], name, width, height);
}
