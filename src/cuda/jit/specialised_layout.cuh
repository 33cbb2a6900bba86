/* Where the samples of a specialised kernel lie, and the lookup of one sample. The readers are derived from it. */
#ifndef CUDA_JIT_SPECIALISED_LAYOUT_CUH
#define CUDA_JIT_SPECIALISED_LAYOUT_CUH

#include "cuda/jit/record_function.cuh"
#include "cuda/jit/specialised_lookup.cuh"

typedef struct histo_specialised_tile {
    int64_t entry;                      /* of the batch */
    uint32_t index[HISTO_MAX_DIMS + 1]; /* of the first sample, in the dimensions of an entry */
    const char *at[HISTO_MAX_OPERANDS]; /* the first sample if there is one dimension, else that of the entry */
    uint32_t length;                    /* samples of all channels */
} histo_specialised_tile;

/* The type of a sample's index. */
template <bool SHORT>
struct histo_index {
    using type = int64_t;
};
template <>
struct histo_index<true> {
    using type = uint32_t;
};

template <class constants>
struct histo_specialised_layout {
    enum { LAST = constants::batch_dims + constants::dims - 1 /* the run's dimension */ };

    static HISTO_MEMBER histo_specialised_tile tile(const histo_cuda_work *w, int64_t item)
    {
        const histo_tile plain = plain_tile(w, item);
        histo_specialised_tile tile;
        tile.entry = plain.entry;
        tile.length = plain.length * constants::channels;
#pragma unroll
        for (int d = 0; d < constants::dims; d++)
            tile.index[d] = (uint32_t)plain.index[constants::batch_dims + d];
#pragma unroll
        for (int o = 0; o < constants::operands; o++) {
            const int dims = constants::dims == 1 ? LAST + 1 : constants::batch_dims;
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
        if (d == LAST && constants::strides[O] != 0) return constants::strides[O];
        return constants::near ? (int64_t)(int32_t)w->iter.strides[O][d] : w->iter.strides[O][d];
    }

    /* index * stride, in one instruction where that fits. */
    static HISTO_MEMBER int64_t distance(uint32_t index, int64_t stride)
    {
        return constants::near ? (int64_t)(int32_t)index * (int32_t)stride : (int64_t)index * stride;
    }

    /* Where sample i of the tile is in the dimensions of its entry. */
    struct place {
        uint32_t index[constants::dims];
    };

    static HISTO_MEMBER place place_of(const histo_cuda_work *w, const histo_specialised_tile *tile, uint32_t i)
    {
        place at;
        if constexpr (constants::dims == 1) {
            at.index[0] = i;
        } else {
#pragma unroll
            for (int d = constants::dims - 1; d >= 0; d--) {
                const uint32_t sum = tile->index[d] + i;
                i = d ? histo_divide(sum, w->divisors[constants::batch_dims + d]) : 0;
                at.index[d] = sum - i * (uint32_t)w->iter.shape[constants::batch_dims + d];
            }
        }
        return at;
    }

    /* The place that is w->advance after this one. */
    static HISTO_MEMBER place advance(const histo_cuda_work *w, place at)
    {
        uint32_t carry = 0;
#pragma unroll
        for (int d = constants::dims - 1; d >= 0; d--) {
            const uint32_t extent = (uint32_t)w->iter.shape[constants::batch_dims + d];
            const uint32_t sum = at.index[d] + w->advance[d] + carry;
            carry = d && sum >= extent;
            at.index[d] = carry ? sum - extent : sum;
        }
        return at;
    }

    template <int O>
    static HISTO_MEMBER const char *address(const histo_cuda_work *w, const histo_specialised_tile *tile,
                                            const place &at)
    {
        const char *from = tile->at[O];
#pragma unroll
        for (int d = 0; d < constants::dims; d++)
            from += distance(at.index[d], stride<O>(w, constants::batch_dims + d));
        return from;
    }

    /* One sample. */
    template <int O>
    static HISTO_MEMBER auto load_one(const char *at)
    {
        histo_stored<constants::dtypes[O]> x;
        if constexpr ((constants::records >> O & 1) != 0) {
            x = histo_record_function<O>::number(at);
        } else if constexpr (constants::aligned) {
            x = *(const histo_stored<constants::dtypes[O]> *)at;
        } else {
            const uint64_t bytes = histo_bytes_at(at, sizeof x);
            memcpy(&x, &bytes, sizeof x);
        }
        return in_order<O>(x);
    }

    /* A sample as its dtype has it. */
    template <int O>
    static HISTO_MEMBER auto in_order(histo_stored<constants::dtypes[O]> x)
    {
        if constexpr ((constants::swapped >> O & 1) != 0)
            return histo_reversed(x);
        else
            return x;
    }

    /* use(lookup) of axis A. work: the histo_cuda_work, or other arguments with members of the same names. table: its
     * copy in shared memory, if it has one. */
    template <int A, class work, class function>
    static HISTO_MEMBER void look_up(const work *w, const uint32_t *table, function use)
    {
        constexpr histo_specialised_axis axis = constants::axes[A];
        if constexpr (axis.by == HISTO_BY_SHARED_BYTES || axis.by == HISTO_BY_SHARED_SHORTS) {
            const histo_fixed_point range = axis.fixed;
            if constexpr (axis.by == HISTO_BY_SHARED_BYTES)
                use(histo_shared_table_lookup<constants::dtypes[A], uint8_t>(table, &range));
            else
                use(histo_shared_table_lookup<constants::dtypes[A], uint16_t>(table, &range));
        } else if constexpr (axis.by == HISTO_BY_PIVOTS) {
            using its = histo_specialised_pivots<constants, A>;
            use(typename its::lookup(&w->lookups[A], (const double *)table + its::FIRST));
        } else if constexpr (axis.by == HISTO_BY_SHARED_LINEAR || axis.by == HISTO_BY_SHARED_BITS) {
            use(histo_cells_lookup<constants::dtypes[A]>(&w->lookups[A], table, axis.by == HISTO_BY_SHARED_BITS));
        } else if constexpr (axis.by == HISTO_BY_FIXED_POINT) {
            const histo_fixed_point fixed = axis.fixed;
            use(histo_fixed_point_lookup<constants::dtypes[A]>(&fixed));
        } else if constexpr (axis.by == HISTO_BY_CLOSED_POINT) {
            const histo_fixed_point fixed = axis.fixed;
            use(histo_closed_point_lookup<constants::dtypes[A]>(&fixed));
        } else if constexpr (axis.by == HISTO_BY_POW2) {
            histo_lookup l = w->lookups[A];
            l.pow2 = axis.pow2;
            use(histo_pow2_lookup<constants::dtypes[A]>(&l));
        } else {
            use(histo_specialised_lookup_of<constants::dtypes[A], axis.by>(&w->lookups[A]));
        }
    }

    /* Does the mask or the range filter, operand O, leave a sample out? x: the operand's. */
    template <int O, class work>
    static HISTO_MEMBER bool is_left_out(const work *w, histo_stored<constants::dtypes[O]> x)
    {
        constexpr histo_dtype type = constants::dtypes[O];
        if constexpr (O == constants::mask) {
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
        if constexpr (constants::ragged) {
            return histo_tile_ragged(w, item);
        } else {
            using index = typename histo_index<constants::short_indices>::type;
            const index samples = (index)w->samples_each;
            index part = (index)item, first = (index)w->begin, last = (index)w->end;
            histo_tile tile;
            tile.entry = 0;
            if constexpr (constants::batch_dims > 0) {
                const index tiles = (index)w->tiles_per_entry, length = (index)w->iter.per_batch;
                const index each = constants::alternate ? (index)w->tiles / tiles : tiles;
                const index above = (index)item / each, below = (index)item - above * each;
                tile.entry = w->first_entry + (constants::alternate ? below : above);
                part = constants::alternate ? above : below;
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
                if (d > 0 && constants::short_indices)
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

#endif
