/* Accumulators: create, bring to host memory, clear, free. */
#ifndef PLAN_ACCUMULATORS_H
#define PLAN_ACCUMULATORS_H

#include "plan/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of such accumulators, without entries of sparse histograms and without reproducible sums. */
size_t histo_accumulators_bytes(const histo_hist_options *kind, int64_t slots);
/* Make accumulators that are all zero. On failure there is nothing to free. */
histo_status histo_accumulators_make(histo_accumulators *accumulators, int64_t slots, const histo_hist_options *kind);
void histo_accumulators_free(histo_accumulators *accumulators);
/* Set everything to zero, also on devices, ordered on the stream if it is not NULL. */
void histo_accumulators_clear(histo_accumulators *accumulators, void *stream);
/* Clear host memory and all devices except `kept`, which then holds all counts. */
void histo_accumulators_clear_others(histo_accumulators *accumulators, histo_device_accumulators *kept);
/* Replace everything by the contents of host memory of `by`, which becomes empty. */
void histo_accumulators_replace(histo_accumulators *accumulators, histo_accumulators *by);
/* HISTO_INVALID if they hold part of a cancelled fill. */
histo_status histo_accumulators_check(const histo_accumulators *accumulators);
/* Bring what devices have counted to host memory, so that it holds everything, and merge sparse lists. Call this before
 * reading the accumulators. Costs nothing if already done. */
histo_status histo_accumulators_to_host(const histo_accumulators *accumulators);
/* Add up the counts of several devices on one of them, where devices can do so: on `preferred`, if it has counted, too.
 * Waits only for launched graphs. */
histo_status histo_accumulators_merge_devices(const histo_accumulators *accumulators, histo_device preferred);
/* The device accumulators that hold everything, if there are any that graphs and reads can use; host memory may hold a
 * copy. Else NULL. */
histo_device_accumulators *histo_accumulators_home(const histo_accumulators *accumulators);
/* Whether everything in host memory is zero, or a copy. */
bool histo_accumulators_none_on_host(const histo_accumulators *accumulators);
/* Call this before counting into host memory: a copy that it holds becomes its own. */
histo_status histo_accumulators_own(histo_accumulators *accumulators);
/* Add a sparse list that may also count masked samples: those of batch entry b have slot batch * slots + b. Takes
 * ownership of the list on success; on failure, nothing changes. */
histo_status histo_accumulators_add(const histo_accumulators *accumulators, histo_list list);

/* Wait until devices have finished counting. */
histo_status histo_accumulators_wait(const histo_accumulators *accumulators);

#ifdef __cplusplus
}
#endif

#endif
