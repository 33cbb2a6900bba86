/* Draws problems: see device_classes.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/jit/class.h"
#include "cuda/jit/records.h"
#include "cuda/jit/specialised.h"
#include "cuda/launch/prepared.h"
#include "cuda/launch/several_axes.h"
#include "cuda/memory/accumulators.h"
#include "plan/problem.h"
#include "support/data.h"
#include "support/device_classes.h"
#include "view/view.h"
#include "view/walk.h"

namespace
{

enum { MAX_VIEWS = 6, MAX_DIMS = 4 };

/* Samples of these shapes and layouts; nobody reads them. */
struct drawn {
    rng random;
    int dims, batch_dims;
    int64_t shape[MAX_DIMS];
    bool interleaved; /* the last dimension of the batch is of channels */
    histo_view views[MAX_VIEWS];
    int used;

    int64_t below(int64_t n) { return rng_below(&random, n); }
    bool one_in(int n) { return below(n) == 0; }

    void draw_shape()
    {
        static const int64_t lengths[] = {1, 2, 3, 7, 8, 16, 24, 60, 64, 100, 257, 1024, 1920};
        enum { LENGTHS = sizeof lengths / sizeof *lengths, MOST = 1 << 16 };
        int64_t n = 1;
        dims = 1 + (int)below(MAX_DIMS);
        for (int d = 0; d < dims; d++) {
            shape[d] = lengths[below(LENGTHS)];
            while (n * shape[d] > MOST)
                shape[d] = (shape[d] + 1) / 2;
            n *= shape[d];
        }
        batch_dims = dims > 1 ? (int)below(dims) : 0;
        interleaved = batch_dims > 0 && one_in(2);
        if (interleaved) shape[batch_dims - 1] = 2 + below(one_in(3) ? 30 : 4);
    }

    /* Dense in memory, in this order of dimensions, but for a pitch of rows, a step of samples, mirrored dimensions,
     * and an address that may be anything. */
    const histo_view *add(histo_dtype dtype, bool is_mask)
    {
        histo_view *view = &views[used++];
        const int64_t size = (int64_t)histo_dtype_size(dtype);
        int64_t stride = one_in(6) ? size * (2 + below(3)) : size, address = (INT64_C(1) << 40) + 256 * used;
        *view = {};
        view->dtype = one_in(6) ? (histo_dtype)(dtype | HISTO_SWAPPED) : dtype;
        view->ndim = dims;
        view->batch_ndim = batch_dims;
        int order[MAX_DIMS], n = 0; /* from the dimension that changes fastest */
        if (interleaved && !is_mask) order[n++] = batch_dims - 1;
        for (int d = dims - 1; d >= 0; d--)
            if (!(interleaved && d == batch_dims - 1)) order[n++] = d;
        for (int i = 0; i < n; i++) {
            const int d = order[i];
            view->strides[d] = stride;
            stride *= shape[d];
            if (i == 0 && one_in(4)) stride += size * below(32);
            if (i == 0 && one_in(4)) stride = (stride + 63) / 64 * 64;
            if (one_in(16)) view->strides[d] = -view->strides[d];
            if (is_mask && one_in(8)) view->strides[d] = 0;
        }
        memcpy(view->shape, shape, sizeof shape);
        if (one_in(3)) address += size * below(16);
        if (one_in(12)) address += 1;
        view->data = (const void *)(uintptr_t)address;
        return view;
    }
};

/* Records may be anywhere; their numbers are their first bytes. */
const char *const record_source =
    "struct record { unsigned char bytes[8]; };\n"
    "template <class number> struct first_of {\n"
    "number operator()(const record &r) const { number x; memcpy(&x, r.bytes, sizeof x); return x; }\n"
    "};\n";
const char *const functors[HISTO_DTYPE_COUNT] = {
    "first_of<uint8_t>()",  "first_of<int8_t>()",   "first_of<uint16_t>()", "first_of<int16_t>()",
    "first_of<uint32_t>()", "first_of<int32_t>()",  "first_of<uint64_t>()", "first_of<std::int64_t>()",
    "first_of<uint16_t>()", "first_of<uint16_t>()", "first_of<float>()",    "first_of<double>()"};

void numbers_of(const void *, const void *, int64_t, int64_t, void *) {}

/* Are all `vector` neighbours of an operand in one run, and is their chunk at a multiple of its granule? */
bool are_aligned(const histo_cuda_work *w, int o, int vector, const histo_chunk *chunk)
{
    const histo_strided_iter *iter = &w->iter;
    const int run = iter->ndim - 1;
    const int64_t each = iter->per_batch;
    for (int64_t item = 0; item < w->tiles; item++) {
        const int64_t entry = w->first_entry + item / w->tiles_per_entry;
        int64_t first = entry * each, last = first + each;
        first = first < w->begin ? w->begin : first;
        last = last > w->end ? w->end : last;
        first += item % w->tiles_per_entry * w->samples_each;
        last = last < first + w->samples_each ? last : first + w->samples_each;
        for (; first + vector <= last; first += vector) {
            int64_t left = first, address = (int64_t)(uintptr_t)iter->base[o] - chunk->offset;
            if (chunk->reversed) address -= (vector - 1) * chunk->pixel;
            for (int d = run; d >= 0; d--) {
                address += left % iter->shape[d] * iter->strides[o][d];
                if (d == run && left % iter->shape[d] + vector > iter->shape[d]) return false;
                left /= iter->shape[d];
            }
            if (address % chunk->granule) return false;
        }
    }
    return true;
}

void describe(const drawn *d, const histo_job *job, char *words, size_t capacity)
{
    histo_text text = {words, capacity, 0};
    for (int v = 0; v < d->used; v++) {
        histo_text_add(&text, "%s at %lld:", histo_dtype_name(d->views[v].dtype),
                       (long long)(uintptr_t)d->views[v].data % 256);
        for (int i = 0; i < d->dims; i++)
            histo_text_add(&text, " %lld by %lld", (long long)d->shape[i], (long long)d->views[v].strides[i]);
        histo_text_add(&text, "; ");
    }
    histo_text_add(&text, "batch_ndim %d, samples %lld to %lld", d->batch_dims, (long long)job->begin,
                   (long long)job->end);
}

} // namespace

extern "C" bool device_class_draw(uint64_t number, device_class *it)
{
    drawn d = {};
    d.random.state = (number + 1) * UINT64_C(0x9e3779b97f4a7c15);
    d.draw_shape();
    *it = {};
    it->weighted = d.one_in(3);

    histo_axis axes[HISTO_MAX_AXES], owned[HISTO_MAX_AXES] = {};
    int naxes = d.interleaved || d.one_in(2) ? 1 : 2 + (int)d.below(2), kinds = 0;
    for (int a = 0; a < naxes; a++) {
        const histo_dtype dtype = (histo_dtype)d.below(HISTO_DTYPE_COUNT);
        for (kinds = 0; test_axis(kinds, dtype, &axes[a]);)
            kinds++;
        test_axis((int)d.below(kinds), dtype, &axes[a]);
        d.add(dtype, false);
    }
    histo_fill_options fill = {};
    if (it->weighted && !d.one_in(4)) fill.weights = d.add((histo_dtype)d.below(HISTO_DTYPE_COUNT), false);
    if (d.one_in(3)) fill.mask = d.add((histo_dtype)d.below(HISTO_DTYPE_COUNT), true);
    if (d.one_in(3)) fill.where = d.add((histo_dtype)d.below(HISTO_DTYPE_COUNT), d.one_in(2));

    histo_function functions[HISTO_MAX_AXES] = {};
    if (d.one_in(4)) fill.functions = functions;
    for (int a = 0; a < naxes; a++) {
        const histo_dtype dtype = d.views[a].dtype;
        if (dtype < HISTO_DTYPE_COUNT && !d.one_in(4))
            functions[a] = {numbers_of, NULL, 1, 8, record_source, "record", functors[dtype]};
    }

    histo_hist_options kind = {};
    kind.weighting = it->weighted ? HISTO_WEIGHT_FAST : HISTO_UNWEIGHTED;
    kind.storage = HISTO_DENSE;
    kind.batch = histo_view_batch(&d.views[0]);
    histo_problem problem = {};
    const histo_view *operands[HISTO_MAX_OPERANDS];
    histo_status status = histo_problem_bind(&problem, naxes, &kind, d.views, nullptr, &fill, operands);
    for (int a = 0; a < naxes && status == HISTO_OK; a++)
        status = histo_axis_own(&axes[a], &owned[a]);
    if (status == HISTO_OK) status = histo_problem_prepare(&problem, owned);
    for (int a = 0; a < naxes; a++)
        histo_axis_disown(&owned[a]);
    problem.device = HISTO_DEVICE_CUDA(0);
    problem.samples = INT64_C(1) << 28; /* cells are worth their time */
    if (status == HISTO_OK) status = histo_problem_make_cells(&problem);

    static const int64_t params[HISTO_MAX_PARAMS] = {};
    histo_cuda_prepared prepared = {};
    histo_cuda_accumulators accumulators = {};
    accumulators.counters = problem.slots + 1;
    histo_job job = {};
    job.problem = &problem;
    job.prepared = &prepared;
    job.params = params;
    job.functions = fill.functions;
    job.device_accumulators = &accumulators.base;
    bool made = false;
    if (status == HISTO_OK) {
        enum { THREADS = 1024, MOST = 1 << 20 };
        memcpy(prepared.lookups, problem.lookups, sizeof prepared.lookups);
        histo_strided_iter_make(&job.iter, problem.operands, operands);
        job.end = histo_strided_iter_samples(&job.iter);
        if (d.one_in(2)) job.begin = d.below(job.end);
        if (d.one_in(2)) job.end = job.begin + 1 + d.below(job.end - job.begin);
        const int channels = it->weighted ? 1 : histo_cuda_channels_of(&job);
        histo_cuda_work work = histo_cuda_work_of_channels(&job, channels, 1 + d.below(99), 1 + d.below(512), MOST);
        histo_joint joint;
        histo_cuda_joint_of(&work, &joint);
        const bool first_floats =
            !it->weighted && d.one_in(2) && histo_cuda_first_floats_of(&problem, true, 64, &joint);
        histo_cuda_class constants;
        made =
            histo_cuda_class_of(&job, &work, first_floats ? &joint : NULL, it->weighted ? 0 : (int)THREADS, &constants);
        const int log_copies = (int)d.below(6);
        constants.own[constants.own_constants++] = {"log_copies", log_copies};
        constants.own[constants.own_constants++] = {"spreads", d.one_in(2)};
        it->is_aligned = true;
        for (int o = 0; o < constants.operands && made; o++) {
            const histo_chunk *chunk = &constants.chunks[o];
            if (chunk->granule == 0 || chunk->leader != o) continue;
            it->in_vectors = true;
            it->is_aligned = it->is_aligned && (chunk->shifted || are_aligned(&work, o, constants.vector, chunk));
        }
        histo_text text = {it->text, sizeof it->text, 0};
        char *records = histo_cuda_records_text(&job);
        if (problem.records) histo_text_add(&text, "%s", records);
        free(records);
        histo_cuda_class_write(&constants, &text);
        describe(&d, &job, it->problem, sizeof it->problem);
    }
    histo_cuda_specialised_free(&prepared);
    histo_problem_free(&problem);
    return made;
}
