/* Check that the counts of a race's entries are the reference's. */
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "bench/core/racer.h"
#include "bench/reference/reference.h"
#include "plan/strategy.h"

/* Samples, mask and weights of the first fill, and all edges, which the caller frees. */
static histo_status make_rule(const bench *b, const bench_arrangement *arranged, int64_t n, reference_rule *rule,
                              double **edges)
{
    *rule = (reference_rule){.axes = b->axes,
                             .samples = n,
                             .batch = arranged->batch,
                             .slots = b->slots,
                             .mask = bench_mask_at(arranged, b->mask),
                             .masked = b->mask,
                             .weights = histo_view_1d(b->weights, b->input->weights, n),
                             .weighting = b->input->weighting};
    bench_view_chunk(b, arranged, 0, n, rule->view);
    size_t count = 0;
    for (int a = 0; a < b->axes; a++)
        count += (size_t)b->axis[a].bins + 1;
    double *next = *edges = malloc(count * sizeof *next);
    histo_status status = next ? HISTO_OK : histo_fail_memory(count * sizeof *next, "checking");
    for (int a = 0; a < b->axes && status == HISTO_OK; next += b->axis[a++].bins + 1) {
        status = histo_axis_edges(&b->axis[a], next);
        if (status == HISTO_OK)
            status = reference_finder_make(&rule->finder[a], next, b->axis[a].bins, b->axis[a].closed);
    }
    return status;
}

/* Pairs of images, of which the reference knows nothing: by the device's simplest strategy, which the tests compare
 * with loops of their own. */
static histo_status count_pairs(const bench *b, const bench_arrangement *arranged, reference_counts *counts)
{
    const bool gpu = b->device->device != HISTO_DEVICE_CPU;
    bench_score score = {.entry = BENCH_STRATEGY};
    racer simplest = {.bench = b, .score = &score, .chunk = arranged->counted, .fills = 1, .arranged = *arranged};
    snprintf(score.name, sizeof score.name, gpu ? "cuda/global_atomic" : "cpu/sequential");
    free(counts->masked);
    counts->masked = NULL;
    histo_status status = racer_begin_plan(&simplest);
    if (status == HISTO_OK) status = racer_run_pass(&simplest, NULL);
    if (status == HISTO_OK)
        status = histo_hist_read_counts(simplest.hist, HISTO_FLOW, counts->counts, counts->slots, NULL);
    racer_forget(&simplest);
    return status;
}

static histo_status count_fill(const bench *b, const bench_arrangement *arranged, int64_t n, reference_counts *counts)
{
    reference_rule rule;
    double *edges;
    histo_status status = make_rule(b, arranged, n, &rule, &edges);
    if (status == HISTO_OK) status = reference_counts_begin(&rule, false, counts);
    if (status == HISTO_OK)
        status = arranged->pairs ? count_pairs(b, arranged, counts)
                                 : reference_count(&rule, b->device->count, histo_backend_cpu.threads(0), counts);
    reference_finders_free(&rule);
    free(edges);
    return status;
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

/* The count of a slot, or the sum of its weights in BENCH_WEIGHT_UNIT. */
static uint64_t expected(const reference_counts *once, int64_t slot)
{
    return once->sums ? (uint64_t)((double)once->sums[slot].w * 0x1p-60 / BENCH_WEIGHT_UNIT) : once->counts[slot];
}

enum { TOLERATED = 100 }; /* a peer may misplace one sample in a hundred, for example by rounding edges */

static histo_status check_peer(racer *r, const reference_counts *once)
{
    const bench *b = r->bench;
    const int64_t bins = r->arranged.batch * b->bins;
    uint64_t *counts = histo_calloc((size_t)bins, sizeof *counts), off = 0;
    if (!counts) return histo_fail_memory((size_t)bins * sizeof *counts, "checking the counts");
    if (r->peer->counts(r->state, counts) != HISTO_OK) racer_drop(r, BENCH_FAILED);
    for (int64_t i = 0; i < bins && r->score->outcome == BENCH_EXACT; i++) {
        const uint64_t wanted = expected(once, slot_of(b, i)) * (uint64_t)r->fills;
        off += counts[i] > wanted ? counts[i] - wanted : wanted - counts[i];
    }
    free(counts);
    const double lost = (double)(r->score->misplaced = (int64_t)(off + 1) / 2);
    const double all = (double)r->score->samples * (once->sums ? 0.5 / BENCH_WEIGHT_UNIT : 1);
    if (r->score->outcome != BENCH_EXACT || lost <= all / TOLERATED) return HISTO_OK;
    histo_fail(HISTO_UNSUPPORTED, "it counts wrong: %.3g %% of the %s", 100 * lost / all,
               once->sums ? "weights" : "samples");
    racer_drop(r, BENCH_REFUSED);
    return HISTO_OK;
}

static histo_status check_histogram(racer *r, const reference_counts *once)
{
    char wrong[sizeof r->score->reason];
    const histo_status status = reference_compare(once, r->hist, r->fills * r->passes, wrong, sizeof wrong);
    if (status == HISTO_NO_MEMORY) return status;
    if (status != HISTO_OK) racer_drop(r, BENCH_FAILED);
    if (status != HISTO_OK || !*wrong) return HISTO_OK;
    histo_fail(HISTO_CORRUPT, "%s", wrong);
    racer_drop(r, BENCH_WRONG);
    return HISTO_OK;
}

/* All fills of a pass count the same, so entries with fills of the same size share a reference. */
histo_status bench_check_counts(const bench *b)
{
    histo_status status = HISTO_OK;
    for (int c = 0; c < b->result->scores && status == HISTO_OK; c++) {
        reference_counts once = {0};
        for (int d = c; d < b->result->scores && status == HISTO_OK; d++) {
            racer *r = &b->racers[d];
            if (r->score->outcome != BENCH_EXACT || r->checked || r->chunk != b->racers[c].chunk) continue;
            if (!once.counts) status = count_fill(b, &b->racers[c].arranged, r->chunk, &once);
            r->checked = true;
            if (status == HISTO_OK) status = r->peer ? check_peer(r, &once) : check_histogram(r, &once);
        }
        reference_counts_free(&once);
    }
    return status;
}
