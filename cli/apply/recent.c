/* A queue made of two stacks: histograms are not subtracted; instead, all frames are summed up once, from the last to
 * the first, so that the sum from each frame on can be dropped as frames leave. Three merges per frame on average,
 * whatever the length. */
#include "apply/recent.h"

#include <stdlib.h>

#include "base/failure.h"

static int fault_of_counts(fault *f)
{
    return fault_of_library(f, EXIT_DATA, "the counts of frames");
}

int recent_make(recent *r, int length, const histo_axis *axis, const histo_hist_options *options, fault *f)
{
    *r = (recent){.length = length, .frames = calloc((size_t)length, sizeof(histo_hist *))};
    if (!r->frames) return fault_set(f, EXIT_DATA, "no memory for the counts of %d frames", length);
    bool made = true;
    for (int i = 0; i < length && made; i++)
        made = histo_hist_create(&r->frames[i], 1, axis, options) == HISTO_OK;
    if (length == 1)
        r->sum = r->frames[0];
    else
        made = made && histo_hist_create(&r->newer, 1, axis, options) == HISTO_OK &&
               histo_hist_create(&r->sum, 1, axis, options) == HISTO_OK;
    return made ? 0 : fault_of_counts(f);
}

void recent_free(recent *r)
{
    for (int i = 0; i < r->length && r->frames; i++)
        histo_hist_destroy(r->frames[i]);
    if (r->length > 1) {
        histo_hist_destroy(r->newer);
        histo_hist_destroy(r->sum);
    }
    free(r->frames);
    *r = (recent){0};
}

static histo_hist *frame(const recent *r, int64_t i)
{
    return r->frames[i % r->length];
}

/* Sum up from the last frame to the first. */
static histo_status turn(recent *r)
{
    histo_status status = HISTO_OK;
    for (int64_t i = r->come - 1; i-- > r->left && status == HISTO_OK;)
        status = histo_hist_merge(frame(r, i), frame(r, i + 1));
    r->turn = r->come;
    return status == HISTO_OK ? histo_hist_reset(r->newer, NULL) : status;
}

histo_hist *recent_next(recent *r, fault *f)
{
    histo_status status = HISTO_OK;
    if (r->length > 1 && r->come - r->left == r->length) {
        if (r->left == r->turn) status = turn(r);
        r->left++;
    }
    if (status == HISTO_OK) status = histo_hist_reset(frame(r, r->come), NULL);
    if (status == HISTO_OK) return frame(r, r->come);
    fault_of_counts(f);
    return NULL;
}

int recent_add(recent *r, fault *f)
{
    histo_hist *last = frame(r, r->come++);
    if (r->length == 1) return 0;
    histo_status status = histo_hist_merge(r->newer, last);
    if (status == HISTO_OK) status = histo_hist_reset(r->sum, NULL);
    if (status == HISTO_OK) status = histo_hist_merge(r->sum, r->newer);
    if (status == HISTO_OK && r->left < r->turn) status = histo_hist_merge(r->sum, frame(r, r->left));
    return status == HISTO_OK ? 0 : fault_of_counts(f);
}
