/* How many CPUs this process may use. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "cpu/cpu.h"

/* The set grows until the kernel's fits: a cpu_set_t is too small for machines of more than 1024 CPUs. */
static int cpus_of_affinity(void)
{
    enum { MOST = 1 << 20 };
    for (size_t most = CPU_SETSIZE; most <= MOST; most *= 2) {
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

/* The quota in a cgroup's directory; `cpus` if it is no less, or there is none. */
static int limited_by(const char *directory, int cpus)
{
    char path[PATH_MAX + sizeof "/cpu.max"];
    snprintf(path, sizeof path, "%s/cpu.max", directory);
    FILE *file = fopen(path, "re");
    if (!file) return cpus;
    long long quota, period;
    if (fscanf(file, "%lld %lld", &quota, &period) == 2 && quota > 0 && period > 0) {
        long long allowed = quota / period + (quota % period > 0);
        if (allowed < cpus) cpus = (int)allowed;
    }
    fclose(file);
    return cpus;
}

int histo_cpus_in_cgroup(const char *membership, const char *mount, int cpus)
{
    char line[PATH_MAX], directory[PATH_MAX] = "";
    FILE *file = fopen(membership, "re");
    if (!file) return cpus;
    while (fgets(line, sizeof line, file)) {
        if (strncmp(line, "0::/", 4) != 0) continue; /* a hierarchy of version 1 */
        line[strcspn(line, "\n")] = '\0';
        int length = snprintf(directory, sizeof directory, "%s%s", mount, line + 3);
        if (length >= (int)sizeof directory) directory[0] = '\0';
    }
    fclose(file);
    while (strlen(directory) > strlen(mount)) {
        cpus = limited_by(directory, cpus);
        *strrchr(directory, '/') = '\0';
    }
    return directory[0] ? limited_by(directory, cpus) : cpus;
}

int histo_cpus_usable(void)
{
    return histo_cpus_in_cgroup("/proc/self/cgroup", "/sys/fs/cgroup", cpus_of_affinity());
}
