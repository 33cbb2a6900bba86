/* hash_table: each thread counts slots in a hash table of its own, which becomes a sorted list of the occupied ones; the
 * lists are joined in pairs.
 *
 * The table grows with what it holds, so that few slots stay in the first caches; at its largest it is emptied into a
 * list, so that memory is bounded but for the lists. A piece of samples is hashed at once, and memory is asked for the
 * entries of those ahead, so that the misses of large tables overlap. The hash mixes all bits of a slot: neighbours on
 * any axis are far apart in the table.
 *
 * Source: hash aggregation, as databases do it (Ye, Ross and Vesdapunt 2011: private tables of partial aggregates).
 * Bytes: each sample once, and an entry of 16 bytes for each. The only one on the CPU for sparse histograms. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cpu/cpu.h"
#include "plan/bank.h"

enum { LARGEST };
enum {
    SMALLEST_BITS = 11, /* of the entries of a table: a piece fills a quarter */
    USUAL_LARGEST_BITS = 24,
    MOST_BITS = 28,
    AHEAD = 48, /* samples for whose entries memory is asked */
    ASK_BITS = 13,              /* … of tables that do not fit the first cache */
    SAMPLES_A_THREAD = 1 << 16, /* fewer are not worth waking one */
};
static const size_t MOST_TABLE_BYTES = (size_t)1 << 30; /* of all threads together, if that is not too small for each */

/* What one thread has counted. */
typedef struct table {
    int bits;
    int64_t used;
    histo_entry *entries; /* [1 << bits], with slot + 1: 0 is no slot */
    histo_sparse full;    /* what tables were emptied into; one list in the end */
    bool failed;          /* no memory */
} table;

typedef struct shared {
    const histo_job *job;
    int threads, largest_bits, step;
    table *tables;
} shared;

static histo_entry *make_entries(int bits)
{
    const size_t bytes = sizeof(histo_entry) << bits;
    histo_entry *entries = histo_cpu_allocate(bytes);
    if (entries) memset(entries, 0, bytes);
    return entries;
}

/* Both halves of a long product. */
static inline uint64_t hash(uint64_t slot)
{
    __extension__ typedef unsigned __int128 wide;
    const wide product =
        (wide)(slot ^ UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xbf58476d1ce4e5b9);
    return (uint64_t)(product >> 64) ^ (uint64_t)product;
}

/* The entry of a slot, which may be new: from the one its hash says on, the first that has it, or nothing. */
static inline histo_entry *find(const table *t, uint64_t slot, uint64_t at)
{
    const uint64_t last = (UINT64_C(1) << t->bits) - 1;
    while (t->entries[at].slot != slot + 1 && t->entries[at].slot)
        at = (at + 1) & last;
    return &t->entries[at];
}

static inline void add(table *t, uint64_t slot, uint64_t at, uint64_t count)
{
    histo_entry *entry = find(t, slot, at);
    if (!entry->slot) {
        entry->slot = slot + 1;
        t->used++;
    }
    entry->count += count;
}

static bool grow(table *t)
{
    const table before = *t;
    histo_entry *larger = make_entries(t->bits + 1);
    if (!larger) return false;
    t->bits++;
    t->used = 0;
    t->entries = larger;
    for (int64_t i = 0; i < INT64_C(1) << before.bits; i++) {
        const histo_entry *entry = &before.entries[i];
        if (entry->slot) add(t, entry->slot - 1, hash(entry->slot - 1) >> (64 - t->bits), entry->count);
    }
    free(before.entries);
    return true;
}

/* What the table holds as a list: it is never more than half full, and has room to sort that. */
static bool empty(table *t)
{
    const int64_t entries = INT64_C(1) << t->bits;
    int64_t n = 0;
    for (int64_t i = 0; i < entries; i++)
        if (t->entries[i].slot) t->entries[n++] = (histo_entry){t->entries[i].slot - 1, t->entries[i].count};
    n = histo_entries_sort(t->entries, n, t->entries + entries / 2);
    histo_list list = {n, malloc((size_t)n * sizeof *list.entries + 1)};
    if (!list.entries) return false;
    memcpy(list.entries, t->entries, (size_t)n * sizeof *list.entries);
    if (histo_sparse_add(&t->full, list) != HISTO_OK) {
        histo_list_free(&list);
        return false;
    }
    t->used = 0;
    return true;
}

/* Make room for n more slots. */
static bool make_room(table *t, int n, int largest_bits)
{
    while (t->used + n > INT64_C(1) << (t->bits - 1)) {
        if (t->bits < largest_bits) {
            if (!grow(t)) return false;
        } else {
            if (!empty(t)) return false;
            memset(t->entries, 0, sizeof *t->entries << t->bits);
        }
    }
    return true;
}

static void count_slots(table *t, const uint64_t *slots, int n)
{
    uint64_t at[HISTO_PIECE];
    const int shift = 64 - t->bits;
    for (int i = 0; i < n; i++)
        at[i] = hash(slots[i]) >> shift;
    if (t->bits >= ASK_BITS)
        for (int i = 0; i < AHEAD && i < n; i++)
            __builtin_prefetch(&t->entries[at[i]], 1, 3);
    for (int i = 0; i < n; i++) {
        if (t->bits >= ASK_BITS && i + AHEAD < n) __builtin_prefetch(&t->entries[at[i + AHEAD]], 1, 3);
        add(t, slots[i], at[i], 1);
    }
}

static bool count_block(const shared *all, table *t, histo_block *block)
{
    uint64_t slots[HISTO_PIECE];
    if (histo_block_is_constant(all->job, block)) {
        const int n = block->n;
        block->n = 1;
        histo_block_wide_slots(all->job, block, slots);
        if (!make_room(t, 1, all->largest_bits)) return false;
        add(t, slots[0], hash(slots[0]) >> (64 - t->bits), (uint64_t)n);
        return true;
    }
    for (int i = 0; i < block->n; i += HISTO_PIECE) {
        const histo_block piece = histo_block_piece(all->job->problem, block, i);
        histo_block_wide_slots(all->job, &piece, slots);
        if (!make_room(t, piece.n, all->largest_bits)) return false;
        count_slots(t, slots, piece.n);
    }
    return true;
}

static void count_range(void *context, int index)
{
    shared *all = context;
    table *t = &all->tables[index];
    char *gathered = (char *)all->job->workspace + (size_t)index * histo_blocks_bytes(all->job->problem);
    t->bits = SMALLEST_BITS;
    t->entries = make_entries(t->bits);
    t->failed = !t->entries;
    histo_blocks blocks;
    histo_block block;
    histo_blocks_start(&blocks, all->job, index, all->threads, gathered);
    while (!t->failed && histo_blocks_next(&blocks, &block))
        t->failed = !count_block(all, t, &block);
    t->failed = t->failed || !empty(t) || histo_sparse_settle(&t->full) != HISTO_OK;
    free(t->entries);
}

/* Join the list of every 2 * step-th table with that of the one `step` behind it. */
static void join_two(void *context, int index)
{
    const shared *all = context;
    const int first = index * 2 * all->step, second = first + all->step;
    if (second >= all->threads) return;
    table *to = &all->tables[first], *from = &all->tables[second];
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
    int bits = USUAL_LARGEST_BITS;
    while (bits > USUAL_LARGEST_BITS - 3 && (size_t)threads * (sizeof(histo_entry) << bits) > MOST_TABLE_BYTES)
        bits--;
    return bits;
}

static histo_status launch(const histo_job *job)
{
    shared all = {.job = job, .threads = threads_of(job->end - job->begin, job->threads)};
    all.largest_bits = largest_bits(all.threads, job->params[LARGEST]);
    const size_t bytes = (size_t)all.threads * sizeof *all.tables;
    all.tables = calloc(1, bytes);
    if (!all.tables) return histo_fail_memory(bytes, "the hash tables of a fill");
    histo_pool_run(all.threads, count_range, &all);
    for (all.step = 1; all.step < all.threads; all.step *= 2)
        histo_pool_run((all.threads + 2 * all.step - 1) / (2 * all.step), join_two, &all);
    table *result = &all.tables[0];
    histo_status status = HISTO_OK;
    if (result->failed) /* of a thread that has its own sentences */
        status = histo_fail_memory(sizeof(histo_entry) << all.largest_bits, "the occupied slots of a sparse histogram");
    if (status == HISTO_OK) status = histo_bank_add(job->bank, histo_sparse_all(&result->full));
    if (status == HISTO_OK) result->full.lists = 0;
    for (int i = 0; i < all.threads; i++)
        histo_sparse_clear(&all.tables[i].full);
    free(all.tables);
    return status;
}

static const char *refuses(const histo_problem *problem)
{
    (void)problem;
    return NULL;
}

static double cost_us(const histo_problem *p, int threads)
{
    const double count_ns = 4; /* 2 where few slots are occupied, 10 where a million are */
    return 20 + (double)p->samples * (histo_slots_ns(p) + count_ns) * 1e-3 / threads_of(p->samples, threads);
}

static size_t workspace(const histo_problem *problem, int threads, const int64_t *params)
{
    (void)params;
    return (size_t)threads * histo_blocks_bytes(problem);
}

const histo_strategy histo_cpu_hash_table = {
    refuses,
    cost_us,
    workspace,
    launch,
    {{"largest", 0, MOST_BITS, 0,
      "entries of a thread's table at most, as a power of 2; 0: 2^24, or fewer for many threads"}},
    true,
    true,
    true,
};
