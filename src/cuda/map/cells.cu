/* Blends of tiles in two dimensions, of samples of one or two bytes. A block works inside a cell: the samples that have
 * the same four tiles around them. It first copies their tables to shared memory, four values side by side, if they are
 * whole numbers that fit into 16 bits each, as those of an equalization are. */
#include "cuda/map/apply.h"
#include "cuda/map/rows.cuh"

enum { MOST_THREADS = 512, BLOCKS_EACH = 2, NEAR = 4 /* tables of a cell */ };

/* ---- Four values in eight bytes ---- */

/* 0 … 255, as the upper halves of floats. */
struct as_bf16 {
    enum { MOST = 255 };
    static HISTO_MEMBER uint16_t pack(float value) { return (uint16_t)(__float_as_uint(value) >> 16); }
    static HISTO_MEMBER bool holds(float value)
    {
        return __float_as_uint(value) == __float_as_uint((float)(__float2uint_rn(value) & MOST));
    }
    static HISTO_MEMBER void unpack(uint2 words, float (&value)[NEAR])
    {
        value[0] = __uint_as_float(words.x << 16);
        value[1] = __uint_as_float(words.x & 0xffff0000u);
        value[2] = __uint_as_float(words.y << 16);
        value[3] = __uint_as_float(words.y & 0xffff0000u);
    }
};

/* 0 … 65535. They become the low digits of 2^23, which is then subtracted. */
struct as_u16 {
    enum { MOST = 65535 };
    static HISTO_MEMBER uint16_t pack(float value) { return (uint16_t)__float2uint_rn(value); }
    static HISTO_MEMBER bool holds(float value)
    {
        return __float_as_uint(value) == __float_as_uint((float)(__float2uint_rn(value) & MOST));
    }
    static HISTO_MEMBER void unpack(uint2 words, float (&value)[NEAR])
    {
        const float base = 0x1p23f;
        value[0] = __uint_as_float(__byte_perm(words.x, 0x4b000000u, 0x7610)) - base;
        value[1] = __uint_as_float(__byte_perm(words.x, 0x4b000000u, 0x7632)) - base;
        value[2] = __uint_as_float(__byte_perm(words.y, 0x4b000000u, 0x7610)) - base;
        value[3] = __uint_as_float(__byte_perm(words.y, 0x4b000000u, 0x7632)) - base;
    }
};

/* Blends of values that were packed. Adding 2^23 rounds them, half to even. */
template <histo_dtype result, typename packing>
static __device__ histo_stored<result> packed_result(float blend)
{
    if constexpr (result == HISTO_F32) {
        return blend;
    } else {
        const int most = result == HISTO_U8 ? 255 : 65535;
        return (histo_stored<result>)__float_as_uint((packing::MOST > most ? fminf(blend, most) : blend) + 0x1p23f);
    }
}

/* ---- Cells ---- */

/* The first of `extent` samples that has tile c - 1 or a later one at or before it. Its guess is a little too low. */
static __device__ int32_t cell_begin(const histo_map_grid *tiles, int d, int64_t c, int64_t extent)
{
    if (c == 0) return 0;
    if (c > tiles->count[d]) return (int32_t)extent;
    const int64_t first = tiles->origin[d], end = first + extent;
    int64_t at = (2 * c - 1) * tiles->size[d] / 2;
    at = max(at - 2 - (at >> 22), first);
    float share;
    while (at < end && histo_tile_before(tiles->per_size[d], (float)at, &share) < (float)(c - 1))
        at++;
    return (int32_t)(min(at, end) - first);
}

typedef struct cell {
    const double *tables[NEAR]; /* bit 0: the right one, bit 1: the lower one */
    int32_t left, right, top, bottom;
} cell;

static __device__ cell cell_at(const histo_map_rows *w, int64_t entry, uint32_t number)
{
    const histo_map_grid *tiles = &w->tiles;
    const uint32_t across = (uint32_t)tiles->count[1] + 1, y = number / across, x = number - y * across;
    cell c;
    c.left = cell_begin(tiles, 1, x, w->columns);
    c.right = cell_begin(tiles, 1, x + 1, w->columns);
    c.top = cell_begin(tiles, 0, y, w->rows);
    c.bottom = cell_begin(tiles, 0, y + 1, w->rows);
#pragma unroll
    for (int t = 0; t < NEAR; t++) {
        const int64_t column = min(max((int64_t)x - 1 + t % 2, (int64_t)0), tiles->count[1] - 1);
        const int64_t row = min(max((int64_t)y - 1 + t / 2, (int64_t)0), tiles->count[0] - 1);
        c.tables[t] = w->values + (entry * w->entry_tables + row * tiles->count[1] + column) * w->length;
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

/* Copy the tables of a cell; true if shared memory holds all of their values. AHEAD loads of a thread overlap. */
template <histo_dtype type, typename packing>
static __device__ bool keep_tables(const histo_map_rows *w, const cell *c, uint2 *kept)
{
    enum { AHEAD = 8 };
    const uint32_t n = NEAR * w->kept;
    bool holds = true;
    for (uint32_t first = threadIdx.x; first < n; first += AHEAD * blockDim.x) {
        float value[AHEAD];
#pragma unroll
        for (uint32_t k = 0; k < AHEAD; k++) {
            const uint32_t i = min(first + k * blockDim.x, n - 1), t = i % NEAR;
            const double *table = t < 2 ? (t ? c->tables[1] : c->tables[0]) : t > 2 ? c->tables[3] : c->tables[2];
            value[k] = entry_of<type>(w, table, i / NEAR);
        }
#pragma unroll
        for (uint32_t k = 0; k < AHEAD; k++) {
            holds = holds && packing::holds(value[k]);
            if (first + k * blockDim.x < n) ((uint16_t *)kept)[first + k * blockDim.x] = packing::pack(value[k]);
        }
    }
    return __syncthreads_and(holds) && w->kept;
}

/* Blend the samples of a strip of the cell: blend(samples, shares of the right tiles, of the lower ones, results).
 * Threads take vectors of a few columns, and rows that are `down` apart. */
template <histo_dtype type, histo_dtype result, int V, typename function>
static __device__ void blend_strip(const histo_map_rows *w, const cell *c, int64_t entry, int32_t begin, int32_t end,
                                   function blend)
{
    enum { AHEAD = 2 };
    const int32_t origin[2] = {(int32_t)w->tiles.origin[0], (int32_t)w->tiles.origin[1]};
    const int32_t first = c->left / V * V, groups = (c->right - first + V - 1) / V;
    const int32_t across = min(groups, (int32_t)blockDim.x), down = (int32_t)blockDim.x / across;
    const int32_t its_row = (int32_t)threadIdx.x / across;
    if (its_row >= down) return;
    for (int32_t group = (int32_t)threadIdx.x - its_row * across; group < groups; group += across) {
        const int32_t x = first + group * V;
        const bool whole = x >= c->left && x + V <= c->right;
        const char *from = w->from + entry * w->entry_stride[0] + x * w->stride[0];
        char *to = w->to + entry * w->entry_stride[1] + x * w->stride[1];
        float right[V];
#pragma unroll
        for (int i = 0; i < V; i++)
            histo_tile_before(w->tiles.per_size[1], (float)(origin[1] + x + i), &right[i]);
        for (int32_t y = begin + its_row; y < end; y += AHEAD * down) {
            histo_vector<histo_stored<type>, V> in[AHEAD];
#pragma unroll
            for (int k = 0; k < AHEAD; k++)
                if (y + k * down < end)
                    in[k] = histo_load_vector<histo_stored<type>, V>(from + (y + k * down) * w->row_stride[0],
                                                                     w->columns - x);
#pragma unroll
            for (int k = 0; k < AHEAD; k++) {
                if (y + k * down >= end) break;
                float low;
                histo_tile_before(w->tiles.per_size[0], (float)(origin[0] + y + k * down), &low);
                histo_vector<histo_stored<result>, V> out;
                blend(in[k], right, low, out);
                char *its = to + (y + k * down) * w->row_stride[1];
                if (whole) {
                    histo_store_vector<histo_stored<result>, V>(its, V, out);
                    continue;
                }
#pragma unroll
                for (int i = 0; i < V; i++)
                    if (x + i >= c->left && x + i < c->right) ((histo_stored<result> *)its)[i] = out.at[i];
            }
        }
    }
}

static __device__ float blend_of(const float (&value)[NEAR], float right, float low)
{
    return histo_blend(histo_blend(value[0], value[1], right), histo_blend(value[2], value[3], right), low);
}

template <histo_dtype type, int V>
static __device__ void indices_of(const histo_map_rows *w, const histo_vector<histo_stored<type>, V> &x,
                                  uint32_t (&index)[V])
{
    if constexpr (sizeof(histo_stored<type>) == 1) {
#pragma unroll
        for (int i = 0; i < V; i++)
            index[i] = x.at[i];
    } else {
        histo_any_lookup<type>(&w->lookup).slots(x.at, index);
    }
}

/* Where shared memory does not hold the values: one sample at a time. */
template <histo_dtype type, histo_dtype result>
static __device__ void blend_from_memory(const histo_map_rows *w, const cell *c, int64_t entry, int32_t begin,
                                         int32_t end)
{
    using samples = histo_vector<histo_stored<type>, 1>;
    using results = histo_vector<histo_stored<result>, 1>;
    blend_strip<type, result, 1>(w, c, entry, begin, end,
                                 [=](const samples &x, const float(&right)[1], float low, results &out) {
                                     uint32_t index[1];
                                     indices_of<type, 1>(w, x, index);
                                     float value[NEAR];
#pragma unroll
                                     for (int t = 0; t < NEAR; t++)
                                         value[t] = entry_of<type>(w, c->tables[t], index[0]);
                                     out.at[0] = histo_result<result>((double)blend_of(value, right[0], low));
                                 });
}

/* type: a byte's sign does not matter to its pattern. */
template <histo_dtype type, histo_dtype result, int V>
static __global__ void __launch_bounds__(MOST_THREADS, BLOCKS_EACH)
    apply_cells(const __grid_constant__ histo_map_rows w)
{
    using packing = typename std::conditional<type == HISTO_U8 && result == HISTO_U8, as_bf16, as_u16>::type;
    using samples = histo_vector<histo_stored<type>, V>;
    using results = histo_vector<histo_stored<result>, V>;
    extern __shared__ uint2 kept[];
    const uint32_t strip = blockIdx.x % w.strips;
    bool waited = false;
    for (int64_t entry = blockIdx.y; entry < w.entries; entry += gridDim.y) {
        const cell c = cell_at(&w, entry, blockIdx.x / w.strips);
        const int32_t rows = c.bottom - c.top, strips = (int32_t)w.strips;
        const int32_t each = max((rows + strips - 1) / strips, (int32_t)w.strip_rows);
        const int32_t begin = c.top + (int32_t)strip * each, end = min(begin + each, c.bottom);
        if (c.left >= c.right || begin >= end) continue;
        if (!waited) histo_wait_for_last_kernel();
        waited = true;
        const bool is_kept = keep_tables<type, packing>(&w, &c, kept);
        if (is_kept)
            blend_strip<type, result, V>(
                &w, &c, entry, begin, end, [&](const samples &x, const float(&right)[V], float low, results &out) {
                    uint32_t index[V];
                    indices_of<type, V>(&w, x, index);
#pragma unroll
                    for (int i = 0; i < V; i++) {
                        float value[NEAR];
                        packing::unpack(kept[index[i]], value);
                        out.at[i] = packed_result<result, packing>(blend_of(value, right[i], low));
                    }
                });
        else
            blend_from_memory<type, result>(&w, &c, entry, begin, end);
        __syncthreads(); /* the tables have been read */
    }
}

template <histo_dtype type, histo_dtype result>
static histo_map_kernel kernel_of(bool wide)
{
    enum { V = result == HISTO_F32 || type == HISTO_U16 ? 4 : 8 };
    if (wide) return {(const void *)apply_cells<type, result, V>, V};
    return {(const void *)apply_cells<type, result, 1>, 1};
}

template <histo_dtype type>
static histo_map_kernel kernel_of_result(histo_dtype result, bool wide)
{
    switch (result) {
    case HISTO_U8:
        return kernel_of<type, HISTO_U8>(wide);
    case HISTO_U16:
        return kernel_of<type, HISTO_U16>(wide);
    case HISTO_F32:
        return kernel_of<type, HISTO_F32>(wide);
    default:
        return {};
    }
}

histo_map_kernel histo_cuda_map_cells(histo_dtype dtype, histo_dtype result, bool wide)
{
    switch (dtype) {
    case HISTO_U8:
    case HISTO_I8:
        return kernel_of_result<HISTO_U8>(result, wide);
    case HISTO_U16:
        return kernel_of_result<HISTO_U16>(result, wide);
    default:
        return {};
    }
}
