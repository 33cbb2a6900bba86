/* The lookups of specialised kernels, and their tables in shared memory. */
#ifndef CUDA_JIT_SPECIALISED_LOOKUP_CUH
#define CUDA_JIT_SPECIALISED_LOOKUP_CUH

#include "cuda/device/several_axes.cuh"
#include "cuda/jit/specialised.cuh"

/* The lookup for a histo_specialised_lookup. */
template <histo_dtype type, histo_specialised_lookup by>
HISTO_IN_KERNEL auto histo_specialised_lookup_of(const histo_lookup *l)
{
    if constexpr (by == HISTO_BY_POW2)
        return histo_pow2_lookup<type>(l);
    else if constexpr (by == HISTO_BY_AFFINE)
        return histo_affine_lookup<type>(l);
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
template <class constants, int A = 0>
HISTO_IN_KERNEL void histo_load_specialised_tables(const histo_cuda_work *w, const histo_joint *j, uint32_t *shared)
{
    if constexpr (A < constants::naxes) {
        constexpr histo_specialised_axis axis = constants::axes[A];
        const histo_fixed_point range = axis.fixed;
        const histo_lookup *l = &w->lookups[A];
        const uint32_t patterns = 1u << (sizeof(histo_stored<constants::dtypes[A]>) > 1 ? 16 : 8);
        uint32_t *words = shared + j->tables[A];
        if constexpr (axis.by == HISTO_BY_SHARED_LINEAR || axis.by == HISTO_BY_SHARED_BITS)
            histo_copy_table(l->cells.entry, l->cells.words, words);
        else if constexpr (axis.by == HISTO_BY_SHARED_BYTES)
            histo_load_table<uint8_t>(l, &range, patterns, words);
        else if constexpr (axis.by == HISTO_BY_SHARED_SHORTS)
            histo_load_table<uint16_t>(l, &range, patterns, words);
        histo_load_specialised_tables<constants, A + 1>(w, j, shared);
    }
}

/* The axes before axis A whose search begins with pivots. */
template <class constants>
HISTO_INLINE constexpr int histo_specialised_pivot_axes(int a)
{
    int n = 0;
    for (int before = 0; before < a; before++)
        n += constants::axes[before].by == HISTO_BY_PIVOTS;
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

template <class constants, int A>
struct histo_specialised_pivots {
    enum { EACH = histo_pivots_each(histo_specialised_pivot_axes<constants>(constants::naxes)) };
    enum { FIRST = EACH * histo_specialised_pivot_axes<constants>(A) };
    using lookup = histo_pivots_lookup<constants::dtypes[A], EACH>;
};

/* Tables and first floats of a kernel's reader. */
template <class reader>
struct histo_tables_of {
    static HISTO_MEMBER void load(const histo_cuda_work *w, const histo_joint *j, uint32_t *shared)
    {
        histo_load_joint_first_floats(w, j, shared);
    }
};

/* Readers of integers have no such tables. */
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

#endif
