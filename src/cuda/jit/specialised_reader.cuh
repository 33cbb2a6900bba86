/* The reader of specialised kernels that count several samples of a thread together. It has the interface of the
 * readers in several_axes.cuh. */
#ifndef CUDA_JIT_SPECIALISED_READER_CUH
#define CUDA_JIT_SPECIALISED_READER_CUH

#include "cuda/jit/specialised_layout.cuh"

/* Whether operand O has samples, a chunk, or neither because another one has its chunk. */
enum { HISTO_LOADS_NOTHING, HISTO_LOADS_SAMPLES, HISTO_LOADS_CHUNK };

template <class constants, int O>
HISTO_INLINE constexpr int histo_loads()
{
    if (O >= constants::operands) return HISTO_LOADS_NOTHING;
    const histo_chunk chunk = constants::chunks[O < constants::operands ? O : 0];
    return !chunk.granule ? HISTO_LOADS_SAMPLES : chunk.leader == O ? HISTO_LOADS_CHUNK : HISTO_LOADS_NOTHING;
}

/* A thread's samples of operand O and of all later operands. Chunks stay words until they are looked up: taking them
 * apart would wait for them. */
template <class constants, int O, bool EXISTS = (O < constants::operands), int KIND = histo_loads<constants, O>()>
struct histo_specialised_columns : histo_specialised_columns<constants, O + 1> {
};

template <class constants, int O>
struct histo_specialised_columns<constants, O, true, HISTO_LOADS_SAMPLES>
    : histo_specialised_columns<constants, O + 1> {
    enum { COLUMNS = O == 0 ? (int)constants::channels : 1 };
    histo_stored<constants::dtypes[O]> x[COLUMNS][constants::samples];
};

template <class constants, int O>
struct histo_specialised_columns<constants, O, true, HISTO_LOADS_CHUNK> : histo_specialised_columns<constants, O + 1> {
    static constexpr histo_chunk chunk = constants::chunks[O];
    enum { GROUPS = constants::samples / constants::vector, BYTES = constants::vector * chunk.pixel };
    enum { GRANULES = (BYTES + (chunk.shifted ? 3 : 0) + chunk.granule - 1) / chunk.granule };
    histo_word_of_bytes<chunk.granule> words[GROUPS][GRANULES];
    uint32_t beyond[GROUPS]; /* bytes of the first word before the chunk, if it is shifted */
};

/* After all operands: how many of the VECTOR neighbours exist, if runs are padded. */
template <class constants, int O>
struct histo_specialised_columns<constants, O, false, HISTO_LOADS_NOTHING> {
    int own[constants::samples / constants::vector];
};

/* Counters of bytes by value: after them, one for those left out. Where runs are padded, what is not there gets the
 * counter after all others. */
enum { HISTO_BYTE_VALUES = 256 };

template <class constants>
struct histo_specialised_reader : histo_specialised_layout<constants> {
    using layout = histo_specialised_layout<constants>;
    using loaded = histo_specialised_columns<constants, 0>;
    enum { ID = HISTO_JOINT_READER_COUNT, SAMPLES = constants::samples, PER_STEP = SAMPLES * constants::channels };
    enum {
        LEAVES_OUT = (constants::mask != HISTO_ABSENT || constants::where != HISTO_ABSENT) && constants::channels == 1
    };

    static HISTO_MEMBER histo_specialised_tile tile(const histo_cuda_work *w, const histo_joint *, int64_t item)
    {
        return layout::tile(w, item);
    }

    static HISTO_MEMBER void load(const histo_cuda_work *w, const histo_joint *, const histo_specialised_tile *tile,
                                  uint32_t at, loaded *next)
    {
        const uint32_t first = at / constants::channels, length = tile->length / constants::channels;
        if (!constants::padded && first + (uint32_t)constants::threads * SAMPLES <= length)
            load_whole(w, tile, first, next);
        else
            load_last(w, tile, first, length, next);
    }

    static HISTO_MEMBER bool slots(const histo_cuda_work *w, const histo_joint *j, const uint32_t *shared,
                                   const histo_specialised_tile *tile, uint32_t at, loaded *ahead,
                                   uint32_t (&slot)[PER_STEP])
    {
        const uint32_t next = at + (uint32_t)constants::threads * PER_STEP;
        if constexpr (constants::vector == 1) { /* the copy would take an instruction and a register for each sample */
            slots_of(w, j, shared, *ahead, slot);
            if (next < tile->length) load(w, j, tile, next, ahead);
        } else {
            const loaded now = *ahead;
            if (next < tile->length) load(w, j, tile, next, ahead);
            slots_of(w, j, shared, now, slot);
        }
        if (next <= tile->length) return true;
        const uint32_t first = at / constants::channels, length = tile->length / constants::channels;
#pragma unroll
        for (int i = 0; i < PER_STEP; i++)
            slot[i] = index(first, i % SAMPLES) < length ? slot[i] : HISTO_NO_SLOT;
        return false;
    }

    /* With weights, and without channels: the slots and weights of a step that is loaded. */
    enum { NEIGHBOURS = constants::vector };
    static constexpr histo_dtype weight_type =
        constants::weights == HISTO_ABSENT
            ? HISTO_U8
            : constants::dtypes[constants::weights == HISTO_ABSENT ? 0 : constants::weights];
    using weight = histo_stored<weight_type>;

    static HISTO_MEMBER void weighted_slots(const histo_cuda_work *w, const histo_joint *j, const uint32_t *shared,
                                            const histo_specialised_tile *tile, uint32_t at, loaded *now,
                                            uint32_t (&slot)[SAMPLES], weight (&weights)[SAMPLES])
    {
        if constexpr (constants::weights != HISTO_ABSENT)
            take<constants::weights>(*now, 0, weights);
        else
#pragma unroll
            for (int k = 0; k < SAMPLES; k++)
                weights[k] = 1;
        histo_specialised_tile step = *tile; /* no step follows that would be loaded */
        step.length = min(tile->length, at + (uint32_t)constants::threads * SAMPLES);
        slots(w, j, shared, &step, at, now, slot);
    }

    /* The weight of sample i of the tile, or of one near it. */
    static HISTO_MEMBER weight weight_of(const histo_cuda_work *w, const histo_specialised_tile *tile, uint32_t i)
    {
        if constexpr (constants::weights == HISTO_ABSENT) {
            return 1;
        } else {
            typename layout::place at = layout::place_of(w, tile, i);
            if constexpr (constants::padded)
                at.index[constants::dims - 1] = min(at.index[constants::dims - 1], w->row - 1);
            return layout::template load_one<constants::weights>(
                layout::template address<constants::weights>(w, tile, at));
        }
    }

  private:
    static HISTO_MEMBER void slots_of(const histo_cuda_work *w, const histo_joint *j, const uint32_t *shared,
                                      const loaded &now, uint32_t (&slot)[PER_STEP])
    {
#pragma unroll
        for (int c = 0; c < constants::channels; c++) {
            uint32_t(&its)[SAMPLES] = *(uint32_t(*)[SAMPLES])(slot + c * SAMPLES);
#pragma unroll
            for (int k = 0; k < SAMPLES; k++)
                its[k] = j->origin;
            add_axes<0>(w, j, shared, now, c, its);
            leave_out<constants::mask>(w, now, its);
            leave_out<constants::where>(w, now, its);
#pragma unroll
            for (int k = 0; k < SAMPLES; k++) {
                its[k] += (uint32_t)c * w->channel_counters;
                if (constants::padded && k % constants::vector >= now.own[k / constants::vector])
                    its[k] = constants::by_value ? HISTO_BYTE_VALUES + 1 : (uint32_t)w->counters;
            }
        }
    }

    template <int O>
    static HISTO_MEMBER histo_specialised_columns<constants, O> &column(loaded &of)
    {
        return of;
    }

    template <int O>
    static HISTO_MEMBER const histo_specialised_columns<constants, O> &column(const loaded &of)
    {
        return of;
    }

    /* The index in the tile of a thread's k-th sample of the step `at`. */
    static HISTO_MEMBER uint32_t index(uint32_t at, int k)
    {
        return at + ((uint32_t)(k / constants::vector) * constants::threads + threadIdx.x) * constants::vector +
               (uint32_t)(k % constants::vector);
    }

    /* ---- Loading ---- */

    /* The chunk of the k-th sample and its neighbours, of which the first `own` exist. */
    template <int O>
    static HISTO_MEMBER void load_chunk(const histo_cuda_work *w, const char *from, int k, int own, loaded *next)
    {
        auto &it = column<O>(*next);
        constexpr histo_chunk chunk = constants::chunks[O];
        enum { GRANULE = chunk.granule, GRANULES = sizeof it.words[0] / chunk.granule };
        using word = histo_word_of_bytes<GRANULE>;
        using storage = histo_stored<constants::dtypes[O]>;
        const char *first = from - chunk.offset - (chunk.reversed ? (constants::vector - 1) * chunk.pixel : 0);
        const uint32_t beyond = chunk.shifted ? (uint32_t)(uint64_t)first % GRANULE : 0;
        const char *at = first - beyond;
        const int begin = (int)beyond + (chunk.reversed ? (constants::vector - own) * chunk.pixel : 0);
        const int end = (int)beyond + (chunk.reversed ? (int)constants::vector : own) * chunk.pixel;
        if constexpr (chunk.shifted) it.beyond[k / constants::vector] = beyond;
        constexpr bool is_filled =
            !chunk.shifted && chunk.pixel == sizeof(storage) * (O == 0 ? (int)constants::channels : 1);
        if (own <= 0) return;
        if ((is_filled && own == constants::vector) || at + (end + GRANULE - 1) / GRANULE * GRANULE <= w->ends[O]) {
#pragma unroll
            for (int i = 0; i < GRANULES; i++)
                if (i * GRANULE < end && (i + 1) * GRANULE > begin)
                    it.words[k / constants::vector][i] = __ldcs((const word *)at + i);
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
            memcpy(it.words[k / constants::vector], bytes, sizeof bytes);
        }
    }

    /* N neighbours of a thread, beginning with its k-th sample, of which the first `own` exist. */
    template <int O, int N>
    static HISTO_MEMBER void load_group(const histo_cuda_work *w, const char *at, int k, int own, loaded *next)
    {
        if constexpr (histo_loads<constants, O>() == HISTO_LOADS_CHUNK) {
            load_chunk<O>(w, at, k, own, next);
        } else if constexpr (histo_loads<constants, O>() == HISTO_LOADS_SAMPLES) {
            auto &x = column<O>(*next).x;
#pragma unroll
            for (int c = 0; c < histo_specialised_columns<constants, O>::COLUMNS; c++) {
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
    static HISTO_MEMBER void load_operands(const histo_cuda_work *w, const histo_specialised_tile *tile,
                                           const typename layout::place &at, int k, int own, loaded *next)
    {
        if constexpr (O < constants::operands) {
            load_group<O, N>(w, layout::template address<O>(w, tile, at), k, own, next);
            load_operands<O + 1, N>(w, tile, at, k, own, next);
        }
    }

    /* How many of the neighbours from a place on are in its run, at most `vector`. */
    static HISTO_MEMBER int own_of(const histo_cuda_work *w, const typename layout::place &at)
    {
        if constexpr (!constants::padded) return constants::vector;
        return max(min((int)w->row - (int)at.index[constants::dims - 1], (int)constants::vector), 0);
    }

    static HISTO_MEMBER void load_whole(const histo_cuda_work *w, const histo_specialised_tile *tile, uint32_t first,
                                        loaded *next)
    {
        typename layout::place at = layout::place_of(w, tile, index(first, 0));
#pragma unroll
        for (int k = 0; k < SAMPLES; k += constants::vector) {
            load_operands<0, constants::vector>(w, tile, at, k, constants::vector, next);
            if constexpr (constants::dims > 1)
                at = layout::advance(w, at);
            else
                at.index[0] += constants::threads * constants::vector;
        }
    }

    /* Neighbours that are beyond the end of the tile are not loaded. */
    static HISTO_MEMBER void load_last(const histo_cuda_work *w, const histo_specialised_tile *tile, uint32_t first,
                                       uint32_t length, loaded *next)
    {
#pragma unroll
        for (int k = 0; k < SAMPLES; k += constants::vector) {
            const uint32_t i = index(first, k);
            next->own[k / constants::vector] = 0;
            if (i >= length) continue;
            const typename layout::place at = layout::place_of(w, tile, i);
            const int own = min(own_of(w, at), (int)(length - i));
            next->own[k / constants::vector] = own;
            load_operands<0, constants::vector>(w, tile, at, k, own, next);
        }
    }

    /* ---- Taking samples out of what was loaded ---- */

    /* Operand O's samples, of channel c. */
    template <int O>
    static HISTO_MEMBER void take(const loaded &now, int c, histo_stored<constants::dtypes[O]> (&x)[SAMPLES])
    {
        constexpr histo_chunk chunk = constants::chunks[O];
        using storage = histo_stored<constants::dtypes[O]>;
        if constexpr (chunk.granule == 0) {
#pragma unroll
            for (int k = 0; k < SAMPLES; k++)
                x[k] = column<O>(now).x[c][k];
        } else {
            const auto &it = column<chunk.leader>(now);
            enum { BYTES = constants::vector * chunk.pixel, WORDS = (BYTES + 3) / 4 };
#pragma unroll
            for (int k = 0; k < SAMPLES; k += constants::vector) {
                uint32_t raw[sizeof it.words[0] / 4], words[WORDS];
                memcpy(raw, it.words[k / constants::vector], sizeof raw);
#pragma unroll
                for (int i = 0; i < WORDS; i++)
                    words[i] = !chunk.shifted ? raw[i]
                                              : __funnelshift_r(raw[i], i + 1 < (int)(sizeof raw / 4) ? raw[i + 1] : 0,
                                                                8 * it.beyond[k / constants::vector]);
                char bytes[4 * WORDS];
                memcpy(bytes, words, sizeof bytes);
#pragma unroll
                for (int n = 0; n < constants::vector; n++) {
                    memcpy(&x[k + n],
                           bytes + (chunk.reversed ? constants::vector - 1 - n : n) * chunk.pixel + chunk.offset +
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
        if constexpr (A < constants::naxes) {
            histo_stored<constants::dtypes[A]> x[SAMPLES];
            take<A>(now, c, x);
            if constexpr (constants::by_value) {
#pragma unroll
                for (int k = 0; k < SAMPLES; k++)
                    slot[k] = (uint8_t)x[k];
            } else if constexpr (constants::axes[A].by == HISTO_BY_FIRST_FLOATS) {
                float numbers[SAMPLES];
#pragma unroll
                for (int k = 0; k < SAMPLES; k++)
                    numbers[k] = histo_sample<constants::dtypes[A]>::widen(x[k]);
                histo_add_by_first_floats(&w->lookups[A],
                                          (uint32_t)__cvta_generic_to_shared(shared) + j->first_floats[A], numbers,
                                          w->slot_strides[A], slot, SAMPLES);
            } else {
                uint32_t its[SAMPLES];
                layout::template look_up<A>(w, shared + j->tables[A], [&](auto lookup) { lookup.slots(x, its); });
#pragma unroll
                for (int k = 0; k < SAMPLES; k++)
                    slot[k] += constants::naxes > 1 ? its[k] * w->slot_strides[A] : its[k];
            }
            add_axes<A + 1>(w, j, shared, now, c, slot);
        }
    }

    /* Samples that the mask or the range filter, operand O, leaves out get the slot after all others. */
    template <int O>
    static HISTO_MEMBER void leave_out(const histo_cuda_work *w, const loaded &now, uint32_t (&slot)[SAMPLES])
    {
        if constexpr (O != HISTO_ABSENT) {
            const uint32_t none = constants::by_value ? (uint32_t)HISTO_BYTE_VALUES : w->slots;
            histo_stored<constants::dtypes[O]> x[SAMPLES];
            take<O>(now, 0, x);
#pragma unroll
            for (int k = 0; k < SAMPLES; k++)
                slot[k] = layout::template is_left_out<O>(w, x[k]) ? none : slot[k];
        }
    }
};

template <class constants>
struct histo_tables_of<histo_specialised_reader<constants>> {
    static HISTO_MEMBER void load(const histo_cuda_work *w, const histo_joint *j, uint32_t *shared)
    {
        histo_load_joint_first_floats(w, j, shared);
        histo_load_specialised_tables<constants>(w, j, shared);
    }
};

#endif
