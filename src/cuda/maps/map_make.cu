/* Tables made on a GPU from counts: equalization, matching, landmarks, classes. A block or a cluster
 * makes a table, with the arithmetic of src/table, which the host uses, too. */
#include "cuda/maps/map_make.h"

#include <math.h>
#include <string.h>

#include "axis/quantile_rule.h"
#include "cuda/host/device.h"
#include "cuda/launch/launch.h"
#include "cuda/maps/table_block.h"
#include "cuda/memory/accumulators.h"
#include "table/otsu.h"
#include "table/polyline.h"
#include "table/shares.h"

using namespace histo::table;

/* ---- Equalization ---- */

/* A bin, and how many samples are in it. */
struct occupied {
    int64_t bin;
    word count;
};

template <typename BLOCK>
static __global__ void __launch_bounds__(BLOCK::threads)
    equalize(const __grid_constant__ histo_equalizing by, source from, target to)
{
    __shared__ occupied lowest;
    start();
    const word *counts = from.of(BLOCK::table());
    double *table = to.of(BLOCK::table());
    histo_totals of = {};
    if (to.lines && BLOCK::is_first()) table[0] = by.lo;
    const auto put = [&](int64_t bin, word sum) { to.put(table, bin, histo_equalized(&by, &of, bin, sum)); };
    BLOCK::template run_twice<word>(
        counts, by.bins, [](word count, int64_t) { return count; },
        [&](word count, int64_t bin, word before) {
            if (count && !before) BLOCK::store(&lowest, occupied{bin, count});
        },
        [&](word n) {
            BLOCK::sync();
            of.n = n;
            if (n) of.first = lowest.bin, of.least = lowest.count;
            histo_totals_limit(&of, &by);
        },
        [&](word, int64_t bin, word, word upto) {
            if (of.most >= of.n) put(bin, upto);
        });
    if (of.most >= of.n) return;
    word cut = 0;
    BLOCK::each_bin(counts, by.bins, [&](word count, int64_t) { cut += histo_cut_of(&of, count); });
    histo_totals_spread(&of, &by, BLOCK::all(cut, [](word a, word b) { return a + b; }));
    BLOCK::template run<word>(
        counts, by.bins,
        [&](word count, int64_t bin) -> word { return histo_limited(&of, count) + histo_gets_more(&of, bin); },
        [&](word, int64_t bin, word, word upto) { put(bin, upto); });
}

/* ---- Matching ---- */

struct matching {
    source from, reference;
    int64_t reference_bins;
    histo_edges edges; /* the edges of the reference */
    double *points;    /* room for 2 * `room` numbers a table; NULL: in shared memory */
    int64_t room;
};

/* Counts, and how many points of a line they give. */
struct progress {
    word sum;
    int64_t points;

    __device__ progress operator+(const progress &more) const { return {sum + more.sum, points + more.points}; }
};

/* Write the values of the reference over its cumulative shares, at its occupied bins or at its edges, and how many they
 * are. Returns the sum of the counts. */
template <typename BLOCK>
static __device__ word find_reference(const matching &m, const word *counts, bool lines, histo_polyline *line)
{
    word total = 0;
    const auto add = [&](int64_t at, word sum, double value) {
        line->x[at] = (double)sum / (double)total;
        line->y[at] = value;
    };
    /* Is there no share between two edges, or before the first? Then a line begins at a point of its own. That of the
     * lowest bin is counted apart. */
    const bool has_lowest = lines && counts[0] != 0;
    const auto begins = [&](int64_t bin) { return lines && bin > 0 && counts[bin - 1] == 0; };
    BLOCK::template run_twice<progress>(
        counts, m.reference_bins,
        [&](word count, int64_t bin) {
            return progress{count, count ? 1 + begins(bin) : 0};
        },
        [](word, int64_t, const progress &) {},
        [&](const progress &all) {
            total = all.sum;
            line->n = all.points + has_lowest;
        },
        [&](word count, int64_t bin, const progress &before, const progress &upto) {
            if (!count) return;
            int64_t at = before.points + (has_lowest && bin > 0);
            if (begins(bin) || (has_lowest && bin == 0)) add(at++, before.sum, histo_edge_at(&m.edges, bin));
            add(at, upto.sum, lines ? histo_edge_at(&m.edges, bin + 1) : histo_bin_at(&m.edges, bin));
        });
    line->extend = false;
    BLOCK::sync();
    return total;
}

template <typename BLOCK>
static __global__ void __launch_bounds__(BLOCK::threads) match(const __grid_constant__ matching m, target to)
{
    extern __shared__ double shared[];
    start();
    const word *counts = m.from.of(BLOCK::table()), *reference = m.reference.of(BLOCK::table());
    double *table = to.of(BLOCK::table());
    histo_polyline line;
    line.x = m.points ? m.points + BLOCK::table() * 2 * m.room : shared;
    line.y = line.x + m.room;
    const word of_reference = find_reference<BLOCK>(m, reference, to.lines, &line);
    word total = 0;
    int64_t point = 0; /* of the line, for the last bin of this thread */
    BLOCK::template run_twice<word>(
        counts, to.bins, [](word count, int64_t) { return count; }, [](word, int64_t, word) {},
        [&](word n) { total = of_reference ? n : 0; },
        [&](word, int64_t bin, word, word upto) {
            if (total) to.put(table, bin, histo_polyline_next(&line, (double)upto / (double)total, &point));
        });
    if (!total)
        BLOCK::put_none(to, table);
    else if (to.lines && BLOCK::is_first())
        table[0] = histo_polyline_at(&line, 0);
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

/* The value of sample number i of the `count` in a bin. */
static __device__ double sample_of(const histo_edges *edges, int64_t bin, word i, word count)
{
    const double lower = histo_edge_at(edges, bin);
    return edges->integer ? lower : histo_spread_sample(lower, histo_edge_at(edges, bin + 1), i, count);
}

template <typename BLOCK>
static __global__ void __launch_bounds__(BLOCK::threads) place_landmarks(const __grid_constant__ landmarks m, target to)
{
    __shared__ double sample[LANDMARKS][2], found[LANDMARKS], x[LANDMARKS], y[LANDMARKS];
    __shared__ word rank[LANDMARKS][2];
    start();
    const word *counts = m.from.of(BLOCK::table()), below = counts[-1], above = counts[to.bins];
    double *table = to.of(BLOCK::table());
    histo_fractional_rank place = {0, 0};
    bool none = false;
    BLOCK::template run_twice<word>(
        counts, to.bins, [](word count, int64_t) { return count; }, [](word, int64_t, word) {},
        [&](word bins) {
            const word n = below + bins + above;
            none = !n;
            if (threadIdx.x < m.n && n) {
                place = histo_place_linear((double)n, m.q[threadIdx.x]);
                for (int side = 0; side < 2; side++) {
                    const word at = histo_place_rank(place.below + side, n);
                    rank[threadIdx.x][side] = at;
                    if (at < below) sample[threadIdx.x][side] = -INFINITY;
                    if (at >= below + bins) sample[threadIdx.x][side] = INFINITY;
                }
            }
            BLOCK::sync();
        },
        [&](word count, int64_t bin, word before, word) {
            if (none) return;
            for (int r = 0; r < 2 * m.n && count; r++) {
                const word from_here = rank[r / 2][r % 2] - below - before;
                if (rank[r / 2][r % 2] >= below && from_here < count)
                    BLOCK::store(&sample[r / 2][r % 2], sample_of(&m.edges, bin, from_here, count));
            }
        });
    BLOCK::sync();
    if (threadIdx.x < m.n && !none) {
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
        const double at = to.lines ? histo_edge_at(&m.edges, bin + 1) : histo_bin_at(&m.edges, bin);
        to.put(table, bin, histo_polyline_at(&line, at));
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

/* The criterion, within 2^-48 of the exact one. All numbers are below 2^62. */
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

/* Find the split by one thread, for counts of any size. */
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

template <typename BLOCK>
static __global__ void __launch_bounds__(BLOCK::threads) split_classes(source from, double lo, double hi, target to)
{
    __shared__ split near[NEAR];
    __shared__ int found;
    __shared__ int64_t lowest, last;
    start();
    const word *counts = from.of(BLOCK::table());
    double *table = to.of(BLOCK::table());
    moment all = {0, 0};
    double largest = -1, rough = 0;
    split mine = {-1, {0, 0}};
    const auto value = [](word count, int64_t bin) { return moment{count, count * (word)bin}; };
    /* Whether a bin may be the last of the lower class: the last occupied one may not. */
    const auto splits = [&](word count, const moment &upto) { return count && upto.n < all.n; };
    const auto add_if_near = [&](const split &it) {
        if (criterion_of(it.below, all) < largest * (1 - 0x1p-40)) return;
        const int at = atomicAdd(BLOCK::in_block(0, &found), 1);
        if (at < NEAR) BLOCK::in_block(0, near)[at] = it;
    };
    BLOCK::template run_twice<moment>(
        counts, to.bins, value,
        [&](word count, int64_t bin, const moment &before) {
            rough += (double)count;
            if (count && !before.n) BLOCK::store(&lowest, bin);
        },
        [&](const moment &of) {
            all = of;
            if (BLOCK::is_first()) found = 0;
        },
        [&](word count, int64_t bin, const moment &, const moment &upto) {
            if (!splits(count, upto)) return;
            mine = {bin, upto};
            largest = fmax(largest, criterion_of(mine.below, all));
        });
    rough = BLOCK::all(rough, [](double a, double b) { return a + b; });
    if (!rough) {
        BLOCK::put_none(to, table);
        return;
    }
    largest = BLOCK::all(largest, [](double a, double b) { return fmax(a, b); });
    const bool fits = rough * (double)to.bins < 0x1p61,
               have_one = BLOCK::tile == BLOCK::threads && to.bins <= (int64_t)BLOCK::blocks() * BLOCK::tile;
    if (fits && have_one && mine.bin >= 0) add_if_near(mine);
    if (fits && !have_one)
        BLOCK::template run<moment>(counts, to.bins, value,
                                    [&](word count, int64_t bin, const moment &, const moment &upto) {
                                        if (splits(count, upto)) add_if_near({bin, upto});
                                    });
    BLOCK::sync();
    if (BLOCK::is_first()) {
        const int64_t best = !fits || found > NEAR ? split_slowly(counts, to.bins)
                             : found == 0          ? lowest
                             : found == 1          ? near[0].bin
                                                   : best_of(near, found, all);
        BLOCK::store(&last, best);
    }
    BLOCK::sync();
    BLOCK::each(to.bins, [&](int64_t bin) { to.put(table, bin, bin <= last ? lo : hi); });
}

/* ---- Launching ---- */

typedef block<256, 1, false> few;    /* each thread has a bin, for 8-bit images */
typedef block<1024, 1, true> medium; /* each thread has a bin, in a cluster of blocks */
typedef block<1024, 4, true> many;

/* The kernels for few bins, for more, and for many. */
struct kernels {
    const void *of_few, *of_medium, *of_many;
};

/* Make all tables, each from so many bins. */
static histo_status launch(const kernels &by, const histo_cuda_map *map, int64_t tables, int64_t bins, size_t shared,
                           void **args, cudaStream_t stream)
{
    const int64_t cluster = 8; /* blocks that a cluster may have on any GPU with clusters */
    if (bins <= few::tile)
        return histo_cuda_launch_early(map->base.device, by.of_few, dim3((unsigned)tables), few::threads, 1, shared,
                                       args, stream);
    const histo_cuda_device *device = histo_cuda_device_of(map->base.device);
    /* No more blocks than multiprocessors: a block has most of the registers of one. */
    const int64_t room = device->major >= 9 ? device->multiprocessors / tables : 1;
    const int64_t most = room < 1 ? 1 : room < cluster ? room : cluster;
    const bool are_medium = bins <= most * medium::tile;
    const int64_t tile = are_medium ? medium::tile : many::tile;
    unsigned blocks = 1;
    while (2 * blocks <= most && blocks * tile < bins)
        blocks *= 2;
    return histo_cuda_launch_early(map->base.device, are_medium ? by.of_medium : by.of_many,
                                   dim3((unsigned)(tables * blocks)), are_medium ? medium::threads : many::threads,
                                   blocks, shared, args, stream);
}

static source source_of(const histo_device_accumulators *base)
{
    const histo_cuda_accumulators *from = (const histo_cuda_accumulators *)base;
    return {from->counts + 1, from->batch > 1 ? from->counters : 0};
}

static histo_status make_matched(histo_cuda_map *map, const histo_mapping *mapping, const histo_making *making,
                                 target to, cudaStream_t stream, bool capturing)
{
    enum { SHARED = 24 << 10 };
    const int64_t bins = making->other_axes[0].bins;
    histo_status status = histo_cuda_edges_of(&making->other_axes[0], &map->other, stream, capturing);
    if (status != HISTO_OK) return status;
    matching m = {source_of(making->from),       source_of(making->other), bins, map->other.is, NULL,
                  to.lines ? 2 * bins + 2 : bins};
    const size_t bytes = (size_t)m.room * 2 * sizeof(double);
    const int64_t most = bins > to.bins ? bins : to.bins;
    const bool shares = bytes <= SHARED && most <= medium::tile; /* one block makes a table */
    if (!shares) status = histo_cuda_map_workspace(map, bytes * (size_t)mapping->batch, capturing);
    if (status != HISTO_OK) return status;
    if (!shares) m.points = (double *)map->workspace;
    void *args[] = {&m, &to};
    const kernels by = {(const void *)match<few>, (const void *)match<medium>, (const void *)match<many>};
    return launch(by, map, mapping->batch, most, shares ? bytes : 0, args, stream);
}

static histo_status make_landmarks(const histo_cuda_map *map, const histo_mapping *mapping, const histo_making *making,
                                   target to, cudaStream_t stream)
{
    landmarks m = {source_of(making->from), map->edges.is, making->n, making->extend, {}, {}};
    memcpy(m.q, making->q, (size_t)m.n * sizeof *m.q);
    memcpy(m.target, making->target, (size_t)m.n * sizeof *m.target);
    void *args[] = {&m, &to};
    const kernels by = {(const void *)place_landmarks<few>, (const void *)place_landmarks<medium>,
                        (const void *)place_landmarks<many>};
    return launch(by, map, mapping->batch, to.bins, 0, args, stream);
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
    const kernels equalizing = {(const void *)equalize<few>, (const void *)equalize<medium>,
                                (const void *)equalize<many>},
                  splitting = {(const void *)split_classes<few>, (const void *)split_classes<medium>,
                               (const void *)split_classes<many>};
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
