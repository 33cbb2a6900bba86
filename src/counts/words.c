/* Histograms as arrays of 64-bit words whose sums are the words of the merged histogram. */
#include <string.h>

#include "base/floats.h"
#include "base/memory.h"
#include "base/threads/monitor.h"
#include "counts/hist.h"
#include "plan/total.h"

enum { COUNT_BITS = 21, MOST_MERGED = (1 << COUNT_BITS) - 1 };

/* The kinds of words, in order. */
typedef enum word_kind { COUNTS, MASKED, DIGITS, FLAGS, SUMS } word_kind;

/* Consecutive words of one kind. */
typedef struct word_section {
    word_kind kind;
    int power;  /* 0: words of w, 1: of w * w */
    int window; /* the window of digits; HISTO_EXACT_WINDOWS for flags */
    int64_t n;
} word_section;

enum { MOST_SECTIONS = 2 + 2 * (HISTO_EXACT_WINDOWS + 2) };

typedef struct sections {
    int count;
    word_section at[MOST_SECTIONS];
    int64_t integers, doubles;
} sections;

static histo_exact *exact_of(const histo_hist *hist, int power)
{
    return power ? hist->accumulators.exact_w2 : hist->accumulators.exact_w;
}

static double *sums_of(const histo_hist *hist, int power)
{
    return power ? hist->accumulators.sum_w2 : hist->accumulators.sum_w;
}

static bool has_bit(const histo_word_layout *layout, int power, int bit)
{
    return layout->windows[2 * power + bit / 64] >> bit % 64 & 1;
}

static histo_exact_windows windows_of(const histo_word_layout *layout, int power)
{
    histo_exact_windows windows = {.special = has_bit(layout, power, HISTO_EXACT_WINDOWS)};
    for (int k = 0; k < HISTO_EXACT_WINDOWS; k++)
        windows.touched[k] = has_bit(layout, power, k);
    return windows;
}

static void set_bit(histo_word_layout *layout, int power, int bit)
{
    layout->windows[2 * power + bit / 64] |= UINT64_C(1) << bit % 64;
}

static void append(sections *s, word_section added)
{
    s->at[s->count++] = added;
    *(added.kind == SUMS ? &s->doubles : &s->integers) += added.n;
}

static void find_sections(const histo_hist *hist, const histo_word_layout *layout, sections *s)
{
    const histo_accumulators *accumulators = &hist->accumulators;
    const int64_t all = accumulators->batch * accumulators->slots;
    s->count = 0;
    s->integers = s->doubles = 0;
    append(s, (word_section){.kind = COUNTS, .n = all});
    append(s, (word_section){.kind = MASKED, .n = accumulators->batch});
    for (int power = 0; power < 2; power++)
        for (int k = 0; k < HISTO_EXACT_WINDOWS && exact_of(hist, power); k++)
            if (has_bit(layout, power, k)) append(s, (word_section){DIGITS, power, k, all});
    for (int power = 0; power < 2; power++)
        if (exact_of(hist, power) && has_bit(layout, power, HISTO_EXACT_WINDOWS))
            append(s, (word_section){FLAGS, power, HISTO_EXACT_WINDOWS, all});
    for (int power = 0; power < 2; power++)
        if (sums_of(hist, power)) append(s, (word_section){SUMS, power, 0, all});
}

static histo_status check_layout(const histo_hist *hist, const histo_word_layout *layout)
{
    for (int power = 0; power < 2; power++) {
        const uint64_t *windows = &layout->windows[2 * power];
        const uint64_t beyond = windows[1] >> (HISTO_EXACT_WINDOWS + 1 - 64);
        if (beyond || (!exact_of(hist, power) && (windows[0] || windows[1])))
            return histo_fail(HISTO_INVALID, "the layout has digits that the histogram does not keep");
    }
    return HISTO_OK;
}

static histo_status check(const histo_hist *hist, const histo_word_layout *layout)
{
    if (!hist) return histo_fail(HISTO_INVALID, "the histogram is NULL");
    if (!layout) return histo_fail(HISTO_INVALID, "the layout of the words is NULL");
    if (hist->accumulators.sparse)
        return histo_fail(HISTO_UNSUPPORTED,
                          "a sparse histogram has no words: use its occupied slots, and histo_hist_add_occupied");
    return HISTO_OK;
}

histo_status histo_hist_word_layout(const histo_hist *hist, histo_word_layout *layout)
{
    HISTO_STANDARD_FLOATS;
    if (layout) *layout = (histo_word_layout){{0}};
    histo_status status = check(hist, layout);
    if (status == HISTO_OK) status = histo_accumulators_to_host(&hist->accumulators);
    if (status != HISTO_OK) return status;
    histo_word_layout found = {{0}};
    for (int power = 0; power < 2; power++) {
        histo_exact *exact = exact_of(hist, power);
        if (!exact) continue;
        status = histo_exact_balance(exact); /* reading the words will need it */
        if (status != HISTO_OK) return status;
        const histo_exact_windows used = histo_exact_used(exact);
        for (int k = 0; k < HISTO_EXACT_WINDOWS; k++)
            if (used.touched[k]) set_bit(&found, power, k);
        if (used.special) set_bit(&found, power, HISTO_EXACT_WINDOWS);
    }
    *layout = found;
    return HISTO_OK;
}

histo_status histo_hist_count_words(const histo_hist *hist, const histo_word_layout *layout, int64_t *integers,
                                    int64_t *doubles)
{
    if (integers) *integers = 0;
    if (doubles) *doubles = 0;
    histo_status status = check(hist, layout);
    if (status == HISTO_OK) status = check_layout(hist, layout);
    if (status != HISTO_OK) return status;
    if (!integers || !doubles) return histo_fail(HISTO_INVALID, "a place for the numbers of words is NULL");
    sections s;
    find_sections(hist, layout, &s);
    *integers = s.integers;
    *doubles = s.doubles;
    return HISTO_OK;
}

/* ---- Ranges ---- */

typedef enum access { READ, WRITE, ADD } access;

/* Words [first, first + n) of a section. */
typedef struct word_range {
    const word_section *section;
    int64_t first, n;
    uint64_t *words; /* changed by READ only */
} word_range;

/* Up to this many words are moved whatever the monitor says: nothing may fail between messages. */
enum { NEVER_STOPPED = 1 << 17 };

/* The next range of words [*first, end) within one section, in pieces; false at the end, or if the pace stops. */
static bool next_range(const sections *s, int64_t *first, int64_t end, uint64_t **words, word_range *r,
                       histo_pace *pace)
{
    enum { AT_ONCE = 1 << 14 };
    if (*first >= end) return false;
    if (end - *first > AT_ONCE) end = *first + AT_ONCE;
    if (pace->all > NEVER_STOPPED && !histo_goes_on(pace, end - *first)) return false;
    int64_t begin = 0;
    const word_section *section = s->at;
    while (*first >= begin + section->n)
        begin += section++->n;
    const int64_t left = begin + section->n - *first;
    *r = (word_range){section, *first - begin, left < end - *first ? left : end - *first, *words};
    *first += r->n;
    *words += r->n;
    return true;
}

/* Check that the layout has words for all nonzero digits, and for flags. */
static histo_status check_windows(const histo_exact *exact, const histo_exact_windows *layout)
{
    bool missing = exact->used.special && !layout->special;
    for (int k = 0; k < HISTO_EXACT_WINDOWS; k++)
        missing |= exact->used.touched[k] && !layout->touched[k];
    return missing ? histo_fail(HISTO_INVALID, "the layout has no words for digits of the histogram: use the bitwise "
                                               "or of the layouts of all histograms")
                   : HISTO_OK;
}

/* Do everything that can fail before words are moved: digits from this window and slot on or, if the window is
 * HISTO_EXACT_WINDOWS, flags. */
static histo_status prepare(const histo_hist *hist, const histo_word_layout *layout, int power, int window,
                            int64_t slot, access way)
{
    histo_exact *exact = exact_of(hist, power);
    const histo_exact_windows windows = windows_of(layout, power);
    histo_status status = window < HISTO_EXACT_WINDOWS ? histo_exact_balance_from(exact, window, slot) : HISTO_OK;
    if (status == HISTO_OK && way != ADD) status = check_windows(exact, &windows);
    if (status == HISTO_OK && way != READ) status = histo_exact_provide(exact, &windows);
    return status;
}

/* Check words of digits or flags. */
static histo_status check_words(const word_range *r)
{
    const uint64_t most = (uint64_t)HISTO_EXACT_MAX_MERGED << 31; /* sums of digits, whose magnitude is at most 2^31 */
    uint64_t beyond = 0;
    for (int64_t i = 0; i < r->n; i++)
        beyond |=
            r->section->kind == DIGITS ? (uint64_t)(r->words[i] + most > 2 * most) : r->words[i] >> 3 * COUNT_BITS;
    return beyond ? histo_fail(HISTO_INVALID, "the words are not those of up to %d histograms", MOST_MERGED) : HISTO_OK;
}

static uint64_t *counts_of(const histo_hist *hist, const word_section *section)
{
    return section->kind == COUNTS ? hist->accumulators.counts : hist->accumulators.masked;
}

/* Check that counts still add up to less than 2^64 after words [first, first + n) are written or added. */
static histo_status admit(histo_hist *hist, const sections *s, int64_t first, int64_t n, const uint64_t *words,
                          access way, histo_pace *pace)
{
    uint64_t before = 0, after = 0;
    bool fits = true;
    word_range r;
    int64_t at = first;
    for (uint64_t *from = (uint64_t *)words; fits && next_range(s, &at, first + n, &from, &r, pace);) {
        if (r.section->kind != COUNTS && r.section->kind != MASKED) break;
        fits = histo_total_add(&after, r.words, r.n);
        if (way == WRITE) histo_total_add(&before, counts_of(hist, r.section) + r.first, r.n);
    }
    if (pace->status != HISTO_OK) return pace->status;
    if (!fits) return histo_fail_total();
    return way == WRITE ? histo_total_exchange(&hist->accumulators, before, after)
                        : histo_total_admit(&hist->accumulators, after);
}

static void move_counts(uint64_t *counts, const word_range *r, access way)
{
    uint64_t *at = counts + r->first;
    switch (way) {
    case READ:
        memcpy(r->words, at, (size_t)r->n * sizeof *at);
        break;
    case WRITE:
        memcpy(at, r->words, (size_t)r->n * sizeof *at);
        break;
    case ADD:
        for (int64_t i = 0; i < r->n; i++)
            at[i] += r->words[i];
        break;
    }
}

static void move_sums(double *sums, const word_range *r, access way)
{
    double *at = sums + r->first;
    const double *words = (const double *)(const void *)r->words;
    if (way != ADD) {
        move_counts((uint64_t *)(void *)sums, r, way);
        return;
    }
    for (int64_t i = 0; i < r->n; i++)
        at[i] += words[i];
}

static void move_digits(histo_exact *exact, const word_range *r, access way)
{
    const int64_t *plane = exact->plane[r->section->window];
    if (way != READ)
        histo_exact_put_digits(exact, r->section->window, r->first, r->n, (const int64_t *)r->words, way == ADD);
    else if (plane)
        memcpy(r->words, plane + r->first, (size_t)r->n * sizeof *plane);
    else
        memset(r->words, 0, (size_t)r->n * sizeof *plane);
}

/* The word of a flag is the number of histograms that have it set. */
static void move_flags(histo_exact *exact, const word_range *r, access way)
{
    static const uint64_t ones = (1 << COUNT_BITS) - 1;
    for (int64_t i = 0; i < r->n; i++) {
        if (way == READ) {
            const uint64_t flags = exact->special ? exact->special[r->first + i] : 0;
            r->words[i] = (flags & 1) | (flags >> 1 & 1) << COUNT_BITS | (flags >> 2 & 1) << 2 * COUNT_BITS;
        } else {
            const uint64_t word = r->words[i];
            const uint8_t flags = (uint8_t)(((word & ones) != 0) | ((word >> COUNT_BITS & ones) != 0) << 1 |
                                            (word >> 2 * COUNT_BITS != 0) << 2);
            histo_exact_put_flags(exact, r->first + i, 1, &flags, way == ADD);
        }
    }
}

static void move(const histo_hist *hist, const word_range *r, access way)
{
    switch (r->section->kind) {
    case COUNTS:
    case MASKED:
        move_counts(counts_of(hist, r->section), r, way);
        break;
    case DIGITS:
        move_digits(exact_of(hist, r->section->power), r, way);
        break;
    case FLAGS:
        move_flags(exact_of(hist, r->section->power), r, way);
        break;
    case SUMS:
        move_sums(sums_of(hist, r->section->power), r, way);
        break;
    }
}

/* Check that a layout has words [first, first + n), and find its sections. */
static histo_status check_range(const histo_hist *hist, const histo_word_layout *layout, int64_t first, int64_t n,
                                sections *s)
{
    histo_status status = check(hist, layout);
    if (status == HISTO_OK) status = check_layout(hist, layout);
    if (status != HISTO_OK) return status;
    find_sections(hist, layout, s);
    const int64_t all = s->integers + s->doubles;
    if (first < 0 || n < 0 || first > all || n > all - first)
        return histo_fail(HISTO_INVALID, "%lld words from number %lld on are not among the histogram's %lld",
                          (long long)n, (long long)first, (long long)all);
    return HISTO_OK;
}

static histo_status move_words(const histo_hist *hist, const histo_word_layout *layout, int64_t first, int64_t n,
                               uint64_t *words, access way)
{
    sections s;
    histo_status status = check_range(hist, layout, first, n, &s);
    if (status != HISTO_OK) return status;
    if (!words && n) return histo_fail(HISTO_INVALID, "the array for the words is NULL");
    status = histo_accumulators_to_host(&hist->accumulators);
    histo_pace pace = {.stage = way == READ ? "reading words" : "writing words", .all = n};
    word_range r;
    int64_t at = first;
    uint64_t *to = words;
    while (status == HISTO_OK && next_range(&s, &at, first + n, &to, &r, &pace)) {
        if (r.section->kind != DIGITS && r.section->kind != FLAGS) continue;
        if (way != READ) status = check_words(&r);
        if (status == HISTO_OK) status = prepare(hist, layout, r.section->power, r.section->window, r.first, way);
    }
    if (status == HISTO_OK) status = pace.status;
    for (int power = 0; power < 2 && !n && status == HISTO_OK; power++)
        if (exact_of(hist, power)) status = prepare(hist, layout, power, 0, 0, way);
    if (status == HISTO_OK && way != READ) status = admit((histo_hist *)hist, &s, first, n, words, way, &pace);
    if (status != HISTO_OK) return status;
    for (at = first, to = words; next_range(&s, &at, first + n, &to, &r, &pace);)
        move(hist, &r, way);
    if (way != READ && pace.status != HISTO_OK) ((histo_hist *)hist)->accumulators.incomplete = true;
    return pace.status;
}

histo_status histo_hist_read_words(const histo_hist *hist, const histo_word_layout *layout, int64_t first, int64_t n,
                                   uint64_t *words)
{
    HISTO_STANDARD_FLOATS;
    return move_words(hist, layout, first, n, words, READ);
}

/* Bring all words to host memory, and make them safe to change there. */
static histo_status own_words(histo_hist *hist)
{
    histo_status status = histo_accumulators_to_host(&hist->accumulators);
    return status == HISTO_OK ? histo_accumulators_own(&hist->accumulators) : status;
}

static histo_status put_words(histo_hist *hist, const histo_word_layout *layout, int64_t first, int64_t n,
                              const uint64_t *words, access way)
{
    const histo_status status = hist ? own_words(hist) : HISTO_OK;
    return status == HISTO_OK ? move_words(hist, layout, first, n, (uint64_t *)words, way) : status;
}

histo_status histo_hist_write_words(histo_hist *hist, const histo_word_layout *layout, int64_t first, int64_t n,
                                    const uint64_t *words)
{
    HISTO_STANDARD_FLOATS;
    return put_words(hist, layout, first, n, words, WRITE);
}

histo_status histo_hist_add_words(histo_hist *hist, const histo_word_layout *layout, int64_t first, int64_t n,
                                  const uint64_t *words)
{
    HISTO_STANDARD_FLOATS;
    return put_words(hist, layout, first, n, words, ADD);
}

static uint64_t *words_of(const histo_hist *hist, const word_section *section)
{
    switch (section->kind) {
    case COUNTS:
    case MASKED:
        return counts_of(hist, section);
    case SUMS:
        return (uint64_t *)(void *)sums_of(hist, section->power);
    default:
        return NULL;
    }
}

histo_status histo_hist_borrow_words(histo_hist *hist, const histo_word_layout *layout, int64_t first, int64_t n,
                                     uint64_t **words)
{
    HISTO_STANDARD_FLOATS;
    if (words) *words = NULL;
    sections s;
    histo_status status = check_range(hist, layout, first, n, &s);
    if (status != HISTO_OK) return status;
    if (!words) return histo_fail(HISTO_INVALID, "the place for the words is NULL");
    status = own_words(hist);
    if (status != HISTO_OK) return status;
    const word_section *section = s.at;
    for (; section < s.at + s.count - 1 && first >= section->n; section++)
        first -= section->n;
    uint64_t *const begin = first + n <= section->n ? words_of(hist, section) : NULL;
    *words = begin ? begin + first : NULL;
    if (begin && section->kind != SUMS) hist->accumulators.most = UINT64_MAX; /* their new values are unknown */
    return HISTO_OK;
}
