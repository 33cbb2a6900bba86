/* The sources of the kernels that everyday problems need. */
#ifndef CUDA_BUILTIN_SOURCES_H
#define CUDA_BUILTIN_SOURCES_H

#include "cuda/builtin/problems.h"
#include "cuda/jit/compile.h"

typedef struct histo_noted_source {
    int architecture;
    histo_kernel_source source; /* copies */
    int problem;                /* the first of the list that needs it, or -1 */
} histo_noted_source;

/* Fill all everyday problems on a described GPU of each architecture, in ascending order, and note the sources of their
 * kernels, each once for all architectures that run its code. Ends the process with a message if a fill fails. */
void histo_note_sources(int gpus, const int *architectures);

/* Note those of another problem, on one of these GPUs. */
void histo_note_problem(const everyday_problem *problem, int gpu);

int histo_noted_count(void);
const histo_noted_source *histo_noted_at(int index);

#endif
