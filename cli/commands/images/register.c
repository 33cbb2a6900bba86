/* histo register: the shift of an image or volume against another that maximizes their mutual information.
 *
 * The samples of A in a window, inset from its border by the largest shift, are counted against those of B in the
 * shifted window. So every shift has as many samples, and is a view of the same memory. First, all shifts are tried on
 * a part of the window's samples and with few bins, with one batched fill for each row of shifts; then the best of them
 * with more samples; and finally, from the best one, neighbours with all samples, until none is better. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "apply/move.h"
#include "base/failure.h"
#include "base/progress.h"
#include "count/axes/axes.h"
#include "input/samples/volume.h"
#include "output/rows.h"

enum {
    MOST_SHIFTS = 1 << 17,    /* tried at first; if there are more, only every other, third … in each dimension */
    FIRST_SAMPLES = 1 << 13,  /* per shift at first, … */
    SECOND_SAMPLES = 1 << 17, /* … and for the best ones */
    FIRST_BINS = 32,
    KEPT = 32, /* after the first step, … */
    FINALISTS = 4,
    MOST_STEPS = 1000, /* of the climb */
};

typedef struct candidate {
    int64_t shift[VOLUME_DIMS];
    double mi;
} candidate;

typedef struct registration {
    const settings *settings;
    bins_list bins;
    volume volumes[2];
    int ndim;
    histo_axis axes[2], few[2];  /* all bins, and those of the first step */
    int64_t search[VOLUME_DIMS]; /* the largest shift, … */
    int64_t inset[VOLUME_DIMS];  /* … and the border of the window: two more, for interpolation */
    int64_t window[VOLUME_DIMS];
    candidate best[KEPT];
    int best_count;
} registration;

static int fault_library(fault *f)
{
    return fault_set(f, EXIT_DATA, "%s", histo_last_error());
}

/* ---- Views ---- */

/* Every `every`-th sample of the window of image i, shifted. */
static histo_view window_of(const registration *r, int i, const int64_t *shift, int64_t every)
{
    histo_view view = volume_view(&r->volumes[i]);
    for (int d = 0; d < r->ndim; d++) {
        view.data = (const char *)view.data + (r->inset[d] + (shift ? shift[d] : 0)) * view.strides[d];
        view.shape[d] = (r->window[d] + every - 1) / every;
        view.strides[d] *= every;
    }
    return view;
}

static histo_view mask_of(const registration *r, int64_t every)
{
    histo_view view = histo_view_nd(r->volumes[0].mask, HISTO_U8, r->ndim, r->volumes[0].shape);
    for (int d = 0; d < r->ndim; d++) {
        view.data = (const char *)view.data + r->inset[d] * view.strides[d];
        view.shape[d] = (r->window[d] + every - 1) / every;
        view.strides[d] *= every;
    }
    return view;
}

/* The view with n batch entries, `step` bytes apart. */
static histo_view batch_of(histo_view view, int64_t n, int64_t step)
{
    memmove(view.shape + 1, view.shape, (size_t)view.ndim * sizeof *view.shape);
    memmove(view.strides + 1, view.strides, (size_t)view.ndim * sizeof *view.strides);
    view.shape[0] = n;
    view.strides[0] = step;
    view.ndim++;
    view.batch_ndim = 1;
    return view;
}

/* The smallest sampling interval with which the window has at most `most` samples. */
static int64_t thin_out(const registration *r, double most)
{
    for (int64_t every = 1;; every++) {
        double count = 1;
        for (int d = 0; d < r->ndim; d++)
            count *= (double)((r->window[d] + every - 1) / every);
        if (count <= most) return every;
    }
}

/* ---- Counting ---- */

static int64_t length_of(const candidate *c)
{
    return c->shift[0] * c->shift[0] + c->shift[1] * c->shift[1] + c->shift[2] * c->shift[2];
}

/* If shifts are equally good, prefer the shorter one. */
static bool is_better(const candidate *a, const candidate *b)
{
    return a->mi > b->mi || (a->mi == b->mi && length_of(a) < length_of(b));
}

/* If no samples are in the bins, less than any possible information. */
static double information_of(const histo_information *found)
{
    return isnan(found->mutual) ? -1 : found->mutual;
}

/* Insert into the best candidates, best first. */
static void keep(registration *r, const candidate *c, int most)
{
    if (r->best_count == most && !is_better(c, &r->best[most - 1])) return;
    int at = r->best_count < most ? r->best_count++ : most - 1;
    for (; at > 0 && is_better(c, &r->best[at - 1]); at--)
        r->best[at] = r->best[at - 1];
    r->best[at] = *c;
}

/* Count a batch of n shifts from *from on, `step` apart along the fastest dimension, and keep the best. */
static int try_row(registration *r, histo_hist *hist, histo_plan **plan, histo_information *found,
                   const candidate *from, int64_t n, int64_t step, int64_t every, fault *f)
{
    const int fastest = r->ndim - 1;
    const histo_view views[] = {
        batch_of(window_of(r, 0, NULL, every), n, 0),
        batch_of(window_of(r, 1, from->shift, every), n, step * r->volumes[1].strides[fastest])};
    const histo_view mask = r->volumes[0].mask ? batch_of(mask_of(r, every), n, 0) : (histo_view){0};
    const histo_fill_options fill = {.mask = r->volumes[0].mask ? &mask : NULL};
    const histo_plan_options options = {.device = HISTO_DEVICE_CPU, .threads = r->settings->threads};
    if (histo_hist_reset(hist, NULL) != HISTO_OK) return fault_library(f);
    if (!*plan && histo_plan_create(plan, hist, views, &fill, &options) != HISTO_OK) return fault_library(f);
    if (histo_plan_fill(*plan, hist, views, &fill) != HISTO_OK || histo_hist_inform(hist, found) != HISTO_OK)
        return fault_library(f);
    for (int64_t i = 0; i < n; i++) {
        candidate c = *from;
        c.shift[fastest] += i * step;
        c.mi = information_of(&found[i]);
        keep(r, &c, KEPT);
    }
    return 0;
}

/* The next row of shifts; false after the last. */
static bool next_row(const registration *r, candidate *c, int64_t step)
{
    for (int d = r->ndim - 2; d >= 0; d--) {
        c->shift[d] += step;
        if (c->shift[d] <= r->search[d]) return true;
        c->shift[d] = -(r->search[d] / step) * step;
    }
    return false;
}

/* Try every step-th shift. */
static int try_all(registration *r, int64_t step, fault *f)
{
    const int fastest = r->ndim - 1;
    const int64_t reach = r->search[fastest] / step, n = 2 * reach + 1, every = thin_out(r, FIRST_SAMPLES);
    const histo_hist_options options = {.batch = n};
    histo_hist *hist = NULL;
    histo_plan *plan = NULL;
    histo_information *found = malloc((size_t)n * sizeof *found);
    int failed = 0;
    candidate from = {0};
    for (int d = 0; d < r->ndim; d++)
        from.shift[d] = -(r->search[d] / step) * step;
    if (!found) failed = fault_set(f, EXIT_DATA, "no memory for %lld shifts", (long long)n);
    if (!failed && histo_hist_create(&hist, 2, r->few, &options) != HISTO_OK) failed = fault_library(f);
    progress_start("registering", r->settings->quiet);
    do {
        if (!failed) failed = try_row(r, hist, &plan, found, &from, n, step, every, f);
    } while (!failed && next_row(r, &from, step));
    progress_end();
    histo_plan_destroy(plan);
    histo_hist_destroy(hist);
    free(found);
    return failed;
}

/* The mutual information of a shift, from every `every`-th sample. */
static int measure(const registration *r, candidate *c, int64_t every, fault *f)
{
    const histo_view views[] = {window_of(r, 0, NULL, every), window_of(r, 1, c->shift, every)};
    const histo_view mask = r->volumes[0].mask ? mask_of(r, every) : (histo_view){0};
    const histo_fill_options fill = {.mask = r->volumes[0].mask ? &mask : NULL};
    const histo_plan_options options = {.device = r->settings->device, .threads = r->settings->threads};
    histo_hist *hist = NULL;
    histo_plan *plan = NULL;
    histo_information found;
    int failed = histo_hist_create(&hist, 2, r->axes, NULL) != HISTO_OK ||
                 histo_plan_create(&plan, hist, views, &fill, &options) != HISTO_OK ||
                 histo_plan_fill(plan, hist, views, &fill) != HISTO_OK || histo_hist_inform(hist, &found) != HISTO_OK;
    if (failed)
        fault_library(f);
    else
        c->mi = information_of(&found);
    histo_plan_destroy(plan);
    histo_hist_destroy(hist);
    return failed ? -1 : 0;
}

/* Advance an offset of -reach … reach in each dimension; false after the last. */
static bool next_offset(int ndim, int64_t reach, int64_t *offset)
{
    for (int d = ndim - 1; d >= 0; d--) {
        if (++offset[d] <= reach) return true;
        offset[d] = -reach;
    }
    return false;
}

/* Measure the shifts around c, except c itself, and keep the best. */
static int try_around(registration *r, const candidate *c, int64_t reach, int64_t every, int most, fault *f)
{
    int64_t offset[VOLUME_DIMS] = {0};
    for (int d = 0; d < r->ndim; d++)
        offset[d] = -reach;
    do {
        candidate next = *c;
        bool inside = true, moved = false;
        for (int d = 0; d < r->ndim; d++) {
            next.shift[d] += offset[d];
            moved |= offset[d] != 0;
            inside &= next.shift[d] >= -r->search[d] && next.shift[d] <= r->search[d];
        }
        if (!inside || !moved) continue;
        if (measure(r, &next, every, f) != 0) return -1;
        keep(r, &next, most);
    } while (next_offset(r->ndim, reach, offset));
    return 0;
}

/* Measure the candidates so far, and the shifts between them if steps were longer than 1, with more samples. */
static int refine(registration *r, int64_t step, int64_t every, int most, fault *f)
{
    candidate before[KEPT];
    const int count = r->best_count;
    memcpy(before, r->best, sizeof before);
    r->best_count = 0;
    for (int i = 0; i < count; i++) {
        if (measure(r, &before[i], every, f) != 0) return -1;
        keep(r, &before[i], most);
        if (step > 1 && try_around(r, &before[i], step - 1, every, most, f) != 0) return -1;
    }
    return 0;
}

/* Move from the best candidate to better neighbours, with all samples. */
static int climb(registration *r, fault *f)
{
    if (refine(r, 1, 1, 1, f) != 0) return -1;
    for (int i = 0; i < MOST_STEPS; i++) {
        const candidate from = r->best[0];
        if (try_around(r, &from, 1, 1, 1, f) != 0) return -1;
        if (memcmp(from.shift, r->best[0].shift, sizeof from.shift) == 0) break;
    }
    return 0;
}

/* ---- Fractions of a sample ---- */

/* The mutual information at a fractional shift, by partial volume interpolation: pairs with all neighbours count, each
 * with its weight. */
static int measure_between(const registration *r, const double *shift, double *mi, fault *f)
{
    const histo_hist_options options = {.weighting = HISTO_WEIGHT_REPRODUCIBLE_SUM};
    const histo_view mask = r->volumes[0].mask ? mask_of(r, 1) : (histo_view){0};
    histo_hist *hist = NULL;
    histo_information found;
    if (histo_hist_create(&hist, 2, r->axes, &options) != HISTO_OK) return fault_library(f);
    int failed = 0;
    for (int corner = 0; corner < 1 << r->ndim && !failed; corner++) {
        int64_t whole[VOLUME_DIMS] = {0};
        double weight = 1;
        for (int d = 0; d < r->ndim; d++) {
            const double below = floor(shift[d]), share = shift[d] - below;
            const bool next = corner >> d & 1;
            whole[d] = (int64_t)below + next;
            weight *= next ? share : 1 - share;
        }
        if (weight == 0) continue;
        const histo_view views[] = {window_of(r, 0, NULL, 1), window_of(r, 1, whole, 1)};
        histo_view weights = views[0];
        weights.data = &weight;
        weights.dtype = HISTO_F64;
        memset(weights.strides, 0, sizeof weights.strides);
        const histo_fill_options fill = {.weights = &weights, .mask = r->volumes[0].mask ? &mask : NULL};
        if (histo_hist_fill(hist, views, &fill) != HISTO_OK) failed = fault_library(f);
    }
    if (!failed && histo_hist_inform(hist, &found) != HISTO_OK) failed = fault_library(f);
    if (!failed) *mi = information_of(&found);
    histo_hist_destroy(hist);
    return failed;
}

/* exp(-2 mi) of the best shift moved by `offset` along d: if both images are normally distributed, the fraction of
 * one's variance that the other does not explain. It grows with the distance from the true shift. */
static int measure_unexplained(const registration *r, int d, int64_t offset, double *share, fault *f)
{
    candidate moved = r->best[0];
    moved.shift[d] += offset;
    if (measure(r, &moved, 1, f) != 0) return -1;
    *share = exp(-2 * moved.mi);
    return 0;
}

/* In each dimension, the middle of the peak around the best whole shift: half-way between a whole shift on the far side
 * and the point on the near side, between two whole shifts, with the same unexplained variance. The shape of the top,
 * which differs from image to image, does not matter, and only the flanks are interpolated. */
static int find_fractions(registration *r, double *shift, double *mi, fault *f)
{
    for (int d = 0; d < r->ndim; d++) {
        double before, after, beyond;
        if (r->search[d] == 0) continue;
        if (measure_unexplained(r, d, -1, &before, f) != 0 || measure_unexplained(r, d, 1, &after, f) != 0) return -1;
        const double far = fmax(before, after), near = fmin(before, after), side = before < after ? -1 : 1;
        if (measure_unexplained(r, d, 2 * (int64_t)side, &beyond, f) != 0) return -1;
        if (beyond > near) shift[d] += side * fmin(0.5, 0.5 * (far - near) / (beyond - near));
    }
    return measure_between(r, shift, mi, f);
}

/* ---- Before and after ---- */

static int find_axis(registration *r, int i, fault *f)
{
    const char *name = r->settings->files[i];
    const histo_view view = volume_view(&r->volumes[i]);
    const histo_view mask =
        r->volumes[i].mask ? histo_view_nd(r->volumes[i].mask, HISTO_U8, r->ndim, r->volumes[i].shape) : view;
    const histo_fill_options fill = {.mask = r->volumes[i].mask ? &mask : NULL};
    const bins_spec *spec = bins_of_axis(&r->bins, i, 2, f);
    axis_search search = {0};
    int failed = spec ? axis_search_begin(&search, spec, view.dtype, true, 1, f) : -1;
    while (!failed && axis_search_next_pass(&search))
        failed = axis_search_add(&search, &view, &fill, name, f);
    if (!failed) failed = axis_search_end(&search, name, f);
    axis_search_free(&search);
    if (failed) return -1;
    const histo_axis axis = search.axis;
    r->axes[i] = r->few[i] = axis;
    if (axis.bins > FIRST_BINS)
        r->few[i] = histo_axis_closed(
            histo_axis_regular(FIRST_BINS, histo_axis_edge(&axis, 0), histo_axis_edge(&axis, axis.bins)));
    return 0;
}

static int load(registration *r, fault *f)
{
    const settings *s = r->settings;
    settings unmasked = *s;
    unmasked.mask = NULL;
    if (volume_read(&r->volumes[0], s->files[0], s, f) != 0 ||
        volume_read(&r->volumes[1], s->files[1], &unmasked, f) != 0)
        return -1;
    r->ndim = r->volumes[0].ndim;
    if (r->volumes[1].ndim != r->ndim ||
        memcmp(r->volumes[0].shape, r->volumes[1].shape, (size_t)r->ndim * sizeof *r->volumes[0].shape) != 0)
        return fault_set(f, EXIT_DATA, "%s and %s have different shapes: crop them with --roi, or resample one",
                         s->files[0], s->files[1]);
    if (bins_parse(&r->bins, s, f) != 0) return -1;
    return find_axis(r, 0, f) == 0 ? find_axis(r, 1, f) : -1;
}

/* Set the search range, at most as far as leaves a window. */
static void set_search(registration *r)
{
    const int64_t most = r->ndim == 3 ? 20 : 128;
    for (int d = 0; d < r->ndim; d++) {
        const int64_t size = r->volumes[0].shape[d], quarter = size / 4 < most ? size / 4 : most;
        const int64_t wanted = r->settings->search ? r->settings->search : quarter, widest = (size - 5) / 2;
        r->search[d] = wanted < widest ? wanted : widest > 0 ? widest : 0;
        r->inset[d] = r->search[d] > 0 ? r->search[d] + 2 : 0;
        r->window[d] = size - 2 * r->inset[d];
    }
}

static int64_t first_step(const registration *r)
{
    for (int64_t step = 1;; step++) {
        double shifts = 1;
        for (int d = 0; d < r->ndim; d++)
            shifts *= (double)(2 * (r->search[d] / step) + 1);
        if (shifts <= MOST_SHIFTS) return step;
    }
}

static int search_shift(registration *r, fault *f)
{
    const int64_t step = first_step(r);
    if (try_all(r, step, f) != 0 || refine(r, step, thin_out(r, SECOND_SAMPLES), FINALISTS, f) != 0) return -1;
    if (climb(r, f) != 0) return -1;
    if (r->best[0].mi > 1e-12) return 0;
    return fault_set(f, EXIT_DATA, "%s and %s share no information, so that every shift is as good as another",
                     r->settings->files[0], r->settings->files[1]);
}

static int print_shift(const registration *r, const double *shift, double mi, rows *to)
{
    static const char *const columns[] = {"x", "y", "z", "mi"};
    const char *names[4];
    memcpy(names, columns, sizeof names);
    if (r->ndim == 2) names[2] = columns[3];
    rows_begin(to, names, r->ndim + 1);
    for (int d = r->ndim - 1; d >= 0; d--)
        rows_number(to, shift[d] == 0 ? 0 : shift[d]);
    rows_number(to, mi);
    return 0;
}

static int find(registration *r, mover *moved, rows *to, fault *f)
{
    double shift[VOLUME_DIMS] = {0}, mi;
    if (load(r, f) != 0) return -1;
    set_search(r);
    if (search_shift(r, f) != 0) return -1;
    for (int d = 0; d < r->ndim; d++)
        shift[d] = (double)r->best[0].shift[d];
    mi = r->best[0].mi;
    if (r->settings->interpolate && find_fractions(r, shift, &mi, f) != 0) return -1;
    if (moved && mover_write(moved, r->ndim, r->best[0].shift, f) != 0) return -1;
    return print_shift(r, shift, mi, to);
}

static int register_files(const settings *s, mover *moved, rows *to, fault *f)
{
    settings with_defaults = *s;
    registration r = {.settings = &with_defaults};
    if (!s->bins && !s->edges) with_defaults.bins = "64";
    if (!s->range && !s->edges && !(s->bins && strchr(s->bins, '@'))) with_defaults.range = "minmax";
    const int failed = find(&r, moved, to, f);
    volume_free(&r.volumes[0]);
    volume_free(&r.volumes[1]);
    bins_free(&r.bins);
    return failed;
}

static int check(const settings *s, fault *f)
{
    if (s->files_count != 2)
        return fault_set(f, EXIT_USAGE, "register takes two images or volumes, as in histo register a.png b.png");
    if (!s->output) return 0;
    if (strcmp(s->output, "-") == 0)
        return fault_set(f, EXIT_USAGE, "the shift is printed on standard output: name a file for the image");
    return outfile_spare_inputs(s, f);
}

/* The operand OUT is the image; the table is printed. */
int command_register(const settings *s)
{
    fault f = {0};
    rows to = {0};
    mover moved = {0};
    settings printed = *s;
    printed.output = NULL;
    int failed = check(s, &f);
    if (!failed) failed = rows_open(&to, &printed, &f);
    if (!failed && s->output) failed = mover_open(&moved, s->files[1], s->output, s, &f);
    if (!failed) failed = register_files(s, s->output ? &moved : NULL, &to, &f);
    if (!failed) failed = rows_commit(&to, &f);
    mover_close(&moved);
    rows_close(&to);
    return failed ? fault_report(&f) : EXIT_OK;
}
