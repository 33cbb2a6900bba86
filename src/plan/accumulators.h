/* Accumulators: making, bringing to host memory, clearing, freeing. */
#ifndef PLAN_ACCUMULATORS_H
#define PLAN_ACCUMULATORS_H

#include "plan/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of such accumulators, without entries of sparse ones and without reproducible sums. */
size_t histo_accumulators_bytes(const histo_hist_options *kind, int64_t slots);
/* Make accumulators that are all zero. On failure there is nothing to free. */
histo_status histo_accumulators_make(histo_accumulators *accumulators, int64_t slots, const histo_hist_options *kind);
void histo_accumulators_free(histo_accumulators *accumulators);
/* Set everything to zero, also on devices; there ordered on the stream, if it is not NULL. */
void histo_accumulators_clear(histo_accumulators *accumulators, void *stream);
/* Clear host memory and all devices but `kept`, whose counts are then all there are. */
void histo_accumulators_clear_others(histo_accumulators *accumulators, histo_device_accumulators *kept);
/* Set everything to what host memory holds of `by`, which is then empty. */
void histo_accumulators_replace(histo_accumulators *accumulators, histo_accumulators *by);
/* HISTO_INVALID if a part of a cancelled fill is in them. */
histo_status histo_accumulators_check(const histo_accumulators *accumulators);
/* Bring what devices have counted to host memory, so that it holds everything, and merge sparse lists. Call it before
 * reading the accumulators. Costs nothing if already done. */
histo_status histo_accumulators_to_host(const histo_accumulators *accumulators);
/* Add up on one device what several have counted, where devices can do so: on `preferred`, if it has counted, too.
 * Waits only for launched graphs. */
histo_status histo_accumulators_merge_devices(const histo_accumulators *accumulators, histo_device preferred);
/* The device accumulators that hold everything, if there are such and graphs and reads can use them: host memory may
 * hold a copy. Else NULL. */
histo_device_accumulators *histo_accumulators_home(const histo_accumulators *accumulators);
/* Is everything in host memory zero, or a copy? */
bool histo_accumulators_none_on_host(const histo_accumulators *accumulators);
/* Call it before host memory is counted into: what it holds becomes its own. */
histo_status histo_accumulators_own(histo_accumulators *accumulators);
/* Add a sparse list that may also count the samples left out: those of batch entry b use slot batch * slots + b. Takes
 * ownership of the list on success; on failure, nothing changes. */
histo_status histo_accumulators_add(const histo_accumulators *accumulators, histo_list list);

/* Wait until devices have finished counting. */
histo_status histo_accumulators_wait(const histo_accumulators *accumulators);

#ifdef __cplusplus
}
#endif

#endif
