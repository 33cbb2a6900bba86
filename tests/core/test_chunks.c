/* Filling with many chunks by one call: what as many fills count, or nothing. */
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/data.h"
#include "support/same.h"

enum { SAMPLES = 200000, MOST = 40, BINS = 50 };

static double x[SAMPLES], y[SAMPLES], w[SAMPLES];
static uint8_t mask[SAMPLES], bits[SAMPLES / 8 + 1];

static int make_data(void **state)
{
    (void)state;
    rng r = {.state = 3};
    for (int i = 0; i < SAMPLES; i++) {
        x[i] = rng_uniform(&r) * 1.2 - 0.1;
        y[i] = rng_uniform(&r);
        w[i] = (double)rng_below(&r, 64);
        mask[i] = rng_below(&r, 3) > 0;
        if (mask[i]) bits[i / 8] |= (uint8_t)(1 << i % 8);
    }
    return 0;
}

/* Samples [begin, begin + n) of all arrays. */
typedef struct piece {
    histo_view views[2], weights, mask, where;
    histo_fill_chunk chunk;
} piece;

typedef struct choice {
    int naxes;
    bool weights, mask, bits, where;
} choice;

static void cut(piece *p, const choice *c, int64_t begin, int64_t n)
{
    p->views[0] = histo_view_1d(x + begin, HISTO_F64, n);
    p->views[1] = histo_view_1d(y + begin, HISTO_F64, n);
    p->weights = histo_view_1d(w + begin, HISTO_F64, n);
    p->mask = c->bits ? histo_view_1d(bits + begin / 8, HISTO_BIT, n) : histo_view_1d(mask + begin, HISTO_U8, n);
    p->where = histo_view_1d(y + begin, HISTO_F64, n);
    p->chunk = (histo_fill_chunk){.views = p->views,
                                  .weights = c->weights ? &p->weights : NULL,
                                  .mask = c->mask ? &p->mask : NULL,
                                  .where = c->where ? &p->where : NULL,
                                  .mask_offset = c->mask && c->bits ? begin % 8 : 0};
}

static histo_hist *make(const choice *c, histo_storage storage, histo_weighting weighting)
{
    const histo_axis axes[] = {histo_axis_regular(BINS, 0, 1), histo_axis_integer(0, 2)};
    histo_hist *h;
    OK(histo_hist_create(&h, c->naxes, axes, &(histo_hist_options){.storage = storage, .weighting = weighting}));
    return h;
}

/* Chunks of any sizes, empty ones too, count what one fill counts. */
static void check_choice(const choice *c, histo_storage storage, histo_weighting weighting)
{
    rng r = {.state = 8};
    for (int round = 0; round < 8; round++) {
        histo_hist *h = make(c, storage, weighting), *whole = make(c, storage, weighting);
        piece pieces[MOST], all;
        histo_fill_chunk chunks[MOST];
        int64_t begin = 0, most = round % 2 ? 20 : SAMPLES / 20;
        for (int i = 0; i < MOST; i++) {
            const int64_t n = rng_below(&r, 4) ? rng_below(&r, most) : 0, left = SAMPLES - begin;
            cut(&pieces[i], c, begin, n < left ? n : left);
            begin += n < left ? n : left;
            chunks[i] = pieces[i].chunk;
        }
        cut(&all, c, 0, begin);
        histo_fill_options of = {.threads = round / 4 ? 3 : 0};
        if (c->where) of.where_hi = 0.7;
        OK(histo_hist_fill_chunks(h, MOST, chunks, &of));
        of.weights = all.chunk.weights;
        of.mask = all.chunk.mask;
        of.where = all.chunk.where;
        OK(histo_hist_fill(whole, all.views, &of));
        assert_same_then_destroy(h, whole);
    }
}

static void what_fills_count(void **state)
{
    (void)state;
    static const choice choices[] = {{.naxes = 1},       {.naxes = 2},
                                     {1, .mask = true},  {1, .mask = true, .bits = true},
                                     {2, .where = true}, {1, true, true, true, true}};
    for (int i = 0; i < 6; i++) {
        const choice *c = &choices[i];
        if (!c->weights) check_choice(c, HISTO_DENSE, HISTO_UNWEIGHTED);
        if (!c->weights) check_choice(c, HISTO_SPARSE, HISTO_UNWEIGHTED);
        check_choice(c, HISTO_DENSE, HISTO_WEIGHT_FAST); /* whole weights: sums are exact in any order */
        check_choice(c, HISTO_DENSE, HISTO_WEIGHT_REPRODUCIBLE);
    }
}

static void replaced(void **state)
{
    (void)state;
    const choice c = {.naxes = 1};
    piece pieces[3];
    histo_fill_chunk chunks[3];
    for (int i = 0; i < 3; i++) {
        cut(&pieces[i], &c, i * 60000, 60000);
        chunks[i] = pieces[i].chunk;
    }
    const histo_fill_options replace = {.replace = true};
    histo_hist *h = make(&c, HISTO_DENSE, HISTO_UNWEIGHTED), *other = make(&c, HISTO_DENSE, HISTO_UNWEIGHTED);
    OK(histo_hist_fill_chunks(h, 2, chunks, NULL));
    OK(histo_hist_fill_chunks(h, 2, chunks + 1, &replace));
    OK(histo_hist_fill_chunks(other, 2, chunks + 1, NULL));
    assert_same(h, other);
    OK(histo_hist_fill_chunks(h, 0, NULL, NULL));
    assert_same(h, other);
    OK(histo_hist_fill_chunks(h, 0, NULL, &replace));
    OK(histo_hist_reset(other, NULL));
    assert_same_then_destroy(h, other);
}

/* A chunk that is refused leaves all others uncounted. */
static void refused(void **state)
{
    (void)state;
    enum { N = 3 };
    const choice c = {.naxes = 1};
    piece pieces[N], other;
    histo_fill_chunk chunks[N];
    for (int i = 0; i < N; i++) {
        cut(&pieces[i], &c, i * 100, 100);
        chunks[i] = pieces[i].chunk;
    }
    cut(&other, &(choice){1, true, true, false, false}, 0, 100);
    histo_hist *h = make(&c, HISTO_DENSE, HISTO_WEIGHT_FAST), *before;
    OK(histo_hist_fill_chunks(h, N, chunks, NULL));
    OK(histo_hist_clone(h, &before));

    REFUSED(HISTO_INVALID, "hist is NULL", histo_hist_fill_chunks(NULL, N, chunks, NULL));
    REFUSED(HISTO_INVALID, "chunks is NULL, and count is 3", histo_hist_fill_chunks(h, N, NULL, NULL));
    REFUSED(HISTO_INVALID, "count is -1", histo_hist_fill_chunks(h, -1, chunks, NULL));
    const int64_t offsets[] = {0, 100};
    REFUSED(HISTO_INVALID, "each chunk has its own",
            histo_hist_fill_chunks(h, N, chunks, &(histo_fill_options){.weights = &other.weights}));
    REFUSED(HISTO_INVALID, "each chunk has its own",
            histo_hist_fill_chunks(h, N, chunks, &(histo_fill_options){.mask = &other.mask}));
    REFUSED(HISTO_INVALID, "offsets", histo_hist_fill_chunks(h, N, chunks, &(histo_fill_options){.offsets = offsets}));
    REFUSED(HISTO_INVALID, "threads", histo_hist_fill_chunks(h, N, chunks, &(histo_fill_options){.threads = -1}));

    chunks[2] = other.chunk;
    REFUSED(HISTO_INVALID, "chunks[2] has other dtypes than chunks[0]", histo_hist_fill_chunks(h, N, chunks, NULL));
    chunks[2] = pieces[2].chunk;
    pieces[2].views[0].dtype = HISTO_I64;
    REFUSED(HISTO_INVALID, "chunks[2] has other dtypes than chunks[0]", histo_hist_fill_chunks(h, N, chunks, NULL));
    pieces[2].views[0].dtype = (histo_dtype)99;
    REFUSED(HISTO_INVALID, "chunks[2]: ", histo_hist_fill_chunks(h, N, chunks, NULL));
    pieces[2].views[0].dtype = HISTO_F64;
    pieces[2].views[0].shape[0] = -1;
    REFUSED(HISTO_INVALID, "chunks[2]: ", histo_hist_fill_chunks(h, N, chunks, NULL));
    pieces[2].views[0].shape[0] = 100;
    chunks[1].views = NULL;
    REFUSED(HISTO_INVALID, "chunks[1]: the samples are NULL", histo_hist_fill_chunks(h, N, chunks, NULL));
    chunks[1] = pieces[1].chunk;
    chunks[1].reserved[7] = 1;
    REFUSED(HISTO_INVALID, "chunks[1]: reserved bytes of histo_fill_chunk", histo_hist_fill_chunks(h, N, chunks, NULL));
    chunks[1].reserved[7] = 0;
    cut(&other, &(choice){1, true, false, false, false}, 0, 99);
    other.chunk.views = pieces[0].views;
    chunks[0] = other.chunk;
    REFUSED(HISTO_INVALID, "chunks[0]: ", histo_hist_fill_chunks(h, N, chunks, NULL));
    chunks[0] = pieces[0].chunk;

    /* More samples than counts can hold, of views that repeat one. */
    histo_view many = {x, HISTO_F64, 1, 0, {INT64_C(1) << 62}, {0}};
    histo_fill_chunk too_many[] = {{.views = &many}, {.views = &many}, {.views = &many}, {.views = &many}};
    REFUSED(HISTO_INVALID, "2^64", histo_hist_fill_chunks(h, 4, too_many, NULL));
    bool equal = false;
    OK(histo_hist_equal(h, before, &equal));
    assert_true(equal);
    OK(histo_hist_fill_chunks(h, N, chunks, NULL)); /* it still counts */
    histo_hist_destroy(h);
    histo_hist_destroy(before);
}

/* One plan, that of the largest chunk. */
static void one_plan(void **state)
{
    (void)state;
    const choice c = {.naxes = 1};
    piece pieces[3];
    const int64_t sizes[] = {100, 150000, 1000};
    histo_fill_chunk chunks[3];
    int64_t begin = 0;
    for (int i = 0; i < 3; begin += sizes[i++]) {
        cut(&pieces[i], &c, begin, sizes[i]);
        chunks[i] = pieces[i].chunk;
    }
    histo_hist *h = make(&c, HISTO_DENSE, HISTO_UNWEIGHTED);
    OK(histo_hist_fill(h, pieces[1].views, NULL));
    const histo_plan *plan = histo_hist_last_plan(h);
    OK(histo_hist_fill_chunks(h, 3, chunks, NULL));
    assert_ptr_equal(histo_hist_last_plan(h), plan);
    histo_hist_destroy(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_fills_count),
        cmocka_unit_test(replaced),
        cmocka_unit_test(refused),
        cmocka_unit_test(one_plan),
    };
    return cmocka_run_group_tests(tests, make_data, NULL);
}
