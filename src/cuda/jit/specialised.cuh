/* The reader of kernels that are compiled at run time for one class of problems: what is constant in the class is
 * constant in the code. It has the interface of the readers in joint.cuh. `known` describes the class. known.cu writes
 * it:
 *
 *     enum {
 *         NAXES, OPERANDS,
 *         WEIGHTS, MASK, WHERE,    operands, HISTO_ABSENT for those that are not given
 *         DIMS, BATCH_DIMS,        dimensions of a batch entry and of the batch
 *         CHANNELS,                batch entries counted together, such as those of an interleaved image; else 1
 *         THREADS,                 of a block
 *         SAMPLES,                 that a thread takes of each channel in a step
 *         VECTOR,                  how many of these are neighbours; they never cross the end of a run
 *         ALIGNED,                 samples are at multiples of their size
 *         SWAPPED,                 a bit for each operand whose bytes are in the other order
 *         NEAR,                    all strides fit 32 bits
 *         RAGGED,                  batch entries are segments of any length
 *         PADDED,                  runs are padded to multiples of VECTOR; their real length is that of work.row
 *         ALTERNATE,               neighbouring tiles are of neighbouring batch entries, which alternate in memory
 *         BY_VALUE,                bytes are counted by their value, work.channels being 1
 *         LOG_COPIES, SPREADS      as in lane_layout
 *         COLUMN_...               lane_private/columns.cuh: lanes of a row, neighbouring columns and consecutive rows
 * of a thread; whether each lane has counters of its own, and they are of values
 *     };
 *     static constexpr histo_dtype dtypes[OPERANDS];
 *     static constexpr int strides[OPERANDS];            bytes between neighbours of a run; 0: see the work
 *     static constexpr histo_known_chunk chunks[OPERANDS];
 *     static constexpr int column_words[OPERANDS];       32-bit words that hold a thread's columns; 0: not contiguous
 *     static constexpr histo_known_axis axes[NAXES];
 */
#ifndef CUDA_KNOWN_CUH
#define CUDA_KNOWN_CUH

#include "cuda/device/place.cuh"
#include "cuda/device/several_axes.cuh"

/* The lookups that histo_any_lookup chooses from, and more: fixed point, first floats and copies. */
typedef enum histo_known_lookup {
    HISTO_BY_POW2,
    HISTO_BY_FIXED_POINT,  /* integers of at most 16 bits on regular axes */
    HISTO_BY_CLOSED_POINT, /* … that are closed, and end at an integer */
    HISTO_BY_TABLE,
    HISTO_BY_NEAREST,
    HISTO_BY_GUESS,
    HISTO_BY_FIRSTS, /* tables of first floats in shared memory */
    HISTO_BY_LINEAR_CELLS,
    HISTO_BY_BIT_CELLS,
    HISTO_BY_SEARCH,
    /* Copies in shared memory, since lanes that read different cache lines wait for each other: of cells, and of the
     * tables of 8- and 16-bit types from the value fixed.first to fixed.last, as numbers of 8 or 16 bits. */
    HISTO_BY_SHARED_LINEAR,
    HISTO_BY_SHARED_BITS,
    HISTO_BY_SHARED_BYTES,
    HISTO_BY_SHARED_SHORTS,
    HISTO_BY_PIVOTS, /* few.cuh: a search that begins in shared memory */
    HISTO_BY_NEAR,   /* a guess, and stored edges */
    HISTO_BY_WHOLE,  /* a search among integers … */
    HISTO_BY_NEAR_WHOLE
} histo_known_lookup;

/* An axis: its lookup, and the constants that save instructions. */
typedef struct histo_known_axis {
    histo_known_lookup by;
    histo_pow2 pow2;
    histo_fixed_point fixed;
} histo_known_axis;

/* The lookup for a histo_known_lookup. */
template <histo_dtype type, histo_known_lookup by>
HISTO_IN_KERNEL auto histo_known_lookup_of(const histo_lookup *l)
{
    if constexpr (by == HISTO_BY_POW2)
        return histo_pow2_lookup<type>(l);
    else if constexpr (by == HISTO_BY_TABLE)
        return histo_table_lookup<type>(l);
    else if constexpr (by == HISTO_BY_NEAREST)
        return histo_nearest_lookup<type>(l);
    else if constexpr (by == HISTO_BY_GUESS)
        return histo_guess_lookup(l);
    else if constexpr (by == HISTO_BY_LINEAR_CELLS || by == HISTO_BY_BIT_CELLS)
        return histo_cells_lookup<type>(l, l->cells.entry, by == HISTO_BY_BIT_CELLS);
    else if constexpr (by == HISTO_BY_NEAR)
        return histo_near_lookup<type>(l);
    else if constexpr (by == HISTO_BY_WHOLE)
        return histo_whole_lookup<type>(l);
    else if constexpr (by == HISTO_BY_NEAR_WHOLE)
        return histo_near_whole_lookup<type>(l);
    else
        return histo_search_lookup<type, 8>(l); /* no other lookup takes registers */
}

/* How the VECTOR neighbours of an operand are loaded. Operands that alternate in memory, such as columns of a table,
 * share a chunk: all bytes from the first neighbour to the last, in words of `granule` bytes. */
typedef struct histo_known_chunk {
    int leader;    /* the operand that loads it, perhaps for others too */
    int granule;   /* 4, 8 or 16; 0: there is no chunk, and neighbours are loaded one by one */
    int pixel;     /* bytes from a neighbour to the next … */
    bool reversed; /* … backwards */
    bool shifted;  /* it begins at any byte; else at a multiple of the granule */
    int offset;    /* of the operand in the pixel */
} histo_known_chunk;

/* The unsigned type of so many bytes with which vectors are loaded. */
template <int BYTES>
struct histo_word_of_bytes;
template <>
struct histo_word_of_bytes<1> {
    using type = uint8_t;
};
template <>
struct histo_word_of_bytes<2> {
    using type = uint16_t;
};
template <>
struct histo_word_of_bytes<4> {
    using type = uint32_t;
};
template <>
struct histo_word_of_bytes<8> {
    using type = uint2;
};
template <>
struct histo_word_of_bytes<16> {
    using type = uint4;
};

/* ---- Tables in shared memory ---- */

/* A sample as the index of its slot in a table: its value, or its bits if it is a float. */
template <histo_dtype type>
HISTO_IN_KERNEL int32_t histo_table_value(histo_stored<type> x)
{
    return (int32_t)x;
}

template <histo_dtype type, class entry>
struct histo_shared_table_lookup : histo_one_by_one<histo_shared_table_lookup<type, entry>, histo_stored<type>> {
    const entry *slots_of; /* of the value `first` on */
    int32_t first, last;
    HISTO_MEMBER histo_shared_table_lookup(const uint32_t *words, const histo_fixed_point *range)
        : slots_of((const entry *)words), first(range->first), last(range->last)
    {
    }
    HISTO_MEMBER uint32_t slot(histo_stored<type> x) const
    {
        return slots_of[min(max(histo_table_value<type>(x), first), last) - first];
    }
};

/* Fill the table of an axis; by all threads of a block. Several loads of a thread overlap. */
template <class entry>
HISTO_IN_KERNEL void histo_load_table(const histo_lookup *l, const histo_fixed_point *range, uint32_t patterns,
                                      uint32_t *words)
{
    enum { EACH = sizeof(uint32_t) / sizeof(entry), AHEAD = 16 / EACH };
    const uint32_t last = (uint32_t)(range->last - range->first), count = last / EACH + 1;
    for (uint32_t first = threadIdx.x; first < count; first += AHEAD * blockDim.x) {
        uint32_t word[AHEAD] = {};
#pragma unroll
        for (uint32_t i = 0; i < AHEAD * EACH; i++) {
            const uint32_t at = min((first + i / EACH * blockDim.x) * EACH + i % EACH, last);
            word[i / EACH] |= __ldg(&l->table[((uint32_t)range->first + at) & (patterns - 1)])
                              << (8 * (i % EACH) * (uint32_t)sizeof(entry));
        }
#pragma unroll
        for (uint32_t i = 0; i < AHEAD; i++)
            if (first + i * blockDim.x < count) words[first + i * blockDim.x] = word[i];
    }
}

/* Fill the tables of axis A and of all later axes. */
template <class known, int A = 0>
HISTO_IN_KERNEL void histo_load_known_tables(const histo_cuda_work *w, const histo_joint *j, uint32_t *shared)
{
    if constexpr (A < known::NAXES) {
        constexpr histo_known_axis axis = known::axes[A];
        const histo_fixed_point range = axis.fixed;
        const histo_lookup *l = &w->lookups[A];
        const uint32_t patterns = 1u << (sizeof(histo_stored<known::dtypes[A]>) > 1 ? 16 : 8);
        uint32_t *words = shared + j->tables[A];
        if constexpr (axis.by == HISTO_BY_SHARED_LINEAR || axis.by == HISTO_BY_SHARED_BITS)
            histo_copy_table(l->cells.entry, l->cells.words, words);
        else if constexpr (axis.by == HISTO_BY_SHARED_BYTES)
            histo_load_table<uint8_t>(l, &range, patterns, words);
        else if constexpr (axis.by == HISTO_BY_SHARED_SHORTS)
            histo_load_table<uint16_t>(l, &range, patterns, words);
        histo_load_known_tables<known, A + 1>(w, j, shared);
    }
}

/* The axes before axis A whose search begins with pivots. */
template <class known>
HISTO_INLINE constexpr int histo_known_pivot_axes(int a)
{
    int n = 0;
    for (int before = 0; before < a; before++)
        n += known::axes[before].by == HISTO_BY_PIVOTS;
    return n;
}

/* Pivots of each such axis, so that those of all axes are at most HISTO_MAX_PIVOTS. */
enum { HISTO_MAX_PIVOTS = 1024 };

HISTO_INLINE constexpr int histo_pivots_each(int axes)
{
    int each = HISTO_MAX_PIVOTS;
    while (each * axes > HISTO_MAX_PIVOTS)
        each /= 2;
    return each;
}

template <class known, int A>
struct histo_known_pivots {
    enum { EACH = histo_pivots_each(histo_known_pivot_axes<known>(known::NAXES)) };
    enum { FIRST = EACH * histo_known_pivot_axes<known>(A) };
    using lookup = histo_pivots_lookup<known::dtypes[A], EACH>;
};

/* Tables and first floats of a kernel's reader. */
template <class reader>
struct histo_tables_of {
    static HISTO_MEMBER void load(const histo_cuda_work *w, const histo_joint *j, uint32_t *shared)
    {
        histo_load_joint_firsts(w, j, shared);
    }
};

/* Those of integers have none. */
struct histo_no_tables {
    static HISTO_MEMBER void load(const histo_cuda_work *, const histo_joint *, uint32_t *) {}
};
template <>
struct histo_tables_of<histo_pixels_reader> : histo_no_tables {
};
template <>
struct histo_tables_of<histo_u32x2_reader> : histo_no_tables {
};
template <>
struct histo_tables_of<histo_u16x2_reader> : histo_no_tables {
};

typedef struct histo_known_tile {
    int64_t entry;                      /* of the batch */
    uint32_t index[HISTO_MAX_DIMS + 1]; /* of the first sample, in the dimensions of an entry */
    const char *at[HISTO_MAX_OPERANDS]; /* the first sample if there is one dimension, else that of the entry */
    uint32_t length;                    /* samples of all channels */
} histo_known_tile;

/* Whether operand O has samples, a chunk, or neither because another one has its chunk. */
enum { HISTO_KNOWN_NOTHING, HISTO_KNOWN_SAMPLES, HISTO_KNOWN_CHUNK };

template <class known, int O>
HISTO_INLINE constexpr int histo_known_kind()
{
    if (O >= known::OPERANDS) return HISTO_KNOWN_NOTHING;
    const histo_known_chunk chunk = known::chunks[O < known::OPERANDS ? O : 0];
    return !chunk.granule ? HISTO_KNOWN_SAMPLES : chunk.leader == O ? HISTO_KNOWN_CHUNK : HISTO_KNOWN_NOTHING;
}

/* A thread's samples of operand O and of all later operands. Chunks stay words until they are looked up: taking them
 * apart would wait for them. */
template <class known, int O, bool EXISTS = (O < known::OPERANDS), int KIND = histo_known_kind<known, O>()>
struct histo_known_columns : histo_known_columns<known, O + 1> {
};

template <class known, int O>
struct histo_known_columns<known, O, true, HISTO_KNOWN_SAMPLES> : histo_known_columns<known, O + 1> {
    enum { COLUMNS = O == 0 ? (int)known::CHANNELS : 1 };
    histo_stored<known::dtypes[O]> x[COLUMNS][known::SAMPLES];
};

template <class known, int O>
struct histo_known_columns<known, O, true, HISTO_KNOWN_CHUNK> : histo_known_columns<known, O + 1> {
    static constexpr histo_known_chunk chunk = known::chunks[O];
    enum { GROUPS = known::SAMPLES / known::VECTOR, BYTES = known::VECTOR * chunk.pixel };
    enum { GRANULES = (BYTES + (chunk.shifted ? 3 : 0) + chunk.granule - 1) / chunk.granule };
    typename histo_word_of_bytes<chunk.granule>::type words[GROUPS][GRANULES];
    uint32_t beyond[GROUPS]; /* bytes of the first word before the chunk, if it is shifted */
};

/* After all operands: how many of the VECTOR neighbours exist, if runs are padded. */
template <class known, int O>
struct histo_known_columns<known, O, false, HISTO_KNOWN_NOTHING> {
    int own[known::SAMPLES / known::VECTOR];
};

/* The type of a sample's index. */
template <bool SHORT>
struct histo_index {
    using type = int64_t;
};
template <>
struct histo_index<true> {
    using type = uint32_t;
};

/* Where samples lie. Both readers below are derived from it. */
template <class known>
struct histo_known_layout {
    enum { LAST = known::BATCH_DIMS + known::DIMS - 1 /* the run's dimension */ };

    static HISTO_MEMBER histo_known_tile tile(const histo_cuda_work *w, int64_t item)
    {
        const histo_tile plain = plain_tile(w, item);
        histo_known_tile tile;
        tile.entry = plain.entry;
        tile.length = plain.length * known::CHANNELS;
#pragma unroll
        for (int d = 0; d < known::DIMS; d++)
            tile.index[d] = (uint32_t)plain.index[known::BATCH_DIMS + d];
#pragma unroll
        for (int o = 0; o < known::OPERANDS; o++) {
            const int dims = known::DIMS == 1 ? LAST + 1 : known::BATCH_DIMS;
            tile.at[o] = w->iter.base[o];
#pragma unroll
            for (int d = 0; d < dims; d++)
                tile.at[o] += plain.index[d] * w->iter.strides[o][d];
        }
        return tile;
    }

    template <int O>
    static HISTO_MEMBER int64_t stride(const histo_cuda_work *w, int d)
    {
        if (d == LAST && known::strides[O] != 0) return known::strides[O];
        return known::NEAR ? (int64_t)(int32_t)w->iter.strides[O][d] : w->iter.strides[O][d];
    }

    /* index * stride, in one instruction where that fits. */
    static HISTO_MEMBER int64_t distance(uint32_t index, int64_t stride)
    {
        return known::NEAR ? (int64_t)(int32_t)index * (int32_t)stride : (int64_t)index * stride;
    }

    /* Where sample i of the tile is in the dimensions of its entry. */
    struct place {
        uint32_t index[known::DIMS];
    };

    static HISTO_MEMBER place place_of(const histo_cuda_work *w, const histo_known_tile *tile, uint32_t i)
    {
        place at;
        if constexpr (known::DIMS == 1) {
            at.index[0] = i;
        } else {
#pragma unroll
            for (int d = known::DIMS - 1; d >= 0; d--) {
                const uint32_t sum = tile->index[d] + i;
                i = d ? histo_divide(sum, w->divisors[known::BATCH_DIMS + d]) : 0;
                at.index[d] = sum - i * (uint32_t)w->iter.shape[known::BATCH_DIMS + d];
            }
        }
        return at;
    }

    /* The place that is w->advance after this one. */
    static HISTO_MEMBER place advance(const histo_cuda_work *w, place at)
    {
        uint32_t carry = 0;
#pragma unroll
        for (int d = known::DIMS - 1; d >= 0; d--) {
            const uint32_t extent = (uint32_t)w->iter.shape[known::BATCH_DIMS + d];
            const uint32_t sum = at.index[d] + w->advance[d] + carry;
            carry = d && sum >= extent;
            at.index[d] = carry ? sum - extent : sum;
        }
        return at;
    }

    template <int O>
    static HISTO_MEMBER const char *address(const histo_cuda_work *w, const histo_known_tile *tile, const place &at)
    {
        const char *from = tile->at[O];
#pragma unroll
        for (int d = 0; d < known::DIMS; d++)
            from += distance(at.index[d], stride<O>(w, known::BATCH_DIMS + d));
        return from;
    }

    /* One sample. */
    template <int O>
    static HISTO_MEMBER auto load_one(const char *at)
    {
        histo_stored<known::dtypes[O]> x;
        if constexpr (known::ALIGNED) {
            x = *(const histo_stored<known::dtypes[O]> *)at;
        } else {
            const uint64_t bytes = histo_bytes_at(at, sizeof x);
            memcpy(&x, &bytes, sizeof x);
        }
        return in_order<O>(x);
    }

    /* A sample as its dtype has it. */
    template <int O>
    static HISTO_MEMBER auto in_order(histo_stored<known::dtypes[O]> x)
    {
        if constexpr ((known::SWAPPED >> O & 1) != 0)
            return histo_reversed(x);
        else
            return x;
    }

    /* use(lookup) of axis A. work: the histo_cuda_work, or other arguments with members of the same names. table: its
     * copy in shared memory, if it has one. */
    template <int A, class work, class function>
    static HISTO_MEMBER void look_up(const work *w, const uint32_t *table, function use)
    {
        constexpr histo_known_axis axis = known::axes[A];
        if constexpr (axis.by == HISTO_BY_SHARED_BYTES || axis.by == HISTO_BY_SHARED_SHORTS) {
            const histo_fixed_point range = axis.fixed;
            if constexpr (axis.by == HISTO_BY_SHARED_BYTES)
                use(histo_shared_table_lookup<known::dtypes[A], uint8_t>(table, &range));
            else
                use(histo_shared_table_lookup<known::dtypes[A], uint16_t>(table, &range));
        } else if constexpr (axis.by == HISTO_BY_PIVOTS) {
            using its = histo_known_pivots<known, A>;
            use(typename its::lookup(&w->lookups[A], (const double *)table + its::FIRST));
        } else if constexpr (axis.by == HISTO_BY_SHARED_LINEAR || axis.by == HISTO_BY_SHARED_BITS) {
            use(histo_cells_lookup<known::dtypes[A]>(&w->lookups[A], table, axis.by == HISTO_BY_SHARED_BITS));
        } else if constexpr (axis.by == HISTO_BY_FIXED_POINT) {
            const histo_fixed_point fixed = axis.fixed;
            use(histo_fixed_point_lookup<known::dtypes[A]>(&fixed));
        } else if constexpr (axis.by == HISTO_BY_CLOSED_POINT) {
            const histo_fixed_point fixed = axis.fixed;
            use(histo_closed_point_lookup<known::dtypes[A]>(&fixed));
        } else if constexpr (axis.by == HISTO_BY_POW2) {
            histo_lookup l = w->lookups[A];
            l.pow2 = axis.pow2;
            use(histo_pow2_lookup<known::dtypes[A]>(&l));
        } else {
            use(histo_known_lookup_of<known::dtypes[A], axis.by>(&w->lookups[A]));
        }
    }

    /* Does the mask or the range filter, operand O, leave a sample out? x: the operand's. */
    template <int O, class work>
    static HISTO_MEMBER bool is_left_out(const work *w, histo_stored<known::dtypes[O]> x)
    {
        constexpr histo_dtype type = known::dtypes[O];
        if constexpr (O == known::MASK) {
            return !(histo_sample<type>::widen(x) != 0);
        } else if constexpr (type == HISTO_F32 || type == HISTO_F16 || type == HISTO_BF16) {
            const float value = histo_sample<type>::widen(x);
            return !(value >= w->where_lo_f32 && value <= w->where_hi_f32);
        } else if constexpr (sizeof x <= 2) {
            return (int32_t)x < w->where_lo_i32 || (int32_t)x > w->where_hi_i32;
        } else {
            const auto value = histo_to_compute<type>(x);
            return value != value || histo_less(value, w->where_lo) || histo_above(value, w->where_hi);
        }
    }

  private:
    /* As histo_tile_at, with a constant number of dimensions. */
    static HISTO_MEMBER histo_tile plain_tile(const histo_cuda_work *w, int64_t item)
    {
        if constexpr (known::RAGGED) {
            return histo_tile_ragged(w, item);
        } else {
            using index = typename histo_index<known::SHORT_INDICES>::type;
            const index samples = (index)w->samples_each;
            index part = (index)item, first = (index)w->begin, last = (index)w->end;
            histo_tile tile;
            tile.entry = 0;
            if constexpr (known::BATCH_DIMS > 0) {
                const index tiles = (index)w->tiles_per_entry, length = (index)w->iter.per_batch;
                const index each = known::ALTERNATE ? (index)w->tiles / tiles : tiles;
                const index above = (index)item / each, below = (index)item - above * each;
                tile.entry = w->first_entry + (known::ALTERNATE ? below : above);
                part = known::ALTERNATE ? above : below;
                const index from = (index)tile.entry * length;
                first = first < from ? from : first;
                last = last > from + length ? from + length : last;
            }
            index begin = first + part * samples;
            const index left = begin < last ? last - begin : 0;
            tile.length = (uint32_t)(left < samples ? left : samples);
#pragma unroll
            for (int d = LAST; d >= 0; d--) {
                const index extent = (index)w->iter.shape[d];
                index rest = 0;
                if (d > 0 && known::SHORT_INDICES)
                    rest = histo_divide((uint32_t)begin, w->divisors[d]);
                else if (d > 0)
                    rest = begin / extent;
                tile.index[d] = begin - rest * extent;
                begin = rest;
            }
            return tile;
        }
    }
};

/* Counters of bytes by value: after them, one for those left out. Where runs are padded, what is not there gets the
 * counter after all others. */
enum { HISTO_KNOWN_VALUES = 256 };

template <class known>
struct histo_known_reader : histo_known_layout<known> {
    using layout = histo_known_layout<known>;
    using loaded = histo_known_columns<known, 0>;
    enum { ID = HISTO_JOINT_READER_COUNT, SAMPLES = known::SAMPLES, PER_STEP = SAMPLES * known::CHANNELS };
    enum { LEAVES_OUT = (known::MASK != HISTO_ABSENT || known::WHERE != HISTO_ABSENT) && known::CHANNELS == 1 };

    static HISTO_MEMBER histo_known_tile tile(const histo_cuda_work *w, const histo_joint *, int64_t item)
    {
        return layout::tile(w, item);
    }

    static HISTO_MEMBER void load(const histo_cuda_work *w, const histo_joint *, const histo_known_tile *tile,
                                  uint32_t at, loaded *next)
    {
        const uint32_t first = at / known::CHANNELS, length = tile->length / known::CHANNELS;
        if (!known::PADDED && first + (uint32_t)known::THREADS * SAMPLES <= length)
            load_whole(w, tile, first, next);
        else
            load_last(w, tile, first, length, next);
    }

    static HISTO_MEMBER bool slots(const histo_cuda_work *w, const histo_joint *j, const uint32_t *shared,
                                   const histo_known_tile *tile, uint32_t at, loaded *ahead, uint32_t (&slot)[PER_STEP])
    {
        const uint32_t next = at + (uint32_t)known::THREADS * PER_STEP;
        if constexpr (known::VECTOR == 1) { /* the copy would take an instruction and a register for each sample */
            slots_of(w, j, shared, *ahead, slot);
            if (next < tile->length) load(w, j, tile, next, ahead);
        } else {
            const loaded now = *ahead;
            if (next < tile->length) load(w, j, tile, next, ahead);
            slots_of(w, j, shared, now, slot);
        }
        if (next <= tile->length) return true;
        const uint32_t first = at / known::CHANNELS, length = tile->length / known::CHANNELS;
#pragma unroll
        for (int i = 0; i < PER_STEP; i++)
            slot[i] = index(first, i % SAMPLES) < length ? slot[i] : HISTO_NO_SLOT;
        return false;
    }

    /* With weights, and without channels: the slots and weights of a step that is loaded. */
    enum { NEIGHBOURS = known::VECTOR };
    static constexpr histo_dtype weight_type =
        known::WEIGHTS == HISTO_ABSENT ? HISTO_U8 : known::dtypes[known::WEIGHTS == HISTO_ABSENT ? 0 : known::WEIGHTS];
    using weight = histo_stored<weight_type>;

    static HISTO_MEMBER void weighted_slots(const histo_cuda_work *w, const histo_joint *j, const uint32_t *shared,
                                            const histo_known_tile *tile, uint32_t at, loaded *now,
                                            uint32_t (&slot)[SAMPLES], weight (&weights)[SAMPLES])
    {
        if constexpr (known::WEIGHTS != HISTO_ABSENT)
            take<known::WEIGHTS>(*now, 0, weights);
        else
#pragma unroll
            for (int k = 0; k < SAMPLES; k++)
                weights[k] = 1;
        histo_known_tile step = *tile; /* no step follows that would be loaded */
        step.length = min(tile->length, at + (uint32_t)known::THREADS * SAMPLES);
        slots(w, j, shared, &step, at, now, slot);
    }

    /* The weight of sample i of the tile, or of one near it. */
    static HISTO_MEMBER weight weight_of(const histo_cuda_work *w, const histo_known_tile *tile, uint32_t i)
    {
        if constexpr (known::WEIGHTS == HISTO_ABSENT) {
            return 1;
        } else {
            typename layout::place at = layout::place_of(w, tile, i);
            if constexpr (known::PADDED) at.index[known::DIMS - 1] = min(at.index[known::DIMS - 1], w->row - 1);
            return layout::template load_one<known::WEIGHTS>(layout::template address<known::WEIGHTS>(w, tile, at));
        }
    }

  private:
    static HISTO_MEMBER void slots_of(const histo_cuda_work *w, const histo_joint *j, const uint32_t *shared,
                                      const loaded &now, uint32_t (&slot)[PER_STEP])
    {
#pragma unroll
        for (int c = 0; c < known::CHANNELS; c++) {
            uint32_t(&its)[SAMPLES] = *(uint32_t(*)[SAMPLES])(slot + c * SAMPLES);
#pragma unroll
            for (int k = 0; k < SAMPLES; k++)
                its[k] = j->origin;
            add_axes<0>(w, j, shared, now, c, its);
            leave_out<known::MASK>(w, now, its);
            leave_out<known::WHERE>(w, now, its);
#pragma unroll
            for (int k = 0; k < SAMPLES; k++) {
                its[k] += (uint32_t)c * w->channel_counters;
                if (known::PADDED && k % known::VECTOR >= now.own[k / known::VECTOR])
                    its[k] = known::BY_VALUE ? HISTO_KNOWN_VALUES + 1 : (uint32_t)w->counters;
            }
        }
    }

    template <int O>
    static HISTO_MEMBER histo_known_columns<known, O> &column(loaded &of)
    {
        return of;
    }

    template <int O>
    static HISTO_MEMBER const histo_known_columns<known, O> &column(const loaded &of)
    {
        return of;
    }

    /* The index in the tile of a thread's k-th sample of the step `at`. */
    static HISTO_MEMBER uint32_t index(uint32_t at, int k)
    {
        return at + ((uint32_t)(k / known::VECTOR) * known::THREADS + threadIdx.x) * known::VECTOR +
               (uint32_t)(k % known::VECTOR);
    }

    /* ---- Loading ---- */

    /* The chunk of the k-th sample and its neighbours, of which the first `own` exist. */
    template <int O>
    static HISTO_MEMBER void load_chunk(const histo_cuda_work *w, const char *from, int k, int own, loaded *next)
    {
        auto &it = column<O>(*next);
        constexpr histo_known_chunk chunk = known::chunks[O];
        enum { GRANULE = chunk.granule, GRANULES = sizeof it.words[0] / chunk.granule };
        using word = typename histo_word_of_bytes<GRANULE>::type;
        using storage = histo_stored<known::dtypes[O]>;
        const char *first = from - chunk.offset - (chunk.reversed ? (known::VECTOR - 1) * chunk.pixel : 0);
        const uint32_t beyond = chunk.shifted ? (uint32_t)(uint64_t)first % GRANULE : 0;
        const char *at = first - beyond;
        const int begin = (int)beyond + (chunk.reversed ? (known::VECTOR - own) * chunk.pixel : 0);
        const int end = (int)beyond + (chunk.reversed ? (int)known::VECTOR : own) * chunk.pixel;
        if constexpr (chunk.shifted) it.beyond[k / known::VECTOR] = beyond;
        constexpr bool is_filled =
            !chunk.shifted && chunk.pixel == sizeof(storage) * (O == 0 ? (int)known::CHANNELS : 1);
        if (own <= 0) return;
        if ((is_filled && own == known::VECTOR) || at + (end + GRANULE - 1) / GRANULE * GRANULE <= w->ends[O]) {
#pragma unroll
            for (int i = 0; i < GRANULES; i++)
                if (i * GRANULE < end && (i + 1) * GRANULE > begin)
                    it.words[k / known::VECTOR][i] = __ldcs((const word *)at + i);
        } else { /* byte by byte, as nothing beyond the last sample may be read */
            uint32_t bytes[GRANULES * GRANULE / 4] = {};
            const int last = w->ends[O] - at < end ? (int)(w->ends[O] - at) : end;
#pragma unroll 1
            for (int i = begin; i < last; i++) {
                const uint32_t byte = (uint32_t) * (const volatile uint8_t *)(at + i) << (8 * (i % 4));
#pragma unroll
                for (int n = 0; n < (int)(sizeof bytes / 4); n++) /* keeps bytes[] in registers */
                    bytes[n] |= n == i / 4 ? byte : 0;
            }
            memcpy(it.words[k / known::VECTOR], bytes, sizeof bytes);
        }
    }

    /* N neighbours of a thread, beginning with its k-th sample, of which the first `own` exist. */
    template <int O, int N>
    static HISTO_MEMBER void load_group(const histo_cuda_work *w, const char *at, int k, int own, loaded *next)
    {
        if constexpr (histo_known_kind<known, O>() == HISTO_KNOWN_CHUNK) {
            load_chunk<O>(w, at, k, own, next);
        } else if constexpr (histo_known_kind<known, O>() == HISTO_KNOWN_SAMPLES) {
            auto &x = column<O>(*next).x;
#pragma unroll
            for (int c = 0; c < histo_known_columns<known, O>::COLUMNS; c++) {
                const char *from = at + (O == 0 && c ? c * w->channel_stride : 0);
#pragma unroll
                for (int n = 0; n < N; n++)
                    if (n < own)
                        x[c][k + n] =
                            layout::template load_one<O>(from + n * layout::template stride<O>(w, layout::LAST));
            }
        }
    }

    /* Operand O and all later operands. */
    template <int O, int N>
    static HISTO_MEMBER void load_operands(const histo_cuda_work *w, const histo_known_tile *tile,
                                           const typename layout::place &at, int k, int own, loaded *next)
    {
        if constexpr (O < known::OPERANDS) {
            load_group<O, N>(w, layout::template address<O>(w, tile, at), k, own, next);
            load_operands<O + 1, N>(w, tile, at, k, own, next);
        }
    }

    /* Of the neighbours from a place on, how many are in its run? At most VECTOR. */
    static HISTO_MEMBER int own_of(const histo_cuda_work *w, const typename layout::place &at)
    {
        if constexpr (!known::PADDED) return known::VECTOR;
        return max(min((int)w->row - (int)at.index[known::DIMS - 1], (int)known::VECTOR), 0);
    }

    static HISTO_MEMBER void load_whole(const histo_cuda_work *w, const histo_known_tile *tile, uint32_t first,
                                        loaded *next)
    {
        typename layout::place at = layout::place_of(w, tile, index(first, 0));
#pragma unroll
        for (int k = 0; k < SAMPLES; k += known::VECTOR) {
            load_operands<0, known::VECTOR>(w, tile, at, k, known::VECTOR, next);
            if constexpr (known::DIMS > 1)
                at = layout::advance(w, at);
            else
                at.index[0] += known::THREADS * known::VECTOR;
        }
    }

    /* Neighbours that are beyond the end of the tile are not loaded. */
    static HISTO_MEMBER void load_last(const histo_cuda_work *w, const histo_known_tile *tile, uint32_t first,
                                       uint32_t length, loaded *next)
    {
#pragma unroll
        for (int k = 0; k < SAMPLES; k += known::VECTOR) {
            const uint32_t i = index(first, k);
            next->own[k / known::VECTOR] = 0;
            if (i >= length) continue;
            const typename layout::place at = layout::place_of(w, tile, i);
            const int own = min(own_of(w, at), (int)(length - i));
            next->own[k / known::VECTOR] = own;
            load_operands<0, known::VECTOR>(w, tile, at, k, own, next);
        }
    }

    /* ---- Taking samples out of what was loaded ---- */

    /* Operand O's samples, of channel c. */
    template <int O>
    static HISTO_MEMBER void take(const loaded &now, int c, histo_stored<known::dtypes[O]> (&x)[SAMPLES])
    {
        constexpr histo_known_chunk chunk = known::chunks[O];
        using storage = histo_stored<known::dtypes[O]>;
        if constexpr (chunk.granule == 0) {
#pragma unroll
            for (int k = 0; k < SAMPLES; k++)
                x[k] = column<O>(now).x[c][k];
        } else {
            const auto &it = column<chunk.leader>(now);
            enum { BYTES = known::VECTOR * chunk.pixel, WORDS = (BYTES + 3) / 4 };
#pragma unroll
            for (int k = 0; k < SAMPLES; k += known::VECTOR) {
                uint32_t raw[sizeof it.words[0] / 4], words[WORDS];
                memcpy(raw, it.words[k / known::VECTOR], sizeof raw);
#pragma unroll
                for (int i = 0; i < WORDS; i++)
                    words[i] = !chunk.shifted ? raw[i]
                                              : __funnelshift_r(raw[i], i + 1 < (int)(sizeof raw / 4) ? raw[i + 1] : 0,
                                                                8 * it.beyond[k / known::VECTOR]);
                char bytes[4 * WORDS];
                memcpy(bytes, words, sizeof bytes);
#pragma unroll
                for (int n = 0; n < known::VECTOR; n++) {
                    memcpy(&x[k + n],
                           bytes + (chunk.reversed ? known::VECTOR - 1 - n : n) * chunk.pixel + chunk.offset +
                               (O == 0 ? c * (int)sizeof(storage) : 0),
                           sizeof(storage));
                    x[k + n] = layout::template in_order<O>(x[k + n]);
                }
            }
        }
    }

    /* ---- Looking up ---- */

    /* Axis A and all later axes. */
    template <int A>
    static HISTO_MEMBER void add_axes(const histo_cuda_work *w, const histo_joint *j, const uint32_t *shared,
                                      const loaded &now, int c, uint32_t (&slot)[SAMPLES])
    {
        if constexpr (A < known::NAXES) {
            histo_stored<known::dtypes[A]> x[SAMPLES];
            take<A>(now, c, x);
            if constexpr (known::BY_VALUE) {
#pragma unroll
                for (int k = 0; k < SAMPLES; k++)
                    slot[k] = (uint8_t)x[k];
            } else if constexpr (known::axes[A].by == HISTO_BY_FIRSTS) {
                float numbers[SAMPLES];
#pragma unroll
                for (int k = 0; k < SAMPLES; k++)
                    numbers[k] = histo_sample<known::dtypes[A]>::widen(x[k]);
                histo_add_by_firsts(&w->lookups[A], (uint32_t)__cvta_generic_to_shared(shared) + j->firsts[A], numbers,
                                    w->slot_strides[A], slot, SAMPLES);
            } else {
                uint32_t its[SAMPLES];
                layout::template look_up<A>(w, shared + j->tables[A], [&](auto lookup) { lookup.slots(x, its); });
#pragma unroll
                for (int k = 0; k < SAMPLES; k++)
                    slot[k] += known::NAXES > 1 ? its[k] * w->slot_strides[A] : its[k];
            }
            add_axes<A + 1>(w, j, shared, now, c, slot);
        }
    }

    /* Samples that the mask or the range filter, operand O, leaves out get the slot after all others. */
    template <int O>
    static HISTO_MEMBER void leave_out(const histo_cuda_work *w, const loaded &now, uint32_t (&slot)[SAMPLES])
    {
        if constexpr (O != HISTO_ABSENT) {
            const uint32_t none = known::BY_VALUE ? (uint32_t)HISTO_KNOWN_VALUES : w->slots;
            histo_stored<known::dtypes[O]> x[SAMPLES];
            take<O>(now, 0, x);
#pragma unroll
            for (int k = 0; k < SAMPLES; k++)
                slot[k] = layout::template is_left_out<O>(w, x[k]) ? none : slot[k];
        }
    }
};

template <class known>
struct histo_tables_of<histo_known_reader<known>> {
    static HISTO_MEMBER void load(const histo_cuda_work *w, const histo_joint *j, uint32_t *shared)
    {
        histo_load_joint_firsts(w, j, shared);
        histo_load_known_tables<known>(w, j, shared);
    }
};

/* The same for kernels that sum weights, sample by sample: the interface of histo_any_weighted (weight.cuh). */
template <class known>
struct histo_known_weighted : histo_known_layout<known> {
    using layout = histo_known_layout<known>;

    /* The values of operand O and of all later operands. */
    template <int O, bool EXISTS = (O < known::OPERANDS)>
    struct values : values<O + 1> {
        histo_stored<known::dtypes[O]> x;
    };
    template <int O>
    struct values<O, false> {
    };

    struct place {
        values<0> all;
        const char *weight;

        template <int O>
        HISTO_MEMBER auto value() const
        {
            return static_cast<const values<O> &>(all).x;
        }
    };

    static HISTO_MEMBER place place_of(const histo_cuda_work *w, const histo_known_tile *tile, uint32_t i)
    {
        place it;
        it.weight = NULL;
        load_values<0>(w, tile, layout::place_of(w, tile, i), &it);
        return it;
    }

    /* pivots: of all axes that have them. */
    template <class work>
    static HISTO_MEMBER uint32_t slot(const work *w, const place *it, const uint32_t *pivots = NULL)
    {
        if (is_left_out<known::MASK>(w, it) || is_left_out<known::WHERE>(w, it)) return w->slots;
        return slot_from<0>(w, it, pivots);
    }

    static HISTO_MEMBER const char *weight(const histo_cuda_work *, const place *it) { return it->weight; }

    /* use(weight), in the compute type of the weight's dtype; use(1.0) if there are no weights. */
    template <class work, class function>
    static HISTO_MEMBER auto with_weight(const work *, const place *it, function use)
    {
        if constexpr (known::WEIGHTS == HISTO_ABSENT)
            return use(1.0);
        else
            return use(histo_to_compute<known::dtypes[known::WEIGHTS]>(it->template value<known::WEIGHTS>()));
    }

  private:
    template <int O>
    static HISTO_MEMBER void load_values(const histo_cuda_work *w, const histo_known_tile *tile,
                                         const typename layout::place &at, place *it)
    {
        if constexpr (O < known::OPERANDS) {
            const char *from = layout::template address<O>(w, tile, at);
            static_cast<values<O> &>(it->all).x = layout::template load_one<O>(from);
            if constexpr (O == known::WEIGHTS) it->weight = from;
            load_values<O + 1>(w, tile, at, it);
        }
    }

    template <int O, class work>
    static HISTO_MEMBER bool is_left_out(const work *w, const place *it)
    {
        if constexpr (O == HISTO_ABSENT)
            return false;
        else
            return layout::template is_left_out<O>(w, it->template value<O>());
    }

    /* What axis A and all later axes contribute to the slot. */
    template <int A, class work>
    static HISTO_MEMBER uint32_t slot_from(const work *w, const place *it, const uint32_t *pivots)
    {
        if constexpr (A == known::NAXES) {
            return 0;
        } else {
            uint32_t its = 0;
            layout::template look_up<A>(w, pivots, [&](auto lookup) { its = lookup.slot(it->template value<A>()); });
            return w->slot_strides[A] * its + slot_from<A + 1>(w, it, pivots);
        }
    }
};

#endif
