/* Exact sums of doubles and 64-bit integers, one per slot, with the same digits whatever the order of additions, the
 * number of threads, or merges.
 *
 * A sum is one long fixed-point number, cut into windows of 32 bits. Window k holds an int64 digit that counts
 * multiples of 2^(32 * (k - HISTO_EXACT_UNIT)). The significand of a double spans at most three windows; its slices are
 * below 2^32 and take the sign of the double, so adding is at most three integer additions, which commute. The digits
 * of window k for all slots are a plane, and only windows that some value touches have planes.
 *
 * An int64 takes 2^31 slices before it may overflow. Well before that, carries balance the digits, to [-2^31, 2^31).
 * Balanced digits are unique for a sum; histo_exact_get returns them, whatever the history.
 *
 * Use: touch all values to be added, reserve once (the only step that can fail), then add, from as many threads as
 * wanted. Sums wrap beyond 2^1119, which is 2^95 of the largest doubles. */
#ifndef SUM_EXACT_H
#define SUM_EXACT_H

#include <histo/histo.h>

#include "sum/slices.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The most additions to one slot that a single reserve can allow for. */
#define HISTO_EXACT_MAX_ADDS (UINT64_C(1) << 30)

/* A set of windows, and whether the values include infinities or NaN. Initialise with zeros. */
typedef struct histo_exact_windows {
    bool touched[HISTO_EXACT_WINDOWS];
    bool special;
} histo_exact_windows;

typedef struct histo_exact {
    int64_t slots;
    uint64_t pending;         /* upper bound of the additions to any slot since the digits were balanced; 0: they are
                               * balanced */
    int64_t balanced_from;    /* index window * slots + slot: digits from here on are balanced */
    histo_exact_windows used; /* digits from there on are zero outside these windows */
    int low, high;            /* all planes are within windows [low, high) */
    int64_t *plane[HISTO_EXACT_WINDOWS]; /* [slots] digits; NULL where all are zero */
    uint8_t *special;                    /* [slots] of HISTO_EXACT_… flags; NULL where all are zero */
} histo_exact;

/* The sum of a slot in its unique form, as saved to files. Any digits and flags are valid, so those from a file need no
 * check; but reserve every window with a nonzero digit. */
typedef struct histo_exact_value {
    int32_t digit[HISTO_EXACT_WINDOWS];
    uint8_t special;
} histo_exact_value;

/* Set to zero, without allocating; slots >= 1. */
void histo_exact_init(histo_exact *e, int64_t slots);

/* Free the memory; the struct may be all zero. */
void histo_exact_free(histo_exact *e);

/* Set all sums to zero; keeps the memory. */
void histo_exact_reset(histo_exact *e);

/* Set one sum to zero. */
void histo_exact_clear_slot(histo_exact *e, int64_t slot);

/* Make room for up to `adds` additions to each slot (at most HISTO_EXACT_MAX_ADDS) of values that touch these windows.
 * After HISTO_NO_MEMORY no sum has changed. Not while other threads add. */
histo_status histo_exact_reserve(histo_exact *e, const histo_exact_windows *windows, uint64_t adds);

/* Make zeroed planes for these windows, and flags if the set has any. After HISTO_NO_MEMORY no sum has changed. */
histo_status histo_exact_provide(histo_exact *e, const histo_exact_windows *windows);

/* Balance all digits, or at least those from a given one on, ordered by window and then slot. After HISTO_NO_MEMORY no
 * sum has changed. */
histo_status histo_exact_balance(histo_exact *e);
histo_status histo_exact_balance_from(histo_exact *e, int window, int64_t slot);

/* After balancing, and with a plane for the window: replace n digits from a given one on by sums of up to
 * HISTO_EXACT_MAX_MERGED balanced digits each, or add those. */
enum { HISTO_EXACT_MAX_MERGED = 1 << 21 };
void histo_exact_put_digits(histo_exact *e, int window, int64_t slot, int64_t n, const int64_t *digits, bool add);
/* After reading and writing digits, for which flags exist: replace n flags, or add to them. */
void histo_exact_put_flags(histo_exact *e, int64_t slot, int64_t n, const uint8_t *flags, bool add);

/* After a reserve for these windows: make room for all carries of up to 2^62 additions, so that further reserves for
 * the same windows cannot fail. After HISTO_NO_MEMORY no sum has changed. */
histo_status histo_exact_provide_carries(histo_exact *e, const histo_exact_windows *windows);

/* Reserve for adding up to `adds` slots of `from` to each slot of e. */
histo_status histo_exact_reserve_like(histo_exact *e, const histo_exact *from, uint64_t adds);

/* The windows in which some sum has a nonzero digit. */
histo_exact_windows histo_exact_used(const histo_exact *e);

/* Balanced digits of consecutive slots, one window after the other: the way to iterate over many slots. */
enum { HISTO_EXACT_BLOCK = 1024 };
typedef struct histo_exact_block {
    const histo_exact *e;
    int64_t first;
    int n;        /* number of slots */
    int window;   /* the window that `digit` holds */
    uint64_t any; /* bitwise or of all digits */
    int64_t digit[HISTO_EXACT_BLOCK];
    int64_t carry[HISTO_EXACT_BLOCK]; /* into the next window */
    bool carries;                     /* whether any carry is nonzero */
} histo_exact_block;

/* Start below the lowest window of slots first, first + 1, … up to `end` or the size of a block. */
void histo_exact_block_start(histo_exact_block *block, const histo_exact *e, int64_t first, int64_t end);
/* The next window whose digits may not all be zero; false at the end. Digits of e in this window and below may be
 * changed meanwhile. */
bool histo_exact_block_next(histo_exact_block *block);

/* The exact sum of a slot. */
histo_exact_value histo_exact_get(const histo_exact *e, int64_t slot);

/* The sum, rounded once to nearest even, as IEEE 754 rounds: overflow gives an infinity, a zero is +0. An infinity that
 * was added stays; infinities of both signs, or a NaN, give NaN. */
double histo_exact_read(const histo_exact *e, int64_t slot);

struct histo_pace; /* base/threads/monitor.h */

/* Add `from` slot by slot. Both have the same number of slots, and may be the same object. After HISTO_NO_MEMORY no sum
 * has changed; after HISTO_CANCELLED, some have. */
histo_status histo_exact_merge(histo_exact *e, const histo_exact *from, struct histo_pace *pace);

/* Subtract likewise. Infinities change sign, so that subtracting one from an equal one gives NaN. */
histo_status histo_exact_subtract(histo_exact *e, const histo_exact *from, struct histo_pace *pace);

/* Whether all sums are equal before rounding. Both have the same number of slots. Meaningless if the pace stops. */
bool histo_exact_equal(const histo_exact *a, const histo_exact *b, struct histo_pace *pace);

/* The following need a reserve, and may be called from several threads at once. */

void histo_exact_add_slot(histo_exact *e, int64_t slot, const histo_exact *from, int64_t from_slot);

static inline void histo_exact_touch_slices(histo_exact_windows *windows, histo_exact_slices cut)
{
    for (int i = 0; i < 3; i++)
        windows->touched[cut.window + i] |= cut.slice[i] != 0;
}

/* Add the windows of a value to the set. */
static inline void histo_exact_touch(histo_exact_windows *windows, double w)
{
    uint64_t bits = histo_exact_bits(w);
    if (histo_exact_is_special(bits))
        windows->special = true;
    else
        histo_exact_touch_slices(windows, histo_exact_cut_f64(bits));
}

static inline void histo_exact_touch_i64(histo_exact_windows *windows, int64_t w)
{
    histo_exact_touch_slices(windows, histo_exact_cut_i64(w));
}

static inline void histo_exact_touch_u64(histo_exact_windows *windows, uint64_t w)
{
    histo_exact_touch_slices(windows, histo_exact_cut_u64(w, false));
}

/* Add one set, such as a thread's, to another. */
static inline void histo_exact_windows_merge(histo_exact_windows *windows, const histo_exact_windows *other)
{
    for (int k = 0; k < HISTO_EXACT_WINDOWS; k++)
        windows->touched[k] |= other->touched[k];
    windows->special |= other->special;
}

/* Zero digits are skipped, because they may have no plane. */
static inline void histo_exact_add_digit(histo_exact *e, int64_t slot, int window, int64_t digit)
{
    if (digit) __atomic_fetch_add(&e->plane[window][slot], digit, __ATOMIC_RELAXED);
}

/* As histo_exact_add_digit, when no other thread adds to the slot at the same time. */
static inline void histo_exact_add_digit_alone(histo_exact *e, int64_t slot, int window, int64_t digit)
{
    if (digit) e->plane[window][slot] += digit;
}

static inline void histo_exact_add_special(histo_exact *e, int64_t slot, uint8_t flags)
{
    __atomic_fetch_or(&e->special[slot], flags, __ATOMIC_RELAXED);
}

static inline void histo_exact_add_slices(histo_exact *e, int64_t slot, histo_exact_slices cut)
{
    for (int i = 0; i < 3; i++)
        histo_exact_add_digit(e, slot, cut.window + i, cut.negative ? -(int64_t)cut.slice[i] : (int64_t)cut.slice[i]);
}

/* Add a value to the sum of a slot. */
static inline void histo_exact_add(histo_exact *e, int64_t slot, double w)
{
    uint64_t bits = histo_exact_bits(w);
    if (!histo_exact_is_special(bits))
        histo_exact_add_slices(e, slot, histo_exact_cut_f64(bits));
    else if (w != w)
        histo_exact_add_special(e, slot, HISTO_EXACT_NAN);
    else
        histo_exact_add_special(e, slot, w > 0 ? HISTO_EXACT_POSITIVE_INFINITY : HISTO_EXACT_NEGATIVE_INFINITY);
}

/* The same where no other thread adds to the slot at the same time. */
static inline void histo_exact_add_alone(histo_exact *e, int64_t slot, double w)
{
    const uint64_t bits = histo_exact_bits(w);
    if (histo_exact_is_special(bits)) {
        histo_exact_add(e, slot, w);
        return;
    }
    const histo_exact_slices cut = histo_exact_cut_f64(bits);
    for (int i = 0; i < 3; i++)
        histo_exact_add_digit_alone(e, slot, cut.window + i,
                                    cut.negative ? -(int64_t)cut.slice[i] : (int64_t)cut.slice[i]);
}

static inline void histo_exact_add_i64(histo_exact *e, int64_t slot, int64_t w)
{
    histo_exact_add_slices(e, slot, histo_exact_cut_i64(w));
}

static inline void histo_exact_add_u64(histo_exact *e, int64_t slot, uint64_t w)
{
    histo_exact_add_slices(e, slot, histo_exact_cut_u64(w, false));
}

#ifdef __cplusplus
}
#endif

#endif
