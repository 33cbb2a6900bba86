/* What kernels that are compiled at run time for one class of problems are made of: what is constant in the class is
 * constant in the code. Their template parameter `constants` is a struct that the library writes for the class, with
 * the members that class.def lists: arrays are static constexpr, all else are enumerators. */
#ifndef CUDA_JIT_SPECIALISED_CUH
#define CUDA_JIT_SPECIALISED_CUH

#include "cuda/device/any_sample.cuh"

/* The lookups that histo_any_lookup chooses from, and more: fixed point, first floats and copies. */
typedef enum histo_specialised_lookup {
    HISTO_BY_POW2,
    HISTO_BY_FIXED_POINT,  /* integers of at most 16 bits on regular axes */
    HISTO_BY_CLOSED_POINT, /* … that are closed, and end at an integer */
    HISTO_BY_AFFINE,
    HISTO_BY_TABLE,
    HISTO_BY_NEAREST,
    HISTO_BY_GUESS,
    HISTO_BY_FIRST_FLOATS, /* tables of first floats in shared memory */
    HISTO_BY_LINEAR_CELLS,
    HISTO_BY_BIT_CELLS,
    HISTO_BY_SEARCH,
    /* Copies in shared memory, since lanes that read different cache lines wait for each other: of cells, and of the
     * tables of 8- and 16-bit types from the value fixed.first to fixed.last, as numbers of 8 or 16 bits. */
    HISTO_BY_SHARED_LINEAR,
    HISTO_BY_SHARED_BITS,
    HISTO_BY_SHARED_BYTES,
    HISTO_BY_SHARED_SHORTS,
    HISTO_BY_PIVOTS, /* few_samples/any_layout.cuh: a search that begins in shared memory */
    HISTO_BY_NEAR,   /* a guess, and stored edges */
    HISTO_BY_WHOLE,  /* a search among integers … */
    HISTO_BY_NEAR_WHOLE
} histo_specialised_lookup;

/* An axis: its lookup, and the constants that save instructions. */
typedef struct histo_specialised_axis {
    histo_specialised_lookup by;
    histo_pow2 pow2;
    histo_fixed_point fixed;
} histo_specialised_axis;

/* How the VECTOR neighbours of an operand are loaded. Operands that alternate in memory, such as columns of a table,
 * share a chunk: all bytes from the first neighbour to the last, in words of `granule` bytes. */
typedef struct histo_chunk {
    int leader;    /* the operand that loads it, perhaps for others too */
    int granule;   /* 4, 8 or 16; 0: there is no chunk, and neighbours are loaded one by one */
    int pixel;     /* bytes from a neighbour to the next … */
    bool reversed; /* … backwards */
    bool shifted;  /* it begins at any byte; else at a multiple of the granule */
    int offset;    /* of the operand in the pixel */
} histo_chunk;

#endif
