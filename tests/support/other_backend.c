/* What a CUDA backend of another version is to the library: where its build should be is another. */
extern const char histo_cuda_module[64];
const char histo_cuda_module[64] = "0.0.9 (build 0123456789abcdef)";
