/* Finds the class of a job's samples, and has kernels compiled for it: see known.h. */
#include "cuda/jit/specialised.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/jit/compile.h"

enum { HISTO_KNOWN_CHUNK_BYTES = 64 /* of a thread and step */ };

/* ---- Channels ---- */

static int64_t absolute(int64_t x)
{
    return x < 0 ? -x : x;
}

int histo_cuda_channels_of(const histo_job *job)
{
    const histo_problem *p = job->problem;
    const histo_strided_iter *iter = &job->iter;
    const int channel = iter->batch_ndim - 1, run = iter->ndim - 1;
    if (iter->offsets || iter->images || p->naxes > 1 || channel < 0) return 1;
    int n = HISTO_KNOWN_MAX_CHANNELS; /* lowered to a divisor, so that all groups have the same size */
    while (iter->shape[channel] % n)
        n--;
    const int64_t group = n * iter->per_batch;
    bool together = job->begin % group == 0 && job->end % group == 0 &&
                    absolute(iter->strides[0][channel]) < absolute(iter->strides[0][run]);
    for (int o = 1; o < iter->operands; o++) /* one mask for all */
        together = together && iter->strides[o][channel] == 0;
    return together ? n : 1;
}

histo_cuda_work histo_cuda_work_of_channels(const histo_job *job, int channels, int64_t wanted, int64_t least,
                                            int64_t most)
{
    if (channels == 1) return histo_cuda_work_of(job, wanted, least, most);
    histo_job group = *job;
    histo_strided_iter *iter = &group.iter;
    const int channel = iter->batch_ndim - 1, after = iter->ndim - 1 - channel;
    const int64_t stride = iter->strides[0][channel];
    const bool are_all = iter->shape[channel] == channels;
    iter->shape[channel] /= channels;
    for (int o = 0; o < iter->operands; o++)
        iter->strides[o][channel] *= channels;
    if (are_all) {
        memmove(&iter->shape[channel], &iter->shape[channel + 1], (size_t)after * sizeof *iter->shape);
        for (int o = 0; o < iter->operands; o++)
            memmove(&iter->strides[o][channel], &iter->strides[o][channel + 1], (size_t)after * sizeof **iter->strides);
        iter->ndim--;
        iter->batch_ndim--;
    }
    iter->batch /= channels;
    group.begin /= channels;
    group.end /= channels;
    histo_cuda_work work = histo_cuda_work_of(&group, wanted, least, most / channels);
    const bool aligned = stride % (int64_t)histo_dtype_size(work.dtypes[0]) == 0;
    work.in_place = work.in_place && aligned;
    work.aligned = work.aligned && aligned;
    work.channels = channels;
    work.channel_stride = stride;
    work.channel_counters = (uint32_t)work.counters;
    work.counters *= channels;
    return work;
}

/* ---- The class ---- */

/* Integers of at most 16 bits in fixed point; false unless that gives the slots of the axis' table for every value.
 * is_closed: of a closed axis that ends at an integer. */
static bool fits_fixed_point(const histo_lookup *l, histo_dtype dtype, bool is_closed, histo_fixed_point *f)
{
    const bool is_signed = dtype == HISTO_I8 || dtype == HISTO_I16;
    const int bits = 8 * (int)histo_dtype_size(dtype);
    if (!l->table || l->kind != HISTO_UNIFORM || bits > 16 || dtype == HISTO_F16 || dtype == HISTO_BF16) return false;
    const int32_t least = is_signed ? -(1 << (bits - 1)) : 0, most = least + (1 << bits) - 1;
    const double first = fmax(ceil(l->lo) - 1, least), last = is_closed ? l->hi - 1 : fmin(ceil(l->over), most);
    if (is_closed && !(l->closed && l->hi == floor(l->hi) && l->hi <= most)) return false;
    if (l->step <= 1 || l->step > 0x1p16 || first >= last) return false;
    int exponent; /* the factor has 32 significant bits */
    frexp(l->per_step, &exponent);
    const double unit = ldexp(l->per_step, 32 - exponent);
    if ((last - l->lo) * l->per_step >= ldexp(1, 31 + exponent)) return false; /* the sum has 64 bits */
    f->shift = (uint32_t)(32 - exponent);
    f->first = (int32_t)first;
    f->last = (int32_t)last;
    f->factor = (uint32_t)unit;
    f->offset =
        (uint64_t)(ldexp(1, 32 - exponent) + (first - l->lo) * unit) + (1 << 16); /* the factor is rounded down */
    for (int32_t x = least; x <= most; x++) {
        const uint32_t slot = is_closed ? histo_slot_by_closed_point(f, x) : histo_slot_by_fixed_point(f, x);
        if (slot != l->table[(uint32_t)x & ((1u << bits) - 1)]) return false;
    }
    return true;
}

/* Choose the lookup as histo_any_lookup does. The axis must be all zeros before. */
static void set_axis(const histo_lookup *l, histo_dtype dtype, histo_known_axis *axis)
{
    const size_t size = histo_dtype_size(dtype);
    if (size <= 4 && l->pow2.is) {
        axis->by = HISTO_BY_POW2;
        axis->pow2 = l->pow2;
    } else if (fits_fixed_point(l, dtype, false, &axis->fixed)) {
        axis->by = HISTO_BY_FIXED_POINT;
    } else if (fits_fixed_point(l, dtype, true, &axis->fixed)) {
        axis->by = HISTO_BY_CLOSED_POINT;
    } else {
        memset(&axis->fixed, 0, sizeof axis->fixed);
        axis->by = size == 1                  ? HISTO_BY_TABLE
                   : l->kind == HISTO_UNIFORM ? dtype == HISTO_F32 && l->near_f32 ? HISTO_BY_GUESS : HISTO_BY_NEAREST
                   : size == 2                ? l->table ? HISTO_BY_TABLE : HISTO_BY_SEARCH
                   : l->kind == HISTO_SEARCH_WHOLE ? l->near > 0 ? HISTO_BY_NEAR_WHOLE : HISTO_BY_WHOLE
                   : l->near > 0                   ? HISTO_BY_NEAR
                   : !l->cells.entry               ? HISTO_BY_SEARCH
                   : l->cells.by_bits              ? HISTO_BY_BIT_CELLS
                                                   : HISTO_BY_LINEAR_CELLS;
    }
}

/* The axes of a plan, without tables of first floats. They are made once, because fixed point is tried with all values.
 * NULL if out of memory. */
static const histo_known_axis *axes_of(const histo_job *job)
{
    histo_cuda_prepared *prepared = (histo_cuda_prepared *)job->prepared;
    const histo_problem *p = job->problem;
    histo_known_axis *before = __atomic_load_n(&prepared->known_axes, __ATOMIC_ACQUIRE);
    if (before) return before;
    histo_known_axis *axes = (histo_known_axis *)calloc(HISTO_MAX_AXES, sizeof *axes);
    if (!axes) return NULL;
    for (int a = 0; a < p->naxes; a++) /* p->lookups has its tables in host memory */
        set_axis(&p->lookups[a], p->sampled[a], &axes[a]);
    if (__atomic_compare_exchange_n(&prepared->known_axes, &before, axes, false, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE))
        return axes;
    free(axes);
    return before;
}

/* The kind of fixed point that an axis can be looked up in; HISTO_BY_TABLE: none. Plans ask often, and of one axis. */
static histo_known_lookup point_of(const histo_lookup *l, histo_dtype dtype)
{
    static thread_local struct {
        double lo, hi;
        int32_t bins;
        bool closed;
        histo_known_lookup by;
        histo_dtype dtype;
    } last;
    const bool is_same =
        last.lo == l->lo && last.hi == l->hi && last.bins == l->bins && last.closed == l->closed && last.dtype == dtype;
    histo_fixed_point fixed;
    if (!is_same) {
        const histo_known_lookup by = fits_fixed_point(l, dtype, false, &fixed)  ? HISTO_BY_FIXED_POINT
                                      : fits_fixed_point(l, dtype, true, &fixed) ? HISTO_BY_CLOSED_POINT
                                                                                 : HISTO_BY_TABLE;
        last = {l->lo, l->hi, l->bins, l->closed, by, dtype};
    }
    return last.by;
}

bool histo_cuda_has_fixed_point(const histo_lookup *l, histo_dtype dtype)
{
    return point_of(l, dtype) == HISTO_BY_FIXED_POINT;
}

const histo_fixed_point *histo_cuda_fixed_point_of(const histo_job *job)
{
    const histo_known_axis *axes = job->problem->naxes == 1 ? axes_of(job) : NULL;
    return axes && axes->by == HISTO_BY_FIXED_POINT ? &axes->fixed : NULL;
}

/* ---- Chunks ---- */

/* All address bits of the runs of an operand, or-ed: the least one is their common alignment. */
static uint64_t bits_of_runs(const histo_cuda_work *work, int operand, const char *first)
{
    const histo_strided_iter *iter = &work->iter;
    uint64_t bits = (uint64_t)(uintptr_t)first;
    for (int d = 0; d < iter->ndim - 1; d++)
        bits |= (uint64_t)iter->strides[operand][d];
    return bits;
}

/* Bytes of an operand's neighbouring samples, of all channels. */
static int64_t span_of(const histo_cuda_known *known, int operand)
{
    return (int64_t)histo_dtype_size(known->dtypes[operand]) * (operand == 0 ? known->channels : 1);
}

static bool has_strides_of(const histo_strided_iter *iter, int operand, int other)
{
    return memcmp(iter->strides[operand], iter->strides[other], (size_t)iter->ndim * sizeof iter->strides[0][0]) == 0;
}

/* Find the operands that share the pixel of `leader`, and where each is in it. They fill at least half of it. */
static bool set_pixel(const histo_cuda_work *work, int leader, histo_cuda_known *known)
{
    const histo_strided_iter *iter = &work->iter;
    const int64_t pixel = absolute(iter->strides[leader][iter->ndim - 1]);
    const char *lowest = iter->base[leader], *highest = lowest + span_of(known, leader);
    int64_t used = span_of(known, leader);
    bool shares[HISTO_MAX_OPERANDS] = {false};
    if (known->channels > 1 && leader == 0 && work->channel_stride != (int64_t)histo_dtype_size(known->dtypes[0]))
        return false;
    if (pixel == 0 || pixel < used || pixel > HISTO_KNOWN_CHUNK_BYTES) return false;
    for (int o = leader + 1; o < known->operands; o++) {
        const char *from = iter->base[o], *to = from + span_of(known, o);
        const char *low = from < lowest ? from : lowest, *high = to > highest ? to : highest;
        if (known->chunks[o].granule || !has_strides_of(iter, o, leader) || high - low > pixel) continue;
        shares[o] = true;
        lowest = low;
        highest = high;
        used += to - from;
    }
    if (used * 2 < pixel) return false;
    shares[leader] = true;
    for (int o = leader; o < known->operands; o++)
        if (shares[o])
            known->chunks[o] = {
                leader, 1, (int)pixel, iter->strides[leader][iter->ndim - 1] < 0, false, (int)(iter->base[o] - lowest)};
    return true;
}

/* Of `vector` neighbours: in which words they are loaded. */
static void set_granule(const histo_cuda_work *work, int leader, int vector, histo_cuda_known *known)
{
    histo_known_chunk *chunk = &known->chunks[leader];
    const int64_t bytes = (int64_t)vector * chunk->pixel;
    const char *first = work->iter.base[leader] - chunk->offset - (chunk->reversed ? bytes - chunk->pixel : 0);
    /* Segments begin anywhere, as may the first tile of one dimension. */
    const bool any = known->ragged || work->begin % work->iter.per_batch % vector;
    const uint64_t bits = bits_of_runs(work, leader, first) | (uint64_t)(any ? chunk->pixel : bytes) | 16;
    const int granule = (int)(bits & (0 - bits));
    chunk->shifted = granule < 4;
    chunk->granule = granule < 4 ? 4 : granule;
    for (int o = leader + 1; o < known->operands; o++)
        if (known->chunks[o].granule && known->chunks[o].leader == leader) {
            known->chunks[o].shifted = chunk->shifted;
            known->chunks[o].granule = chunk->granule;
        }
}

/* Do chunks hold `vector` neighbours, of at most so many bytes where an operand is alone? Without a chunk, lanes load
 * neighbours, so that each load touches few cache lines. */
static bool hold(const histo_cuda_work *work, const histo_cuda_known *known, int vector, int alone)
{
    for (int o = 0; o < known->operands; o++) {
        const histo_known_chunk *chunk = &known->chunks[o];
        const int64_t stride = absolute(work->iter.strides[o][work->iter.ndim - 1]), bytes = vector * chunk->pixel;
        const int64_t most = chunk->pixel == (int)histo_dtype_size(known->dtypes[o]) ? alone : HISTO_KNOWN_CHUNK_BYTES;
        if (chunk->granule ? bytes < 4 || bytes > most : stride != 0) return false;
    }
    return true;
}

/* Are groups of `vector` neighbours always in one run? */
static bool divides(const histo_cuda_work *work, int vector)
{
    const histo_strided_iter *iter = &work->iter;
    if (iter->ndim <= iter->batch_ndim + 1) return true;
    return iter->shape[iter->ndim - 1] % vector == 0 && work->begin % iter->per_batch % vector == 0;
}

/* Bytes of registers that a sample of all operands takes: those that are loaded alone, a whole register each. */
static int register_bytes(const histo_cuda_known *known)
{
    int bytes = 0;
    for (int o = 0; o < known->operands; o++) {
        const histo_known_chunk *chunk = &known->chunks[o];
        const int size = (int)histo_dtype_size(known->dtypes[o]);
        if (!chunk->granule)
            bytes += (size < 4 ? 4 : size) * (o == 0 ? known->channels : 1);
        else if (chunk->leader == o)
            bytes += chunk->pixel;
    }
    return bytes;
}

/* Set how many samples a thread takes in a step (at most known->samples), how many of them are neighbours, and how
 * these are loaded. */
static void set_step(const histo_cuda_work *work, histo_cuda_known *known)
{
    enum { MAX_SLOTS = 32, FEWEST = 4 /* samples */ };
    enum { MAX_BYTES = 24 * 4 /* of 64 registers: the next step's samples take as many */ };
    int bytes = 0;
    bool by_firsts = false, by_cells = false;
    for (int o = 0; o < known->operands; o++)
        if (known->chunks[o].granule == 0 && !set_pixel(work, o, known)) bytes += (int)span_of(known, o);
    for (int o = 0; o < known->operands; o++)
        if (known->chunks[o].granule && known->chunks[o].leader == o) bytes += known->chunks[o].pixel;
    for (int a = 0; a < known->naxes; a++)
        by_firsts = by_firsts || known->axes[a].by == HISTO_BY_FIRSTS;
    for (int a = 0; a < known->naxes; a++)
        by_cells = by_cells || (known->axes[a].by >= HISTO_BY_LINEAR_CELLS && known->axes[a].by <= HISTO_BY_SEARCH) ||
                   known->axes[a].by == HISTO_BY_WHOLE || known->axes[a].by == HISTO_BY_NEAR_WHOLE;
    int most = (by_firsts || by_cells) && known->samples > 8 ? 8 : known->samples;
    if (most * known->channels > MAX_SLOTS) most = MAX_SLOTS / known->channels;
    known->samples = by_firsts ? 2 : 1;
    while (known->samples * 2 <= most && known->samples * 2 * bytes <= HISTO_KNOWN_CHUNK_BYTES)
        known->samples *= 2;
    known->widest = 1;
    for (int alone = 16; alone <= 32 && known->widest == 1; alone *= 2) /* lanes load 16 bytes each at best */
        for (int vector = known->samples; vector > 1 && known->widest == 1; vector /= 2)
            if (hold(work, known, vector, alone)) known->widest = vector;
    known->vector = known->widest;
    while (!divides(work, known->vector) || (known->vector > 1 && !hold(work, known, known->vector, 32)))
        known->vector /= 2;
    for (int o = 0; o < known->operands; o++)
        if (known->chunks[o].granule && known->chunks[o].leader == o) {
            /* Alone, a neighbour is loaded as it is, unless words hold several of its parts. */
            const bool is_alone =
                known->vector == 1 && known->chunks[o].pixel <= (int)histo_dtype_size(known->dtypes[o]);
            if (!is_alone && known->vector * known->chunks[o].pixel >= 4) {
                set_granule(work, o, known->vector, known);
                if (known->vector > 1 || !known->chunks[o].shifted) continue;
            }
            for (int other = known->operands - 1; other >= o; other--)
                if (known->chunks[other].leader == o || other == o) known->chunks[other] = {};
        }
    const int each = register_bytes(known);
    while (known->samples > FEWEST && known->samples > known->vector && known->samples * each > MAX_BYTES)
        known->samples /= 2;
}

bool histo_cuda_pad_rows(const histo_job *job, const histo_cuda_known *known, int channels, int64_t wanted,
                         int64_t least, int64_t most, histo_cuda_work *work)
{
    const histo_strided_iter *iter = &job->iter;
    const int run = iter->ndim - 1;
    const int64_t length = iter->shape[run];
    const bool is_whole = job->begin % iter->per_batch == 0 && job->end % iter->per_batch == 0;
    if (run == iter->batch_ndim || !is_whole || known->vector == known->widest || length > INT32_MAX / 2) return false;
    /* Instructions of a sample that is counted, and of a group of neighbours. */
    const double counting = 8, placing = 32;
    int best = known->vector;
    double best_time = (double)length * (counting + placing / best);
    for (int vector = known->widest; vector > 1; vector /= 2) {
        const int64_t padded = (length + vector - 1) / vector * vector;
        const double time = (double)padded * (counting + placing / vector);
        if (time >= best_time) continue;
        best_time = time;
        best = vector;
    }
    if (best == known->vector) return false;
    histo_job padded = *job;
    const int64_t to = (length + best - 1) / best * best, entries = iter->per_batch / length;
    padded.iter.shape[run] = to;
    padded.iter.per_batch = entries * to;
    padded.begin = job->begin / iter->per_batch * padded.iter.per_batch;
    padded.end = job->end / iter->per_batch * padded.iter.per_batch;
    *work = histo_cuda_work_of_channels(&padded, channels, wanted, least, most);
    work->row = (uint32_t)length;
    return true;
}

bool histo_cuda_known_of(const histo_job *job, histo_cuda_work *work, const histo_joint *joint, int threads,
                         histo_cuda_known *known)
{
    enum { MAX_CONSTANT_STRIDE = 256 };
    const histo_strided_iter *iter = &work->iter;
    memset(known, 0, sizeof *known);
    if (iter->images || work->has_bits) return false;
    known->naxes = work->naxes;
    known->weights = work->weights;
    known->mask = work->mask;
    known->where = work->where;
    known->operands = iter->operands;
    known->batch_dims = iter->batch_ndim;
    known->dims = iter->ndim - iter->batch_ndim;
    known->channels = work->channels ? work->channels : 1;
    known->threads = threads;
    known->aligned = work->in_place;
    known->swapped = work->swapped;
    known->samples = job->problem->weighting == HISTO_UNWEIGHTED ? 16 : 4; /* at most */
    known->ragged = iter->offsets != NULL;
    known->short_indices = iter->batch * iter->per_batch <= INT32_MAX;
    known->near = true;
    for (int d = iter->batch_ndim; d < iter->ndim; d++) {
        if (known->dims > 1 && iter->shape[d] > INT32_MAX) return false;
        for (int o = 0; o < iter->operands; o++)
            known->near = known->near && absolute(iter->strides[o][d]) <= INT32_MAX;
    }
    for (int o = 0; o < iter->operands; o++) {
        const int64_t stride = iter->strides[o][iter->ndim - 1];
        known->dtypes[o] = work->dtypes[o];
        known->strides[o] = absolute(stride) <= MAX_CONSTANT_STRIDE ? (int)stride : 0;
    }
    const histo_known_axis *axes = axes_of(job);
    if (!axes) return false;
    for (int a = 0; a < work->naxes; a++)
        if (joint && joint->firsts[a])
            known->axes[a].by = HISTO_BY_FIRSTS;
        else /* with the padding, since classes are compared as bytes */
            memcpy(&known->axes[a], &axes[a], sizeof *axes);
    known->padded = work->row != 0;
    set_step(work, known);
    for (int o = 0; o < known->operands; o++) {
        work->ends[o] = iter->base[o] + histo_dtype_size(known->dtypes[o]);
        if (o == 0 && work->channel_stride > 0) work->ends[o] += (known->channels - 1) * work->channel_stride;
        for (int d = 0; d < iter->ndim; d++) {
            const int64_t extent = d == iter->ndim - 1 && work->row ? work->row : iter->shape[d];
            if (iter->strides[o][d] > 0) work->ends[o] += (extent - 1) * iter->strides[o][d];
        }
    }
    for (int o = 0; o < known->operands; o++) /* of a chunk, the last of all that share it */
        if (known->chunks[o].granule && work->ends[known->chunks[o].leader] < work->ends[o])
            work->ends[known->chunks[o].leader] = work->ends[o];
    int64_t samples = (int64_t)threads * known->vector; /* from a thread's neighbours to its next ones */
    for (int d = known->dims - 1; d >= 0; d--) {
        const int64_t extent = d > 0 ? iter->shape[known->batch_dims + d] : INT64_MAX;
        work->advance[d] = (uint32_t)(samples % extent);
        samples /= extent;
    }
    return true;
}

/* The values of an integer type, or the bit patterns of a float's, between which slots may differ. */
static void set_range(const histo_lookup *l, histo_dtype dtype, histo_fixed_point *range)
{
    const int bits = 8 * (int)histo_dtype_size(dtype);
    const bool is_signed = dtype == HISTO_I8 || dtype == HISTO_I16;
    const int32_t least = is_signed ? -(1 << (bits - 1)) : 0, most = least + (1 << bits) - 1;
    const bool is_float = dtype == HISTO_F16 || dtype == HISTO_BF16;
    range->first = is_float ? least : (int32_t)fmin(fmax(floor(l->lo) - 1, least), most);
    range->last = is_float ? most : (int32_t)fmax(fmin(ceil(l->over) + 1, most), range->first);
}

uint32_t histo_cuda_tables_of(const histo_problem *problem, const histo_joint *firsts, uint32_t at, uint32_t most,
                              histo_joint *joint, histo_cuda_known *known)
{
    uint32_t words = 0;
    for (int a = 0; a < problem->naxes; a++) {
        const histo_lookup *l = &problem->lookups[a];
        const histo_dtype dtype = problem->sampled[a];
        const size_t size = histo_dtype_size(dtype);
        histo_known_axis its; /* with its padding, since classes are compared as bytes */
        memset(&its, 0, sizeof its);
        uint32_t more = 0;
        if (firsts && firsts->firsts[a]) continue;
        if (size <= 4 && l->pow2.is) continue;
        if (size <= 2) {
            if (!l->table || point_of(l, dtype) != HISTO_BY_TABLE) continue;
            set_range(l, dtype, &its.fixed);
            its.by = l->bins + 2 <= UINT8_MAX ? HISTO_BY_SHARED_BYTES : HISTO_BY_SHARED_SHORTS;
            const uint32_t each = its.by == HISTO_BY_SHARED_BYTES ? 4 : 2;
            more = (uint32_t)(its.fixed.last - its.fixed.first) / each + 1;
        } else if (l->kind != HISTO_UNIFORM && l->cells.entry) {
            its.by = l->cells.by_bits ? HISTO_BY_SHARED_BITS : HISTO_BY_SHARED_LINEAR;
            more = l->cells.words;
        }
        if (more == 0 || more > most - words) continue;
        if (joint) {
            joint->tables[a] = at + words;
            memcpy(&known->axes[a], &its, sizeof its);
        }
        words += more;
    }
    return words;
}

bool histo_cuda_expects_compiled(const histo_problem *problem)
{
    enum { MANY = 1 << 24 };
    return (problem->effort != HISTO_ESTIMATE || problem->samples >= MANY) && !histo_nvrtc_unavailable();
}

/* ---- The source ---- */

/* static constexpr TYPE NAME[] = {…}; of the n numbers that value(known, i) gives. */
static void add_array(histo_text *text, const histo_cuda_known *known, const char *type, const char *name, int n,
                      int (*value)(const histo_cuda_known *, int))
{
    histo_text_add(text, "static constexpr %s %s[] = {", type, name);
    for (int i = 0; i < n; i++)
        histo_text_add(text, "(%s)%d, ", type, value(known, i));
    histo_text_add(text, "};\n");
}

void histo_cuda_known_write(const histo_cuda_known *known, histo_text *text)
{
    const struct {
        const char *name;
        int value;
    } constants[] = {
        {"NAXES", known->naxes},
        {"OPERANDS", known->operands},
        {"WEIGHTS", known->weights},
        {"MASK", known->mask},
        {"WHERE", known->where},
        {"DIMS", known->dims},
        {"BATCH_DIMS", known->batch_dims},
        {"CHANNELS", known->channels},
        {"THREADS", known->threads},
        {"SAMPLES", known->samples},
        {"VECTOR", known->vector},
        {"ALIGNED", known->aligned},
        {"SWAPPED", known->swapped},
        {"NEAR", known->near},
        {"SHORT_INDICES", known->short_indices},
        {"RAGGED", known->ragged},
        {"PADDED", known->padded},
        {"ALTERNATE", known->alternate},
        {"BY_VALUE", known->by_value},
        {"LOG_COPIES", known->log_copies},
        {"SPREADS", known->spreads},
        {"COLUMN_LANES", known->column_lanes},
        {"COLUMN_VECTOR", known->column_vector},
        {"COLUMN_ROWS", known->column_rows},
        {"COLUMN_PRIVATE", known->column_private},
        {"COLUMN_BY_VALUE", known->column_by_value},
    };
    histo_text_add(text, "struct known {\nenum { ");
    for (size_t i = 0; i < sizeof constants / sizeof constants[0]; i++)
        histo_text_add(text, "%s = %d, ", constants[i].name, constants[i].value);
    histo_text_add(text, "};\n");
    add_array(text, known, "histo_dtype", "dtypes", known->operands,
              [](const histo_cuda_known *k, int i) { return (int)k->dtypes[i]; });
    add_array(text, known, "int", "strides", known->operands,
              [](const histo_cuda_known *k, int i) { return k->strides[i]; });
    histo_text_add(text, "static constexpr histo_known_chunk chunks[] = {");
    for (int o = 0; o < known->operands; o++) {
        const histo_known_chunk *c = &known->chunks[o];
        histo_text_add(text, "{%d, %d, %d, %d, %d, %d}, ", c->leader, c->granule, c->pixel, c->reversed, c->shifted,
                       c->offset);
    }
    histo_text_add(text, "};\n");
    add_array(text, known, "int", "column_words", known->operands,
              [](const histo_cuda_known *k, int i) { return k->column_words[i]; });
    histo_text_add(text, "static constexpr histo_known_axis axes[] = {\n");
    for (int a = 0; a < known->naxes; a++) {
        const histo_known_axis *axis = &known->axes[a];
        const histo_pow2 *p = &axis->pow2;
        histo_text_add(text, "{(histo_known_lookup)%d, {%d, %d, %d, %uu, %uu, %uu}, {%d, %d, %uu, %uu, %lluull}},\n",
                       (int)axis->by, p->is, p->closed, p->shift, p->low, p->high, p->from, (int)axis->fixed.first,
                       (int)axis->fixed.last, axis->fixed.factor, axis->fixed.shift,
                       (unsigned long long)axis->fixed.offset);
    }
    histo_text_add(text, "};\n};\n");
}

/* ---- Compiled kernels of a plan ---- */

/* Compiling takes some tenths of a second. With HISTO_ESTIMATE, a plan compiles a kernel when counting without it has
 * lost about as much time. */
static const int64_t WORTH = INT64_C(1) << 32; /* samples */

/* What a plan knows of one recipe. Entries are only added; they are freed with the plan. */
typedef struct histo_cuda_known_entry {
    struct histo_cuda_known_entry *next;
    histo_cuda_known known;
    const char *kernel;
    histo_compiled *compiled; /* NULL: this build cannot load kernels */
    int64_t slow;             /* samples of fills for which it was not in memory, of plans with HISTO_ESTIMATE */
    bool is_refused;          /* it is compiled, but the device could not load it */
} histo_cuda_known_entry;

static histo_compiled *compiled_of(histo_device device, const histo_cuda_known *known, const char *header,
                                   const char *kernel)
{
    enum { INCLUDES = 256, SHAPE = 4096 };
    char includes[INCLUDES], shape[SHAPE];
    histo_text list = {.out = includes, .capacity = sizeof includes};
    histo_text text = {.out = shape, .capacity = sizeof shape};
    histo_text_add(&list, "#include \"%s\"\n#include \"cuda/jit/specialised.cuh\"\n", header);
    histo_cuda_known_write(known, &text);
    const histo_recipe recipe = {includes, shape, kernel};
    return histo_cuda_compiled_of(device, &recipe);
}

static histo_cuda_known_entry *find(histo_cuda_known_entry *first, const histo_cuda_known *known, const char *kernel)
{
    histo_cuda_known_entry *it = first;
    while (it && !(strcmp(it->kernel, kernel) == 0 && memcmp(&it->known, known, sizeof *known) == 0))
        it = it->next;
    return it;
}

static histo_cuda_known_entry *entry_of(histo_cuda_prepared *prepared, histo_device device,
                                        const histo_cuda_known *known, const char *header, const char *kernel)
{
    histo_cuda_known_entry *first = __atomic_load_n(&prepared->known, __ATOMIC_ACQUIRE);
    histo_cuda_known_entry *it = find(first, known, kernel);
    if (it) return it;
    histo_cuda_known_entry *added = (histo_cuda_known_entry *)calloc(1, sizeof *added);
    if (!added) return NULL;
    memcpy(&added->known, known, sizeof *known);
    added->kernel = kernel;
    added->compiled = compiled_of(device, known, header, kernel);
    do { /* unless another thread has added it meanwhile */
        it = find(first, known, kernel);
        added->next = first;
    } while (!it &&
             !__atomic_compare_exchange_n(&prepared->known, &first, added, false, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE));
    if (!it) return added;
    free(added);
    return it;
}

void histo_cuda_known_free(histo_cuda_prepared *prepared)
{
    free(prepared->known_axes);
    for (histo_cuda_known_entry *next, *it = prepared->known; it; it = next) {
        next = it->next;
        free(it);
    }
}

static histo_compile_effort effort_for(const histo_job *job, histo_cuda_known_entry *entry)
{
    const int64_t least = 1 << 17; /* samples: in the time that a fill of few loses, so many more could be counted */
    const int64_t samples = job->end - job->begin > least ? job->end - job->begin : least;
    if (histo_cuda_is_captured((cudaStream_t)job->stream)) return HISTO_COMPILE_NONE;
    if (job->problem->effort != HISTO_ESTIMATE) return HISTO_COMPILE_NOW;
    const int64_t slow = __atomic_fetch_add(&entry->slow, samples, __ATOMIC_RELAXED);
    if (slow + samples >= WORTH) return HISTO_COMPILE_NOW;
    return slow == 0 ? HISTO_COMPILE_CACHED : HISTO_COMPILE_NONE;
}

const void *histo_cuda_known_kernel(const histo_job *job, const histo_cuda_known *known, const char *header,
                                    const char *kernel)
{
    histo_cuda_prepared *prepared = (histo_cuda_prepared *)job->prepared;
    histo_cuda_known_entry *entry = entry_of(prepared, job->problem->device, known, header, kernel);
    if (!entry || !entry->compiled || histo_nvrtc_unavailable()) return NULL;
    const void *function = histo_cuda_compiled_kernel(entry->compiled, HISTO_COMPILE_NONE);
    if (!function) function = histo_cuda_compiled_kernel(entry->compiled, effort_for(job, entry));
    if (!function && histo_compiled_image(entry->compiled, HISTO_COMPILE_NONE))
        __atomic_store_n(&entry->is_refused, true, __ATOMIC_RELAXED);
    return function;
}

static void explain(const histo_cuda_known_entry *entry, histo_text *text)
{
    const char *unavailable = histo_nvrtc_unavailable();
    const int64_t slow = __atomic_load_n(&entry->slow, __ATOMIC_RELAXED);
    const histo_compile_report report =
        entry->compiled ? histo_compiled_report(entry->compiled) : histo_compile_report{};
    histo_text_add(text, "  kernel: ");
    if (__atomic_load_n(&entry->is_refused, __ATOMIC_RELAXED)) {
        histo_text_add(text, "general, because the one compiled for such samples could not be loaded\n");
        return;
    }
    switch (report.state) {
    case HISTO_COMPILE_DONE:
        histo_text_add(text, "compiled for such samples, %s in %.3g ms\n",
                       report.cached ? "read from the kernel cache" : "compiled", report.us * 1e-3);
        break;
    case HISTO_COMPILE_FAILED:
        histo_text_add(text, "general, because none could be compiled for such samples\n");
        break;
    case HISTO_COMPILE_RUNNING:
        histo_text_add(text, "general, until the one for such samples is compiled\n");
        break;
    default:
        if (unavailable)
            histo_text_add(text, "general, because none can be compiled: %s\n", unavailable);
        else if (!entry->compiled)
            histo_text_add(text, "general, because this build of the library cannot load compiled kernels\n");
        else
            histo_text_add(text, "general; after %lld samples more, one is compiled for such samples\n",
                           (long long)(WORTH - slow));
    }
}

void histo_cuda_known_explain(const void *prepared, histo_text *text)
{
    const histo_cuda_known_entry *it = ((const histo_cuda_prepared *)prepared)->known;
    for (; it; it = it->next)
        explain(it, text);
}
