/* Lookups that compare samples with edges alone, whatever faster way the axis has. */
#ifndef PAPERS_STRATEGIES_EDGES_CUH
#define PAPERS_STRATEGIES_EDGES_CUH

#include "cuda/device/reader.cuh"

/* Edge i of the axis. */
HISTO_IN_KERNEL double histo_edge_at(const histo_lookup *l, int32_t i)
{
    return l->kind == HISTO_SEARCH ? l->edges[i] : i < l->bins ? l->lo + (double)i * l->step : l->hi;
}

/* Binary search in edges at the beginning of the block's dynamic shared memory. The samples of a step are searched
 * together: all searches of an axis have the same number of steps. */
template <histo_dtype type>
struct histo_shared_edges_lookup {
    using storage = histo_stored<type>;
    const histo_lookup *l;
    HISTO_MEMBER explicit histo_shared_edges_lookup(const histo_lookup *lookup) : l(lookup) {}

    template <int N>
    HISTO_MEMBER void slots(const storage (&x)[N], uint32_t (&slot)[N]) const
    {
        extern __shared__ double edges[];
#pragma unroll
        for (int k = 0; k < N; k++)
            slot[k] = 0;
        for (int32_t count = l->bins; count > 1; count -= count / 2) { /* edges[slot] <= x < edges[slot + count] */
            const uint32_t half = (uint32_t)count / 2;
#pragma unroll
            for (int k = 0; k < N; k++)
                slot[k] += histo_less(histo_to_compute<type>(x[k]), edges[slot[k] + half]) ? 0 : half;
        }
#pragma unroll
        for (int k = 0; k < N; k++) {
            const auto v = histo_to_compute<type>(x[k]);
            slot[k] = histo_is_over(l, v) ? (uint32_t)l->bins : slot[k];
            slot[k] = histo_less(v, l->lo) ? 0 : slot[k] + 1;
            slot[k] = v != v ? (uint32_t)l->bins + 2 : slot[k];
        }
    }
};

/* Is the sample in the slot blockIdx.y? That slot or HISTO_NO_SLOT: two comparisons for a bin. */
template <histo_dtype type>
struct histo_own_slot_lookup {
    using storage = histo_stored<type>;
    const histo_lookup *l;
    HISTO_MEMBER explicit histo_own_slot_lookup(const histo_lookup *lookup) : l(lookup) {}

    template <int N>
    HISTO_MEMBER void slots(const storage (&x)[N], uint32_t (&slot)[N]) const
    {
        const int32_t own = (int32_t)blockIdx.y, n = l->bins;
        const double low = own >= 1 && own <= n ? histo_edge_at(l, own - 1) : -INFINITY;
        const double high = own < n ? histo_edge_at(l, own) : INFINITY;
#pragma unroll
        for (int k = 0; k < N; k++) {
            const auto v = histo_to_compute<type>(x[k]);
            bool is = !histo_less(v, low) && histo_less(v, high);
            /* The last bin may be closed, and nothing bounds the slots behind it. */
            if (own >= n) is = own == n ? !histo_less(v, low) && !histo_is_over(l, v) && v == v : histo_is_over(l, v);
            if (own >= n + 2) is = own == n + 2 && v != v;
            slot[k] = is ? (uint32_t)own : HISTO_NO_SLOT;
        }
    }
};

/* The reader with another lookup; that of any layout stays. */
template <template <histo_dtype> class lookup, typename reader>
struct histo_reader_with {
    using type = histo_contiguous<(histo_dtype)reader::ID, lookup<(histo_dtype)reader::ID>>;
};

template <template <histo_dtype> class lookup>
struct histo_reader_with<lookup, histo_any_layout> {
    using type = histo_any_layout;
};

#endif
