/* What kernels that make tables share: counts, sums over them, and how tables are written. A block, or for many bins a
 * cluster of blocks, makes a table; its threads have neighbouring bins, a tile of them at a time. */
#ifndef CUDA_MAPS_TABLE_BLOCK_H
#define CUDA_MAPS_TABLE_BLOCK_H

#include <cooperative_groups.h>
#include <cub/block/block_reduce.cuh>
#include <cub/warp/warp_scan.cuh>

#include "cuda/device/dependent.cuh"

namespace histo::table
{

typedef unsigned long long word;

/* At the beginning of every kernel: what it reads has been counted, and its values are used, by earlier ones. */
static __device__ void start()
{
    histo_launch_dependents();
    histo_wait_for_earlier();
}

/* Where the counts of the bins of each table's histogram are. */
struct source {
    const word *counts; /* that of the lowest bin of the first histogram */
    int64_t step;       /* from there to that of the next histogram; 0: all tables have one */

    __device__ const word *of(int64_t table) const { return counts + table * step; }
};

/* Where the values of each table go. */
struct target {
    double *values;
    int64_t length, bins;
    bool lines; /* values are those of edges, between which lines go */

    __device__ double *of(int64_t table) const { return values + table * length; }

    /* Set the value of a bin or of its upper edge, and that of the flow next to it. */
    __device__ void put(double *to, int64_t bin, double value) const
    {
        to[bin + 1] = value;
        if (lines) return;
        if (bin == 0) to[0] = value;
        if (bin != bins - 1) return;
        to[bins + 1] = value;
        to[bins + 2] = NAN;
    }
};

/* A block of this many threads, each with so many neighbouring bins of a tile. CLUSTERED: it may be one of a cluster;
 * before sm_90, it never is. */
template <int THREADS, int EACH, bool CLUSTERED>
struct block {
    static constexpr int threads = THREADS, tile = THREADS * EACH;

    template <typename T>
    using reducing = cub::BlockReduce<T, THREADS>;

    /* ---- The cluster ---- */

    static __device__ unsigned rank()
    {
#if __CUDA_ARCH__ >= 900
        if constexpr (CLUSTERED) return cooperative_groups::this_cluster().block_rank();
#endif
        return 0;
    }

    static __device__ unsigned blocks()
    {
#if __CUDA_ARCH__ >= 900
        if constexpr (CLUSTERED) return cooperative_groups::this_cluster().num_blocks();
#endif
        return 1;
    }

    static __device__ void sync()
    {
#if __CUDA_ARCH__ >= 900
        if (blocks() > 1) {
            cooperative_groups::this_cluster().sync();
            return;
        }
#endif
        __syncthreads();
    }

    /* The address of a variable in the shared memory of a block of the cluster. */
    template <typename T>
    static __device__ T *in_block(unsigned of, T *shared)
    {
#if __CUDA_ARCH__ >= 900
        if constexpr (CLUSTERED) return cooperative_groups::this_cluster().map_shared_rank(shared, of);
#endif
        return shared;
    }

    /* Store a value in the shared memory of all blocks. */
    template <typename T>
    static __device__ void store(T *shared, const T &value)
    {
        for (unsigned b = 0; b < blocks(); b++)
            *in_block(b, shared) = value;
    }

    static __device__ int64_t table()
    {
        return blockIdx.x / blocks();
    }

    static __device__ bool is_first()
    {
        return rank() == 0 && threadIdx.x == 0;
    }

    /* Call of(i) for i = 0 … n - 1, in any order. */
    template <typename F>
    static __device__ void each(int64_t n, F of)
    {
        for (int64_t i = rank() * (int64_t)THREADS + threadIdx.x; i < n; i += blocks() * (int64_t)THREADS)
            of(i);
    }

    /* ---- Sums ---- */

    /* The combination of the values of all threads, for all of them. */
    template <typename T, typename JOIN>
    static __device__ T all(T value, JOIN join)
    {
        __shared__ typename reducing<T>::TempStorage room;
        __shared__ T result;
        __syncthreads(); /* what an earlier call left has been read */
        value = reducing<T>(room).Reduce(value, join);
        if (threadIdx.x == 0) result = value;
        sync();
        if (blocks() == 1) return result;
        value = *in_block(0, &result);
        for (unsigned b = 1; b < blocks(); b++)
            value = join(value, *in_block(b, &result));
        sync(); /* no block changes or leaves what others read */
        return value;
    }

    /* The combination of the values of the threads before this one, `none` for the first; *through: of all. */
    template <typename T, typename JOIN>
    static __device__ T before(T value, T none, JOIN join, T *through)
    {
        enum { WARP = 32, WARPS = THREADS / WARP };
        using scan = cub::WarpScan<T>;
        __shared__ typename scan::TempStorage room[WARPS];
        __shared__ T of_warp[WARPS], result;
        const int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
        T upto;
        scan(room[warp]).Scan(value, upto, value, none, join);
        __syncthreads(); /* what an earlier call left has been read */
        if (lane == WARP - 1) of_warp[warp] = upto;
        __syncthreads();
        if constexpr (!CLUSTERED) { /* few warps */
            T lower = none, sum = none;
            for (int w = 0; w < WARPS; w++) {
                if (w == warp) lower = sum;
                sum = join(sum, of_warp[w]);
            }
            *through = sum;
            return join(lower, value);
        }
        if (warp == 0) {
            T lower, its = lane < WARPS ? of_warp[lane] : none;
            scan(room[0]).Scan(its, upto, lower, none, join);
            if (lane < WARPS) of_warp[lane] = lower;
            if (lane == WARP - 1) result = upto;
        }
        sync();
        value = join(of_warp[warp], value);
        *through = result;
        if (blocks() == 1) return value;
        T lower = none, sum = none;
        for (unsigned b = 0; b < blocks(); b++) {
            if (b == rank()) lower = sum;
            sum = join(sum, *in_block(b, &result));
        }
        *through = sum;
        sync(); /* no block changes or leaves what others read */
        return join(lower, value);
    }

    /* The bins of a tile that this thread has. */
    struct piece {
        int64_t first;
        word count[EACH]; /* 0 beyond the last bin */
    };

    /* This thread's piece of the tile that begins at bin `begin` of n bins. */
    static __device__ piece load(const word *counts, int64_t begin, int64_t n)
    {
        piece p;
        p.first = begin + rank() * tile + threadIdx.x * EACH;
#pragma unroll
        for (int k = 0; k < EACH; k++)
            p.count[k] = p.first + k < n ? counts[p.first + k] : 0;
        return p;
    }

    /* Call of(count, bin) for the bins of a piece. */
    template <typename F>
    static __device__ void each_of(const piece &p, int64_t n, F of)
    {
#pragma unroll
        for (int k = 0; k < EACH; k++)
            if (p.first + k < n) of(p.count[k], p.first + k);
    }

    /* Call of(count, bin) for all of n bins. */
    template <typename F>
    static __device__ void each_bin(const word *counts, int64_t n, F of)
    {
        for (int64_t begin = 0; begin < n; begin += blocks() * tile)
            each_of(load(counts, begin, n), n, of);
    }

    /* Sums of values: of each bin of a piece, and of all before it. */
    template <typename T>
    struct sums {
        T value[EACH], before;
    };

    /* The sums of value(count, bin); *through: of the tile. */
    template <typename T, typename VALUE>
    static __device__ sums<T> sums_of(const piece &p, int64_t n, VALUE value, T *through)
    {
        sums<T> s;
        T mine = {};
#pragma unroll
        for (int k = 0; k < EACH; k++) {
            s.value[k] = p.first + k < n ? value(p.count[k], p.first + k) : T{};
            mine = mine + s.value[k];
        }
        s.before = before<T>(
            mine, T{}, [](const T &a, const T &b) { return a + b; }, through);
        return s;
    }

    /* use(count, bin, before, upto) for the bins of a piece: the sums of the bins before it, and with it */
    template <typename T, typename USE>
    static __device__ void use_sums(const piece &p, int64_t n, const sums<T> &s, USE use)
    {
        T before = s.before;
#pragma unroll
        for (int k = 0; k < EACH; k++) {
            const T upto = before + s.value[k];
            if (p.first + k < n) use(p.count[k], p.first + k, before, upto);
            before = upto;
        }
    }

    /* Running sums: use(count, bin, before, upto) for all of n bins. */
    template <typename T, typename VALUE, typename USE>
    static __device__ void run(const word *counts, int64_t n, VALUE value, USE use)
    {
        T carry = {}, through;
        for (int64_t begin = 0; begin < n; begin += blocks() * tile) {
            const piece p = load(counts, begin, n);
            sums<T> s = sums_of<T>(p, n, value, &through);
            s.before = carry + s.before;
            use_sums<T>(p, n, s, use);
            carry = carry + through;
        }
    }

    /* Running sums that need that of all: first see(count, bin, before) for all bins, then know(the sum of all), then
     * use(…). One tile is scanned once. */
    template <typename T, typename VALUE, typename SEE, typename KNOW, typename USE>
    static __device__ void run_twice(const word *counts, int64_t n, VALUE value, SEE see, KNOW know, USE use)
    {
        T carry = {}, through;
        piece p;
        sums<T> s;
        for (int64_t begin = 0; begin < n; begin += blocks() * tile) {
            p = load(counts, begin, n);
            s = sums_of<T>(p, n, value, &through);
            s.before = carry + s.before;
            use_sums<T>(p, n, s, [&](word count, int64_t bin, const T &before, const T &) { see(count, bin, before); });
            carry = carry + through;
        }
        know(carry);
        if (n <= blocks() * tile)
            use_sums<T>(p, n, s, use);
        else
            run<T>(counts, n, value, use);
    }

    /* Make all values of a table NaN. */
    static __device__ void put_none(const target &to, double *table)
    {
        each(to.length, [&](int64_t i) { table[i] = NAN; });
    }
};

} // namespace histo::table

#endif
