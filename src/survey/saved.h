/* The findings of a survey's pass as 64-bit numbers, the form in which they are saved. */
#ifndef SURVEY_SAVED_H
#define SURVEY_SAVED_H

#include "counts/saved/bytes.h"

/* Reads them; the data are untrusted. */
typedef struct histo_saved {
    const unsigned char *at;
    size_t left;              /* numbers */
    bool failed;              /* there were too few numbers, or one is impossible */
    uint64_t samples, masked; /* of the part, once read */
} histo_saved;

/* The next number; 0 at the end. */
static inline uint64_t histo_saved_next(histo_saved *from)
{
    uint64_t value = 0;
    if (from->left == 0) {
        from->failed = true;
        return 0;
    }
    for (int i = 0; i < 8; i++)
        value |= (uint64_t)from->at[i] << 8 * i;
    from->at += 8;
    from->left--;
    return value;
}

/* The next number must be this one. */
static inline void histo_saved_expect(histo_saved *from, uint64_t value)
{
    from->failed |= histo_saved_next(from) != value;
}

/* The next of several counts whose sum is at most *left. */
static inline uint64_t histo_saved_share(histo_saved *from, uint64_t *left)
{
    const uint64_t n = histo_saved_next(from);
    from->failed |= n > *left;
    *left -= n < *left ? n : *left;
    return n;
}

/* The next number is the number of entries that follow, at most `limit`. */
static inline uint64_t histo_saved_count(histo_saved *from, uint64_t limit)
{
    const uint64_t n = histo_saved_next(from);
    from->failed |= n > limit || n > from->left;
    return from->failed ? 0 : n;
}

static inline void histo_save_u64(histo_bytes *out, uint64_t value)
{
    histo_bytes_put_le(out, value, 8);
}

#endif
