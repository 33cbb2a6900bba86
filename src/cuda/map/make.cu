/* Tables made on a GPU from counts: equalization, matching, landmarks, classes. A block or a cluster
 * makes a table, with the arithmetic of src/table, which the host uses, too. */
#include <math.h>
#include <string.h>

#include "cuda/map/make.h"
#include "cuda/map/table.cuh"
#include "table/otsu.h"
#include "table/polyline.h"
#include "table/shares.h"

extern "C" {
#include "axis/quantile_rule.h"
}

using namespace histo::table;

/* ---- Equalization ---- */

/* Counts, and the lowest occupied bin among them. */
struct census {
    word n, least;
    int64_t first;
};

template <typename BLOCK>
static __global__ void __launch_bounds__(BLOCK::threads) equalize(histo_equalizing by, source from, target to)
{
    const word *counts = from.of(BLOCK::table());
    double *table = to.of(BLOCK::table());
    census mine = {0, 0, INT64_MAX};
    BLOCK::each_bin(counts, by.bins, [&](word count, int64_t bin) {
        if (!count) return;
        if (mine.n == 0) mine.first = bin, mine.least = count;
        mine.n += count;
    });
    const census all = BLOCK::all(mine, [](const census &a, const census &b) {
        census both = a.first < b.first ? a : b;
        both.n = a.n + b.n;
        return both;
    });
    histo_totals of = {all.n, all.n ? all.first : 0, all.least, 0, 0, 0, 1, 0};
    histo_totals_limit(&of, &by);
    if (of.most < of.n) {
        word cut = 0;
        BLOCK::each_bin(counts, by.bins, [&](word count, int64_t) { cut += histo_cut_of(&of, count); });
        cut = BLOCK::all(cut, [](word a, word b) { return a + b; });
        histo_totals_spread(&of, &by, cut);
    }
    if (to.lines && BLOCK::is_first()) table[0] = by.lo;
    const auto limited = [&](word count, int64_t bin) -> word {
        return histo_limited(&of, count) + histo_gets_more(&of, bin);
    };
    BLOCK::template run<word>(counts, by.bins, limited, [&](word count, int64_t bin, word sum) {
        to.put(table, bin, histo_equalized(&by, &of, bin, sum + limited(count, bin)));
    });
}

/* ---- Matching ---- */

struct matching {
    source from, reference;
    int64_t reference_bins;
    histo_edges edges; /* of the reference */
    double *points;    /* room for 2 * `room` numbers a table; NULL: in shared memory */
    int64_t room;
};

/* Counts, and how many points of a line they give. */
struct progress {
    word sum;
    int64_t points;

    __device__ progress operator+(const progress &more) const { return {sum + more.sum, points + more.points}; }
};

/* Write the values of the reference over its cumulative shares, at its occupied bins or at its edges. */
template <typename BLOCK>
static __device__ void find_reference(const matching &m, const word *counts, word total, bool lines,
                                      histo_polyline *line)
{
    /* No share between two edges, or before the first? Then a line begins at a point of its own. */
    const auto begins = [&](int64_t bin, word sum) { return lines && (sum == 0 || counts[bin - 1] == 0); };
    const auto add = [&](int64_t at, word sum, double value) {
        line->x[at] = (double)sum / (double)total;
        line->y[at] = value;
    };
    const auto points = [&](word count, int64_t bin) {
        return progress{count, count ? 1 + (lines && bin > 0 && counts[bin - 1] == 0) : 0};
    };
    /* The first occupied bin begins a line even if it is the lowest. */
    const bool first_is_lowest = lines && counts[0] != 0;
    const progress all = BLOCK::template run<progress>(
        counts, m.reference_bins, points, [&](word count, int64_t bin, const progress &before) {
            if (!count) return;
            int64_t at = before.points + (first_is_lowest && bin > 0);
            if (begins(bin, before.sum)) add(at++, before.sum, histo_edge_at(&m.edges, bin));
            add(at, before.sum + count, lines ? histo_edge_at(&m.edges, bin + 1) : histo_bin_at(&m.edges, bin));
        });
    line->n = all.points + first_is_lowest;
    line->extend = false;
    BLOCK::sync();
}

template <typename BLOCK>
static __global__ void __launch_bounds__(BLOCK::threads) match(matching m, target to)
{
    extern __shared__ double shared[];
    const word *counts = m.from.of(BLOCK::table()), *reference = m.reference.of(BLOCK::table());
    double *table = to.of(BLOCK::table());
    const word total = BLOCK::sum(counts, to.bins), of_reference = BLOCK::sum(reference, m.reference_bins);
    if (!total || !of_reference) {
        BLOCK::put_none(to, table);
        return;
    }
    histo_polyline line;
    line.x = m.points ? m.points + BLOCK::table() * 2 * m.room : shared;
    line.y = line.x + m.room;
    find_reference<BLOCK>(m, reference, of_reference, to.lines, &line);
    if (to.lines && BLOCK::is_first()) table[0] = histo_polyline_at(&line, 0);
    BLOCK::template run<word>(
        counts, to.bins, [](word count, int64_t) { return count; },
        [&](word count, int64_t bin, word sum) {
            to.put(table, bin, histo_polyline_at(&line, (double)(sum + count) / (double)total));
        });
}

/* ---- Landmarks ---- */

enum { LANDMARKS = 32 };

struct landmarks {
    source from;
    histo_edges edges;
    int n;
    bool extend;
    double q[LANDMARKS], target[LANDMARKS];
};

/* Sample number i of the `count` in a slot, where 0 is underflow. */
static __device__ double sample_of(const histo_edges *edges, int64_t slot, word i, word count)
{
    const int64_t bin = slot - 1;
    if (bin < 0) return -INFINITY;
    if (bin == edges->bins) return INFINITY;
    const double lower = histo_edge_at(edges, bin);
    return edges->integer ? lower : histo_spread_sample(lower, histo_edge_at(edges, bin + 1), i, count);
}

template <typename BLOCK>
static __global__ void __launch_bounds__(BLOCK::threads) place_landmarks(landmarks m, target to)
{
    __shared__ double sample[LANDMARKS][2], found[LANDMARKS], x[LANDMARKS], y[LANDMARKS];
    __shared__ word rank[LANDMARKS][2];
    const word *slots = m.from.of(BLOCK::table()) - 1;
    const int64_t ordered = to.bins + 2; /* without NaN */
    double *table = to.of(BLOCK::table());
    const word n = BLOCK::sum(slots, ordered);
    if (!n) {
        BLOCK::put_none(to, table);
        return;
    }
    histo_place place = {0, 0};
    if (threadIdx.x < m.n) {
        place = histo_place_linear((double)n, m.q[threadIdx.x]);
        rank[threadIdx.x][0] = histo_place_rank(place.below, n);
        rank[threadIdx.x][1] = histo_place_rank(place.below + 1, n);
    }
    BLOCK::template run<word>(
        slots, ordered, [](word count, int64_t) { return count; },
        [&](word count, int64_t slot, word before) {
            for (int r = 0; r < 2 * m.n && count; r++)
                if (rank[r / 2][r % 2] - before < count)
                    BLOCK::store(&sample[r / 2][r % 2], sample_of(&m.edges, slot, rank[r / 2][r % 2] - before, count));
        });
    BLOCK::sync();
    bool none = false;
    if (threadIdx.x < m.n) {
        const double *its = sample[threadIdx.x];
        found[threadIdx.x] = place.share == 0 ? its[0] : histo_quantile_beside(its[0], its[1], place.share);
        none = !isfinite(found[threadIdx.x]);
    }
    if (__syncthreads_or(none)) {
        BLOCK::put_none(to, table);
        return;
    }
    __shared__ histo_polyline line;
    if (threadIdx.x == 0) {
        line.x = x;
        line.y = y;
        histo_polyline_through(&line, found, m.target, m.n, m.extend);
    }
    __syncthreads();
    if (to.lines && BLOCK::is_first()) table[0] = histo_polyline_at(&line, histo_edge_at(&m.edges, 0));
    BLOCK::each(to.bins, [&](int64_t bin) {
        const double x = to.lines ? histo_edge_at(&m.edges, bin + 1) : histo_bin_at(&m.edges, bin);
        to.put(table, bin, histo_polyline_at(&line, x));
    });
}

/* ---- Classes ---- */

enum { NEAR = 64 };

/* Counts and the sum of their bins. */
struct moment {
    word n, s;

    __device__ moment operator+(const moment &more) const { return {n + more.n, s + more.s}; }
};

struct split {
    int64_t bin; /* the last of the lower class */
    moment below;
};

/* Within 2^-48 of the exact one. All numbers are below 2^62. */
static __device__ double criterion_of(const moment &below, const moment &all)
{
    const wide_word_pair a = (wide_word_pair)all.n * below.s, b = (wide_word_pair)below.n * all.s,
                         distance = a > b ? a - b : b - a, counts = (wide_word_pair)below.n * (all.n - below.n);
    const double d = (double)(uint64_t)(distance >> 64) * 0x1p64 + (double)(uint64_t)distance,
                 c = (double)(uint64_t)(counts >> 64) * 0x1p64 + (double)(uint64_t)counts;
    return d / c * d;
}

/* The largest of some splits, the lowest of equals. */
static __device__ __noinline__ int64_t best_of(const split *splits, int n, moment all)
{
    histo_otsu_split best;
    int64_t at = -1;
    for (int i = 0; i < n; i++) {
        const histo_otsu_split next = histo_otsu_split_of(splits[i].below.n, splits[i].below.s, all.n, all.s);
        if (at >= 0 && !histo_otsu_is_larger(&next, &best) &&
            (histo_otsu_is_larger(&best, &next) || at < splits[i].bin))
            continue;
        best = next;
        at = splits[i].bin;
    }
    return at;
}

/* One thread's way for counts of any size. */
static __device__ __noinline__ int64_t split_slowly(const word *counts, int64_t bins)
{
    word n = 0, n0 = 0;
    wide_word_pair s = 0, s0 = 0;
    int64_t at = -1;
    for (int64_t bin = 0; bin < bins; bin++) {
        n += counts[bin];
        s += (wide_word_pair)counts[bin] * (uint64_t)bin;
    }
    histo_otsu_split best;
    best.criterion = -1;
    for (int64_t bin = 0; bin < bins; bin++) {
        if (!counts[bin]) continue;
        n0 += counts[bin];
        s0 += (wide_word_pair)counts[bin] * (uint64_t)bin;
        if (n0 == n && at >= 0) break;
        if (n0 == n) return bin;
        const histo_otsu_split next = histo_otsu_split_of(n0, s0, n, s);
        if (best.criterion >= 0 && !histo_otsu_is_larger(&next, &best)) continue;
        best = next;
        at = bin;
    }
    return at;
}

/* Calls use(bin, the moment of the samples up to it) for all bins that may be the last of the lower class. */
template <typename BLOCK, typename USE>
static __device__ void each_split(const word *counts, int64_t bins, word n, USE use)
{
    const auto value = [](word count, int64_t bin) { return moment{count, count * (word)bin}; };
    BLOCK::template run<moment>(counts, bins, value, [&](word count, int64_t bin, const moment &before) {
        if (count && before.n + count < n) use(bin, before + value(count, bin));
    });
}

/* The last bin of the lower class: for all threads. */
template <typename BLOCK>
static __device__ int64_t split_in_two(const word *counts, int64_t bins, moment all)
{
    __shared__ split near[NEAR];
    __shared__ int found;
    __shared__ int64_t last;
    double largest = -1;
    each_split<BLOCK>(counts, bins, all.n,
                      [&](int64_t, const moment &below) { largest = fmax(largest, criterion_of(below, all)); });
    if (BLOCK::is_first()) found = 0;
    largest = BLOCK::all(largest, [](double a, double b) { return fmax(a, b); });
    each_split<BLOCK>(counts, bins, all.n, [&](int64_t bin, const moment &below) {
        if (criterion_of(below, all) < largest * (1 - 0x1p-40)) return;
        const int at = atomicAdd(BLOCK::in_block(0, &found), 1);
        if (at < NEAR) BLOCK::in_block(0, near)[at] = {bin, below};
    });
    BLOCK::sync();
    if (BLOCK::is_first()) {
        const int64_t best = found == 1                    ? near[0].bin
                             : found >= 2 && found <= NEAR ? best_of(near, found, all)
                                                           : split_slowly(counts, bins);
        BLOCK::store(&last, best);
    }
    BLOCK::sync();
    return last;
}

template <typename BLOCK>
static __global__ void __launch_bounds__(BLOCK::threads) split_classes(source from, double lo, double hi, target to)
{
    const word *counts = from.of(BLOCK::table());
    double *table = to.of(BLOCK::table());
    moment mine = {0, 0};
    double rough = 0;
    BLOCK::each_bin(counts, to.bins, [&](word count, int64_t bin) {
        mine = mine + moment{count, count * (word)bin};
        rough += (double)count;
    });
    const moment all = BLOCK::all(mine, [](const moment &a, const moment &b) { return a + b; });
    rough = BLOCK::all(rough, [](double a, double b) { return a + b; });
    if (!all.n) {
        BLOCK::put_none(to, table);
        return;
    }
    __shared__ int64_t slow;
    const bool fits = rough * (double)to.bins < 0x1p61;
    if (!fits && BLOCK::is_first()) BLOCK::store(&slow, split_slowly(counts, to.bins));
    BLOCK::sync();
    const int64_t last = fits ? split_in_two<BLOCK>(counts, to.bins, all) : slow;
    BLOCK::each(to.bins, [&](int64_t bin) { to.put(table, bin, bin <= last ? lo : hi); });
}

/* ---- Launching ---- */

typedef block<256, 1, false> few; /* threads with a bin each, for 8-bit images */
typedef block<1024, 4, true> many;

/* A kernel for few bins, and for many. */
struct kernels {
    const void *of_few, *of_many;
};

/* Make all tables, each from so many bins. */
static histo_status launch(const kernels &by, const histo_cuda_map *map, int64_t tables, int64_t bins, size_t shared,
                           void **args, cudaStream_t stream)
{
    enum { CLUSTER = 8 /* blocks, on any GPU with clusters */ };
    const bool are_few = bins <= few::tile;
    unsigned blocks = 1;
    while (histo_cuda_device_of(map->base.device)->major >= 9 && blocks < CLUSTER && blocks * many::tile < bins)
        blocks *= 2;
    cudaLaunchAttribute cluster = {};
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim = {blocks, 1, 1};
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3((unsigned)tables * blocks);
    config.blockDim = dim3((unsigned)(are_few ? few::threads : many::threads));
    config.dynamicSmemBytes = shared;
    config.stream = stream;
    config.attrs = &cluster;
    config.numAttrs = blocks > 1;
    return HISTO_CUDA(cudaLaunchKernelExC(&config, are_few ? by.of_few : by.of_many, args), "making a map");
}

static source source_of(const histo_device_accumulators *base)
{
    const histo_cuda_accumulators *from = (const histo_cuda_accumulators *)base;
    return {from->counts + 1, from->batch > 1 ? from->counters : 0};
}

static histo_status make_matched(histo_cuda_map *map, const histo_mapping *mapping, const histo_making *making,
                                 target to, cudaStream_t stream, bool capturing)
{
    enum { SHARED = 32 << 10 };
    const int64_t bins = making->other_axes[0].bins;
    histo_status status = histo_cuda_edges_of(&making->other_axes[0], &map->other, capturing);
    if (status != HISTO_OK) return status;
    matching m = {source_of(making->from),       source_of(making->other), bins, map->other.is, NULL,
                  to.lines ? 2 * bins + 2 : bins};
    const size_t bytes = (size_t)m.room * 2 * sizeof(double);
    const int64_t most = bins > to.bins ? bins : to.bins;
    const bool shares = bytes <= SHARED && most <= many::tile; /* one block makes a table */
    if (!shares) status = histo_cuda_map_workspace(map, bytes * (size_t)mapping->batch, capturing);
    if (status != HISTO_OK) return status;
    if (!shares) m.points = (double *)map->workspace;
    void *args[] = {&m, &to};
    const kernels by = {(const void *)match<few>, (const void *)match<many>};
    return launch(by, map, mapping->batch, most, shares ? bytes : 0, args, stream);
}

static histo_status make_landmarks(const histo_cuda_map *map, const histo_mapping *mapping, const histo_making *making,
                                   target to, cudaStream_t stream)
{
    landmarks m = {source_of(making->from), map->edges.is, making->n, making->extend, {}, {}};
    memcpy(m.q, making->q, (size_t)m.n * sizeof *m.q);
    memcpy(m.target, making->target, (size_t)m.n * sizeof *m.target);
    void *args[] = {&m, &to};
    const kernels by = {(const void *)place_landmarks<few>, (const void *)place_landmarks<many>};
    return launch(by, map, mapping->batch, to.bins + 2, 0, args, stream);
}

bool histo_cuda_map_makes(const histo_mapping *mapping, const histo_making *making)
{
    enum { SPLIT_BINS = 1 << 24 };
    const histo_axis *axis = &mapping->axes[0];
    switch (making->by) {
    case HISTO_MAKE_LANDMARKS:
        return making->n <= LANDMARKS;
    case HISTO_MAKE_PROJECTED:
        return !making->weighted;
    case HISTO_MAKE_CLASSES:
        return making->method == HISTO_SPLIT_OTSU && making->n == 2 && axis->bins <= SPLIT_BINS &&
               (axis->kind == HISTO_INTEGER || axis->kind == HISTO_REGULAR);
    default:
        return true;
    }
}

histo_status histo_cuda_map_make(histo_cuda_map *map, const histo_mapping *mapping, const histo_making *making,
                                 cudaStream_t stream, bool capturing)
{
    target to = {map->values, mapping->length, mapping->axes[0].bins, mapping->within == HISTO_MAP_LINEAR};
    source from = source_of(making->from);
    histo_equalizing by = histo_equalizing_of(making, to.bins, mapping->within);
    double lo = making->options.lo, hi = making->options.hi;
    void *equalized[] = {&by, &from, &to}, *split[] = {&from, &lo, &hi, &to};
    const kernels equalizing = {(const void *)equalize<few>, (const void *)equalize<many>},
                  splitting = {(const void *)split_classes<few>, (const void *)split_classes<many>};
    switch (making->by) {
    case HISTO_MAKE_EQUALIZED:
        return launch(equalizing, map, mapping->batch, to.bins, 0, equalized, stream);
    case HISTO_MAKE_CLASSES:
        return launch(splitting, map, mapping->batch, to.bins, 0, split, stream);
    case HISTO_MAKE_MATCHED:
        return make_matched(map, mapping, making, to, stream, capturing);
    case HISTO_MAKE_LANDMARKS:
        return make_landmarks(map, mapping, making, to, stream);
    case HISTO_MAKE_PROJECTED:
        break;
    }
    return histo_cuda_map_project(map, mapping, making, stream, capturing);
}
