/* Check that the counts of a race's entries are those by the edges. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "bench/core/racer.h"

/* The oracle's counts of a number of samples that takes little time. */
static histo_status count_sequentially(const bench *b, int64_t n, uint64_t *counts, int64_t slots)
{
    size_t bytes = bench_input_bytes(b->input, n);
    histo_hist *hist;
    histo_plan *plan = NULL;
    char *host = malloc(bytes + 1);
    if (!host) return histo_fail_memory(bytes, "samples for the oracle");
    histo_view there[BENCH_MAX_AXES], here[BENCH_MAX_AXES];
    histo_status status = HISTO_OK;
    int pieces = b->input->interleaved ? 1 : b->axes;
    bench_view_chunk(b, &b->arranged, 0, n, there);
    for (int a = 0; a < b->axes; a++) {
        here[a] = bench_input_view(b->input, host, n, 0, n, a);
        if (a < pieces && status == HISTO_OK)
            status = b->device->fetch((void *)here[a].data, there[a].data, bytes / (size_t)pieces);
    }
    if (status == HISTO_OK) status = histo_hist_create(&hist, b->axes, b->axis, NULL);
    if (status != HISTO_OK) {
        free(host);
        return status;
    }
    histo_plan_options how = {.device = HISTO_DEVICE_CPU, .strategy = "cpu/sequential"};
    status = histo_plan_create(&plan, hist, here, NULL, &how);
    if (status == HISTO_OK) status = histo_plan_fill(plan, hist, here, NULL);
    if (status == HISTO_OK) status = histo_hist_read_counts(hist, HISTO_FLOW, counts, slots, NULL);
    histo_plan_destroy(plan);
    histo_hist_destroy(hist);
    free(host);
    return status;
}

/* By the device's simplest strategy, which counts everything. */
static histo_status count_arranged(const bench *b, const bench_arrangement *arranged, uint64_t *counts, int64_t slots)
{
    bool gpu = b->device->device != HISTO_DEVICE_CPU;
    histo_plan_options how = {.device = b->device->device, .strategy = gpu ? "cuda/global_atomic" : "cpu/sequential"};
    histo_hist *hist = NULL;
    histo_plan *plan = NULL;
    histo_status status = bench_plan_chunk(b, arranged, arranged->counted, &how, &hist, &plan);
    if (status == HISTO_OK) status = bench_fill_chunk(b, arranged, 0, arranged->counted, plan, hist, NULL);
    if (status == HISTO_OK) status = histo_hist_read_counts(hist, HISTO_FLOW, counts, slots, NULL);
    histo_plan_destroy(plan);
    histo_hist_destroy(hist);
    return status;
}

static histo_status count_plainly(const bench *b, const bench_arrangement *arranged, int64_t n, uint64_t *counts,
                                  int64_t slots)
{
    histo_view views[BENCH_MAX_AXES];
    if (b->input->layout) return count_arranged(b, arranged, counts, slots);
    bench_view_chunk(b, &b->arranged, 0, n, views);
    memset(counts, 0, (size_t)slots * sizeof *counts);
    return b->device->count(&(bench_counted){.axes = b->axes, .lookups = b->lookup, .views = views}, n, counts);
}

static histo_status sum_plainly(const bench *b, int64_t n, uint64_t *sums, int64_t slots)
{
    histo_view views[BENCH_MAX_AXES];
    bench_view_chunk(b, &b->arranged, 0, n, views);
    memset(sums, 0, (size_t)slots * sizeof *sums);
    const bench_counted what = {b->axes, b->lookup, views, b->weights, b->input->weights};
    return b->device->count(&what, n, sums);
}

/* The sums of weights in BENCH_WEIGHT_UNIT. */
static histo_status read_sums(const histo_hist *hist, uint64_t *sums, int64_t slots)
{
    double *exact = malloc((size_t)slots * sizeof *exact);
    if (!exact) return histo_fail_memory((size_t)slots * sizeof *exact, "checking the sums");
    histo_status status = histo_hist_read_weights(hist, HISTO_FLOW, exact, NULL, slots, NULL);
    for (int64_t s = 0; s < slots && status == HISTO_OK; s++)
        sums[s] = (uint64_t)(exact[s] / BENCH_WEIGHT_UNIT);
    free(exact);
    return status;
}

/* The slot where the counts differ; -1 if they are equal. */
static int64_t difference(const uint64_t *counts, const uint64_t *wanted, uint64_t times, int64_t slots)
{
    for (int64_t s = 0; s < slots; s++)
        if (counts[s] != wanted[s] * times) return s;
    return -1;
}

/* The device's plain counting is the reference. Check it against the sequential oracle on the first samples. */
static histo_status check_oracle(const bench *b, uint64_t *counts, uint64_t *others, int64_t slots)
{
    enum { PATIENCE = 1 << 20 };
    if (b->input->layout) return HISTO_OK; /* counted by a strategy that the tests compare with the oracle */
    int64_t n = b->chunk < PATIENCE ? b->chunk : PATIENCE;
    histo_status status = count_sequentially(b, n, counts, slots);
    if (status == HISTO_OK) status = count_plainly(b, &b->arranged, n, others, slots);
    if (status != HISTO_OK || difference(counts, others, 1, slots) < 0) return status;
    return histo_fail(HISTO_CORRUPT, "%s: the benchmark's own counts of the first samples are not the oracle's",
                      b->input->name);
}

/* The slot of a bin. The histograms of a batch are contiguous, of bins as of slots. */
static int64_t slot_of(const bench *b, int64_t bin)
{
    int64_t slot = 0, stride = 1;
    for (int a = b->axes - 1; a >= 0; a--) {
        slot += (bin % b->axis[a].bins + 1) * stride;
        bin /= b->axis[a].bins;
        stride *= b->axis[a].bins + 3;
    }
    return slot + bin * stride;
}

static int64_t misplaced(const racer *r, const uint64_t *counts, const uint64_t *wanted, uint64_t times)
{
    const bench *b = r->bench;
    uint64_t sum = 0;
    for (int64_t i = 0; i < r->arranged.batch * b->bins; i++) {
        uint64_t expected = wanted[slot_of(b, i)] * times;
        sum += counts[i] > expected ? counts[i] - expected : expected - counts[i];
    }
    return (int64_t)(sum + 1) / 2;
}

enum { TOLERATED = 100 }; /* a peer may misplace one sample in so many, for example by rounding edges */

/* what: "samples" or "weights", of which a peer with weights has only the latter. */
static void compare(racer *r, const char *what, const uint64_t *once, uint64_t *counts, int64_t slots)
{
    bool sums = strcmp(what, "weights") == 0;
    if (r->score->outcome != BENCH_EXACT || (r->peer && r->bench->weights && !sums)) return;
    uint64_t fills = (uint64_t)r->fills, times = fills * (uint64_t)r->passes;
    histo_status status = r->peer ? r->peer->counts(r->state, counts)
                          : sums  ? read_sums(r->hist, counts, slots)
                                  : histo_hist_read_counts(r->hist, HISTO_FLOW, counts, slots, NULL);
    if (status != HISTO_OK) {
        racer_drop(r, BENCH_FAILED);
        return;
    }
    if (r->peer) {
        int64_t lost = r->score->misplaced = misplaced(r, counts, once, fills);
        double all = (double)r->score->samples * (sums ? 0.5 / BENCH_WEIGHT_UNIT : 1);
        if ((double)lost <= all / TOLERATED) return;
        histo_fail(HISTO_UNSUPPORTED, "it counts wrong: %.3g %% of the %s", 100 * (double)lost / all, what);
        racer_drop(r, BENCH_REFUSED);
        return;
    }
    int64_t s = difference(counts, once, times, slots);
    if (s < 0) return;
    histo_fail(HISTO_CORRUPT, "slot %lld has %llu of the %s instead of %llu", (long long)s,
               (unsigned long long)counts[s], what, (unsigned long long)(once[s] * times));
    racer_drop(r, BENCH_WRONG);
}

/* All fills of a pass count the same, so entries with fills of the same size share a reference. */
histo_status bench_check_counts(const bench *b)
{
    int64_t max_slots = b->slots * b->arranged.batch;
    uint64_t *once = calloc((size_t)max_slots, 2 * sizeof *once), *counts = calloc((size_t)max_slots, sizeof *counts);
    uint64_t *sums = once ? once + max_slots : NULL;
    histo_status status = once && counts ? HISTO_OK : histo_fail_memory((size_t)max_slots * 24, "checking the counts");
    if (status == HISTO_OK) status = check_oracle(b, once, counts, b->slots);
    for (int c = 0; c < b->result->scores && status == HISTO_OK; c++) {
        const bench_arrangement *arranged = &b->racers[c].arranged;
        int64_t chunk = b->racers[c].chunk, slots = b->slots * arranged->batch;
        bool ready = false;
        for (int d = c; d < b->result->scores && status == HISTO_OK; d++) {
            racer *r = &b->racers[d];
            if (r->score->outcome != BENCH_EXACT || r->checked || r->chunk != chunk) continue;
            if (!ready) status = count_plainly(b, arranged, chunk, once, slots);
            if (!ready && b->weights && status == HISTO_OK) status = sum_plainly(b, chunk, sums, slots);
            ready = r->checked = true;
            if (status == HISTO_OK) compare(r, "samples", once, counts, slots);
            if (status == HISTO_OK && b->weights) compare(r, "weights", sums, counts, slots);
        }
    }
    free(once);
    free(counts);
    return status;
}
