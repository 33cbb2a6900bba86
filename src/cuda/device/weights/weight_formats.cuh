/* What the kernels of weighted_private get besides the work. A kernel is a reader (where samples lie) x a lookup
 * (sample to slot) x the counter of weighted_sums.cuh, of weights in the fixed point of fixed_weights.cuh. */
#ifndef CUDA_DEVICE_WEIGHTS_WEIGHT_FORMATS_CUH
#define CUDA_DEVICE_WEIGHTS_WEIGHT_FORMATS_CUH

#include "cuda/device/block_tile.cuh"
#include "cuda/device/weights/weighted_reader.cuh"

namespace histo::weights
{

enum { WARP = 32, GROUP = 4 /* samples of a thread at a time */ };
enum { FEW_LANES = 4 /* of a copy: they may meet in one bank, and in one counter, without loss */ };
enum { TILE_BITS = 22, MAX_SAMPLES = 1 << TILE_BITS /* of a tile */ };

struct sums_layout {
    uint32_t log_copies;
    bool spreads;   /* counters over the banks of a copy: where many lanes share it */
    uint32_t words; /* of a plane: one word of all slots and copies */
    uint32_t table; /* where the lookup's table is, behind all planes */
};

/* ---- Weights in fixed point ---- */

/* For weights of a type: words of a sum and of one of squares; exponents of a window, and those that it may begin with.
 * A tile's sum is below 2^(32 * WORDS - 1) (significand bits + EXPONENTS - 1 + TILE_BITS), one of squares below
 * 2^(32 * SQUARE_WORDS). A square itself has a word less: the last one only takes carries. */
template <typename T, bool SQUARES>
struct format;

template <bool SQUARES>
struct format<float, SQUARES> {
    enum { WORDS = 2, SQUARE_WORDS = SQUARES ? 4 : 0, EXPONENTS = 18, ALL = 256 };
    enum { FIRST = 1, LAST = ALL - 1 - EXPONENTS, BIAS = 127, BITS = 24 };
};

/* Squares are normal doubles, and so is what makes a weight a whole number. */
template <bool SQUARES>
struct format<double, SQUARES> {
    enum { WORDS = 3, SQUARE_WORDS = SQUARES ? 4 : 0, EXPONENTS = 21, ALL = 2048 };
    enum { FIRST = SQUARES ? 512 : 64, LAST = (SQUARES ? 1534 : ALL - 1) - EXPONENTS, BIAS = 1023, BITS = 53 };
};

/* Planes of words: of counts, of sums, of sums of squares. */
template <typename T, bool SQUARES>
struct planes {
    enum { SUM = 1, SQUARE = SUM + format<T, SQUARES>::WORDS, ALL = SQUARE + format<T, SQUARES>::SQUARE_WORDS };
};

} // namespace histo::weights

#endif
