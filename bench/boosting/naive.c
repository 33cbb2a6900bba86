/* The loop that anyone writes first: sums in double, one feature at a time. boosting_peers.py compiles it. */
#include <stdint.h>

typedef struct __attribute__((packed)) bin {
    double gradients, hessians;
    uint32_t count;
} bin;

/* bins: by features, of all rows. listed: the rows that are counted; NULL for all. */
void naive(const uint8_t *bins, int64_t all_rows, int features, const float *gradients, const float *hessians,
           const uint32_t *listed, int64_t rows, bin *out)
{
    for (int f = 0; f < features; f++) {
        const uint8_t *of = bins + f * all_rows;
        bin *to = out + f * 256;
        for (int64_t i = 0; i < rows; i++) {
            const int64_t r = listed ? listed[i] : i;
            to[of[r]].gradients += gradients[r];
            to[of[r]].hessians += hessians[r];
            to[of[r]].count++;
        }
    }
}
