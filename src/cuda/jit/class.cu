/* Finds the class of a job's samples: see class.h. */
#include "cuda/jit/class.h"

#include <math.h>
#include <string.h>

#include "cuda/jit/axis_lookups.h"
#include "cuda/launch/work_of_job.h"

enum { THREAD_BYTES = 64 /* of chunks, in a step */ };

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
    int n = HISTO_CHANNELS_TOGETHER; /* lowered to a divisor, so that all groups have the same size */
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
static int64_t span_of(const histo_cuda_class *constants, int operand)
{
    return (int64_t)histo_dtype_size(constants->dtypes[operand]) * (operand == 0 ? constants->channels : 1);
}

static bool has_strides_of(const histo_strided_iter *iter, int operand, int other)
{
    return memcmp(iter->strides[operand], iter->strides[other], (size_t)iter->ndim * sizeof iter->strides[0][0]) == 0;
}

/* Find the operands that share the pixel of `leader`, and where each is in it. They fill at least half of it. */
static bool set_pixel(const histo_cuda_work *work, int leader, histo_cuda_class *constants)
{
    const histo_strided_iter *iter = &work->iter;
    const int64_t pixel = absolute(iter->strides[leader][iter->ndim - 1]);
    const char *lowest = iter->base[leader], *highest = lowest + span_of(constants, leader);
    int64_t used = span_of(constants, leader);
    bool shares[HISTO_MAX_OPERANDS] = {false};
    if (constants->channels > 1 && leader == 0 &&
        work->channel_stride != (int64_t)histo_dtype_size(constants->dtypes[0]))
        return false;
    if (constants->records >> leader & 1) return false; /* their functions read them */
    if (pixel == 0 || pixel < used || pixel > THREAD_BYTES) return false;
    for (int o = leader + 1; o < constants->operands; o++) {
        const char *from = iter->base[o], *to = from + span_of(constants, o);
        const char *low = from < lowest ? from : lowest, *high = to > highest ? to : highest;
        if (constants->records >> o & 1 || constants->chunks[o].granule || !has_strides_of(iter, o, leader) ||
            high - low > pixel)
            continue;
        shares[o] = true;
        lowest = low;
        highest = high;
        used += to - from;
    }
    if (used * 2 < pixel) return false;
    shares[leader] = true;
    for (int o = leader; o < constants->operands; o++)
        if (shares[o])
            constants->chunks[o] = {
                leader, 1, (int)pixel, iter->strides[leader][iter->ndim - 1] < 0, false, (int)(iter->base[o] - lowest)};
    return true;
}

/* Set in which words `vector` neighbours are loaded. */
static void set_granule(const histo_cuda_work *work, int leader, int vector, histo_cuda_class *constants)
{
    histo_chunk *chunk = &constants->chunks[leader];
    const int64_t bytes = (int64_t)vector * chunk->pixel;
    const char *first = work->iter.base[leader] - chunk->offset - (chunk->reversed ? bytes - chunk->pixel : 0);
    /* Segments begin anywhere, as may the first tile of one dimension. */
    const bool any = constants->ragged || work->begin % work->iter.per_batch % vector;
    const uint64_t bits = bits_of_runs(work, leader, first) | (uint64_t)(any ? chunk->pixel : bytes) | 16;
    const int granule = (int)(bits & (0 - bits));
    chunk->shifted = granule < 4;
    chunk->granule = granule < 4 ? 4 : granule;
    for (int o = leader + 1; o < constants->operands; o++)
        if (constants->chunks[o].granule && constants->chunks[o].leader == leader) {
            constants->chunks[o].shifted = chunk->shifted;
            constants->chunks[o].granule = chunk->granule;
        }
}

/* Do chunks hold `vector` neighbours, of at most so many bytes where an operand is alone? Without a chunk, lanes load
 * neighbours, so that each load touches few cache lines. */
static bool hold(const histo_cuda_work *work, const histo_cuda_class *constants, int vector, int alone)
{
    for (int o = 0; o < constants->operands; o++) {
        const histo_chunk *chunk = &constants->chunks[o];
        const int64_t stride = absolute(work->iter.strides[o][work->iter.ndim - 1]), bytes = vector * chunk->pixel;
        const int64_t most = chunk->pixel == (int)histo_dtype_size(constants->dtypes[o]) ? alone : THREAD_BYTES;
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
static int register_bytes(const histo_cuda_class *constants)
{
    int bytes = 0;
    for (int o = 0; o < constants->operands; o++) {
        const histo_chunk *chunk = &constants->chunks[o];
        const int size = (int)histo_dtype_size(constants->dtypes[o]);
        if (!chunk->granule)
            bytes += (size < 4 ? 4 : size) * (o == 0 ? constants->channels : 1);
        else if (chunk->leader == o)
            bytes += chunk->pixel;
    }
    return bytes;
}

/* Set how many samples a thread takes in a step (at most constants->samples), how many of them are neighbours, and how
 * these are loaded. */
static void set_step(const histo_cuda_work *work, histo_cuda_class *constants)
{
    enum { MAX_SLOTS = 32, FEWEST = 4 /* samples */ };
    enum { MAX_BYTES = 24 * 4 /* of 64 registers: the next step's samples take as many */ };
    int bytes = 0;
    bool by_first_floats = false, by_cells = false;
    for (int o = 0; o < constants->operands; o++)
        if (constants->chunks[o].granule == 0 && !set_pixel(work, o, constants)) bytes += (int)span_of(constants, o);
    for (int o = 0; o < constants->operands; o++)
        if (constants->chunks[o].granule && constants->chunks[o].leader == o) bytes += constants->chunks[o].pixel;
    for (int a = 0; a < constants->naxes; a++)
        by_first_floats = by_first_floats || constants->axes[a].by == HISTO_BY_FIRST_FLOATS;
    for (int a = 0; a < constants->naxes; a++)
        by_cells = by_cells ||
                   (constants->axes[a].by >= HISTO_BY_LINEAR_CELLS && constants->axes[a].by <= HISTO_BY_SEARCH) ||
                   constants->axes[a].by == HISTO_BY_WHOLE || constants->axes[a].by == HISTO_BY_NEAR_WHOLE;
    int most = (by_first_floats || by_cells) && constants->samples > 8 ? 8 : constants->samples;
    if (most * constants->channels > MAX_SLOTS) most = MAX_SLOTS / constants->channels;
    constants->samples = by_first_floats ? 2 : 1;
    while (constants->samples * 2 <= most && constants->samples * 2 * bytes <= THREAD_BYTES)
        constants->samples *= 2;
    constants->widest = 1;
    for (int alone = 16; alone <= 32 && constants->widest == 1; alone *= 2) /* lanes load 16 bytes each at best */
        for (int vector = constants->samples; vector > 1 && constants->widest == 1; vector /= 2)
            if (hold(work, constants, vector, alone)) constants->widest = vector;
    constants->vector = constants->widest;
    while (!divides(work, constants->vector) ||
           (constants->vector > 1 && !hold(work, constants, constants->vector, 32)))
        constants->vector /= 2;
    for (int o = 0; o < constants->operands; o++)
        if (constants->chunks[o].granule && constants->chunks[o].leader == o) {
            /* Alone, a neighbour is loaded as it is, unless words hold several of its parts. */
            const bool is_alone =
                constants->vector == 1 && constants->chunks[o].pixel <= (int)histo_dtype_size(constants->dtypes[o]);
            if (!is_alone && constants->vector * constants->chunks[o].pixel >= 4) {
                set_granule(work, o, constants->vector, constants);
                if (constants->vector > 1 || !constants->chunks[o].shifted) continue;
            }
            for (int other = constants->operands - 1; other >= o; other--)
                if (constants->chunks[other].leader == o || other == o) constants->chunks[other] = {};
        }
    const int each = register_bytes(constants);
    while (constants->samples > FEWEST && constants->samples > constants->vector &&
           constants->samples * each > MAX_BYTES)
        constants->samples /= 2;
}

bool histo_cuda_pad_rows(const histo_job *job, const histo_cuda_class *constants, int channels, int64_t wanted,
                         int64_t least, int64_t most, histo_cuda_work *work)
{
    const histo_strided_iter *iter = &job->iter;
    const int run = iter->ndim - 1;
    const int64_t length = iter->shape[run];
    const bool is_whole = job->begin % iter->per_batch == 0 && job->end % iter->per_batch == 0;
    if (run == iter->batch_ndim || !is_whole || constants->vector == constants->widest || length > INT32_MAX / 2)
        return false;
    /* Instructions of a sample that is counted, and of a group of neighbours. */
    const double counting = 8, placing = 32;
    int best = constants->vector;
    double best_time = (double)length * (counting + placing / best);
    for (int vector = constants->widest; vector > 1; vector /= 2) {
        const int64_t padded = (length + vector - 1) / vector * vector;
        const double time = (double)padded * (counting + placing / vector);
        if (time >= best_time) continue;
        best_time = time;
        best = vector;
    }
    if (best == constants->vector) return false;
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

bool histo_cuda_class_of(const histo_job *job, histo_cuda_work *work, const histo_joint *joint, int threads,
                         histo_cuda_class *constants)
{
    enum { MAX_CONSTANT_STRIDE = 256 };
    const histo_strided_iter *iter = &work->iter;
    *constants = {};
    if (iter->images || work->has_bits) return false;
    constants->naxes = work->naxes;
    constants->weights = work->weights;
    constants->mask = work->mask;
    constants->where = work->where;
    constants->operands = iter->operands;
    constants->batch_dims = iter->batch_ndim;
    constants->dims = iter->ndim - iter->batch_ndim;
    constants->channels = work->channels ? work->channels : 1;
    constants->threads = threads;
    constants->aligned = work->in_place;
    constants->swapped = work->swapped;
    constants->records = work->records;
    constants->samples = job->problem->weighting == HISTO_UNWEIGHTED ? 16 : 4; /* at most */
    constants->ragged = iter->offsets != NULL;
    constants->short_indices = iter->batch * iter->per_batch <= INT32_MAX;
    constants->near = true;
    for (int d = iter->batch_ndim; d < iter->ndim; d++) {
        if (constants->dims > 1 && iter->shape[d] > INT32_MAX) return false;
        for (int o = 0; o < iter->operands; o++)
            constants->near = constants->near && absolute(iter->strides[o][d]) <= INT32_MAX;
    }
    for (int o = 0; o < iter->operands; o++) {
        const int64_t stride = iter->strides[o][iter->ndim - 1];
        constants->dtypes[o] = work->dtypes[o];
        constants->strides[o] = absolute(stride) <= MAX_CONSTANT_STRIDE ? (int)stride : 0;
    }
    const histo_specialised_axis *axes = histo_cuda_axes_of(job);
    if (!axes) return false;
    for (int a = 0; a < work->naxes; a++)
        if (joint && joint->first_floats[a])
            constants->axes[a].by = HISTO_BY_FIRST_FLOATS;
        else
            constants->axes[a] = axes[a];
    constants->padded = work->row != 0;
    set_step(work, constants);
    for (int o = 0; o < constants->operands; o++) {
        work->ends[o] = iter->base[o] + histo_dtype_size(constants->dtypes[o]);
        if (o == 0 && work->channel_stride > 0) work->ends[o] += (constants->channels - 1) * work->channel_stride;
        for (int d = 0; d < iter->ndim; d++) {
            const int64_t extent = d == iter->ndim - 1 && work->row ? work->row : iter->shape[d];
            if (iter->strides[o][d] > 0) work->ends[o] += (extent - 1) * iter->strides[o][d];
        }
    }
    for (int o = 0; o < constants->operands; o++) /* of a chunk, the last of all that share it */
        if (constants->chunks[o].granule && work->ends[constants->chunks[o].leader] < work->ends[o])
            work->ends[constants->chunks[o].leader] = work->ends[o];
    int64_t samples = (int64_t)threads * constants->vector; /* from a thread's neighbours to its next ones */
    for (int d = constants->dims - 1; d >= 0; d--) {
        const int64_t extent = d > 0 ? iter->shape[constants->batch_dims + d] : INT64_MAX;
        work->advance[d] = (uint32_t)(samples % extent);
        samples /= extent;
    }
    return true;
}
