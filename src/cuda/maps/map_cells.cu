/* Blends of tiles in two dimensions, of samples of one or two bytes. A block works inside a cell: the samples that have
 * the same four tiles around them. It first copies their tables to shared memory, the four values side by side, if they
 * are whole numbers that fit, as those of an equalization do. Of short tables it makes a copy for each of the lanes
 * that shared memory serves at once, in banks of its own, so that lookups never wait for each other. */
#include "cuda/maps/map_apply.h"
#include "cuda/maps/map_rows.cuh"

enum { NEAR = 4 /* tables of a cell */ };

/* ---- Four values side by side ---- */

/* Is it a whole number from 0 to `most`? Adding 2^23 makes the last digits of a float those of a whole number. */
static __device__ bool is_whole(float value, uint32_t most)
{
    const float base = 0x1p23f, sum = value + base;
    return __float_as_uint(sum - base) == __float_as_uint(value) &&
           __float_as_uint(sum) - __float_as_uint(base) <= most;
}

static __device__ float blend_of(const float (&value)[NEAR], float right, float low)
{
    return histo_blend(histo_blend(value[0], value[1], right), histo_blend(value[2], value[3], right), low);
}

/* V samples as they are read or written. */
template <histo_dtype type, int V>
using words_of = histo_word_of_bytes<V * sizeof(histo_stored<type>)>;

/* 0 … 255 for results of u8: as coefficients of
 *
 *     (first + across * right) + (down + both * right) * low
 *
 * of which `first` is 256.5 + MARGIN / 2^15 too large. Computed in float, with a rounding each for multiplication and
 * addition together, this has the result in bits 15 to 22 and 15 bits of fraction below. It is at most 1.25 units of
 * the last bit from the exact blend, and the blend in the order of cv::CLAHE at most 2: only where the fraction is less
 * than two margins may their results differ. There, and that is seldom, the latter is computed. */
struct as_coefficients {
    enum { MOST = 255, MARGIN = 4, FRACTION = 15, NEAR_HALF = (1 << FRACTION) - 2 * MARGIN /* no such bit is set */ };
    using entry = float4;

    static HISTO_MEMBER float more() { return 256.5f + MARGIN * 0x1p-15f; }

    static HISTO_MEMBER entry pack(const float (&value)[NEAR])
    {
        return {value[0] + more(), value[1] - value[0], value[2] - value[0],
                (value[3] - value[2]) - (value[1] - value[0])};
    }

    static HISTO_MEMBER uint32_t quickly(entry e, float right, float low)
    {
        return __float_as_uint(__fmaf_rn(__fmaf_rn(e.w, right, e.z), low, __fmaf_rn(e.y, right, e.x)));
    }

    static HISTO_MEMBER uint32_t exactly(entry e, float right, float low)
    {
        const float first = e.x - more(), lower = first + e.z;
        const float value[NEAR] = {first, first + e.y, lower, lower + (e.y + e.w)};
        return __float_as_uint(blend_of(value, right, low) + 0x1p23f) << FRACTION;
    }

    /* entry_of(i) of sample i */
    template <histo_dtype result, int V, typename function>
    static HISTO_MEMBER void blend(const float (&right)[V], float low, words_of<result, V> &out, function entry_of)
    {
        uint32_t bits[V];
        bool sure = true;
#pragma unroll
        for (int i = 0; i < V; i++) {
            bits[i] = quickly(entry_of(i), right[i], low);
            sure = sure && (bits[i] & NEAR_HALF);
        }
        if (!sure) { /* a loop, which needs few registers */
            uint32_t unsure = 0;
#pragma unroll
            for (int i = 0; i < V; i++)
                unsure |= (uint32_t) !(bits[i] & NEAR_HALF) << i;
#pragma unroll 1
            for (; unsure; unsure &= unsure - 1) {
                const int i = __ffs((int)unsure) - 1;
                histo_select_store(bits, i, exactly(entry_of(i), histo_select<V>(right, i), low));
            }
        }
        if constexpr (V == 1) {
            out = (words_of<result, V>)(bits[0] >> FRACTION);
        } else {
            uint32_t words[V / 4];
#pragma unroll
            for (int k = 0; k < V / 4; k++) { /* bits 8 to 23 of two each, then every second byte */
                const uint32_t two = __byte_perm(bits[4 * k], bits[4 * k + 1], 0x6521);
                const uint32_t other = __byte_perm(bits[4 * k + 2], bits[4 * k + 3], 0x6521);
                words[k] = __byte_perm(two << 1, other << 1, 0x7531);
            }
            memcpy(&out, words, sizeof out);
        }
    }
};

/* 0 … 65535, as the last digits of 2^23 + value. */
struct as_u16 {
    enum { MOST = 65535 };
    using entry = uint2;

    static HISTO_MEMBER entry pack(const float (&value)[NEAR])
    {
        uint32_t bits[NEAR];
#pragma unroll
        for (int t = 0; t < NEAR; t++)
            bits[t] = __float_as_uint(value[t] + 0x1p23f);
        return {__byte_perm(bits[0], bits[1], 0x5410), __byte_perm(bits[2], bits[3], 0x5410)};
    }

    static HISTO_MEMBER void unpack(entry words, float (&value)[NEAR])
    {
        const float base = 0x1p23f;
        value[0] = __uint_as_float(__byte_perm(words.x, 0x4b000000u, 0x7610)) - base;
        value[1] = __uint_as_float(__byte_perm(words.x, 0x4b000000u, 0x7632)) - base;
        value[2] = __uint_as_float(__byte_perm(words.y, 0x4b000000u, 0x7610)) - base;
        value[3] = __uint_as_float(__byte_perm(words.y, 0x4b000000u, 0x7632)) - base;
    }

    /* Adding 2^23 rounds blends, half to even. */
    template <histo_dtype result, int V, typename function>
    static HISTO_MEMBER void blend(const float (&right)[V], float low, words_of<result, V> &out, function entry_of)
    {
        float blends[V];
#pragma unroll
        for (int i = 0; i < V; i++) {
            float value[NEAR];
            unpack(entry_of(i), value);
            blends[i] = blend_of(value, right[i], low);
        }
        if constexpr (result == HISTO_F32) {
            memcpy(&out, blends, sizeof out);
        } else {
            const int most = result == HISTO_U8 ? 255 : 65535;
            uint32_t bits[V];
#pragma unroll
            for (int i = 0; i < V; i++)
                bits[i] = __float_as_uint((MOST > most ? fminf(blends[i], most) : blends[i]) + 0x1p23f);
            if constexpr (V == 1) {
                out = (words_of<result, V>)bits[0];
            } else {
                uint32_t words[sizeof out / 4];
#pragma unroll
                for (size_t k = 0; k < sizeof out / 4; k++)
                    words[k] = result == HISTO_U16
                                   ? __byte_perm(bits[2 * k], bits[2 * k + 1], 0x5410)
                                   : __byte_perm(__byte_perm(bits[4 * k], bits[4 * k + 1], 0x40),
                                                 __byte_perm(bits[4 * k + 2], bits[4 * k + 3], 0x40), 0x5410);
                memcpy(&out, words, sizeof out);
            }
        }
    }
};

/* ---- Tables ---- */

/* What one block does: samples left … right - 1 of rows top … bottom - 1. */
typedef struct cell {
    const double *tables[NEAR]; /* bit 0: the right one, bit 1: the lower one */
    int32_t left, right, top, bottom;
} cell;

static __device__ cell cell_at(const histo_map_cells *w, int64_t entry)
{
    const histo_map_grid *tiles = &w->rows.tiles;
    const int32_t x = (int32_t)blockIdx.x, columns = (int32_t)tiles->count[1], rows = (int32_t)tiles->count[0];
    const uint32_t after = blockIdx.y - w->first_strips; /* strips of the first row of cells */
    const int32_t y = blockIdx.y < w->first_strips ? 0 : 1 + (int32_t)min(after / w->strips, (uint32_t)rows - 1);
    const uint32_t strip = y ? after - (uint32_t)(y - 1) * w->strips : blockIdx.y;
    cell c;
    c.left = w->left[x];
    c.right = w->left[x + 1];
    const bool is_narrow = 2 * (int64_t)(c.right - c.left) <= tiles->size[1] + 1; /* as the first and the last are */
    const int64_t high = (int64_t)w->strip_rows << is_narrow, end = w->top[y + 1];
    c.top = (int32_t)min(w->top[y] + strip * high, end);
    c.bottom = (int32_t)min(c.top + high, end);
#pragma unroll
    for (int t = 0; t < NEAR; t++) {
        const int32_t column = min(max(x - 1 + t % 2, 0), columns - 1), row = min(max(y - 1 + t / 2, 0), rows - 1);
        c.tables[t] = w->rows.values + (entry * w->rows.entry_tables + row * columns + column) * w->rows.length;
    }
    return c;
}

/* Entry i of a table: of samples of one byte, the value of a bit pattern; else that of a slot. */
template <histo_dtype type>
static __device__ float entry_of(const histo_map_rows *w, const double *table, uint32_t i)
{
    if constexpr (sizeof(histo_stored<type>) == 1) return (float)histo_map_value_of_byte(w, table, (uint8_t)i);
    return (float)table[i];
}

template <histo_dtype type>
static __host__ __device__ constexpr bool is_byte()
{
    return sizeof(histo_stored<type>) == 1;
}

/* How many copies of each entry lie side by side: the lanes that shared memory serves at once. */
template <histo_dtype type, typename packing>
static __device__ constexpr uint32_t copies_of()
{
    return is_byte<type>() ? HISTO_MAP_COPIED / sizeof(typename packing::entry) : 1;
}

/* Pack the values of all entries; true if that keeps them. fetch(entry, values) of the four tables; AHEAD entries of a
 * thread are read at once. */
template <typename packing, int AHEAD, uint32_t COPIES, typename function>
static __device__ bool pack_tables(uint32_t n, typename packing::entry *kept, function fetch)
{
    bool holds = true;
    for (uint32_t first = threadIdx.x; first < n; first += AHEAD * blockDim.x) {
        float value[AHEAD][NEAR];
#pragma unroll
        for (uint32_t k = 0; k < AHEAD; k++)
            fetch(min(first + k * blockDim.x, n - 1), value[k]);
#pragma unroll
        for (uint32_t k = 0; k < AHEAD; k++) {
#pragma unroll
            for (int t = 0; t < NEAR; t++)
                holds = holds && is_whole(value[k][t], packing::MOST);
            const typename packing::entry entry = packing::pack(value[k]);
            typename packing::entry *to = kept + (first + k * blockDim.x) * COPIES;
            if (first + k * blockDim.x < n)
#pragma unroll
                for (uint32_t c = 0; c < COPIES; c++)
                    to[(c + threadIdx.x) % COPIES] = entry; /* each lane to another bank */
        }
    }
    return holds;
}

template <typename packing>
static __device__ typename packing::entry *packed_tables()
{
    extern __shared__ uint4 kept[];
    return (typename packing::entry *)kept;
}

/* Copy the tables of a cell; true if shared memory holds all of their values. */
template <histo_dtype type, typename packing>
static __device__ bool keep_tables(const histo_map_rows *w, const cell *c, typename packing::entry *kept)
{
    enum { IS_BYTE = sizeof(histo_stored<type>) == 1, AHEAD = IS_BYTE ? 1 : 4 };
    bool holds = w->kept > 0;
    if (IS_BYTE && w->linear)
        holds =
            pack_tables<packing, 1, copies_of<type, packing>()>(w->kept, kept, [=](uint32_t i, float(&value)[NEAR]) {
#pragma unroll 1
                for (int t = 0; t < NEAR; t++)
                    histo_select_store(value, t, entry_of<type>(w, histo_select<NEAR>(c->tables, t), i));
            });
    else if (holds)
        holds = pack_tables<packing, AHEAD, copies_of<type, packing>()>(
            w->kept, kept, [=](uint32_t i, float(&value)[NEAR]) {
                const uint32_t slot =
                    IS_BYTE ? histo_map_slot_of_byte(&w->lookup, w->dtype == HISTO_I8, (uint8_t)i) : i;
#pragma unroll
                for (int t = 0; t < NEAR; t++)
                    value[t] = (float)c->tables[t][slot];
            });
    return __syncthreads_and(holds);
}

/* ---- Samples ---- */

/* The index of sample i of a vector of bytes. */
template <int V>
static __device__ uint32_t index_of(const histo_vector<uint8_t, V> &x, int i)
{
    if constexpr (V % 4 == 0) { /* one instruction */
        uint32_t words[V / 4];
        memcpy(words, &x, sizeof words);
        return __byte_perm(histo_select<V / 4>(words, i / 4), 0, 0x4440 + i % 4);
    } else {
        return histo_select<V>(x.at, i);
    }
}

/* What is at an address in shared memory. Written out, as the compiler would multiply an index by the copies and by the
 * size apart. */
static __device__ void load_shared(uint32_t address, uint2 *entry)
{
    asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(entry->x), "=r"(entry->y) : "r"(address));
}

static __device__ void load_shared(uint32_t address, float4 *entry)
{
    asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(entry->x), "=f"(entry->y), "=f"(entry->z), "=f"(entry->w)
                 : "r"(address));
}

/* Blends samples by four tables whose values shared memory holds. */
template <histo_dtype type, histo_dtype result, typename packing>
struct from_shared {
    const histo_map_rows *w;

    template <int V>
    HISTO_MEMBER void operator()(const histo_vector<histo_stored<type>, V> &x, const float (&right)[V], float low,
                                 words_of<result, V> &out) const
    {
        using entry = typename packing::entry;
        constexpr uint32_t COPIES = copies_of<type, packing>();
        const uint32_t mine = (uint32_t)__cvta_generic_to_shared(packed_tables<packing>() + threadIdx.x % COPIES);
        const auto entry_at = [mine](uint32_t index) {
            entry e;
            load_shared(mine + index * (uint32_t)(sizeof e * COPIES), &e);
            return e;
        };
        if constexpr (is_byte<type>()) {
            packing::template blend<result, V>(right, low, out, [&](int i) { return entry_at(index_of<V>(x, i)); });
        } else {
            uint32_t index[V];
            histo_any_lookup<type>(&w->lookup).slots(x.at, index);
            packing::template blend<result, V>(right, low, out, [&](int i) { return entry_at(index[i]); });
        }
    }
};

/* Blends samples by tables that are too long for shared memory. */
template <histo_dtype type, histo_dtype result>
struct from_memory {
    const histo_map_rows *w;
    const cell *c;

    HISTO_MEMBER void operator()(const histo_vector<histo_stored<type>, 1> &x, const float (&right)[1], float low,
                                 words_of<result, 1> &out) const
    {
        uint32_t index = x.at[0];
        if constexpr (!is_byte<type>()) index = histo_any_lookup<type>(&w->lookup).slot(x.at[0]);
        float value[NEAR];
#pragma unroll
        for (int t = 0; t < NEAR; t++)
            value[t] = entry_of<type>(w, c->tables[t], index);
        const histo_stored<result> its = histo_result<result>((double)blend_of(value, right[0], low));
        memcpy(&out, &its, sizeof out);
    }
};

/* The column of vectors that a thread takes: those of rows that are `down` apart. */
template <histo_dtype type, histo_dtype result, int V>
struct tile_column {
    using samples = histo_vector<histo_stored<type>, V>;
    using words = words_of<type, V>;
    using results = words_of<result, V>;
    enum { AHEAD = 4 };

    const histo_map_rows *w;
    const char *from;
    char *to;
    int32_t y, end, down;
    words in[AHEAD]; /* rows that are read at once */

    HISTO_MEMBER tile_column(const histo_map_rows *rows, int64_t entry, int32_t x, int32_t first, int32_t last,
                             int32_t apart)
        : w(rows), y(first), end(last), down(apart)
    {
        from = w->from + entry * w->entry_stride[0] + first * w->row_stride[0] + x * w->stride[0];
        to = w->to + entry * w->entry_stride[1] + first * w->row_stride[1] + x * w->stride[1];
    }

    /* Row k of the next ones; k of the last call plus 1 each time. */
    HISTO_MEMBER void load(int k, int32_t row)
    {
        if (row < end) in[k] = *(const words *)from;
        from += down * w->row_stride[0];
    }

    HISTO_MEMBER void load()
    {
#pragma unroll
        for (int k = 0; k < AHEAD; k++)
            load(k, y + k * down);
    }

    /* Take what was read, and then the rest: whenever a row has been taken, another one is read. blend(samples, shares
     * of the right tiles, of the lower ones, results) */
    template <typename function>
    HISTO_MEMBER void store(int32_t x, function blend)
    {
        const int64_t apart = down * w->row_stride[1];
        const int32_t left = (int32_t)w->tiles.origin[1] + x, top = (int32_t)w->tiles.origin[0];
        const float per_row = w->tiles.per_size[0];
        float right[V];
#pragma unroll
        for (int i = 0; i < V; i++)
            histo_tile_before(w->tiles.per_size[1], (float)(left + i), &right[i]);
        while (y < end) {
#pragma unroll
            for (int k = 0; k < AHEAD; k++) {
                if (y + k * down >= end) return;
                float low;
                histo_tile_before(per_row, (float)(top + y + k * down), &low);
                samples x_of_row;
                results out;
                memcpy(&x_of_row, &in[k], sizeof x_of_row);
                load(k, y + (k + AHEAD) * down);
                blend(x_of_row, right, low, out);
                *(results *)to = out;
                to += apart;
            }
            y += AHEAD * down;
        }
    }
};

/* Blend the samples of a cell. Threads take vectors of a few columns. The first ones are read while `ready` makes the
 * tables. Vectors that lie in two cells are taken sample by sample. */
template <histo_dtype type, histo_dtype result, int V, typename making, typename function>
static __device__ void blend_cell(const histo_map_rows *w, const cell *c, int64_t entry, making ready, function blend)
{
    const int32_t first = c->left / V * V, groups = (c->right - first + V - 1) / V;
    const int32_t across = min(groups, (int32_t)blockDim.x), down = (int32_t)blockDim.x / across;
    const int32_t row = (int32_t)threadIdx.x / across, y = c->top + row;
    int32_t group = (int32_t)threadIdx.x - row * across, x = first + group * V;
    const int32_t bottom = row < down ? c->bottom : y; /* the other threads only help to make tables */
    bool whole = x >= c->left && x + V <= c->right;
    tile_column<type, result, V> its(w, entry, x, y, whole ? bottom : y, down);
    its.load();
    if (!ready()) return;
    for (;;) {
        its.store(x, blend);
        if (!whole)
#pragma unroll 1
            for (int32_t i = max(x, c->left); i < min(x + V, c->right); i++) {
                tile_column<type, result, 1> one(w, entry, i, y, bottom, down);
                one.load();
                one.store(i, blend);
            }
        group += across;
        if (group >= groups) break;
        x = first + group * V;
        whole = x + V <= c->right;
        its = tile_column<type, result, V>(w, entry, x, y, whole ? bottom : y, down);
        its.load();
    }
}

/* type: a byte's sign does not matter to its pattern. */
template <histo_dtype type, histo_dtype result, int V>
static __global__ void __launch_bounds__(is_byte<type>() ? HISTO_MAP_SHORT_THREADS : HISTO_MAP_LONG_THREADS,
                                         is_byte<type>() ? HISTO_MAP_SHORT_BLOCKS : HISTO_MAP_LONG_BLOCKS)
    apply_cells(const __grid_constant__ histo_map_cells w)
{
    using packing = typename std::conditional<type == HISTO_U8 && result == HISTO_U8, as_coefficients, as_u16>::type;
    histo_wait_for_earlier();
    for (int64_t entry = blockIdx.z; entry < w.rows.entries; entry += gridDim.z) {
        const cell c = cell_at(&w, entry);
        if (c.left >= c.right || c.top >= c.bottom) return;
        bool is_kept = false;
        blend_cell<type, result, V>(
            &w.rows, &c, entry,
            [&] { return is_kept = keep_tables<type, packing>(&w.rows, &c, packed_tables<packing>()); },
            from_shared<type, result, packing>{&w.rows});
        if (!is_kept)
            blend_cell<type, result, 1>(
                &w.rows, &c, entry, [] { return true; }, from_memory<type, result>{&w.rows, &c});
        __syncthreads(); /* the tables have been read */
    }
}

template <histo_dtype type>
struct cell_kernels {
    template <histo_dtype result>
    static histo_map_kernel of(bool wide)
    {
        enum { V = result == HISTO_F32 || type == HISTO_U16 ? 4 : 8 };
        if (wide) return {(const void *)apply_cells<type, result, V>, V};
        return {(const void *)apply_cells<type, result, 1>, 1};
    }
};

histo_map_kernel histo_cuda_map_cells(histo_dtype dtype, histo_dtype result, bool wide)
{
    switch (dtype) {
    case HISTO_U8:
    case HISTO_I8:
        return histo_map_kernel_by_result<cell_kernels<HISTO_U8>>(result, wide);
    case HISTO_U16:
        return histo_map_kernel_by_result<cell_kernels<HISTO_U16>>(result, wide);
    default:
        return {};
    }
}
