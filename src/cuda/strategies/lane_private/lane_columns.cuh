/* Columns of an array, a histogram each: neighbours in memory belong to different batch entries.
 *
 * A block takes a band of columns and walks down some of their rows. Lanes of a warp read neighbouring columns, so that
 * memory is read once, and count in counters of their own, each in its bank: nothing conflicts, whatever the samples
 * are. Warps take groups of consecutive rows; the samples of the next group are loaded before those of this one are
 * counted. Few columns are repeated over the lanes, which then read several rows.
 *
 * The kernel's own constants, which lane_columns.cu sets:
 *
 *     column_lanes      of a row
 *     column_vector     neighbouring columns of a thread
 *     column_rows       consecutive rows of a thread
 *     column_private    each lane has counters of its own …
 *     column_by_value   … which are of values
 *     column_words      see column_words_of */
#ifndef CUDA_LANE_COLUMNS_CUH
#define CUDA_LANE_COLUMNS_CUH

#include "cuda/jit/specialised_layout.cuh"
#include "cuda/strategies/lane_private/lane_counters.cuh"

namespace histo::lane_private
{

typedef struct column_items {
    int64_t rows, rows_each; /* rows of an item, at most */
    uint32_t columns, bands, parts, items;
    uint32_t words;                      /* of counters */
    uint32_t column_counters;            /* of one column in shared memory */
    const char *end[HISTO_MAX_OPERANDS]; /* nothing is read from there on */
} column_items;

/* How many 32-bit words hold a thread's columns of an operand; 0: they are not contiguous. */
enum { COLUMN_WORDS_BITS = 2 };

template <class constants>
HISTO_INLINE constexpr int column_words_of(int operand)
{
    return constants::column_words >> COLUMN_WORDS_BITS * operand & ((1 << COLUMN_WORDS_BITS) - 1);
}

/* A thread's samples of operand O and of all later operands: as 32-bit words, two where they may be misaligned, until
 * they are looked up. */
template <class constants, int O, bool EXISTS = (O < constants::operands)>
struct column_loaded : column_loaded<constants, O + 1> {
    using storage = histo_stored<constants::dtypes[O]>;
    enum { WORDS = column_words_of<constants>(O), EACH = WORDS ? (int)WORDS : (int)constants::column_vector };
    histo_word_of_bytes<WORDS ? 4 : (int)sizeof(storage)> raw[constants::column_rows][EACH];
};

template <class constants, int O>
struct column_loaded<constants, O, false> {
};

/* A thread's part of an item: some rows of a band of columns. */
template <class constants>
struct column_band : histo_specialised_layout<constants> {
    using layout = histo_specialised_layout<constants>;
    using loaded = column_loaded<constants, 0>;
    enum { WARP = 32, V = constants::column_vector, U = constants::column_rows, LANES = constants::column_lanes };
    enum { ROWS_OF_WARP = V > 1 ? 1 : WARP / LANES, WIDTH = V > 1 ? WARP *V : LANES /* columns */ };
    enum { GROUP = U * V < 8 ? U * V : 8 /* samples that are looked up together */ };
    static_assert(GROUP % V == 0 && U * V % GROUP == 0, "whole rows");
    enum { COPIES = constants::column_private ? (int)ROWS_OF_WARP : 1 };
    enum { STRIDE = constants::column_private ? (int)WARP : LANES /* from a counter to the next of a vector's */ };

    int64_t outer;                       /* index in the batch dimensions before that of columns */
    uint32_t first;                      /* column of the band */
    int own;                             /* a thread's columns that exist, from its first one on */
    uint32_t mine;                       /* index of the lane's counters */
    int64_t row, last;                   /* of the thread's first sample; the rows of the item end at last */
    const char *at[constants::operands]; /* the thread's first sample */

    HISTO_MEMBER column_band(const histo_cuda_work *w, const column_items *in, uint32_t item)
    {
        const uint32_t lane = threadIdx.x % WARP, sub = V > 1 ? 0 : lane / LANES;
        const uint32_t tile = item / in->parts, part = item - tile * in->parts, band = tile % in->bands;
        outer = tile / in->bands;
        first = band * WIDTH;
        const uint32_t column = first + (V > 1 ? lane * V : lane % LANES);
        own = column < in->columns && sub < ROWS_OF_WARP ? (int)min(in->columns - column, (uint32_t)V) : 0;
        mine = constants::column_private ? lane : lane % LANES;
        const int64_t begin = part * in->rows_each;
        last = begin + in->rows_each < in->rows ? begin + in->rows_each : in->rows;
        row = begin + threadIdx.x / WARP * (U * ROWS_OF_WARP) + sub;
#pragma unroll
        for (int o = 0; o < constants::operands; o++) {
            const int64_t *strides = w->iter.strides[o];
            at[o] =
                w->iter.base[o] + column * strides[constants::batch_dims - 1] + row * strides[constants::batch_dims];
            int64_t left = outer;
#pragma unroll
            for (int d = constants::batch_dims - 2; d >= 0; d--) {
                const int64_t above = d ? left / w->iter.shape[d] : 0;
                at[o] += (left - above * w->iter.shape[d]) * strides[d];
                left = above;
            }
        }
    }

    /* ---- Loading ---- */

    template <int O>
    HISTO_MEMBER void load_row(const histo_cuda_work *w, const column_items *in, const char *from, int u,
                               loaded *next) const
    {
        auto &raw = static_cast<column_loaded<constants, O> &>(*next).raw;
        using storage = histo_stored<constants::dtypes[O]>;
        if constexpr (column_words_of<constants>(O) == 1) {
            raw[u][0] = *(const uint32_t *)from;
        } else if constexpr (column_words_of<constants>(O) == 2) {
            const uint32_t beyond = (uint32_t)(uint64_t)from % 4;
            const char *word = from - beyond;
            const bool reaches = beyond + (uint32_t)own * sizeof(storage) > 4;
            if (word + (reaches ? 8 : 4) <= in->end[O]) {
                raw[u][0] = *(const uint32_t *)word;
                raw[u][1] = reaches ? *(const uint32_t *)(word + 4) : 0;
            } else {
                uint64_t all = 0;
#pragma unroll 1
                for (int i = own * (int)sizeof(storage) - 1; i >= 0; i--)
                    all = all << 8 | (uint8_t)from[i];
                all <<= 8 * beyond;
                raw[u][0] = (uint32_t)all;
                raw[u][1] = (uint32_t)(all >> 32);
            }
        } else {
#pragma unroll
            for (int v = 0; v < V; v++)
                if (v == 0 || v < own) {
                    const auto x =
                        layout::template load_one<O>(from + v * w->iter.strides[O][constants::batch_dims - 1]);
                    memcpy(&raw[u][v], &x, sizeof x);
                }
        }
    }

    template <int O>
    HISTO_MEMBER void load_operands(const histo_cuda_work *w, const column_items *in, int64_t down, int u,
                                    loaded *next) const
    {
        if constexpr (O < constants::operands) {
            load_row<O>(w, in, at[O] + down * w->iter.strides[O][constants::batch_dims], u, next);
            load_operands<O + 1>(w, in, down, u, next);
        }
    }

    /* The rows from `down` rows below the first ones on. */
    HISTO_MEMBER void load(const histo_cuda_work *w, const column_items *in, int64_t down, loaded *next) const
    {
#pragma unroll
        for (int u = 0; u < U; u++)
            if (own && row + down + u * ROWS_OF_WARP < last) load_operands<0>(w, in, down + u * ROWS_OF_WARP, u, next);
    }

    /* ---- Looking up ---- */

    /* A thread's samples of operand O from the k-th on, of the rows that begin `down` rows below the first ones. */
    template <int O>
    HISTO_MEMBER void take(const histo_cuda_work *w, const loaded *from, int64_t down, int k,
                           histo_stored<constants::dtypes[O]> (&x)[GROUP]) const
    {
        const auto &raw = static_cast<const column_loaded<constants, O> &>(*from).raw;
        if constexpr (column_words_of<constants>(O) > 0) {
#pragma unroll
            for (int i = 0; i < GROUP; i += V) {
                const int u = (k + i) / V;
                uint32_t word = raw[u][0];
                if constexpr (column_words_of<constants>(O) == 2) {
                    const uint32_t below = (uint32_t)down + (uint32_t)(u * ROWS_OF_WARP);
                    const uint32_t address =
                        (uint32_t)(uint64_t)at[O] + below * (uint32_t)w->iter.strides[O][constants::batch_dims];
                    word = __funnelshift_r(word, raw[u][1], 8 * (address % 4));
                }
                memcpy(&x[i], &word, V * sizeof x[0]);
            }
        } else {
#pragma unroll
            for (int i = 0; i < GROUP; i++)
                memcpy(&x[i], &raw[(k + i) / V][(k + i) % V], sizeof x[0]);
        }
    }

    template <int A>
    HISTO_MEMBER void add_axes(const histo_cuda_work *w, const loaded *from, int64_t down, int k,
                               uint32_t (&slot)[GROUP]) const
    {
        if constexpr (A < constants::naxes) {
            histo_stored<constants::dtypes[A]> x[GROUP];
            uint32_t its[GROUP];
            take<A>(w, from, down, k, x);
            if constexpr (constants::column_by_value)
#pragma unroll
                for (int i = 0; i < GROUP; i++)
                    its[i] = (uint8_t)x[i];
            else
                layout::template look_up<A>(w, NULL, [&](auto lookup) { lookup.slots(x, its); });
#pragma unroll
            for (int i = 0; i < GROUP; i++)
                slot[i] = A == 0 && constants::naxes == 1 ? its[i] : slot[i] + its[i] * w->slot_strides[A];
            add_axes<A + 1>(w, from, down, k, slot);
        }
    }

    template <int O>
    HISTO_MEMBER void leave_out(const histo_cuda_work *w, const loaded *from, int64_t down, int k,
                                uint32_t (&slot)[GROUP]) const
    {
        if constexpr (O != HISTO_ABSENT) {
            histo_stored<constants::dtypes[O]> x[GROUP];
            take<O>(w, from, down, k, x);
#pragma unroll
            for (int i = 0; i < GROUP; i++)
                slot[i] = layout::template is_left_out<O>(w, x[i])
                              ? (constants::column_by_value ? (uint32_t)VALUES : w->slots)
                              : slot[i];
        }
    }

    /* A lane without a column counts in its own counters too, which are not merged; it must not if others share them.
     */
    template <bool WHOLE>
    HISTO_MEMBER void count_rows(const histo_cuda_work *w, const loaded *from, int64_t down, unsigned int *shared) const
    {
#pragma unroll
        for (int k = 0; k < U * V; k += GROUP) {
            uint32_t slot[GROUP] = {};
            add_axes<0>(w, from, down, k, slot);
            leave_out<constants::mask>(w, from, down, k, slot);
            leave_out<constants::where>(w, from, down, k, slot);
#pragma unroll
            for (int i = 0; i < GROUP; i++)
                if (WHOLE || row + down + (k + i) / V * ROWS_OF_WARP < last)
                    atomicAdd(&shared[slot[i] * (V * STRIDE) + (k + i) % V * STRIDE + mine], 1u);
        }
    }

    HISTO_MEMBER void count(const histo_cuda_work *w, const loaded *from, int64_t down, unsigned int *shared) const
    {
        if (!constants::column_private && own == 0) return;
        if (row + down + (U - 1) * ROWS_OF_WARP < last)
            count_rows<true>(w, from, down, shared);
        else
            count_rows<false>(w, from, down, shared);
    }

    /* Add the counters to the histograms and clear them. Eight neighbouring cells have different banks, and four
     * counters of one are a sector of the histogram. */
    HISTO_MEMBER void merge(const histo_cuda_work *w, const column_items *in, unsigned int *shared) const
    {
        enum { CELLS = 8, SLOTS = WARP / CELLS, CELL_GROUPS = (WIDTH + CELLS - 1) / CELLS };
        const uint32_t lane = threadIdx.x % WARP;
        const uint32_t groups = (in->column_counters + SLOTS - 1) / SLOTS * CELL_GROUPS;
        __syncthreads();
        for (uint32_t i = threadIdx.x / WARP; i < groups; i += constants::threads / WARP) {
            const uint32_t counter = i / CELL_GROUPS * SLOTS + lane % SLOTS;
            const uint32_t cell = i % CELL_GROUPS * CELLS + lane / SLOTS;
            const uint32_t column = first + (V > 1 ? cell % WARP * V + cell / WARP : cell);
            if (counter >= in->column_counters || cell >= WIDTH) continue;
            unsigned int sum = 0;
#pragma unroll
            for (int copy = 0; copy < COPIES; copy++) {
                unsigned int *at = &shared[counter * (V * STRIDE) + cell + copy * LANES];
                sum += *at;
                *at = 0;
            }
            if (!sum || column >= in->columns) continue;
            uint32_t slot = counter;
            if (constants::column_by_value) slot = counter < VALUES ? w->lookups[0].table[counter] : w->slots;
            atomicAdd(&w->counts[(outer * in->columns + column) * w->counters + slot], (unsigned long long)sum);
        }
        __syncthreads();
    }
};

template <class constants>
static __global__ void __launch_bounds__(1024, 1)
    count_columns(const __grid_constant__ histo_cuda_work work, const __grid_constant__ column_items in)
{
    using band = column_band<constants>;
    extern __shared__ unsigned int shared[];
    histo_clear_shared(shared, in.words);
    for (uint32_t item = blockIdx.x; item < in.items; item += gridDim.x) {
        const band its(&work, &in, item);
        const int64_t rows = its.last - item % in.parts * in.rows_each;
        typename band::loaded now, next = {};
        its.load(&work, &in, 0, &next);
        for (int64_t down = 0; down < rows; down += constants::threads / 32 * band::U * band::ROWS_OF_WARP) {
            now = next;
            its.load(&work, &in, down + constants::threads / 32 * band::U * band::ROWS_OF_WARP, &next);
            its.count(&work, &now, down, shared);
        }
        its.merge(&work, &in, shared);
    }
}

} // namespace histo::lane_private

#endif
