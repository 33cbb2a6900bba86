/* Words of histograms: added up in any way, they are those of one histogram that was filled with everything; occupied
 * entries; fingerprints; what is refused. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sum/slices.h"
#include "support/check.h"
#include "support/data.h"
#include "support/saved.h"

enum { PARTS = 5, SAMPLES = 3000 };

typedef struct data {
    double x[SAMPLES], y[SAMPLES], w[SAMPLES];
    uint8_t mask[SAMPLES];
} data;

/* In memory that the next call overwrites. */
static data *make_data(rng *r, bool special)
{
    static data made, *const d = &made;
    for (int i = 0; i < SAMPLES; i++) {
        d->x[i] = rng_uniform(r) * 1.2 - 0.1;
        d->y[i] = rng_uniform(r) * 12 - 1;
        d->w[i] = ldexp(rng_uniform(r) - 0.5, (int)rng_below(r, special ? 2000 : 80) - 40 - (special ? 950 : 0));
        d->mask[i] = rng_below(r, 7) > 0;
    }
    for (int i = 0; special && i < 20; i++)
        d->w[rng_below(r, SAMPLES)] = i % 3 == 0 ? INFINITY : i % 3 == 1 ? -INFINITY : NAN;
    return d;
}

/* Fill with samples [begin, end) of a batch of two. */
static void fill(histo_hist *h, const data *d, int begin, int end, bool weighted)
{
    const int64_t n = (end - begin) / 2;
    const double *at[2] = {d->x + begin, d->y + begin};
    histo_view views[2], w = {d->w + begin, HISTO_F64, 2, 1, {2, n}, {n * 8, 8}};
    histo_view mask = {d->mask + begin, HISTO_U8, 2, 1, {2, n}, {n, 1}};
    for (int a = 0; a < 2; a++)
        views[a] = (histo_view){at[a], HISTO_F64, 2, 1, {2, n}, {n * 8, 8}};
    OK(histo_hist_fill(h, views, &(histo_fill_options){.weights = weighted ? &w : NULL, .mask = &mask}));
}

static histo_hist *make_hist(histo_weighting weighting, histo_storage storage)
{
    const histo_axis axes[2] = {histo_axis_regular(13, 0, 1), histo_axis_log(7, 1, 10)};
    histo_hist *h;
    OK(histo_hist_create(&h, 2, axes, &(histo_hist_options){.batch = 2, .weighting = weighting, .storage = storage}));
    return h;
}

static void assert_same_bytes(const histo_hist *a, const histo_hist *b)
{
    size_t na, nb;
    void *da = save(a, HISTO_BINARY, &na), *db = save(b, HISTO_BINARY, &nb);
    assert_int_equal(na, nb);
    assert_memory_equal(da, db, na);
    histo_free(da);
    histo_free(db);
}

static histo_word_layout join_layouts(histo_hist *const *parts, int n)
{
    histo_word_layout all = {{0}};
    for (int p = 0; p < n; p++) {
        histo_word_layout one;
        OK(histo_hist_word_layout(parts[p], &one));
        for (int i = 0; i < 4; i++)
            all.windows[i] |= one.windows[i];
    }
    return all;
}

/* Add words of two histograms as MPI_SUM would. */
static void add_up(uint64_t *to, const uint64_t *from, int64_t first, int64_t n, int64_t integers)
{
    for (int64_t i = 0; i < n; i++) {
        double a, b;
        memcpy(&a, &to[i], sizeof a);
        memcpy(&b, &from[i], sizeof b);
        a += b;
        to[i] += from[i];
        if (first + i >= integers) memcpy(&to[i], &a, sizeof a);
    }
}

static const histo_weighting weightings[] = {HISTO_UNWEIGHTED, HISTO_WEIGHT_FAST, HISTO_WEIGHT_FAST_SUM,
                                             HISTO_WEIGHT_REPRODUCIBLE, HISTO_WEIGHT_REPRODUCIBLE_SUM};

/* Parts become one by their words in pieces of any size, written to one of them or added to an empty one. */
static void words_add_up(void **state)
{
    (void)state;
    rng r = {.state = 3};
    for (int trial = 0; trial < 60; trial++) {
        const histo_weighting weighting = weightings[trial % 5];
        const bool fast = weighting == HISTO_WEIGHT_FAST || weighting == HISTO_WEIGHT_FAST_SUM;
        data *d = make_data(&r, trial % 4 == 3);
        for (int i = 0; fast && i < SAMPLES; i++)
            d->w[i] = floor(fmin(fmax(d->w[i], -1000), 1000)) + 0.0; /* whole numbers, so that doubles are exact */
        for (int i = 0; fast && i < SAMPLES; i++)
            if (isnan(d->w[i])) d->w[i] = 1;
        histo_hist *whole = make_hist(weighting, HISTO_DENSE), *sum = make_hist(weighting, HISTO_DENSE), *parts[PARTS];
        for (int p = 0; p < PARTS; p++) {
            parts[p] = make_hist(weighting, HISTO_DENSE);
            if (p == 2) continue; /* an empty one */
            fill(parts[p], d, p * SAMPLES / PARTS, (p + 1) * SAMPLES / PARTS, weighting);
            fill(whole, d, p * SAMPLES / PARTS, (p + 1) * SAMPLES / PARTS, weighting);
        }
        const histo_word_layout layout = join_layouts(parts, PARTS);
        int64_t integers, doubles;
        OK(histo_hist_count_words(sum, &layout, &integers, &doubles));
        const int64_t slots = histo_hist_size(sum, HISTO_FLOW), all = integers + doubles;
        assert_int_equal(integers >= slots + 2, 1);
        assert_int_equal(doubles, weighting == HISTO_WEIGHT_FAST       ? 2 * slots
                                  : weighting == HISTO_WEIGHT_FAST_SUM ? slots
                                                                       : 0);
        for (int64_t first = 0, n; first < all; first += n) {
            uint64_t words[1000], total[1000] = {0};
            n = 1 + rng_below(&r, trial % 2 ? 1000 : 100);
            if (n > all - first) n = all - first;
            for (int p = 0; p < PARTS; p++) {
                OK(histo_hist_read_words(parts[p], &layout, first, n, words));
                add_up(total, words, first, n, integers);
                if (trial % 3 == 1) OK(histo_hist_add_words(sum, &layout, first, n, words));
            }
            if (trial % 3 == 0) OK(histo_hist_add_words(sum, &layout, first, n, total));
            if (trial % 3 == 2) OK(histo_hist_write_words(parts[0], &layout, first, n, total));
        }
        assert_same_bytes(trial % 3 == 2 ? parts[0] : sum, whole);
        /* And all at once, in any order, onto what has been added to. */
        uint64_t *words = malloc((size_t)all * sizeof *words);
        histo_hist *twice = make_hist(weighting, HISTO_DENSE);
        fill(twice, d, 0, 100, weighting);
        OK(histo_hist_merge(twice, whole));
        OK(histo_hist_reset(sum, NULL));
        fill(sum, d, 0, 100, weighting);
        OK(histo_hist_read_words(trial % 3 == 2 ? parts[0] : whole, &layout, 0, all, words));
        const int64_t middle = rng_below(&r, all + 1);
        OK(histo_hist_add_words(sum, &layout, middle, all - middle, words + middle));
        OK(histo_hist_add_words(sum, &layout, 0, middle, words));
        assert_same_bytes(sum, twice);
        free(words);
        histo_hist_destroy(twice);
        for (int p = 0; p < PARTS; p++)
            histo_hist_destroy(parts[p]);
        histo_hist_destroy(whole);
        histo_hist_destroy(sum);
    }
}

/* A histogram that is not smaller where it is replaced: its own digits go. */
static void written_words_replace(void **state)
{
    (void)state;
    rng r = {.state = 5};
    data *d = make_data(&r, false);
    histo_hist *a = make_hist(HISTO_WEIGHT_REPRODUCIBLE, HISTO_DENSE),
               *b = make_hist(HISTO_WEIGHT_REPRODUCIBLE, HISTO_DENSE);
    fill(a, d, 0, SAMPLES, true);
    fill(b, d, 100, 300, true);
    const histo_word_layout layout = join_layouts((histo_hist *[]){a, b}, 2);
    int64_t all, doubles;
    OK(histo_hist_count_words(a, &layout, &all, &doubles));
    uint64_t *words = malloc((size_t)all * sizeof *words);
    OK(histo_hist_read_words(b, &layout, 0, all, words));
    for (int64_t first = 0; first < all; first += 17)
        OK(histo_hist_write_words(a, &layout, first, all - first < 17 ? all - first : 17, words + first));
    assert_same_bytes(a, b);
    fill(a, d, 400, 500, true);
    fill(b, d, 400, 500, true);
    assert_same_bytes(a, b);
    free(words);
    histo_hist_destroy(a);
    histo_hist_destroy(b);
}

/* Words that are doubled where the histogram keeps them are those of the histogram merged with itself. */
static void borrowed_words_are_changed_in_place(void **state)
{
    (void)state;
    rng r = {.state = 6};
    data *d = make_data(&r, false);
    for (histo_weighting weighting = HISTO_UNWEIGHTED; weighting <= HISTO_WEIGHT_REPRODUCIBLE_SUM; weighting++) {
        histo_hist *h = make_hist(weighting, HISTO_DENSE), *twice;
        fill(h, d, 0, SAMPLES, weighting != HISTO_UNWEIGHTED);
        OK(histo_hist_clone(h, &twice));
        OK(histo_hist_merge(twice, h));
        histo_word_layout layout;
        int64_t integers, doubles, borrowed = 0;
        OK(histo_hist_word_layout(h, &layout));
        OK(histo_hist_count_words(h, &layout, &integers, &doubles));
        const int64_t slots = histo_hist_size(h, HISTO_FLOW), all = integers + doubles;
        uint64_t *words, word;
        for (int64_t i = 0; i < all; i++) {
            OK(histo_hist_borrow_words(h, &layout, i, 1, &words));
            assert_true(!words == (i >= slots + 2 && i < integers));
            OK(histo_hist_read_words(h, &layout, i, 1, &word));
            if (!words) {
                word *= 2;
                OK(histo_hist_write_words(h, &layout, i, 1, &word));
                continue;
            }
            assert_int_equal(*words, word);
            if (i < integers)
                *words *= 2;
            else
                *(double *)(void *)words *= 2;
            borrowed++;
        }
        assert_int_equal(borrowed, slots + 2 + doubles);
        assert_same_bytes(h, twice);
        OK(histo_hist_borrow_words(h, &layout, 0, slots, &words));
        assert_non_null(words);
        OK(histo_hist_borrow_words(h, &layout, 1, slots, &words)); /* counts, and one of masked samples */
        assert_null(words);
        REFUSED(HISTO_INVALID, "not among", histo_hist_borrow_words(h, &layout, all, 1, &words));
        REFUSED(HISTO_INVALID, "place for the words", histo_hist_borrow_words(h, &layout, 0, 1, NULL));
        REFUSED(HISTO_INVALID, "NULL", histo_hist_borrow_words(NULL, &layout, 0, 1, &words));
        histo_hist_destroy(h);
        histo_hist_destroy(twice);
    }
}

/* As many histograms as words can be of. */
static void two_million_histograms(void **state)
{
    (void)state;
    const histo_axis axis = histo_axis_regular(1, 0, 1);
    const double x = 0.5, weights[] = {DBL_MAX, -0x1.fffffffffffffp0, INFINITY};
    for (int i = 0; i < 3; i++) {
        const histo_view v = histo_view_1d(&x, HISTO_F64, 1), w = histo_view_1d(&weights[i], HISTO_F64, 1);
        histo_hist *one, *sum, *merged;
        OK(histo_hist_create(&one, 1, &axis, &(histo_hist_options){.weighting = HISTO_WEIGHT_REPRODUCIBLE_SUM}));
        OK(histo_hist_clone(one, &sum));
        OK(histo_hist_fill(one, &v, &(histo_fill_options){.weights = &w}));
        OK(histo_hist_clone(one, &merged));
        for (int bit = 0; bit < 20; bit++) { /* 2^21 - 1 of them */
            OK(histo_hist_merge(merged, merged));
            OK(histo_hist_merge(merged, one));
        }
        histo_word_layout layout;
        int64_t n, doubles;
        OK(histo_hist_word_layout(merged, &layout));
        OK(histo_hist_count_words(one, &layout, &n, &doubles));
        uint64_t words[64 * 4], total[64 * 4];
        assert_true(n <= 64 * 4);
        OK(histo_hist_read_words(one, &layout, 0, n, words));
        for (int64_t k = 0; k < n; k++)
            total[k] = words[k] * ((1 << 21) - 1);
        OK(histo_hist_write_words(sum, &layout, 0, n, total));
        assert_same_bytes(sum, merged);
        histo_hist *before;
        OK(histo_hist_clone(merged, &before));
        for (int times = 0; times < 3; times++) {
            OK(histo_hist_add_words(sum, &layout, 0, n, total));
            OK(histo_hist_merge(merged, before));
        }
        assert_same_bytes(sum, merged);
        histo_hist_destroy(before);
        histo_hist_destroy(one);
        histo_hist_destroy(sum);
        histo_hist_destroy(merged);
    }
}

static void occupied_entries_add_up(void **state)
{
    (void)state;
    rng r = {.state = 7};
    data *d = make_data(&r, false);
    for (int trial = 0; trial < 8; trial++) {
        const histo_storage from = trial & 1 ? HISTO_SPARSE : HISTO_DENSE, to = trial & 2 ? HISTO_SPARSE : HISTO_DENSE;
        const histo_slots slots = trial & 4 ? HISTO_BINS : HISTO_FLOW;
        histo_hist *whole = make_hist(HISTO_UNWEIGHTED, to), *sum = make_hist(HISTO_UNWEIGHTED, to);
        for (int p = 0; p < PARTS; p++) {
            histo_hist *part = make_hist(HISTO_UNWEIGHTED, from);
            int64_t n;
            uint64_t masked[2];
            fill(part, d, p * SAMPLES / PARTS, (p + 1) * SAMPLES / PARTS, false);
            fill(whole, d, p * SAMPLES / PARTS, (p + 1) * SAMPLES / PARTS, false);
            OK(histo_hist_occupied(part, slots, &n));
            int64_t *index = malloc((size_t)n * sizeof *index);
            uint64_t *counts = malloc((size_t)n * sizeof *counts);
            OK(histo_hist_read_occupied(part, slots, index, counts, n));
            OK(histo_hist_add_occupied(sum, slots, index, counts, n / 2));
            OK(histo_hist_add_occupied(sum, slots, index + n / 2, counts + n / 2, n - n / 2));
            OK(histo_hist_read_masked(part, masked, 2));
            OK(histo_hist_add_masked(sum, masked, 2));
            free(index);
            free(counts);
            histo_hist_destroy(part);
        }
        if (slots == HISTO_FLOW) {
            assert_same_bytes(sum, whole);
        } else {
            const int64_t n = histo_hist_size(sum, HISTO_BINS);
            uint64_t *a = malloc((size_t)n * sizeof *a), *b = malloc((size_t)n * sizeof *b);
            OK(histo_hist_read_counts(sum, HISTO_BINS, a, n, NULL));
            OK(histo_hist_read_counts(whole, HISTO_BINS, b, n, NULL));
            assert_memory_equal(a, b, (size_t)n * sizeof *a);
            free(a);
            free(b);
        }
        histo_hist_destroy(sum);
        histo_hist_destroy(whole);
    }
}

static uint64_t fingerprint_of(const histo_axis *axis, const histo_hist_options *options)
{
    histo_hist *h;
    uint64_t print;
    OK(histo_hist_create(&h, 1, axis, options));
    OK(histo_hist_fingerprint(h, &print));
    histo_hist_destroy(h);
    return print;
}

static void fingerprints_tell_histograms_apart(void **state)
{
    (void)state;
    double edges[101];
    int64_t whole[3] = {INT64_MIN + 1, 3, INT64_MAX - 2};
    uint64_t natural[3] = {1, 3, INT64_MAX - 2};
    OK(histo_linspace(100, -1, 1, HISTO_F64, HISTO_F64, edges));
    const histo_axis regular = histo_axis_regular(100, -1, 1), stored = histo_axis_variable(100, edges);
    const uint64_t print = fingerprint_of(&regular, NULL);
    assert_true(fingerprint_of(&stored, NULL) == print); /* equal edges merge */
    edges[37] = nextafter(edges[37], 2);
    assert_false(fingerprint_of(&stored, NULL) == print);
    const histo_axis others[] = {histo_axis_regular(101, -1, 1),
                                 histo_axis_regular(100, -1, nextafter(1, 2)),
                                 histo_axis_regular(100, nextafter(-1, 0), 1),
                                 histo_axis_closed(regular),
                                 histo_axis_integer(-1, 100),
                                 histo_axis_variable_i64(2, whole),
                                 histo_axis_variable_u64(2, natural)};
    uint64_t prints[16];
    int n = 0;
    prints[n++] = print;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        prints[n++] = fingerprint_of(&others[i], NULL);
    prints[n++] = fingerprint_of(&regular, &(histo_hist_options){.batch = 2});
    prints[n++] = fingerprint_of(&regular, &(histo_hist_options){.storage = HISTO_SPARSE});
    prints[n++] = fingerprint_of(&regular, &(histo_hist_options){.weighting = HISTO_WEIGHT_FAST});
    whole[1] = 4;
    prints[n++] = fingerprint_of(&others[5], NULL);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            assert_false(prints[i] == prints[j]);
    double zeros[2][2] = {{-0.0, 1}, {0.0, 1}};
    histo_axis from_zero[2] = {histo_axis_variable(1, zeros[0]), histo_axis_variable(1, zeros[1])};
    assert_true(fingerprint_of(&from_zero[0], NULL) == fingerprint_of(&from_zero[1], NULL));
}

static void invalid_words_change_nothing(void **state)
{
    (void)state;
    rng r = {.state = 9};
    data *d = make_data(&r, true);
    histo_hist *h = make_hist(HISTO_WEIGHT_REPRODUCIBLE, HISTO_DENSE), *same;
    histo_hist *sparse = make_hist(HISTO_UNWEIGHTED, HISTO_SPARSE), *dense = make_hist(HISTO_UNWEIGHTED, HISTO_DENSE);
    fill(h, d, 0, SAMPLES, true);
    OK(histo_hist_clone(h, &same));
    histo_word_layout layout, none = {{0}}, less;
    int64_t all, doubles;
    OK(histo_hist_word_layout(h, &layout));
    OK(histo_hist_count_words(h, &layout, &all, &doubles));
    uint64_t *words = malloc((size_t)all * sizeof *words), word[4] = {0};
    OK(histo_hist_read_words(h, &layout, 0, all, words));
    const int64_t slots = histo_hist_size(h, HISTO_FLOW);

    REFUSED(HISTO_INVALID, "not among", histo_hist_read_words(h, &layout, 0, all + 1, words));
    REFUSED(HISTO_INVALID, "not among", histo_hist_read_words(h, &layout, -1, 1, words));
    REFUSED(HISTO_INVALID, "not among", histo_hist_add_words(h, &layout, INT64_MAX, 1, words));
    REFUSED(HISTO_INVALID, "NULL", histo_hist_add_words(h, &layout, 0, 1, NULL));
    REFUSED(HISTO_INVALID, "NULL", histo_hist_add_words(NULL, &layout, 0, 1, words));
    REFUSED(HISTO_INVALID, "NULL", histo_hist_write_words(h, NULL, 0, 1, words));
    REFUSED(HISTO_INVALID, "does not keep", histo_hist_read_words(dense, &layout, 0, 1, word));
    REFUSED(HISTO_UNSUPPORTED, "sparse", histo_hist_read_words(sparse, &none, 0, 1, word));
    REFUSED(HISTO_UNSUPPORTED, "sparse", histo_hist_word_layout(sparse, &less));

    words[slots + 2] = UINT64_C(1) << 53; /* a digit */
    REFUSED(HISTO_INVALID, "not those", histo_hist_add_words(h, &layout, 0, all, words));
    words[slots + 2] = 0 - (UINT64_C(1) << 53);
    REFUSED(HISTO_INVALID, "not those", histo_hist_write_words(h, &layout, 0, all, words));
    words[slots + 2] = 0;
    words[all - 1] = UINT64_MAX; /* flags */
    REFUSED(HISTO_INVALID, "not those", histo_hist_write_words(h, &layout, 0, all, words));

    less = layout;
    less.windows[0] &= less.windows[0] - 1;
    REFUSED(HISTO_INVALID, "no words for digits", histo_hist_read_words(h, &less, slots + 2, 1, word));
    REFUSED(HISTO_INVALID, "no words for digits", histo_hist_write_words(h, &less, slots + 2, 1, word));
    layout.windows[1] |= UINT64_C(1) << 63;
    REFUSED(HISTO_INVALID, "does not keep", histo_hist_read_words(h, &layout, 0, 1, word));

    const int64_t index[2] = {3, 3}, far[1] = {slots};
    REFUSED(HISTO_UNSUPPORTED, "weighted", histo_hist_add_occupied(h, HISTO_FLOW, index, word, 1));
    REFUSED(HISTO_INVALID, "increase", histo_hist_add_occupied(dense, HISTO_FLOW, index, word, 2));
    REFUSED(HISTO_INVALID, "increase", histo_hist_add_occupied(sparse, HISTO_FLOW, far, word, 1));
    REFUSED(HISTO_INVALID, "size is -1", histo_hist_add_occupied(sparse, HISTO_FLOW, index, word, -1));
    REFUSED(HISTO_INVALID, "1 values", histo_hist_add_masked(dense, word, 1));
    assert_same_bytes(h, same);
    free(words);
    histo_hist_destroy(h);
    histo_hist_destroy(same);
    histo_hist_destroy(sparse);
    histo_hist_destroy(dense);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_add_up),
        cmocka_unit_test(written_words_replace),
        cmocka_unit_test(borrowed_words_are_changed_in_place),
        cmocka_unit_test(two_million_histograms),
        cmocka_unit_test(occupied_entries_add_up),
        cmocka_unit_test(fingerprints_tell_histograms_apart),
        cmocka_unit_test(invalid_words_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
