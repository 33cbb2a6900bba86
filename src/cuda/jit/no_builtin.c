/* No kernels of everyday problems: of a build without HISTO_CUDA_BUILTIN, and of the program that makes them. */
#include "cuda/jit/builtin.h"

const histo_builtin histo_builtins[1] = {{{0}, 0, 0, 0}};
const int histo_builtin_count = 0;
const char histo_builtin_images[1] = "";
const int histo_builtin_architectures[] = {0};
