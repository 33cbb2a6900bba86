/* The reader of specialised kernels that sum weights, sample by sample: the interface of histo_any_weighted
 * (device/weights/weighted_reader.cuh). */
#ifndef CUDA_JIT_SPECIALISED_WEIGHTED_CUH
#define CUDA_JIT_SPECIALISED_WEIGHTED_CUH

#include "cuda/jit/specialised_layout.cuh"

template <class constants>
struct histo_specialised_weighted : histo_specialised_layout<constants> {
    using layout = histo_specialised_layout<constants>;

    /* The values of operand O and of all later operands. */
    template <int O, bool EXISTS = (O < constants::operands)>
    struct values : values<O + 1> {
        histo_stored<constants::dtypes[O]> x;
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

    static HISTO_MEMBER place place_of(const histo_cuda_work *w, const histo_specialised_tile *tile, uint32_t i)
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
        if (is_left_out<constants::mask>(w, it) || is_left_out<constants::where>(w, it)) return w->slots;
        return slot_from<0>(w, it, pivots);
    }

    static HISTO_MEMBER const char *weight(const histo_cuda_work *, const place *it) { return it->weight; }

    /* use(weight), in the compute type of the weight's dtype; use(1.0) if there are no weights. */
    template <class work, class function>
    static HISTO_MEMBER auto with_weight(const work *, const place *it, function use)
    {
        if constexpr (constants::weights == HISTO_ABSENT)
            return use(1.0);
        else
            return use(
                histo_to_compute<constants::dtypes[constants::weights]>(it->template value<constants::weights>()));
    }

  private:
    template <int O>
    static HISTO_MEMBER void load_values(const histo_cuda_work *w, const histo_specialised_tile *tile,
                                         const typename layout::place &at, place *it)
    {
        if constexpr (O < constants::operands) {
            const char *from = layout::template address<O>(w, tile, at);
            static_cast<values<O> &>(it->all).x = layout::template load_one<O>(from);
            if constexpr (O == constants::weights) it->weight = from;
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
        if constexpr (A == constants::naxes) {
            return 0;
        } else {
            uint32_t its = 0;
            layout::template look_up<A>(w, pivots, [&](auto lookup) { its = lookup.slot(it->template value<A>()); });
            return w->slot_strides[A] * its + slot_from<A + 1>(w, it, pivots);
        }
    }
};

#endif
