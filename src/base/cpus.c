#define _GNU_SOURCE
#include "base/cpus.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The set doubles until the kernel's mask fits: a plain cpu_set_t holds only 1024 CPUs. */
static int cpus_of_affinity(void)
{
    enum { MAX = 1 << 20 };
    for (size_t most = CPU_SETSIZE; most <= MAX; most *= 2) {
        cpu_set_t *set = CPU_ALLOC(most);
        if (!set) break;
        size_t size = CPU_ALLOC_SIZE(most);
        bool found = sched_getaffinity(0, size, set) == 0, too_small = !found && errno == EINVAL;
        int cpus = found ? CPU_COUNT_S(size, set) : 1;
        CPU_FREE(set);
        if (!too_small) return cpus;
    }
    return 1;
}

/* The CPUs that `quota` microseconds of every `period` amount to, rounded up, but at most `cpus`; `cpus` without a
 * quota. */
static int limited_to(long long quota, long long period, int cpus)
{
    if (quota <= 0 || period <= 0) return cpus;
    long long allowed = quota / period + (quota % period > 0);
    return allowed < cpus ? (int)allowed : cpus;
}

/* Read up to two numbers from a file of a cgroup's directory; returns how many were read. */
static int read_numbers(const char *directory, const char *name, long long *first, long long *second)
{
    char path[PATH_MAX + 32];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "re");
    if (!file) return 0;
    int numbers = fscanf(file, "%lld %lld", first, second);
    fclose(file);
    return numbers;
}

/* The quota in one directory of a cgroup hierarchy, version 2 or 1. */
static int limited_by(const char *directory, int cpus)
{
    long long quota, period, unused;
    if (read_numbers(directory, "cpu.max", &quota, &period) == 2) cpus = limited_to(quota, period, cpus);
    if (read_numbers(directory, "cpu.cfs_quota_us", &quota, &unused) == 1 &&
        read_numbers(directory, "cpu.cfs_period_us", &period, &unused) == 1)
        cpus = limited_to(quota, period, cpus);
    return cpus;
}

/* The quotas of the directory `path` under `root` and of its parents. */
static int limited_along(const char *root, const char *path, int cpus)
{
    char directory[2 * PATH_MAX];
    int length = snprintf(directory, sizeof directory, "%s%s", root, path);
    if (length >= (int)sizeof directory) return cpus;
    while (strlen(directory) > strlen(root)) {
        cpus = limited_by(directory, cpus);
        *strrchr(directory, '/') = '\0';
    }
    return limited_by(root, cpus);
}

/* Is `name` an element of the comma-separated `list`? */
static bool has_word(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == '\0')) return true;
    return false;
}

int histo_cpus_in_cgroup(const char *membership, const char *mount, int cpus)
{
    char line[PATH_MAX], root[PATH_MAX];
    FILE *file = fopen(membership, "re");
    if (!file) return cpus;
    while (fgets(line, sizeof line, file)) { /* ID:controllers:path; version 2 has no controllers */
        line[strcspn(line, "\n")] = '\0';
        char *controllers = strchr(line, ':'), *path = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!path || path[1] != '/') continue;
        controllers++;
        *path++ = '\0';
        bool version_2 = *controllers == '\0';
        if (!version_2 && !has_word(controllers, "cpu")) continue;
        int length = snprintf(root, sizeof root, version_2 ? "%s" : "%s/%s", mount, controllers);
        if (length < (int)sizeof root) cpus = limited_along(root, path, cpus);
    }
    fclose(file);
    return cpus;
}

int histo_cpus_usable(void)
{
    return histo_cpus_in_cgroup("/proc/self/cgroup", "/sys/fs/cgroup", cpus_of_affinity());
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
