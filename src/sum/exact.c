/* Exact sums: memory, carries, rounding. */
#include "sum/exact.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"

void histo_exact_init(histo_exact *e, int64_t slots)
{
    *e = (histo_exact){.slots = slots, .low = HISTO_EXACT_WINDOWS};
}

void histo_exact_free(histo_exact *e)
{
    for (int k = 0; k < HISTO_EXACT_WINDOWS; k++)
        free(e->plane[k]);
    free(e->special);
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
}

/* Make missing planes and flags, all zero. Those made before memory ran out stay: they change no sum. */
static histo_status provide(histo_exact *e, const histo_exact_windows *windows)
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

histo_status histo_exact_clone(const histo_exact *e, histo_exact *copy)
{
    histo_exact_windows windows = {.special = e->special};
    for (int k = 0; k < HISTO_EXACT_WINDOWS; k++)
        windows.touched[k] = e->plane[k];
    histo_exact_init(copy, e->slots);
    histo_status status = provide(copy, &windows);
    if (status != HISTO_OK) {
        histo_exact_free(copy);
        return status;
    }
    for (int k = e->low; k < e->high; k++)
        if (e->plane[k]) memcpy(copy->plane[k], e->plane[k], plane_bytes(e));
    if (e->special) memcpy(copy->special, e->special, (size_t)e->slots);
    copy->pending = e->pending;
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

/* Digits that are not zero are in windows [low, high_end): the carry out of the highest plane, at most 2^30 + 1, is one
 * more digit. */
static int high_end(const histo_exact *e)
{
    return e->high < HISTO_EXACT_WINDOWS ? e->high + 1 : e->high;
}

histo_exact_windows histo_exact_used(const histo_exact *e)
{
    histo_exact_windows windows = {0};
    for (int64_t slot = 0; slot < e->slots; slot++) {
        histo_exact_value value = histo_exact_get(e, slot);
        for (int k = e->low; k < high_end(e); k++)
            windows.touched[k] |= value.digit[k] != 0;
        windows.special |= value.special != 0;
    }
    return windows;
}

/* Carry until all digits are balanced, which may need new planes. */
static histo_status balance(histo_exact *e)
{
    histo_exact_windows windows = histo_exact_used(e);
    histo_status status = provide(e, &windows);
    if (status != HISTO_OK) return status;
    for (int64_t slot = 0; slot < e->slots; slot++) {
        histo_exact_value value = histo_exact_get(e, slot);
        for (int k = e->low; k < e->high; k++)
            if (e->plane[k]) e->plane[k][slot] = value.digit[k];
    }
    e->pending = 0;
    return HISTO_OK;
}

histo_status histo_exact_reserve(histo_exact *e, const histo_exact_windows *windows, uint64_t adds)
{
    histo_status status = provide(e, windows);
    if (status == HISTO_OK && e->pending + adds > HISTO_EXACT_MAX_ADDS) status = balance(e);
    if (status == HISTO_OK) e->pending += adds;
    return status;
}

/* The sum of 2^62 slices is below 2^94: the window itself and two above it. */
histo_status histo_exact_provide_carries(histo_exact *e, const histo_exact_windows *windows)
{
    histo_exact_windows used = histo_exact_used(e), carries = {0};
    histo_exact_windows_join(&used, windows);
    for (int k = 0; k < HISTO_EXACT_WINDOWS; k++)
        for (int above = k; used.touched[k] && above <= k + 2 && above < HISTO_EXACT_WINDOWS; above++)
            carries.touched[above] = true;
    return provide(e, &carries);
}

histo_status histo_exact_reserve_like(histo_exact *e, const histo_exact *from, uint64_t adds)
{
    histo_exact_windows windows = histo_exact_used(from);
    return histo_exact_reserve(e, &windows, adds);
}

static void add_digits(histo_exact *e, int64_t slot, const histo_exact_value *value, int low, int high)
{
    for (int k = low; k < high; k++)
        histo_exact_add_digit(e, slot, k, value->digit[k]);
    if (value->special) histo_exact_add_special(e, slot, value->special);
}

void histo_exact_add_value(histo_exact *e, int64_t slot, const histo_exact_value *value)
{
    add_digits(e, slot, value, 0, HISTO_EXACT_WINDOWS);
}

void histo_exact_add_slot(histo_exact *e, int64_t slot, const histo_exact *from, int64_t from_slot)
{
    histo_exact_value value = histo_exact_get(from, from_slot);
    add_digits(e, slot, &value, from->low, high_end(from));
}

histo_status histo_exact_merge(histo_exact *e, const histo_exact *from)
{
    histo_status status = histo_exact_reserve_like(e, from, 1);
    if (status != HISTO_OK) return status;
    for (int64_t slot = 0; slot < e->slots; slot++)
        histo_exact_add_slot(e, slot, from, slot);
    return HISTO_OK;
}

/* Round the digits in windows [low, high). The sign is that of the highest, which exceeds the others together. */
static double round_digits(const int32_t *digit, int low, int high)
{
    int top = high - 1;
    while (top >= low && digit[top] == 0)
        top--;
    if (top < low) return 0;
    bool negative = digit[top] < 0;

    /* The magnitude in digits of [0, 2^32), above two zeros, so that any window has two below it. */
    uint32_t limbs[2 + HISTO_EXACT_WINDOWS], *limb = limbs + 2;
    limb[low - 1] = limb[low - 2] = 0;
    int64_t borrow = 0;
    for (int k = low; k <= top; k++) {
        int64_t difference = (negative ? -(int64_t)digit[k] : digit[k]) - borrow;
        limb[k] = (uint32_t)difference;
        borrow = difference < 0;
    }
    if (limb[top] == 0) top--;

    /* Its 64 leading bits, the last of which is set if any lower bit is: rounding these equals rounding the full sum.
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
