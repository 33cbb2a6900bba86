/* Kernels of everyday problems that were compiled when the library was built, for each GPU that it was built for
 * (cuda/builtin): the same code that this library would compile at run time. */
#ifndef CUDA_JIT_BUILTIN_H
#define CUDA_JIT_BUILTIN_H

#include <stdint.h>

#include "cuda/jit/compile.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One of them: its image is histo_builtin_images[at … at + size - 1]. digest: of its source. */
typedef struct histo_builtin {
    uint64_t digest[2];
    int architecture; /* the compute capability times ten */
    uint32_t at, size;
} histo_builtin;

enum { HISTO_BUILTIN_ALIGNMENT = 16 /* of images */ };

/* Written by cuda/builtin/make.c, or empty (no_builtin.c). */
extern const histo_builtin histo_builtins[];
extern const int histo_builtin_count;
extern const char histo_builtin_images[];
extern const int histo_builtin_architectures[]; /* in ascending order, 0 after the last */

/* Of the three texts of a source, which say everything that the code depends on, within one build. */
void histo_builtin_digest(const histo_kernel_source *source, uint64_t digest[2]);

/* The image for this GPU: compiled for its architecture, else for the newest one whose code it runs: of the same major
 * compute capability, and an older minor one. The code is a compressed fatbin, which the driver expands. False if there
 * is none. */
bool histo_builtin_find(int architecture, const histo_kernel_source *source, histo_kernel_image *image);

/* Are kernels built in that a GPU of this architecture runs? */
bool histo_builtin_has(int architecture);

#ifdef __cplusplus
}
#endif

#endif
