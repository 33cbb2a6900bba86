/* The number of CPUs that this process may use, and their caches. */
#ifndef BASE_CPUS_H
#define BASE_CPUS_H

#include <stddef.h>

/* The number of CPUs in this process' affinity mask, limited by the CPU quotas of its cgroups as of at most a second
 * ago. */
int histo_cpus_usable(void);

/* The minimum of `cpus` and the CPU quotas, rounded up, of the cgroups listed in the file `membership` and of their
 * parents: directories under `mount` (version 2), or under their controllers' directories there (version 1). */
int histo_cpus_in_cgroup(const char *membership, const char *mount, int cpus);

/* The size of a CPU's L1 data cache. */
size_t histo_l1_bytes(void);

#endif
