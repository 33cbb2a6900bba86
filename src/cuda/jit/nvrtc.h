/* NVIDIA's run-time compiler, NVRTC. It is optional, and loaded when it is first needed. */
#ifndef CUDA_JIT_NVRTC_H
#define CUDA_JIT_NVRTC_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A compiled kernel: bytes, for free(), that hold the kernel's symbol with its NUL and, at code_at, a cubin or PTX. */
typedef struct histo_kernel_image {
    char *bytes;
    size_t size, code_at;
} histo_kernel_image;

/* The image in these bytes. False if they hold none. */
bool histo_kernel_image_of(char *bytes, size_t size, histo_kernel_image *image);

/* Why there is no NVRTC; NULL if there is. */
const char *histo_nvrtc_unavailable(void);

const char *histo_nvrtc_version(void); /* such as "13.0" */

/* The options of every compilation, NULL at the end. */
extern const char *const histo_nvrtc_options[];

/* Compile `source`, which may include histo_embedded_headers, and instantiate its kernel of this name ("count<float>").
 * architecture: the compute capability times ten. The image is a cubin, or PTX if this NVRTC does not know the GPU.
 * False on failure, or if is_cancelled, which NVRTC (since CUDA 12.9) asks many times, said so. The log, for free(),
 * may be NULL. */
bool histo_nvrtc_compile(const char *source, const char *kernel, int architecture, bool (*is_cancelled)(void),
                         histo_kernel_image *image, char **log);

#ifdef __cplusplus
}
#endif

#endif
