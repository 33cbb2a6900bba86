/* The class of a job: what problems have in common that one specialised kernel counts (specialised.h). */
#ifndef CUDA_JIT_CLASS_H
#define CUDA_JIT_CLASS_H

#include "base/text_builder.h"
#include "cuda/jit/specialised.cuh"
#include "cuda/launch/several_axes.h"
#include "plan/strategy.h"

/* A constant of the strategy whose kernel is compiled. It is an enumerator of `struct constants`. */
typedef struct histo_cuda_constant {
    const char *name; /* a literal */
    int value;
} histo_cuda_constant;

enum { HISTO_MAX_OWN_CONSTANTS = 8 };

typedef struct histo_cuda_class {
#define CONSTANT(type, name) type name;
#define CONSTANTS(type, name, most, n) type name[most];
#include "cuda/jit/class.def"
#undef CONSTANT
#undef CONSTANTS
    int own_constants;
    histo_cuda_constant own[HISTO_MAX_OWN_CONSTANTS];
    int widest; /* for histo_cuda_pad_rows: neighbours that a thread could take if all were in one run */
} histo_cuda_class;

enum { HISTO_CHANNELS_TOGETHER = 8 };

/* How many interleaved channels are counted together; 1 if there are none. Channels are batch entries whose samples
 * alternate in memory, so that reading them together reads memory once. The columns of an array are counted in groups
 * of up to HISTO_CHANNELS_TOGETHER. */
int histo_cuda_channels_of(const histo_job *job);

/* As histo_cuda_work_of, for a job with so many channels counted together: a group of channels is one batch entry that
 * has the counters of all of them. */
histo_cuda_work histo_cuda_work_of_channels(const histo_job *job, int channels, int64_t wanted, int64_t least,
                                            int64_t most);

/* The same with rows of images padded so that threads can take several neighbours at a time, which are all in one row;
 * false where that does not pay. constants: the class without padding. */
bool histo_cuda_pad_rows(const histo_job *job, const histo_cuda_class *constants, int channels, int64_t wanted,
                         int64_t least, int64_t most, histo_cuda_work *work);

/* Find the class of a job's work, for blocks of so many threads; false if no kernel can be compiled for it. Sets
 * work->advance. joint: tables of first floats, or NULL. */
bool histo_cuda_class_of(const histo_job *job, histo_cuda_work *work, const histo_joint *joint, int threads,
                         histo_cuda_class *constants);

/* Write the class as `struct constants` (specialised.cuh). */
void histo_cuda_class_write(const histo_cuda_class *constants, histo_text *text);

bool histo_cuda_class_equals(const histo_cuda_class *a, const histo_cuda_class *b);

#endif
