/* The headers of the kernels, as text in the library. cmake/embed.cmake writes the definitions. */
#ifndef CUDA_COMPILE_SOURCES_H
#define CUDA_COMPILE_SOURCES_H

typedef struct histo_source {
    const char *name; /* as in #include "…" */
    const char *text;
} histo_source;

extern const histo_source histo_sources[];
extern const int histo_source_count;
extern const char histo_source_digest[]; /* SHA-256 of all headers, in hexadecimal */

#endif
