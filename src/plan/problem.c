/* Checks a fill against a histogram and derives the counting problem. */
#include "plan/problem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "axis/filter.h"
#include "base/checked.h"
#include "base/threads/threads.h"
#include "plan/pairs.h"
#include "plan/strategy.h"
#include "view/dtype.h"
#include "view/stack_iter.h"
#include "view/view.h"

histo_status histo_slots_count(int naxes, const histo_axis *axes, const histo_hist_options *kind, int64_t *bins,
                               int64_t *slots)
{
    const bool is_sparse = kind->storage == HISTO_SPARSE;
    const int64_t max_bins = is_sparse ? INT64_MAX : HISTO_MAX_BINS;
    const int64_t max_slots = is_sparse ? INT64_MAX : HISTO_MAX_SLOTS;
    const int64_t batch = kind->batch;
    *bins = *slots = 1;
    bool fits = true;
    for (int a = 0; a < naxes && fits; a++)
        fits = histo_mul_i64(*bins, axes[a].bins, bins) && *bins <= max_bins &&
               histo_mul_i64(*slots, axes[a].bins + 3, slots) && *slots <= max_slots;
    if (!fits && is_sparse)
        return histo_fail(HISTO_INVALID,
                          "the axes have more than 2^63 - 1 bins and flow slots when multiplied, too many to number");
    if (!fits)
        return histo_fail(
            HISTO_INVALID,
            "the axes have more than %lld bins, or %lld bins and flow slots, when multiplied: only sparse "
            "storage has so many",
            (long long)HISTO_MAX_BINS, (long long)HISTO_MAX_SLOTS);
    const int64_t largest_batch = INT64_MAX / (is_sparse ? 1 : 64) / *slots;
    if (batch < 1 || batch > largest_batch)
        return histo_fail(HISTO_INVALID, "a batch of %lld histograms is not possible: give 1 to %lld", (long long)batch,
                          (long long)largest_batch);
    return HISTO_OK;
}

static histo_status add_operand(histo_problem *problem, const histo_view *view, const char *what,
                                const histo_view *first, const histo_view **views_out)
{
    histo_status status =
        problem->operands == problem->mask ? histo_view_check_mask(view, what) : histo_view_check(view, what);
    if (status == HISTO_OK && view != first) status = histo_view_same_shape(view, first, what);
    if (status != HISTO_OK) return status;
    const histo_dtype stored = histo_dtype_stored(view->dtype);
    problem->stored[problem->operands] = stored;
    problem->dtypes[problem->operands] = histo_dtype_fetched(stored);
    problem->plain = problem->plain && histo_dtype_is_plain(stored);
    views_out[problem->operands++] = view;
    return HISTO_OK;
}

static histo_status add_optional(histo_problem *problem, int *operand, const histo_view *view, const char *what,
                                 const histo_view *first, const histo_view **views_out)
{
    *operand = HISTO_ABSENT;
    if (!view) return HISTO_OK;
    *operand = problem->operands;
    return add_operand(problem, view, what, first, views_out);
}

/* Find the device whose memory holds the samples, weights, mask and filter. */
static histo_status find_home(histo_problem *problem, const histo_view *const *views)
{
    problem->home = HISTO_DEVICE_CPU;
    problem->resident = problem->samples > 0;
    for (int o = 0; o < problem->operands && problem->samples; o++) {
        bool only;
        histo_device device = histo_device_of(views[o]->data, &only);
        problem->resident &= device != HISTO_DEVICE_CPU && (o == 0 || device == problem->home);
        if (device == HISTO_DEVICE_CPU || (problem->bound && !only)) continue;
        if (problem->bound && device != problem->home)
            return histo_fail(HISTO_UNSUPPORTED, "the samples of one fill are in the memory of two GPUs, %d and %d",
                              problem->home - HISTO_DEVICE_CUDA(0), device - HISTO_DEVICE_CUDA(0));
        problem->home = device;
        problem->bound |= only;
    }
    return HISTO_OK;
}

/* The host cannot read offsets on a GPU. */
static histo_status check_offsets(const int64_t *offsets, int64_t batch, int64_t samples)
{
    if (offsets[0] != 0 || offsets[batch] != samples)
        return histo_fail(HISTO_INVALID, "the offsets are from %lld to %lld, not from 0 to the %lld samples",
                          (long long)offsets[0], (long long)offsets[batch], (long long)samples);
    for (int64_t b = 0; b < batch; b++)
        if (offsets[b] > offsets[b + 1])
            return histo_fail(HISTO_INVALID, "offset %lld is %lld, more than the next, %lld", (long long)b,
                              (long long)offsets[b], (long long)offsets[b + 1]);
    return HISTO_OK;
}

histo_status histo_offsets_check(const int64_t *offsets, int64_t batch, const histo_view *samples, histo_device home)
{
    if (samples->ndim != 1 || samples->batch_ndim != 0)
        return histo_fail(
            HISTO_INVALID,
            "offsets are of samples in one dimension, which is not a batch dimension; these have %d and %d",
            samples->ndim, samples->batch_ndim);
    bool only;
    histo_device device = histo_device_of(offsets, &only);
    if (!only) return check_offsets(offsets, batch, samples->shape[0]);
    if (device == home) return HISTO_OK;
    return histo_fail(HISTO_UNSUPPORTED, "the offsets are in the memory of GPU %d, and the samples are not",
                      device - HISTO_DEVICE_CUDA(0));
}

/* Bind the function of an axis whose view has records. */
static histo_status add_function(histo_problem *problem, int axis, const histo_view *view,
                                 const histo_function *function)
{
    if (!function->numbers_of) return HISTO_OK;
    problem->stored[axis] = (histo_dtype)(problem->stored[axis] | HISTO_RECORDS);
    problem->plain = false;
    problem->sourced = (problem->sourced || !problem->records) && function->source && function->record &&
                       function->functor && function->size;
    problem->records = true;
    return histo_view_check_records(view, function, "samples");
}

/* Bind the samples of each axis, and the weights, mask and filter. */
static histo_status bind_samples(histo_problem *problem, const histo_view *views, const histo_fill_options *options,
                                 const histo_view **views_out)
{
    histo_status status = HISTO_OK;
    for (int a = 0; a < problem->naxes && status == HISTO_OK; a++) {
        status = add_operand(problem, &views[a], "samples", &views[0], views_out);
        problem->sampled[a] = problem->dtypes[a];
        if (status == HISTO_OK && options->functions)
            status = add_function(problem, a, &views[a], &options->functions[a]);
    }
    if (status == HISTO_OK)
        status = add_optional(problem, &problem->weights, options->weights, "weights", &views[0], views_out);
    if (status == HISTO_OK) status = add_optional(problem, &problem->mask, options->mask, "mask", &views[0], views_out);
    if (status == HISTO_OK)
        status = add_optional(problem, &problem->where, options->where, "where", &views[0], views_out);
    return status;
}

/* Whether no dimension of a batch entry has contiguous neighbours. */
static bool is_strided(const histo_view *view)
{
    bool single = true;
    for (int d = view->batch_ndim; d < view->ndim; d++) {
        single = single && view->shape[d] == 1;
        if (view->shape[d] > 1 && llabs(view->strides[d]) == histo_dtype_step(view->dtype)) return false;
    }
    return !single;
}

static uint64_t distance(const histo_view *view, int d)
{
    return view->strides[d] < 0 ? 0 - (uint64_t)view->strides[d] : (uint64_t)view->strides[d];
}

/* The dimension among [begin, end) whose stride is smallest; `end` if there is none. */
static int nearest(const histo_view *view, int begin, int end)
{
    int best = end;
    for (int d = begin; d < end; d++)
        if (view->shape[d] > 1 && (best == end || distance(view, d) < distance(view, best))) best = d;
    return best;
}

/* Whether all batch entries have the same elements. */
static bool repeats(const histo_view *view)
{
    for (int d = 0; d < view->batch_ndim; d++)
        if (view->shape[d] > 1 && view->strides[d]) return false;
    return true;
}

/* See histo_problem.apart. */
static int apart(const histo_view *view)
{
    enum { LONG_RUN = 32 }; /* contiguous samples of different entries, which may have gaps around them */
    if (!view->batch_ndim) return 0;
    const int entry = nearest(view, 0, view->batch_ndim), sample = nearest(view, view->batch_ndim, view->ndim);
    if (entry == view->batch_ndim || sample == view->ndim) return 0;
    const uint64_t step = distance(view, entry), bytes = distance(view, sample);
    const bool fills = view->shape[entry] >= LONG_RUN || step * (uint64_t)view->shape[entry] == bytes;
    if (!fills || step >= bytes) return 0;
    return bytes < HISTO_FAR_APART ? (int)bytes : HISTO_FAR_APART;
}

histo_status histo_problem_bind(histo_problem *problem, int naxes, const histo_hist_options *kind,
                                const histo_view *views, const histo_pairs *pairs, const histo_fill_options *given,
                                const histo_view **views_out)
{
    static const histo_fill_options defaults;
    const histo_fill_options *options = given ? given : &defaults;
    if (!views) return histo_fail(HISTO_INVALID, "the samples are NULL");
    if (!histo_threads_possible(options->threads)) return histo_threads_check(options->threads);
    problem->naxes = naxes;
    problem->batch = kind->batch;
    problem->bins = problem->slots = problem->samples = 0;
    problem->weighting = kind->weighting;
    problem->storage = kind->storage;
    problem->pairs = pairs ? *pairs : (histo_pairs){0};
    problem->apart = problem->probes = problem->operands = 0;
    problem->plain = true;
    problem->records = problem->sourced = false;
    problem->probed = NULL;
    problem->effort = HISTO_ESTIMATE;
    problem->ragged = problem->repeats = problem->strided = problem->dense = problem->bound = problem->resident = false;
    problem->home = HISTO_DEVICE_CPU;
    problem->device = HISTO_DEVICE_AUTO;
    problem->weights = problem->mask = problem->where = HISTO_ABSENT;
    const bool computed = pairs && pairs->pairing;
    histo_status status = computed ? add_operand(problem, &views[0], "images", &views[0], views_out)
                                   : bind_samples(problem, views, options, views_out);
    if (status == HISTO_OK && computed) status = histo_pairs_bind(problem, &views[0], options);
    if (status != HISTO_OK) return status;
    if (options->weights && kind->weighting == HISTO_UNWEIGHTED)
        return histo_fail(HISTO_INVALID, "weights were given, but the histogram was created without weighting");
    if (given) status = histo_filter_check(given);
    if (status != HISTO_OK) return status;
    if (!options->offsets && histo_view_batch(&views[0]) != kind->batch)
        return histo_fail(HISTO_INVALID, "the samples have %lld batch entries, the histogram has %lld",
                          (long long)histo_view_batch(&views[0]), (long long)kind->batch);
    problem->samples = histo_view_size(&views[0]);
    if (computed) problem->samples /= histo_values_per_sample(problem);
    problem->repeats = problem->batch > 1 && !options->offsets;
    for (int o = 0; o < problem->operands; o++) {
        problem->strided = problem->strided || is_strided(views_out[o]);
        problem->repeats = problem->repeats && (o == problem->weights || repeats(views_out[o]));
    }
    problem->apart = apart(&views[0]);
    status = find_home(problem, views_out);
    problem->ragged = options->offsets;
    if (status != HISTO_OK || !options->offsets) return status;
    return histo_offsets_check(options->offsets, problem->batch, &views[0], problem->home);
}

void histo_problem_job(const histo_problem *problem, const histo_view *const *operands, const histo_fill_options *fill,
                       histo_job *job)
{
    /* Set field by field, as copying or clearing the large iterator would cost too much. */
    job->problem = problem;
    job->prepared = NULL;
    job->threads = fill && fill->threads ? histo_threads_for(fill->threads) : 1;
    job->params = NULL;
    job->resident = job->replace = false;
    job->begin = job->end = 0;
    job->where_lo = fill ? fill->where_lo : 0;
    job->where_hi = fill ? fill->where_hi : 0;
    job->stream = fill ? fill->stream : NULL;
    job->accumulators = NULL;
    job->device_accumulators = NULL;
    job->workspace = NULL;
    job->reading = NULL;
    if (histo_is_computed(problem))
        histo_pairs_iter_make(&job->iter, operands[0], &problem->pairs);
    else if (problem->ragged)
        histo_strided_iter_make_ragged(&job->iter, problem->operands, operands, problem->batch, fill->offsets);
    else
        histo_strided_iter_make(&job->iter, problem->operands, operands);
    job->functions = fill ? fill->functions : NULL;
    job->bits = NULL;
    if (histo_problem_has_bits(problem)) {
        job->bits = operands[problem->mask]->data;
        job->iter.base[problem->mask] += fill->mask_offset;
    }
}

/* Find the densest run of `length` slots among the probed slots: [first, end). */
static void densest_run(const histo_problem *problem, int64_t length, int *first, int *end)
{
    *first = *end = 0;
    for (int from = 0, to = 0; from < problem->probes; from++) {
        while (to < problem->probes && problem->probed[to] - problem->probed[from] < length)
            to++;
        if (to - from > *end - *first) *first = from, *end = to;
    }
}

double histo_problem_fraction(const histo_problem *problem, int64_t length)
{
    int first, end;
    if (length >= problem->slots) return 1;
    if (!problem->probes) return problem->dense ? length > 0 : (double)length / (double)problem->slots;
    densest_run(problem, length, &first, &end);
    return (double)(end - first) / problem->probes;
}

/* How many of `groups` groups n evenly spread samples touch. */
static double touched_of(double groups, double n)
{
    return groups * (1 - exp(-n / groups));
}

double histo_problem_touched(const histo_problem *problem, int64_t length, int group, double n)
{
    enum { NEAR = 16 /* number of probed samples between which the others are assumed to be evenly spread */ };
    const double slots = (double)(length < problem->slots ? length : problem->slots);
    if (!problem->probes && problem->dense) return 0;
    if (!problem->probes) return touched_of(slots / group, n * slots / (double)problem->slots);
    double touched = 0;
    int first, end;
    densest_run(problem, length, &first, &end);
    for (int i = first; i + 1 < end; i += NEAR) {
        const int last = i + NEAR < end ? i + NEAR : end - 1;
        const double wide = (double)(problem->probed[last] - problem->probed[i] + 1) / group;
        touched += touched_of(fmax(wide, 1), n * (last - i) / problem->probes);
    }
    return touched;
}

histo_outside histo_problem_outside(const histo_problem *problem, int64_t length)
{
    int first, end, commonest = 1, equal = 0;
    if (length >= problem->slots) return (histo_outside){0, 0};
    if (!problem->probes) return (histo_outside){1 - histo_problem_fraction(problem, length), 0};
    densest_run(problem, length, &first, &end);
    for (int i = 0; i < problem->probes; i++) {
        if (i >= first && i < end) continue;
        bool again = i > 0 && i != end && problem->probed[i] == problem->probed[i - 1];
        equal = again ? equal + 1 : 1;
        if (equal > commonest) commonest = equal;
    }
    /* One sample in the run does not tell how common its slot is. */
    return (histo_outside){1 - (double)(end - first) / problem->probes,
                           commonest > 1 ? (double)commonest / problem->probes : 0};
}

bool histo_problem_has_counters(const histo_problem *problem)
{
    enum { MAX = 1 << 26 /* entries: half a GiB */ };
    return problem->storage == HISTO_DENSE || problem->slots <= MAX / problem->batch;
}

bool histo_problem_is_ordinary(const histo_problem *problem)
{
    bool are = true;
    for (int a = 0; a < problem->naxes; a++)
        are = are && histo_axis_is_ordinary(&problem->axes[a]);
    return are;
}

/* Samples per bin that repay cells, which take up to a microsecond per bin to make: within a few fills, or over
 * many. */
enum { ENOUGH_FOR_A_TABLE = 1 << 18, SAMPLES_A_BIN = 64, FEWEST_A_BIN = 4 };

histo_status histo_problem_make_cells(histo_problem *problem)
{
    const int64_t each = problem->effort == HISTO_ESTIMATE ? SAMPLES_A_BIN : FEWEST_A_BIN;
    histo_status status = HISTO_OK;
    for (int a = 0; a < problem->naxes && status == HISTO_OK; a++) {
        histo_lookup *lookup = &problem->lookups[a];
        bool pays = problem->device != HISTO_DEVICE_CPU && problem->samples >= ENOUGH_FOR_A_TABLE &&
                    problem->samples >= each * lookup->bins;
        bool can = lookup->kind == HISTO_SEARCH && lookup->near == 0 && histo_dtype_size(problem->sampled[a]) > 2;
        if (!pays || !can || lookup->cells.entry) continue;
        status = histo_cells_make(&lookup->cells, &problem->axes[a], problem->sampled[a], problem->samples);
        if (problem->sampled[a] == HISTO_F32) histo_lookup_fit(lookup);
    }
    return status;
}

histo_status histo_problem_prepare(histo_problem *problem, const histo_axis *axes)
{
    const histo_hist_options kind = {
        .batch = problem->batch, .weighting = problem->weighting, .storage = problem->storage};
    histo_status status = histo_slots_count(problem->naxes, axes, &kind, &problem->bins, &problem->slots);
    memset(problem->axes, 0, sizeof problem->axes);
    memset(problem->lookups, 0, sizeof problem->lookups);
    for (int a = 0; a < problem->naxes && status == HISTO_OK; a++) {
        problem->axes[a] = histo_axis_share(&axes[a]);
        problem->off[a] = axes[a].edges ? histo_axis_off(&axes[a]) : 0;
        status = histo_lookup_make(&problem->lookups[a], &problem->axes[a], problem->sampled[a],
                                   problem->samples >= ENOUGH_FOR_A_TABLE);
    }
    if (status != HISTO_OK) {
        histo_problem_free(problem);
        return status;
    }
    histo_problem_stride(problem, problem->storage == HISTO_DENSE);
    return HISTO_OK;
}

void histo_problem_stride(histo_problem *problem, bool counters)
{
    uint32_t stride = 1;
    for (int a = problem->naxes - 1; a >= 0; a--) {
        problem->slot_strides[a] = stride;
        if (counters) stride *= (uint32_t)(problem->axes[a].bins + 3);
    }
}

void histo_problem_free(histo_problem *problem)
{
    for (int a = 0; a < problem->naxes; a++) {
        histo_lookup_free(&problem->lookups[a]);
        histo_axis_disown(&problem->axes[a]);
    }
    histo_free(problem->probed);
}
