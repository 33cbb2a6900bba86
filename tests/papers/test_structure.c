/* The ideas of kernels, which their counts do not show: whoever shuffles threads by the identity, or lets lanes share a
 * bank, still counts right. The maps are those that the kernels use. */
#include <stdlib.h>
#include <string.h>

#include "papers/strategies/banks.h"
#include "papers/strategies/packed_counters.h"
#include "papers/strategies/packed_layout.h"
#include "plan/problem.h"
#include "support/check.h"
#include "support/data.h"

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

/* Threads that are no multiple of four warps have the memory of one. */
static void bytes_have_columns_for_all_threads(void **state)
{
    (void)state;
    for (uint32_t threads = 32; threads <= MAX_THREADS; threads += 32) {
        const uint32_t columns = histo_byte_columns(threads);
        assert_int_equal(columns % HISTO_FOUR_WARPS, 0);
        assert_in_range(columns, threads, threads + HISTO_FOUR_WARPS - 1);
        for (uint32_t t = 0; t < threads; t++)
            assert_true(histo_byte_of_thread(t) < columns);
    }
}

/* A thread whose samples are all of one slot, in steps of any size. */
static void thread_bytes_never_wrap(void **state)
{
    (void)state;
    for (uint32_t step = 1; step <= 64; step *= 2) {
        uint32_t samples = 0, byte = 0;
        for (int i = 0; i < 1000; i++) {
            assert_in_range(byte + step, 0, UINT8_MAX);
            byte += step;
            samples += step;
            if (histo_bytes_are_full(samples, step)) byte = samples = 0;
        }
        /* Nor are they flushed for nothing. */
        assert_false(histo_bytes_are_full(0, 255));
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

/* Neighbouring threads load samples that are 32 apart, and each is loaded once. */
static void spaced_loads_are_apart(void **state)
{
    (void)state;
    uint32_t at[MAX_THREADS];
    for (uint32_t threads = 64; threads <= MAX_THREADS; threads += 32) {
        for (uint32_t t = 0; t < threads; t++)
            at[t] = histo_spaced_at(t, threads);
        assert_permutation(at, threads, "samples of threads");
        for (uint32_t t = 1; t < threads; t++)
            if (t % (threads / HISTO_LANES)) assert_int_equal(at[t] - at[t - 1], HISTO_LANES);
    }
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

/* ---- The thesis's configurations of packed_atomic ---- */

/* One regular axis on a card like the thesis's, or like an H200. */
static histo_packed_problem thesis_problem(int64_t bins, bool large)
{
    histo_packed_problem p = {bins, bins + 4, 3840 * 2160, 12, 48 << 10, 48 << 10, 0};
    if (large) {
        p.multiprocessors = 132;
        p.shared_each = 228 << 10;
        p.shared_block = 227 << 10;
        p.reserve = 1 << 10;
    }
    /* Flow, which the thesis does not count, takes a word of each copy: */
    p.shared_block += 1 << 10;
    return p;
}

static histo_packed_layout thesis_layout(const histo_packed_problem *p, int bits, int64_t dense)
{
    const int64_t params[HISTO_MAX_PARAMS] = {
        [HISTO_PACKED_CONFIG] = HISTO_PACKED_THESIS, [HISTO_PACKED_BITS] = bits, [HISTO_PACKED_DENSE] = dense};
    return histo_packed_layout_of(p, params);
}

static void copies_of_table_5_1(void **state)
{
    (void)state;
    static const int64_t rows[][2] = {{24576, 1}, {12288, 2}, {6144, 4}, {3072, 8}, {1536, 16}, {768, 32}, {384, 64}};
    for (int large = 0; large < 2; large++)
        for (int r = 0; r < 7; r++) {
            histo_packed_problem at = thesis_problem(rows[r][0], large), above = thesis_problem(rows[r][0] + 1, large);
            histo_packed_layout l = thesis_layout(&at, 0, 0);
            assert_int_equal(l.block.packing.bits, 8);
            assert_int_equal(l.block.copies, rows[r][1]);
            assert_int_equal(thesis_layout(&above, 0, 0).block.copies, rows[r][1] > 1 ? rows[r][1] / 2 : 1);
            assert_int_equal(thesis_layout(&at, 4, 0).block.copies, rows[r][1] < 64 ? 2 * rows[r][1] : 64);
            assert_true(l.block.stride >= (uint32_t)(rows[r][0] + 4 + 3) / 4);
            assert_int_equal(l.shared, 4 * l.block.stride * l.block.copies);
            assert_int_equal(l.bin_tiles, 1);
        }
    histo_packed_problem few = thesis_problem(1, false);
    assert_int_equal(thesis_layout(&few, 0, 0).block.copies, 64);
}

static void configurations_of_chapter_6(void **state)
{
    (void)state;
    enum { K = 1024 };
    /* bins, bits, dense, tiles, samples a load, streams, blocks of a stream along x */
    static const int64_t rows[][7] = {
        {256, 0, 0, 1, 1, 1, 24},      {24 * K, 0, 0, 1, 1, 1, 24},    {24 * K + 1, 0, 0, 1, 1, 1, 12},
        {48 * K, 0, 0, 1, 1, 1, 12},   {48 * K + 1, 0, 0, 2, 4, 4, 3}, {96 * K, 0, 0, 2, 4, 4, 3},
        {1024 * K, 0, 0, 22, 4, 4, 3}, {2048 * K, 0, 0, 43, 4, 4, 3},  {1024 * K, 4, 0, 11, 4, 4, 3},
        {1024 * K, 0, 8, 3, 4, 4, 3},  {1024 * K, 4, 8, 2, 4, 4, 3},   {96 * K, 16, 0, 4, 4, 4, 3},
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        histo_packed_problem p = thesis_problem(rows[r][0], false);
        histo_packed_layout l = thesis_layout(&p, (int)rows[r][1], rows[r][2]);
        assert_int_equal(l.bin_tiles, rows[r][3]);
        assert_int_equal(l.coarsening, rows[r][4]);
        assert_int_equal(l.streams, rows[r][5]);
        assert_int_equal(histo_packed_blocks_of_stream(&l), rows[r][6]);
        assert_int_equal(l.threads, 1024);
        assert_true(l.strided);
        assert_true(l.block.size * l.bin_tiles >= l.region.size && l.block.size * (l.bin_tiles - 1) < l.region.size);
    }
}

/* The grid, not only the layout: every block of an H200 has something to count of a 1080p image. */
static void small_images_fill_the_grid(void **state)
{
    (void)state;
    histo_packed_problem p = thesis_problem(256, true);
    const histo_packed_layout l = thesis_layout(&p, 0, 0);
    const int64_t samples = 1920 * 1080;
    const histo_tile_range strided = {0, 1, true}, shares = {0, 7, false};
    assert_int_equal(histo_scan_blocks(&strided, samples, l.threads, l.blocks), 264);
    assert_int_equal(histo_scan_blocks(&strided, 1 << 14, l.threads, l.blocks), 16);
    assert_int_equal(histo_scan_blocks(&shares, samples, l.threads, l.blocks), 7);
    assert_int_equal(histo_scan_blocks(&shares, samples, l.threads, 3), 3);
}

/* Shared memory of 32-bit counters: 6.1.2 in the same configuration. */
static void references_of_chapter_6(void **state)
{
    (void)state;
    assert_int_equal(histo_packed_thesis_tile(98304, 98304, HISTO_THESIS_SHARED / 4), 12288);
    assert_int_equal(histo_thesis_blocks(4 * 6144, 12), 24);
    assert_int_equal(histo_thesis_blocks(4 * 6145, 12), 12);
    assert_int_equal(histo_thesis_coarsening(49152), 1);
    assert_int_equal(histo_thesis_coarsening(49153), 4);
}

/* As many threads as may count a sample each before a counter of their copy is full, and as many samples of each. */
static void flushes_come_before_overflows(void **state)
{
    (void)state;
    for (int bits = 8; bits <= 16; bits *= 2)
        for (int64_t copies = 1; copies <= 64; copies++) {
            const int64_t params[HISTO_MAX_PARAMS] = {[HISTO_PACKED_CONFIG] = HISTO_PACKED_THESIS,
                                                      [HISTO_PACKED_BITS] = bits == 8 ? 4 : 16,
                                                      [HISTO_PACKED_COPIES] = copies,
                                                      [HISTO_PACKED_FLUSH] = 1};
            histo_packed_problem p = thesis_problem(256, true);
            const histo_packed_layout l = histo_packed_layout_of(&p, params);
            const int most = (1 << bits) - 1, samples = histo_packed_before_flush(&l.block, l.threads),
                      of_copy = (l.threads + (int)copies - 1) / (int)copies;
            assert_int_equal(l.block.packing.bits, bits);
            assert_int_equal(l.block.copies, copies);
            assert_in_range(samples * of_copy, 1, most);
            assert_true((samples + 1) * of_copy > most);
            assert_true(l.threads == 1024 || (l.threads + 32 + (int)copies - 1) / (int)copies > most);
            assert_int_equal(l.coarsening, 1);
        }
}

/* Any parameters: what is on chip fits, and tiles cover the region. */
static void layouts_fit(void **state)
{
    (void)state;
    rng r = {.state = 51};
    for (int round = 0; round < 20000; round++) {
        int64_t params[HISTO_MAX_PARAMS] = {[HISTO_PACKED_CONFIG] = rng_below(&r, 2)};
        params[HISTO_PACKED_BITS] = rng_below(&r, 17);
        params[HISTO_PACKED_COPIES] = rng_below(&r, 2) * rng_below(&r, 65);
        params[HISTO_PACKED_BLOCKS] = rng_below(&r, 2) * rng_below(&r, 65536);
        params[HISTO_PACKED_TILE] = rng_below(&r, 2) * rng_below(&r, INT64_C(1) << rng_below(&r, 21));
        params[HISTO_PACKED_STREAMS] = rng_below(&r, 9);
        params[HISTO_PACKED_DENSE] = rng_below(&r, 2) * rng_below(&r, INT64_C(1) << rng_below(&r, 21));
        histo_packed_problem p = thesis_problem(1 + rng_below(&r, INT64_C(1) << rng_below(&r, 29)), round % 2);
        histo_packed_layout l = histo_packed_layout_of(&p, params);
        assert_in_range(l.block.copies, 1, HISTO_PACKED_MAX_COPIES);
        assert_in_range(l.bin_tiles, 1, HISTO_PACKED_MAX_TILES);
        /* Neighbouring threads use different copies, and equal bins of these are in different banks. */
        assert_true(l.block.copies == 1 || l.block.stride % 2 == 1);
        assert_true(l.shared <= p.shared_block && l.shared >= 4);
        assert_true(l.block.stride * (32 / l.block.packing.bits) >= l.block.size);
        assert_true((int64_t)l.region.first + l.region.size <= p.counters && l.region.size > 0);
        assert_true(l.region.size == p.counters || params[HISTO_PACKED_DENSE] > 1);
        assert_true((int64_t)l.block.size * l.bin_tiles >= l.region.size);
        assert_true((int64_t)l.block.size * (l.bin_tiles - 1) < l.region.size);
        int64_t each = histo_packed_blocks_of_stream(&l);
        assert_true(each >= 1 && (each == 1 || each * l.streams <= l.blocks));
    }
}

/* The word of a pre-processed sample gives the counter back, and no sample belongs to no tile. */
static void maps_give_the_counter(void **state)
{
    (void)state;
    rng r = {.state = 56};
    for (int bits = 4; bits <= 16; bits *= 2)
        for (int round = 0; round < 3000; round++) {
            histo_packed_block b = {.packing = histo_packing_of(bits)};
            b.size = 1 + (uint32_t)rng_below(&r, (INT64_C(1) << 16) * (32 / bits));
            uint32_t tile = (uint32_t)rng_below(&r, HISTO_MAP_TILES), at = (uint32_t)rng_below(&r, b.size);
            uint32_t map = histo_packed_map(&b, tile * b.size + at);
            if ((uint64_t)tile * b.size + at > UINT32_MAX) continue;
            assert_int_equal(histo_map_tile(map), tile);
            assert_int_equal(histo_map_index(map), histo_packed_word(&b.packing, at));
            assert_int_equal(histo_map_offset(map), histo_packed_shift(&b.packing, at));
        }
    assert_int_equal(histo_map_tile(0xffffffff), HISTO_MAP_TILES);
}

static void streams_share_all_tiles(void **state)
{
    (void)state;
    for (int streams = 1; streams <= 8; streams++)
        for (int64_t tiles = streams; tiles < 100; tiles++) {
            assert_int_equal(histo_packed_first_of_stream(tiles, 0, streams), 0);
            assert_int_equal(histo_packed_first_of_stream(tiles, streams, streams), tiles);
            for (int s = 0; s < streams; s++) {
                int64_t share = histo_packed_first_of_stream(tiles, s + 1, streams) -
                                histo_packed_first_of_stream(tiles, s, streams);
                assert_true(share == tiles / streams || share == tiles / streams + 1);
            }
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(thread_bytes_counts_without_conflicts),
        cmocka_unit_test(bytes_have_columns_for_all_threads),
        cmocka_unit_test(thread_bytes_never_wrap),
        cmocka_unit_test(rows_are_added_up_without_conflicts),
        cmocka_unit_test(bank_owner_touches_its_own_bank),
        cmocka_unit_test(bank_owner_reads_without_conflicts),
        cmocka_unit_test(spaced_loads_are_apart),
        cmocka_unit_test(warp_tagged_counts_a_share),
        cmocka_unit_test(tiles_cover_each_counter_once),
        cmocka_unit_test(copies_of_table_5_1),
        cmocka_unit_test(configurations_of_chapter_6),
        cmocka_unit_test(small_images_fill_the_grid),
        cmocka_unit_test(references_of_chapter_6),
        cmocka_unit_test(flushes_come_before_overflows),
        cmocka_unit_test(layouts_fit),
        cmocka_unit_test(maps_give_the_counter),
        cmocka_unit_test(streams_share_all_tiles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
