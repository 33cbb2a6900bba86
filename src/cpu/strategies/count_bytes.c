/* Counts bytes with scalar code: four tables in turn, so that equal neighbours do not wait for each other's store. A
 * run of equal bytes is one addition. Reaches one increment per cycle, the limit of one store per cycle. */
#include "cpu/strategies/count_bytes.h"

#include <string.h>

#include "cpu/samples/runs.h"

enum { TABLES = 4, RUN = 256, WORD = 8, MAX_HELD = 1 << 30 };

typedef struct state {
    _Alignas(64) uint32_t tables[TABLES][256];
    uint64_t counts[256];
    size_t held; /* bytes in the tables, at most 2^32 - 1 */
} state;

_Static_assert(sizeof(state) == HISTO_SCALAR_STATE_BYTES, "the header says so");

static void start(void *at)
{
    memset(at, 0, sizeof(state));
}

static void empty_tables(state *s)
{
    for (int v = 0; v < 256; v++)
        for (int t = 0; t < TABLES; t++)
            s->counts[v] += s->tables[t][v];
    memset(s->tables, 0, sizeof s->tables);
    s->held = 0;
}

static void add_some(state *s, const uint8_t *bytes, size_t n)
{
    uint32_t *a = s->tables[0], *b = s->tables[1], *c = s->tables[2], *d = s->tables[3];
    size_t i = 0;
    for (; i + RUN <= n; i += RUN) {
        if (histo_all_equal(bytes + i, RUN, 1)) {
            a[bytes[i]] += RUN;
            continue;
        }
        for (const uint8_t *at = bytes + i, *end = at + RUN; at < end; at += WORD) {
            uint64_t word; /* one load for eight bytes: increments also load and store */
            memcpy(&word, at, sizeof word);
            for (int half = 0; half < 2; half++, word >>= 32) {
                a[word & 0xff]++;
                b[word >> 8 & 0xff]++;
                c[word >> 16 & 0xff]++;
                d[word >> 24 & 0xff]++;
            }
        }
    }
    for (; i < n; i++)
        a[bytes[i]]++;
    s->held += n;
}

static void add(void *at, const uint8_t *bytes, size_t n)
{
    state *s = at;
    while (n) {
        size_t some = n < MAX_HELD ? n : MAX_HELD;
        if (s->held > MAX_HELD) empty_tables(s);
        add_some(s, bytes, some);
        bytes += some;
        n -= some;
    }
}

static void finish(void *at, uint64_t counts[256])
{
    state *s = at;
    empty_tables(s);
    for (int v = 0; v < 256; v++)
        counts[v] += s->counts[v];
    memset(s->counts, 0, sizeof s->counts);
}

const histo_byte_counting histo_byte_counting_scalar = {sizeof(state), 0.25, 0.4, start, add, NULL, finish};
