#include "cuda/jit/builtin.h"

#include <string.h>

/* FNV-1a, NUL included. */
static uint64_t add_text(uint64_t hash, const char *text)
{
    for (size_t i = 0, n = strlen(text) + 1; i < n; i++)
        hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
    return hash;
}

void histo_builtin_digest(const histo_kernel_source *source, uint64_t digest[2])
{
    static const uint64_t basis[2] = {UINT64_C(0xcbf29ce484222325), UINT64_C(0x9e3779b97f4a7c15)};
    for (int i = 0; i < 2; i++) {
        digest[i] = add_text(add_text(add_text(basis[i], source->includes), source->definitions), source->kernel);
        digest[i] ^= digest[i] >> 32;
    }
}

/* Do GPUs of an architecture run code for this one? */
static bool runs_on(int code, int architecture)
{
    return code / 10 == architecture / 10 && code <= architecture;
}

bool histo_builtin_find(int architecture, const histo_kernel_source *source, histo_kernel_image *image)
{
    const histo_builtin *best = NULL;
    uint64_t digest[2];
    if (!histo_builtin_count) return false;
    histo_builtin_digest(source, digest);
    for (int i = 0; i < histo_builtin_count; i++) {
        const histo_builtin *it = &histo_builtins[i];
        if (memcmp(it->digest, digest, sizeof digest) == 0 && runs_on(it->architecture, architecture) &&
            (!best || it->architecture > best->architecture))
            best = it;
    }
    /* Images are never written, nor freed. */
    return best && histo_kernel_image_of((char *)(uintptr_t)(histo_builtin_images + best->at), best->size, image);
}

bool histo_builtin_has(int architecture)
{
    for (const int *code = histo_builtin_architectures; *code; code++)
        if (runs_on(*code, architecture)) return true;
    return false;
}
