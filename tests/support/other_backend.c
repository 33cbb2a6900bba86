/* Stands for a CUDA backend of another version: its build identifier differs. */
extern const char histo_cuda_module[64];
const char histo_cuda_module[64] = "0.0.9 (build 0123456789abcdef)";
