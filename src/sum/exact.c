/* Exact sums: memory, carries, rounding. */
#include "sum/exact.h"

#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/threads/monitor.h"

void histo_exact_init(histo_exact *e, int64_t slots)
{
    *e = (histo_exact){.slots = slots, .low = HISTO_EXACT_WINDOWS};
}

void histo_exact_free(histo_exact *e)
{
    for (int k = 0; k < HISTO_EXACT_WINDOWS; k++)
        histo_free(e->plane[k]);
    histo_free(e->special);
    histo_exact_init(e, e->slots);
}

static size_t plane_bytes(const histo_exact *e)
{
    return (size_t)e->slots * sizeof(int64_t);
}

void histo_exact_reset(histo_exact *e)
{
    for (int k = e->low; k < e->high; k++)
        if (e->plane[k]) memset(e->plane[k], 0, plane_bytes(e));
    if (e->special) memset(e->special, 0, (size_t)e->slots);
    e->pending = 0;
    e->balanced_from = 0;
    e->used = (histo_exact_windows){0};
}

void histo_exact_clear_slot(histo_exact *e, int64_t slot)
{
    for (int k = e->low; k < e->high; k++)
        if (e->plane[k]) e->plane[k][slot] = 0;
    if (e->special) e->special[slot] = 0;
}

/* Make missing planes and flags, all zero. Planes made before memory ran out stay: they change no sum. */
histo_status histo_exact_provide(histo_exact *e, const histo_exact_windows *windows)
{
    if (windows->special && !e->special) {
        e->special = histo_calloc((size_t)e->slots, sizeof *e->special);
        if (!e->special) return histo_fail_memory((size_t)e->slots, "exact sums");
    }
    for (int k = 0; k < HISTO_EXACT_WINDOWS; k++) {
        if (!windows->touched[k] || e->plane[k]) continue;
        e->plane[k] = histo_calloc((size_t)e->slots, sizeof *e->plane[k]);
        if (!e->plane[k]) return histo_fail_memory(plane_bytes(e), "exact sums");
        if (k < e->low) e->low = k;
        if (k >= e->high) e->high = k + 1;
    }
    return HISTO_OK;
}

/* HISTO_EXACT_MAX_ADDS leaves room in an int64 for every carry; one out of the highest window is dropped. */
histo_exact_value histo_exact_get(const histo_exact *e, int64_t slot)
{
    histo_exact_value value = {0};
    int64_t carry = 0;
    for (int k = e->low; k < HISTO_EXACT_WINDOWS && (k < e->high || carry); k++) {
        int64_t digit = carry + (e->plane[k] ? e->plane[k][slot] : 0);
        value.digit[k] = (int32_t)digit;
        carry = (digit - value.digit[k]) / (INT64_C(1) << 32);
    }
    if (e->special) value.special = e->special[slot];
    return value;
}

/* Nonzero digits are in windows [low, high_end): the carry out of the highest plane, at most 2^30 + 1, is one more
 * digit. */
static int high_end(const histo_exact *e)
{
    return e->high < HISTO_EXACT_WINDOWS ? e->high + 1 : e->high;
}

void histo_exact_block_start(histo_exact_block *block, const histo_exact *e, int64_t first, int64_t end)
{
    block->e = e;
    block->first = first;
    block->n = end - first < HISTO_EXACT_BLOCK ? (int)(end - first) : HISTO_EXACT_BLOCK;
    block->window = e->low - 1;
    block->carries = false;
    memset(block->carry, 0, (size_t)block->n * sizeof *block->carry);
}

bool histo_exact_block_next(histo_exact_block *block)
{
    const histo_exact *e = block->e;
    const int64_t *plane = NULL;
    do {
        block->window++;
        if (block->window >= HISTO_EXACT_WINDOWS || (block->window >= e->high && !block->carries)) return false;
        plane = e->plane[block->window];
    } while (!plane && !block->carries);
    uint64_t any = 0, carries = 0;
    for (int i = 0; i < block->n; i++) {
        const int64_t sum = block->carry[i] + (plane ? plane[block->first + i] : 0), digit = (int32_t)sum;
        block->digit[i] = digit;
        block->carry[i] = (sum - digit) / (INT64_C(1) << 32);
        any |= (uint64_t)digit;
        carries |= (uint64_t)block->carry[i];
    }
    block->any = any;
    block->carries = carries != 0;
    return true;
}

histo_exact_windows histo_exact_used(const histo_exact *e)
{
    if (e->pending == 0) return e->used;
    histo_exact_windows windows = {0};
    histo_exact_block block;
    for (int64_t first = 0; first < e->slots; first += block.n) {
        histo_exact_block_start(&block, e, first, e->slots);
        while (histo_exact_block_next(&block))
            windows.touched[block.window] |= block.any != 0;
    }
    for (int64_t slot = 0; e->special && slot < e->slots && !windows.special; slot++)
        windows.special = e->special[slot] != 0;
    return windows;
}

/* Carries may need new planes. */
histo_status histo_exact_balance(histo_exact *e)
{
    if (e->pending == 0) return HISTO_OK;
    histo_exact_windows windows = histo_exact_used(e);
    histo_status status = histo_exact_provide(e, &windows);
    if (status != HISTO_OK) return status;
    histo_exact_block block;
    for (int64_t first = 0; first < e->slots; first += block.n) {
        histo_exact_block_start(&block, e, first, e->slots);
        while (histo_exact_block_next(&block))
            if (e->plane[block.window])
                memcpy(e->plane[block.window] + first, block.digit, (size_t)block.n * sizeof *block.digit);
    }
    e->pending = 0;
    e->balanced_from = 0;
    e->used = windows;
    return HISTO_OK;
}

histo_status histo_exact_balance_from(histo_exact *e, int window, int64_t slot)
{
    return window * e->slots + slot >= e->balanced_from ? HISTO_OK : histo_exact_balance(e);
}

/* Digits before balanced_from have been written once since all were balanced: callers that write in increasing order
 * need not balance the rest. */
void histo_exact_put_digits(histo_exact *e, int window, int64_t slot, int64_t n, const int64_t *digits, bool add)
{
    int64_t *to = e->plane[window] + slot;
    for (int64_t i = 0; i < n; i++)
        to[i] = digits[i] + (add ? to[i] : 0);
    e->used.touched[window] = true;
    e->balanced_from = window * e->slots + slot + n;
    e->pending = HISTO_EXACT_MAX_MERGED;
}

void histo_exact_put_flags(histo_exact *e, int64_t slot, int64_t n, const uint8_t *flags, bool add)
{
    for (int64_t i = slot; i < slot + n; i++)
        e->special[i] = (uint8_t)(flags[i - slot] | (add ? e->special[i] : 0));
    e->used.special = true;
    e->balanced_from = HISTO_EXACT_WINDOWS * e->slots;
    if (e->pending == 0) e->pending = 1; /* makes histo_exact_used look for windows in use */
}

histo_status histo_exact_reserve(histo_exact *e, const histo_exact_windows *windows, uint64_t adds)
{
    histo_status status = histo_exact_provide(e, windows);
    if (status == HISTO_OK && e->pending + adds > HISTO_EXACT_MAX_ADDS) status = histo_exact_balance(e);
    if (status != HISTO_OK) return status;
    e->pending += adds;
    e->balanced_from = INT64_MAX;
    return HISTO_OK;
}

/* The sum of 2^62 slices is below 2^94: the window itself and two above it. */
histo_status histo_exact_provide_carries(histo_exact *e, const histo_exact_windows *windows)
{
    histo_exact_windows used = histo_exact_used(e), carries = {0};
    histo_exact_windows_merge(&used, windows);
    for (int k = 0; k < HISTO_EXACT_WINDOWS; k++)
        for (int above = k; used.touched[k] && above <= k + 2 && above < HISTO_EXACT_WINDOWS; above++)
            carries.touched[above] = true;
    return histo_exact_provide(e, &carries);
}

histo_status histo_exact_reserve_like(histo_exact *e, const histo_exact *from, uint64_t adds)
{
    histo_exact_windows windows = histo_exact_used(from);
    return histo_exact_reserve(e, &windows, adds);
}

void histo_exact_add_slot(histo_exact *e, int64_t slot, const histo_exact *from, int64_t from_slot)
{
    const histo_exact_value value = histo_exact_get(from, from_slot);
    for (int k = from->low; k < high_end(from); k++)
        histo_exact_add_digit(e, slot, k, value.digit[k]);
    if (value.special) histo_exact_add_special(e, slot, value.special);
}

/* The flags of sums with the opposite sign. */
static uint8_t negated(uint8_t special)
{
    uint8_t flags = special & HISTO_EXACT_NAN;
    if (special & HISTO_EXACT_POSITIVE_INFINITY) flags |= HISTO_EXACT_NEGATIVE_INFINITY;
    if (special & HISTO_EXACT_NEGATIVE_INFINITY) flags |= HISTO_EXACT_POSITIVE_INFINITY;
    return flags;
}

static void add_flags(histo_exact *e, const histo_exact *from, bool subtract)
{
    for (int64_t slot = 0; from->special && e->special && slot < e->slots; slot++)
        e->special[slot] |= subtract ? negated(from->special[slot]) : from->special[slot];
}

static histo_status combine(histo_exact *e, const histo_exact *from, bool subtract, histo_pace *pace)
{
    histo_status status = histo_exact_reserve_like(e, from, 1);
    if (status != HISTO_OK) return status;
    const int64_t sign = subtract ? -1 : 1;
    histo_exact_block block;
    for (int64_t first = 0; first < e->slots; first += block.n) {
        histo_exact_block_start(&block, from, first, e->slots);
        while (histo_exact_block_next(&block)) {
            if (!histo_goes_on(pace, block.n)) return pace->status;
            if (!block.any) continue;
            int64_t *to = e->plane[block.window] + first;
            for (int i = 0; i < block.n; i++)
                to[i] += sign * block.digit[i];
        }
    }
    add_flags(e, from, subtract);
    return HISTO_OK;
}

histo_status histo_exact_merge(histo_exact *e, const histo_exact *from, histo_pace *pace)
{
    return combine(e, from, false, pace);
}

histo_status histo_exact_subtract(histo_exact *e, const histo_exact *from, histo_pace *pace)
{
    return combine(e, from, true, pace);
}

/* Move to window k; returns its digits, or NULL if all are zero. */
static const int64_t *digits_of(histo_exact_block *block, int k, bool *more)
{
    while (*more && block->window < k)
        *more = histo_exact_block_next(block);
    return *more && block->window == k ? block->digit : NULL;
}

/* The value of a sum that is not finite: an infinity, or NaN. */
static uint8_t special_of(const histo_exact *e, int64_t slot)
{
    const uint8_t flags = e->special ? e->special[slot] : 0;
    const bool infinite = flags == HISTO_EXACT_POSITIVE_INFINITY || flags == HISTO_EXACT_NEGATIVE_INFINITY;
    return !flags || infinite ? flags : HISTO_EXACT_NAN;
}

static bool equal_blocks(const histo_exact *a, const histo_exact *b, int64_t first)
{
    histo_exact_block of_a, of_b;
    histo_exact_block_start(&of_a, a, first, a->slots);
    histo_exact_block_start(&of_b, b, first, b->slots);
    bool more_a = histo_exact_block_next(&of_a), more_b = histo_exact_block_next(&of_b), equal = true;
    for (int i = 0; i < of_a.n && equal; i++)
        equal = special_of(a, first + i) == special_of(b, first + i);
    for (int k = 0; k < HISTO_EXACT_WINDOWS && equal && (more_a || more_b); k++) {
        const int64_t *x = digits_of(&of_a, k, &more_a), *y = digits_of(&of_b, k, &more_b);
        for (int i = 0; i < of_a.n && (x || y); i++)
            if ((x ? x[i] : 0) != (y ? y[i] : 0) && !special_of(a, first + i)) equal = false;
    }
    return equal;
}

bool histo_exact_equal(const histo_exact *a, const histo_exact *b, histo_pace *pace)
{
    bool equal = true;
    for (int64_t first = 0; first < a->slots && equal && histo_goes_on(pace, HISTO_EXACT_BLOCK);
         first += HISTO_EXACT_BLOCK)
        equal = equal_blocks(a, b, first);
    return equal;
}

/* Round the digits in windows [low, high). The sign is that of the highest digit, which exceeds the others together. */
static double round_digits(const int32_t *digit, int low, int high)
{
    int top = high - 1;
    while (top >= low && digit[top] == 0)
        top--;
    if (top < low) return 0;
    bool negative = digit[top] < 0;

    /* The magnitude as digits in [0, 2^32), above two zeros, so that any window has two below it. */
    uint32_t limbs[2 + HISTO_EXACT_WINDOWS], *limb = limbs + 2;
    limb[low - 1] = limb[low - 2] = 0;
    int64_t borrow = 0;
    for (int k = low; k <= top; k++) {
        int64_t difference = (negative ? -(int64_t)digit[k] : digit[k]) - borrow;
        limb[k] = (uint32_t)difference;
        borrow = difference < 0;
    }
    if (limb[top] == 0) top--;

    /* The 64 leading bits, the last of which is set if any lower bit is: rounding these equals rounding the full sum.
     * ldexp does not round a second time: below the normal range, sums of doubles have too few bits to be rounded at
     * all. */
    uint64_t head = (uint64_t)limb[top] << 32 | limb[top - 1];
    int shift = __builtin_clzll(head);
    head = head << shift | (uint64_t)limb[top - 2] << shift >> 32;
    bool more = (uint32_t)(limb[top - 2] << shift) != 0;
    for (int k = low; k < top - 2; k++)
        more |= limb[k] != 0;
    double magnitude = ldexp((double)(head | more), 32 * (top - 1 - HISTO_EXACT_UNIT) - shift);
    return negative ? -magnitude : magnitude;
}

double histo_exact_read(const histo_exact *e, int64_t slot)
{
    histo_exact_value value = histo_exact_get(e, slot);
    switch (value.special) {
    case 0:
        return round_digits(value.digit, e->low, high_end(e));
    case HISTO_EXACT_POSITIVE_INFINITY:
        return INFINITY;
    case HISTO_EXACT_NEGATIVE_INFINITY:
        return -INFINITY;
    default:
        return NAN;
    }
}
