/* The ideas of kernels, which their counts do not show: whoever shuffles threads by the identity, or lets lanes share a
 * bank, still counts right. The maps are those that the kernels use. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "cuda/gallery/banks.h"
#include "cuda/packed.h"
#include "data.h"

/* ---- Banks ---- */

/* No two lanes of a warp are at one bank: word[lane] of shared memory. */
static void assert_no_conflict(const uint32_t *word, const char *what)
{
    int lane_at[HISTO_BANKS];
    memset(lane_at, -1, sizeof lane_at);
    for (int lane = 0; lane < HISTO_LANES; lane++) {
        int *at = &lane_at[word[lane] % HISTO_BANKS];
        if (*at >= 0) fail_msg("%s: lanes %d and %d share bank %u", what, *at, lane, word[lane] % HISTO_BANKS);
        *at = lane;
    }
}

/* Each of n values occurs once. */
static void assert_permutation(const uint32_t *values, uint32_t n, const char *what)
{
    bool *seen = calloc(n, sizeof *seen);
    for (uint32_t i = 0; i < n; i++) {
        if (values[i] >= n || seen[values[i]]) fail_msg("%s: %u is no permutation's at %u", what, values[i], i);
        seen[values[i]] = true;
    }
    free(seen);
}

enum { MAX_THREADS = 1024 };

static void thread_bytes_counts_without_conflicts(void **state)
{
    (void)state;
    rng r = {.state = 64};
    for (uint32_t threads = 128; threads <= MAX_THREADS; threads += 128) {
        uint32_t column[MAX_THREADS];
        for (uint32_t t = 0; t < threads; t++)
            column[t] = histo_byte_of_thread(t);
        assert_permutation(column, threads, "columns of threads");
        for (uint32_t warp = 0; warp < threads / HISTO_LANES; warp++) {
            uint32_t word[HISTO_LANES];
            for (uint32_t lane = 0; lane < HISTO_LANES; lane++)
                word[lane] = ((uint32_t)rng_below(&r, 260) * threads + column[warp * HISTO_LANES + lane]) / 4;
            assert_no_conflict(word, "bytes of threads");
        }
    }
}

/* Lane v of a warp adds up row v, `words` long. */
static void check_rows(uint32_t words)
{
    uint32_t at[HISTO_LANES], word[HISTO_LANES], *read = malloc(HISTO_LANES * words * sizeof *read);
    for (uint32_t warp = 0; warp < 8; warp++) {
        for (uint32_t lane = 0; lane < HISTO_LANES; lane++)
            at[lane] = histo_row_first(warp * HISTO_LANES + lane, words);
        for (uint32_t n = 0; n < words; n++)
            for (uint32_t lane = 0; lane < HISTO_LANES; lane++) {
                word[lane] = (warp * HISTO_LANES + lane) * words + at[lane];
                read[lane * words + n] = at[lane];
                at[lane] = histo_row_next(at[lane], words);
                if (lane + 1 == HISTO_LANES) assert_no_conflict(word, "rows being added up");
            }
        for (uint32_t lane = 0; lane < HISTO_LANES; lane++)
            assert_permutation(read + lane * words, words, "words of a row");
    }
    free(read);
}

static void rows_are_added_up_without_conflicts(void **state)
{
    (void)state;
    for (uint32_t threads = 128; threads <= MAX_THREADS; threads += 128)
        check_rows(threads / 4); /* thread_bytes: four bytes a word */
    for (uint32_t threads = 32; threads <= MAX_THREADS / 2; threads += 32)
        check_rows(threads); /* thread_counters */
}

static void bank_owner_touches_its_own_bank(void **state)
{
    (void)state;
    const int64_t counters[] = {1, 5, 32, 33, 260, 4100};
    for (int c = 0; c < 6; c++) {
        uint32_t stride = histo_owned_stride(counters[c]);
        assert_true(stride >= counters[c] && stride < counters[c] + HISTO_BANKS);
        for (uint32_t slot = 0; slot < counters[c]; slot++) {
            int owners = 0;
            for (uint32_t lane = 0; lane < HISTO_LANES; lane++) {
                if (!histo_is_owner(lane, slot)) continue;
                owners++;
                for (uint32_t warp = 0; warp < 8; warp++)
                    assert_int_equal((warp * stride + slot) % HISTO_BANKS, lane);
            }
            assert_int_equal(owners, 1);
        }
    }
}

static void bank_owner_reads_without_conflicts(void **state)
{
    (void)state;
    enum { STAGED = 16 * HISTO_LANES };
    uint32_t read[HISTO_LANES][STAGED], word[HISTO_LANES];
    for (uint32_t i = 0; i < STAGED; i++) {
        for (uint32_t lane = 0; lane < HISTO_LANES; lane++)
            read[lane][i] = word[lane] = histo_staged_at(i, lane);
        assert_no_conflict(word, "staged slots");
    }
    for (uint32_t lane = 0; lane < HISTO_LANES; lane++)
        assert_permutation(read[lane], STAGED, "staged slots of a lane");
}

/* ---- Tags ---- */

/* A lane that wrote a counter knows it again, and the most samples of one share do not reach the tag. */
static void warp_tagged_counts_a_share(void **state)
{
    (void)state;
    const uint32_t thread = 5 * HISTO_LANES + 31;
    uint32_t counter = 0;
    for (int64_t i = 0; i < HISTO_TAGGED_SAMPLES; i++) {
        uint32_t before = counter;
        counter = histo_tagged(counter, thread - (uint32_t)(i % HISTO_LANES));
        if ((counter & HISTO_TAGGED_MASK) != (before & HISTO_TAGGED_MASK) + 1)
            fail_msg("lost sample %lld", (long long)i);
    }
    assert_int_equal(counter & HISTO_TAGGED_MASK, 1 << 26);
    for (uint32_t a = 0; a < HISTO_LANES; a++)
        for (uint32_t b = 0; b < HISTO_LANES; b++)
            assert_int_equal(histo_tagged(counter, 64 + a) == histo_tagged(counter, 64 + b), a == b);
}

/* ---- Tiles ---- */

static void tiles_cover_each_counter_once(void **state)
{
    (void)state;
    const uint32_t counters[] = {1, 4, 259, 49152, 49156, 98304, 1000003};
    const uint32_t each[] = {1, 7, 100, 49152, 1 << 20};
    for (int c = 0; c < 7; c++)
        for (int e = 0; e < 5; e++) {
            uint8_t *covered = calloc(counters[c], 1);
            for (uint32_t t = 0; t < (counters[c] + each[e] - 1) / each[e]; t++) {
                histo_counter_range tile = histo_counter_tile(t, each[e], counters[c]);
                assert_in_range(tile.size, 1, each[e]);
                assert_true(tile.first + tile.size <= counters[c]);
                for (uint32_t i = 0; i < tile.size; i++)
                    covered[tile.first + i]++;
            }
            for (uint32_t i = 0; i < counters[c]; i++)
                if (covered[i] != 1) fail_msg("counter %u of %u is in %d tiles", i, counters[c], covered[i]);
            free(covered);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(thread_bytes_counts_without_conflicts),
        cmocka_unit_test(rows_are_added_up_without_conflicts),
        cmocka_unit_test(bank_owner_touches_its_own_bank),
        cmocka_unit_test(bank_owner_reads_without_conflicts),
        cmocka_unit_test(warp_tagged_counts_a_share),
        cmocka_unit_test(tiles_cover_each_counter_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
