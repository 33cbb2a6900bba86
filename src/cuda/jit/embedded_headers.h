/* The headers of the kernels, as text in the library. cmake/embed.cmake writes the definitions. */
#ifndef CUDA_JIT_EMBEDDED_HEADERS_H
#define CUDA_JIT_EMBEDDED_HEADERS_H

typedef struct histo_embedded_header {
    const char *name; /* as in #include "…" */
    const char *text;
} histo_embedded_header;

extern const histo_embedded_header histo_embedded_headers[];
extern const int histo_embedded_header_count;
extern const char histo_embedded_header_digest[]; /* SHA-256 of all headers, in hexadecimal */

#endif
