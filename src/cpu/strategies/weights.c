/* Sums of weights, fast and reproducible. */
#include "cpu/strategies/weights.h"

#include <pthread.h>
#include <string.h>

#include "axis/filter.h"
#include "base/threads/pool.h"
#include "cpu/kernels/kernels.h"
#include "cpu/samples/block.h"
#include "view/dtype.h"

/* The square of a weight, rounded once. */
static double square_f64(double w)
{
    return w * w;
}

static double square_u64(uint64_t w)
{
    return (double)((unsigned __int128)w * w);
}

static double square_i64(int64_t w)
{
    return square_u64(w < 0 ? 0 - (uint64_t)w : (uint64_t)w);
}

/* Selects a function by the compute type of a dtype. */
#define BY_TYPE(compute, stem) _Generic((compute)0, double : stem##_f64, int64_t : stem##_i64, uint64_t : stem##_u64)

#define touch_f64 histo_exact_touch
#define touch_i64 histo_exact_touch_i64
#define touch_u64 histo_exact_touch_u64
#define add_f64 histo_exact_add
#define add_i64 histo_exact_add_i64
#define add_u64 histo_exact_add_u64

/* The exponent windows that weights and their squares touch. */
typedef struct touched_windows {
    histo_exact_windows w, w2;
} touched_windows;

histo_numbers histo_weight_numbers(const histo_problem *p)
{
    enum { FLOAT = 24, INTEGER = 32, DOUBLE = 53 };
    if (p->weights == HISTO_ABSENT) return (histo_numbers){1, true};
    const histo_dtype dtype = p->dtypes[p->weights];
    const bool integers = histo_dtype_is_integer(dtype);
    return (histo_numbers){histo_dtype_size(dtype) > 4 ? DOUBLE : integers ? INTEGER : FLOAT, integers};
}

bool histo_reach_of(histo_magnitudes extremes, bool squared, histo_numbers numbers, histo_reach *reach)
{
    enum { SIGNIFICANT = 53, ABOVE = 13, OF_INFINITY = 0x7ff };
    const int bits = squared ? 2 * numbers.bits : numbers.bits;
    *reach = (histo_reach){0, 0};
    if (extremes.most == 0) return true;
    double least, most;
    memcpy(&least, &extremes.least, sizeof least);
    memcpy(&most, &extremes.most, sizeof most);
    int lowest = (int)(histo_exact_bits(squared ? least * least : least) >> 52);
    int highest = (int)(histo_exact_bits(squared ? most * most : most) >> 52);
    if (highest >= OF_INFINITY || lowest == 0) return false;
    reach->low = (lowest + ABOVE + (bits < SIGNIFICANT ? SIGNIFICANT - bits : 0)) / 32;
    if (numbers.integers && reach->low < HISTO_EXACT_UNIT) reach->low = HISTO_EXACT_UNIT;
    reach->high = (highest + ABOVE + SIGNIFICANT - 1) / 32 + 1;
    return reach->low >= HISTO_FIRST_DIGIT && reach->high - reach->low <= HISTO_DIGITS;
}

static void widen(histo_dtype dtype, const void *weights, int n, double *numbers)
{
    if (dtype == HISTO_F32)
        histo_cpu_kernels_usable()->widen_floats(weights, n, numbers);
    else
        histo_widen(dtype, weights, n, numbers);
}

/* Whether doubles represent all weights with these extremes. Only 64-bit integers may be rounded. */
static bool are_exact(histo_dtype dtype, histo_magnitudes extremes)
{
    return histo_dtype_size(dtype) < sizeof(int64_t) || dtype == HISTO_F64 || extremes.most < histo_exact_bits(0x1p53);
}

/* As touch_block, but marks all windows between the lowest and the highest; false if there are too many. */
static bool touch_near(touched_windows *set, const histo_problem *p, const void *weights, int n)
{
    double numbers[HISTO_BLOCK];
    widen(p->dtypes[p->weights], weights, n, numbers);
    const histo_magnitudes extremes = histo_cpu_kernels_usable()->magnitudes(numbers, n);
    histo_exact_windows *const touched[] = {&set->w, &set->w2};
    histo_reach reach[2];
    if (!are_exact(p->dtypes[p->weights], extremes)) return false;
    for (int s = 0; s < 2; s++)
        if (!histo_reach_of(extremes, s == 1, histo_weight_numbers(p), &reach[s])) return false;
    for (int s = 0; s < 2; s++)
        for (int k = reach[s].low; k < reach[s].high; k++)
            touched[s]->touched[k] = true;
    return true;
}

static void touch_block(touched_windows *set, histo_dtype dtype, const void *weights, int n)
{
#define CASE(constant, name, storage, compute, widen)                                                                  \
    case constant:                                                                                                     \
        for (int i = 0; i < n; i++) {                                                                                  \
            compute w = (compute)widen(((const storage *)weights)[i]);                                                 \
            BY_TYPE(compute, touch)(&set->w, w);                                                                       \
            histo_exact_touch(&set->w2, BY_TYPE(compute, square)(w));                                                  \
        }                                                                                                              \
        break;
    HISTO_SWITCH_DTYPE(dtype, CASE)
#undef CASE
}

typedef struct touching {
    histo_job weights_only; /* a job with one operand: the weights */
    histo_problem problem;
    int threads;
    pthread_mutex_t lock;
    touched_windows found;
} touching;

static void touch_share(void *context, int index)
{
    touching *all = context;
    _Alignas(64) char gathered[HISTO_BLOCK * sizeof(double)];
    touched_windows mine = {0};
    histo_blocks blocks;
    histo_block block;
    histo_blocks_start(&blocks, &all->weights_only, index, all->threads, gathered);
    while (histo_blocks_next(&blocks, &block))
        if (!touch_near(&mine, &all->problem, block.at[0], block.n))
            touch_block(&mine, all->problem.dtypes[0], block.at[0], block.n);
    pthread_mutex_lock(&all->lock);
    histo_exact_windows_merge(&all->found.w, &mine.w);
    histo_exact_windows_merge(&all->found.w2, &mine.w2);
    pthread_mutex_unlock(&all->lock);
}

/* Find the windows of all weights that the job reads. Weights of masked samples are included, which only costs memory.
 * The first piece of a fill scans the whole fill: once there is room for all its weights and carries, no later piece
 * can fail. */
static histo_status find_windows(const histo_job *job, touched_windows *found)
{
    enum { SAMPLES_A_THREAD = 1 << 18 };
    const histo_problem *p = job->problem;
    touching all = {.problem = {.operands = 1,
                                .weights = 0,
                                .mask = HISTO_ABSENT,
                                .where = HISTO_ABSENT,
                                .dtypes = {p->dtypes[p->weights]},
                                .stored = {p->stored[p->weights]}},
                    .lock = PTHREAD_MUTEX_INITIALIZER};
    histo_job *only = &all.weights_only;
    *only = *job;
    only->problem = &all.problem;
    only->iter.operands = 1;
    only->iter.base[0] = job->iter.base[p->weights];
    memcpy(only->iter.strides[0], job->iter.strides[p->weights], sizeof only->iter.strides[0]);
    if (job->begin == 0) only->end = histo_strided_iter_samples(&job->iter);
    int64_t useful = (only->end - only->begin) / SAMPLES_A_THREAD + 1;
    all.threads = job->threads < useful ? job->threads : (int)useful;
    const histo_status status = histo_pool_run_long("looking at the weights", all.threads, touch_share, &all);
    *found = all.found;
    return status;
}

histo_status histo_weights_reserve(const histo_job *job)
{
    const histo_problem *p = job->problem;
    if (!histo_is_reproducible(p->weighting)) return HISTO_OK;
    touched_windows found = {0};
    histo_status status = HISTO_OK;
    if (p->weights == HISTO_ABSENT)
        touch_block(&found, HISTO_U8, &(uint8_t){1}, 1);
    else
        status = find_windows(job, &found);
    uint64_t adds = (uint64_t)(job->end - job->begin);
    bool first_of_several = job->begin == 0 && job->end < histo_strided_iter_samples(&job->iter);
    histo_exact *const sums[] = {job->accumulators->exact_w, job->accumulators->exact_w2};
    const histo_exact_windows *const touched[] = {&found.w, &found.w2};
    for (int s = 0; s < 2 && sums[s] && status == HISTO_OK; s++)
        status = histo_exact_reserve(sums[s], touched[s], adds);
    for (int s = 0; s < 2 && sums[s] && first_of_several && status == HISTO_OK; s++)
        status = histo_exact_provide_carries(sums[s], touched[s]);
    return status;
}

void histo_block_weights(const histo_job *job, const histo_block *block, double *weights)
{
    const histo_problem *p = job->problem;
    if (p->weights == HISTO_ABSENT) {
        for (int i = 0; i < block->n; i++)
            weights[i] = 1;
        return;
    }
    widen(p->dtypes[p->weights], block->at[p->weights], block->n, weights);
}

bool histo_block_exact_weights(const histo_job *job, const histo_block *block, double *weights,
                               histo_magnitudes *extremes)
{
    const histo_problem *p = job->problem;
    histo_block_weights(job, block, weights);
    *extremes = histo_cpu_kernels_usable()->magnitudes(weights, block->n);
    return p->weights == HISTO_ABSENT || are_exact(p->dtypes[p->weights], *extremes);
}

/* Add the digits of `count` windows to their planes; where there is no plane, there are no digits. */
static inline void add_planes(int64_t *const *planes, int count, const uint32_t *slots, int n,
                              const int64_t digits[HISTO_DIGITS][HISTO_PIECE])
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < count; k++)
            planes[k][slots[i]] += digits[k][i];
}

/* Add numbers that span a few windows to the sums of their slots. No other thread adds to them. */
static void add_near(histo_exact *sums, int64_t first, histo_reach reach, const uint32_t *slots, const double *numbers,
                     int n)
{
    int64_t digits[HISTO_DIGITS][HISTO_PIECE], *planes[HISTO_DIGITS];
    for (int begin = 0; begin < n; begin += HISTO_PIECE) {
        const int some = n - begin < HISTO_PIECE ? n - begin : HISTO_PIECE;
        int count = 0;
        for (int window = reach.low; window < reach.high; window++) {
            if (!sums->plane[window]) continue;
            histo_cpu_kernels_usable()->cut_digits(numbers + begin, some, window, digits[count]);
            planes[count++] = sums->plane[window] + first;
        }
        if (count == 1)
            add_planes(planes, 1, slots + begin, some, digits);
        else if (count == 2)
            add_planes(planes, 2, slots + begin, some, digits);
        else if (count == 3)
            add_planes(planes, 3, slots + begin, some, digits);
        else
            add_planes(planes, count, slots + begin, some, digits);
    }
}

/* Add the sums of the wanted powers that span few windows. Clears wanted[…] for these. */
static void add_all_near(const histo_job *job, const histo_block *block, bool wanted[2], const uint32_t *slots)
{
    histo_exact *const sums[] = {job->accumulators->exact_w, job->accumulators->exact_w2};
    double numbers[HISTO_BLOCK];
    histo_magnitudes extremes;
    if (!histo_block_exact_weights(job, block, numbers, &extremes)) return;
    for (int power = 0; power < 2; power++) {
        histo_reach reach;
        if (!wanted[power] || !histo_reach_of(extremes, power == 1, histo_weight_numbers(job->problem), &reach))
            continue;
        for (int i = 0; power == 1 && i < block->n; i++)
            numbers[i] *= numbers[i];
        add_near(sums[power], block->batch * job->accumulators->slots, reach, slots, numbers, block->n);
        wanted[power] = false;
    }
}

static void add_each(const histo_job *job, const histo_block *block, const bool wanted[2], const uint32_t *slots)
{
    const histo_problem *p = job->problem;
    const histo_accumulators *accumulators = job->accumulators;
    int64_t first = block->batch * accumulators->slots;
    const uint8_t one = 1;
    bool given = p->weights != HISTO_ABSENT;
#define CASE(constant, name, storage, compute, widen)                                                                  \
    case constant: {                                                                                                   \
        const storage *weights = given ? block->at[p->weights] : (const void *)&one;                                   \
        for (int i = 0; i < block->n; i++) {                                                                           \
            compute w = (compute)widen(weights[given ? i : 0]);                                                        \
            if (wanted[0]) BY_TYPE(compute, add)(accumulators->exact_w, first + slots[i], w);                          \
            if (wanted[1]) histo_exact_add(accumulators->exact_w2, first + slots[i], BY_TYPE(compute, square)(w));     \
        }                                                                                                              \
        break;                                                                                                         \
    }
    HISTO_SWITCH_DTYPE(given ? p->dtypes[p->weights] : HISTO_U8, CASE)
#undef CASE
}

void histo_block_add_exact(const histo_job *job, const histo_block *block, const bool wanted[2], bool alone,
                           const uint32_t *slots)
{
    bool left[] = {wanted[0], wanted[1]};
    if (alone) add_all_near(job, block, left, slots);
    if (left[0] || left[1]) add_each(job, block, left, slots);
}

void histo_weights_add(const histo_job *job, int64_t index, const char *const *at)
{
    const histo_problem *p = job->problem;
    const histo_accumulators *accumulators = job->accumulators;
    uint64_t aligned = 0;
    histo_block one = {.batch = index / accumulators->slots, .n = 1};
    if (p->weights != HISTO_ABSENT)
        one.at[p->weights] = memcpy(&aligned, at[p->weights], histo_dtype_size(p->dtypes[p->weights]));
    if (accumulators->exact_w) {
        uint32_t slot = (uint32_t)(index % accumulators->slots);
        add_each(job, &one, (const bool[]){true, accumulators->exact_w2 != NULL}, &slot);
        return;
    }
    double w;
    histo_block_weights(job, &one, &w);
    accumulators->sum_w[index] += w;
    if (accumulators->sum_w2) accumulators->sum_w2[index] += w * w;
}
