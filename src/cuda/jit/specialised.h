/* Kernels compiled for one class of problems: what is constant in the class is constant in the code. A strategy whose
 * own kernel would read samples one by one asks for a specialised kernel. Where there is none, it uses its own. */
#ifndef CUDA_JIT_SPECIALISED_H
#define CUDA_JIT_SPECIALISED_H

#include "cuda/jit/class.h"
#include "cuda/launch/prepared.h"

/* For cost models: will compiled kernels count the fills of this plan, at least after some fills, where the library's
 * own kernels are slow? */
extern "C" bool histo_cuda_expects_compiled(const histo_problem *problem);

/* Lines of the source of every specialised kernel, after those that include its header. */
#define HISTO_SPECIALISED_READERS                                                                                      \
    "#include \"cuda/jit/specialised_reader.cuh\"\n#include \"cuda/jit/specialised_weighted.cuh\"\n"

/* The kernel `kernel` of `header`, compiled for a class; NULL if there is none. Its reader is
 * histo_specialised_reader<constants> or histo_specialised_weighted<constants>. May compile it, and then waits. */
extern "C" const void *histo_cuda_specialised_kernel(const histo_job *job, const histo_cuda_class *constants,
                                                     const char *header, const char *kernel);

void histo_cuda_specialised_free(histo_cuda_prepared *prepared);
void histo_cuda_specialised_explain(const void *prepared, histo_text *text);

#endif
