#include "base/threads/cpus.h"

#include <limits.h>
#include <stdint.h>
#ifndef _WIN32
#include <unistd.h>
#endif

#include "base/clock.h"
#include "base/system.h"
#include "base/threads/cgroup.h"

/* The number of CPUs that `quota` microseconds per `period` amount to, rounded up, at most `cpus`; `cpus` without a
 * quota. */
static int limited_to(long long quota, long long period, int cpus)
{
    if (quota <= 0 || period <= 0) return cpus;
    long long allowed = quota / period + (quota % period > 0);
    return allowed < cpus ? (int)allowed : cpus;
}

/* Lower `self`, the number of CPUs allowed so far, to the quota of a control group. */
static void apply_quota(void *self, const char *directory)
{
    int *cpus = self;
    long long quota, period, unused;
    if (histo_cgroup_read(directory, "cpu.max", &quota, &period) == 2) *cpus = limited_to(quota, period, *cpus);
    if (histo_cgroup_read(directory, "cpu.cfs_quota_us", &quota, &unused) == 1 &&
        histo_cgroup_read(directory, "cpu.cfs_period_us", &period, &unused) == 1)
        *cpus = limited_to(quota, period, *cpus);
}

int histo_cpus_in_cgroup(const char *membership, const char *mount, int cpus)
{
    histo_cgroups_visit(membership, mount, "cpu", apply_quota, &cpus);
    return cpus;
}

/* The CPU limit from quotas, which takes a dozen files to find, and when it was found. Threads that look at the same
 * time may each look it up. */
enum { QUOTAS_LAST_US = 1000000 };
static _Atomic int quotas_limit;
static _Atomic int64_t quotas_read_us = INT64_MIN;

int histo_cpus_usable(void)
{
    const int64_t now = (int64_t)histo_now_us();
    int limit = quotas_limit;
    if (quotas_read_us < now - QUOTAS_LAST_US) {
        limit = histo_cpus_in_cgroup("/proc/self/cgroup", "/sys/fs/cgroup", INT_MAX);
        quotas_limit = limit;
        quotas_read_us = now;
    }
    const int cpus = histo_cpus_allowed();
    return cpus < limit ? cpus : limit;
}

size_t histo_l1_bytes(void)
{
    enum { DEFAULT = 32 << 10 };
#if defined(_SC_LEVEL1_DCACHE_SIZE)
    long bytes = sysconf(_SC_LEVEL1_DCACHE_SIZE);
    if (bytes > 0) return (size_t)bytes;
#endif
    return DEFAULT;
}
