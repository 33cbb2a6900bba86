/* hash_table: each thread counts slots in a hash table of its own, which becomes a sorted list of the occupied slots;
 * the lists are merged in pairs.
 *
 * - The table grows with its contents, so few slots stay in L1 and L2. At its largest it is emptied into a list, so
 *   only the lists are unbounded.
 * - It stores slots mixed by an invertible function. Every bit of a slot changes the upper bits of the result, and
 *   these choose the entry, so neighbours on any axis are far apart.
 * - The entries of later samples are prefetched, so cache misses overlap. For tables of 16 MiB and more, slots are
 *   first scattered by their place in the table, so that each 256th of it is in the cache while it is counted in.
 *
 * Source: hash aggregation, as databases do it (Ye, Ross and Vesdapunt 2011: private tables of partial aggregates),
 * with radix partitioning (Manegold, Boncz and Kersten 2002).
 * Bytes: each sample once, and an entry of 16 bytes for each; for large tables, 8 bytes of a slot written and read
 * twice. For few slots, dense counters are faster: see backend.c. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/threads/pool.h"
#include "cpu/backend/backend.h"
#include "cpu/backend/costs.h"
#include "cpu/samples/block.h"
#include "plan/accumulators.h"

enum { LARGEST };
enum {
    SMALLEST_BITS = 11, /* log2 of the minimum number of entries */
    DEFAULT_LARGEST_BITS = 24,
    MAX_BITS = 28,
    ROOMY_BITS = 16,     /* smaller tables grow when a quarter full, larger ones when half full */
    PREFETCH_BITS = 13,  /* log2 of the number of entries from which a table exceeds the L1 cache */
    PARTITION_BITS = 20, /* log2 of the number of entries from which it exceeds most of the last-level cache */
    AHEAD = 64,          /* samples between prefetching an entry and using it */
    BUFFERED = 1 << 22,  /* slots that are partitioned together */
    RANGE_BITS = 8,      /* 2^8 ranges of the table */
    CROWDED = 64,        /* occupied entries probed before the table is considered too small, locally or overall */
    SAMPLES_A_THREAD = 1 << 16, /* fewer samples do not repay waking a thread */
};
static const size_t MAX_TABLE_BYTES =
    (size_t)1 << 30; /* for the tables of all threads together, unless that is too little for each */

/* A thread's table and lists. */
typedef struct slot_table {
    int bits;
    int64_t used;
    histo_entry *entries; /* [1 << bits], of mixed slots; count 0: empty */
    uint64_t *buffer;     /* [2 * BUFFERED]: mixed slots, and room to partition them; NULL at first */
    int buffered;         /* number of mixed slots in it */
    histo_sparse full;    /* what the table was emptied into; a single list in the end */
    bool failed;          /* out of memory, or stopped */
} slot_table;

typedef struct shared {
    const histo_job *job;
    int threads, largest_bits, step;
    slot_table *tables;
} shared;

static histo_entry *make_entries(int bits)
{
    const size_t bytes = sizeof(histo_entry) << bits;
    histo_entry *entries = histo_cpu_allocate(bytes);
    if (entries) memset(entries, 0, bytes);
    return entries;
}

/* Odd factors, and their inverses modulo 2^64. */
static const uint64_t FIRST = UINT64_C(0x9e3779b97f4a7c15), FIRST_INVERSE = UINT64_C(0xf1de83e19937733d);
static const uint64_t SECOND = UINT64_C(0xbf58476d1ce4e5b9), SECOND_INVERSE = UINT64_C(0x96de1b173f119089);

static inline uint64_t mixed(uint64_t slot)
{
    slot = (slot ^ slot >> 32) * FIRST;
    return (slot ^ slot >> 32) * SECOND;
}

static inline uint64_t unmixed(uint64_t slot)
{
    slot *= SECOND_INVERSE;
    slot = (slot ^ slot >> 32) * FIRST_INVERSE;
    return slot ^ slot >> 32;
}

/* Find the entry of a mixed slot by linear probing: its own, or an empty one; NULL after more than `others` entries of
 * other slots. */
static inline histo_entry *find(const slot_table *t, uint64_t slot, int64_t others)
{
    const uint64_t last = (UINT64_C(1) << t->bits) - 1;
    for (uint64_t at = slot >> (64 - t->bits); others >= 0; at = (at + 1) & last, others--)
        if (!t->entries[at].count || t->entries[at].slot == slot) return &t->entries[at];
    return NULL;
}

static bool grow(slot_table *t)
{
    const slot_table before = *t;
    histo_entry *larger = make_entries(t->bits + 1);
    if (!larger) return false;
    t->bits++;
    t->entries = larger;
    for (int64_t i = 0; i < INT64_C(1) << before.bits; i++)
        if (before.entries[i].count) *find(t, before.entries[i].slot, INT64_MAX) = before.entries[i];
    histo_free(before.entries);
    return true;
}

/* Empty the table into a list. The table is at most half full, so the other half has room for sorting. */
static bool empty(slot_table *t)
{
    const int64_t entries = INT64_C(1) << t->bits;
    int64_t n = 0;
    for (int64_t i = 0; i < entries; i++)
        if (t->entries[i].count) t->entries[n++] = (histo_entry){unmixed(t->entries[i].slot), t->entries[i].count};
    if (histo_entries_sort(t->entries, &n, t->entries + entries / 2) != HISTO_OK) return false;
    histo_list list = {n, histo_malloc((size_t)n * sizeof *list.entries + 1)};
    if (!list.entries) return false;
    memcpy(list.entries, t->entries, (size_t)n * sizeof *list.entries);
    if (histo_sparse_add(&t->full, list) != HISTO_OK) {
        histo_list_free(&list);
        return false;
    }
    t->used = 0;
    return true;
}

/* Grow the table, or empty it if it has its maximum size. */
static bool make_room(slot_table *t, int largest_bits)
{
    if (t->bits < largest_bits) return grow(t);
    if (!empty(t)) return false;
    memset(t->entries, 0, sizeof *t->entries << t->bits);
    return true;
}

/* Count mixed slots, each `times` times, until the table gets too small; returns how many were counted. */
static int count_some(slot_table *table_, const uint64_t *restrict slots, int n, uint64_t times)
{
    slot_table t = *table_; /* a local copy, which the entries cannot alias */
    const int64_t most = INT64_C(1) << (t.bits - (t.bits < ROOMY_BITS ? 2 : 1));
    const int ahead = t.bits >= PREFETCH_BITS ? AHEAD : n;
    int i = 0;
    for (; i < n; i++) {
        if (i + ahead < n) __builtin_prefetch(&t.entries[slots[i + ahead] >> (64 - t.bits)], 1, 3);
        histo_entry *entry = find(&t, slots[i], CROWDED);
        if (!entry) break;
        if (!entry->count) {
            if (t.used == most) break;
            entry->slot = slots[i];
            t.used++;
        }
        entry->count += times;
    }
    table_->used = t.used;
    return i;
}

static bool count_slots(slot_table *t, const uint64_t *slots, int n, uint64_t times, int largest_bits)
{
    for (int done = 0; (done += count_some(t, slots + done, n - done, times)) < n;)
        if (!make_room(t, largest_bits)) return false;
    return true;
}

/* Count the buffered slots, partitioned by ranges of the table. */
static bool count_buffered(slot_table *t, int largest_bits)
{
    if (t->buffered == 0) return true;
    int at[1 << RANGE_BITS] = {0}, before = 0;
    uint64_t *partitioned = t->buffer + BUFFERED;
    for (int i = 0; i < t->buffered; i++)
        at[t->buffer[i] >> (64 - RANGE_BITS)]++;
    for (int r = 0; r < 1 << RANGE_BITS; r++) {
        const int count = at[r];
        at[r] = before;
        before += count;
    }
    for (int i = 0; i < t->buffered; i++)
        partitioned[at[t->buffer[i] >> (64 - RANGE_BITS)]++] = t->buffer[i];
    const int n = t->buffered;
    t->buffered = 0;
    return count_slots(t, partitioned, n, 1, largest_bits);
}

static bool buffer_or_count(slot_table *t, const uint64_t *slots, int n, int largest_bits)
{
    if (t->bits < PARTITION_BITS) return count_slots(t, slots, n, 1, largest_bits);
    if (!t->buffer) t->buffer = histo_cpu_allocate(2 * BUFFERED * sizeof *t->buffer);
    if (!t->buffer) return false;
    memcpy(t->buffer + t->buffered, slots, (size_t)n * sizeof *slots);
    t->buffered += n;
    return t->buffered <= BUFFERED - HISTO_PIECE || count_buffered(t, largest_bits);
}

static bool count_block(const shared *all, slot_table *t, histo_block *block)
{
    uint64_t slots[HISTO_PIECE];
    if (block->left_out) { /* a slot after all others counts them */
        const histo_problem *p = all->job->problem;
        slots[0] = mixed((uint64_t)(p->batch * p->slots + block->batch));
        if (!count_slots(t, slots, 1, (uint64_t)block->left_out, all->largest_bits)) return false;
    }
    if (histo_block_is_constant(all->job, block)) {
        const int n = block->n;
        block->n = 1;
        histo_block_wide_slots(all->job, block, slots);
        slots[0] = mixed(slots[0]);
        return count_slots(t, slots, 1, (uint64_t)n, all->largest_bits);
    }
    histo_block piece;
    for (int i = 0; histo_block_piece(all->job->problem, block, i, &piece); i += HISTO_PIECE) {
        histo_block_wide_slots(all->job, &piece, slots);
        for (int k = 0; k < piece.n; k++)
            slots[k] = mixed(slots[k]);
        if (!buffer_or_count(t, slots, piece.n, all->largest_bits)) return false;
    }
    return true;
}

static void count_range(void *context, int index)
{
    shared *all = context;
    slot_table *t = &all->tables[index];
    char *gathered = (char *)all->job->workspace + (size_t)index * histo_blocks_bytes(all->job->problem);
    t->bits = SMALLEST_BITS;
    t->entries = make_entries(t->bits);
    t->failed = !t->entries;
    histo_blocks blocks;
    histo_block block;
    histo_blocks_start(&blocks, all->job, index, all->threads, gathered);
    while (!t->failed && histo_blocks_next(&blocks, &block))
        t->failed = !count_block(all, t, &block);
    t->failed =
        t->failed || !count_buffered(t, all->largest_bits) || !empty(t) || histo_sparse_settle(&t->full) != HISTO_OK;
    histo_free(t->entries);
    histo_free(t->buffer);
}

/* Merge the list of every 2 * step-th table with the list `step` after it. */
static void merge_two(void *context, int index)
{
    const shared *all = context;
    const int first = index * 2 * all->step, second = first + all->step;
    if (second >= all->threads) return;
    slot_table *to = &all->tables[first], *from = &all->tables[second];
    const histo_list list = histo_sparse_all(&from->full);
    if (to->failed || from->failed || histo_sparse_add(&to->full, list) != HISTO_OK) {
        to->failed = true;
        return;
    }
    from->full.lists = 0;
    to->failed = histo_sparse_settle(&to->full) != HISTO_OK;
}

static int threads_of(int64_t samples, int threads)
{
    int64_t useful = samples / SAMPLES_A_THREAD + 1;
    return threads < useful ? threads : (int)useful;
}

static int largest_bits(int threads, int64_t wanted)
{
    if (wanted) return (int)wanted;
    int bits = DEFAULT_LARGEST_BITS;
    while (bits > DEFAULT_LARGEST_BITS - 3 && (size_t)threads * (sizeof(histo_entry) << bits) > MAX_TABLE_BYTES)
        bits--;
    return bits;
}

static histo_status launch(const histo_job *job)
{
    shared all = {.job = job, .threads = threads_of(job->end - job->begin, job->threads)};
    all.largest_bits = largest_bits(all.threads, job->params[LARGEST]);
    const size_t bytes = (size_t)all.threads * sizeof *all.tables;
    all.tables = histo_calloc(1, bytes);
    if (!all.tables) return histo_fail_memory(bytes, "the hash tables of a fill");
    histo_status status = histo_pool_run_long("counting", all.threads, count_range, &all);
    for (all.step = 1; all.step < all.threads && status == HISTO_OK; all.step *= 2)
        status = histo_pool_run_long("merging", (all.threads + 2 * all.step - 1) / (2 * all.step), merge_two, &all);
    slot_table *result = &all.tables[0];
    if (status == HISTO_OK && result->failed) /* the thread has its own error message */
        status = histo_fail_memory(sizeof(histo_entry) << all.largest_bits, "the occupied slots of a sparse histogram");
    if (status == HISTO_OK) status = histo_accumulators_add(job->accumulators, histo_sparse_all(&result->full));
    if (status == HISTO_OK) result->full.lists = 0;
    for (int i = 0; i < all.threads; i++)
        histo_sparse_clear(&all.tables[i].full);
    histo_free(all.tables);
    return status;
}

static const char *unsupported_reason(const histo_problem *problem)
{
    (void)problem;
    return NULL;
}

static double cost_us(const histo_problem *p, int threads)
{
    enum { MANY = 1 << 20 };
    /* 2 if few slots are occupied; 10 and more for a million, which dense counters count as fast as few */
    const double count_ns = p->samples > MANY && p->slots > MANY ? 10 : 4;
    return 2 + (double)p->samples * (histo_slots_ns(p) + count_ns) * 1e-3 / threads_of(p->samples, threads);
}

static size_t workspace(const histo_problem *problem, int threads, const int64_t *params)
{
    (void)params;
    return (size_t)threads * histo_blocks_bytes(problem);
}

/* A table grows next to the smaller one; its lists hold each sample at most once, and are merged into others. */
static size_t memory(const histo_problem *p, int threads, const int64_t *params)
{
    const int used = threads_of(p->samples, threads), most = largest_bits(used, params[LARGEST]);
    const size_t samples = (size_t)(p->samples / used + 1) + 1;
    int bits = SMALLEST_BITS;
    while (bits < most && (size_t)1 << (bits - (bits < ROOMY_BITS ? 2 : 1)) < samples)
        bits++;
    const size_t table = sizeof(histo_entry) << bits, lists = 4 * samples * sizeof(histo_entry);
    const size_t buffer = bits < PARTITION_BITS ? 0 : 2 * BUFFERED * sizeof(uint64_t);
    return (size_t)used * (sizeof(slot_table) + table + table / 2 + buffer + lists);
}

const histo_strategy histo_cpu_hash_table = {
    HISTO_STRATEGY_FUNCTIONS,
    .workspace = workspace,
    .memory = memory,
    .params = {{"largest", 0, MAX_BITS, 0,
                "entries of a thread's table at most, as a power of 2; 0: 2^24, or fewer for many threads"}},
    .ragged = true,
    .computed = true,
    .sparse = true};
