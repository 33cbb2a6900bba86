#include "base/memory.h"

#include <histo/histo.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/system.h"
#include "base/threads/cgroup.h"

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* The rest of a limit. */
static size_t left_of(unsigned long long limit, unsigned long long used)
{
    return limit > used ? (size_t)smaller(limit - used, SIZE_MAX) : 0;
}

/* Memory and swap that the system can provide without swapping out other processes. */
static size_t left_by_system(const char *proc)
{
    char path[PATH_MAX], line[128];
    snprintf(path, sizeof path, "%s/meminfo", proc);
    FILE *file = histo_open_to_read(path);
    unsigned long long kib, available = 0, swap = 0;
    if (!file) return SIZE_MAX;
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "MemAvailable: %llu kB", &kib) == 1) available = kib;
        if (sscanf(line, "SwapFree: %llu kB", &kib) == 1) swap = kib;
    }
    fclose(file);
    return available ? (size_t)(available + swap) * 1024 : SIZE_MAX;
}

/* The address space left under RLIMIT_AS (ulimit -v). */
static size_t left_by_limit(const char *proc)
{
    unsigned long long limit, used;
    histo_address_space(proc, &limit, &used);
    return left_of(limit, used);
}

/* The file cache in a group's usage, which the kernel drops under pressure, in bytes; line: of memory.stat. */
static long long droppable_cache(const char *directory, const char *line)
{
    char path[PATH_MAX], text[128], form[64];
    long long bytes = 0;
    snprintf(path, sizeof path, "%s/memory.stat", directory);
    snprintf(form, sizeof form, "%s %%lld", line);
    FILE *file = histo_open_to_read(path);
    while (file && fgets(text, sizeof text, file))
        if (sscanf(text, form, &bytes) == 1) break;
    if (file) fclose(file);
    return bytes;
}

/* Apply the limit of a control group to `self`, the minimum so far. */
static void apply_group(void *self, const char *directory)
{
    static const struct {
        const char *limit, *usage, *cache;
    } versions[] = {{"memory.max", "memory.current", "inactive_file"},
                    {"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"}};
    size_t *least = self;
    for (int v = 0; v < 2; v++) {
        long long limit, used, unused;
        if (histo_cgroup_read(directory, versions[v].limit, &limit, &unused) != 1 || limit < 0 ||
            histo_cgroup_read(directory, versions[v].usage, &used, &unused) != 1)
            continue;
        used -= droppable_cache(directory, versions[v].cache);
        *least = smaller(*least, left_of((unsigned long long)limit, used < 0 ? 0 : (unsigned long long)used));
    }
}

size_t histo_memory_available_in(const char *proc, const char *mount)
{
    char membership[PATH_MAX];
    size_t least = smaller(smaller(left_by_system(proc), histo_system_memory()), left_by_limit(proc));
    snprintf(membership, sizeof membership, "%s/self/cgroup", proc);
    histo_cgroups_visit(membership, mount, "memory", apply_group, &least);
    return least;
}

size_t histo_memory_available(void)
{
    return histo_memory_available_in("/proc", "/sys/fs/cgroup");
}

bool histo_memory_suffices(size_t bytes)
{
    const size_t small = (size_t)64 << 20;
    return bytes <= small || bytes <= histo_memory_available();
}

void *histo_malloc(size_t bytes)
{
    return histo_memory_suffices(bytes) ? malloc(bytes) : NULL;
}

void *histo_calloc(size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) return NULL;
    return histo_memory_suffices(bytes) ? calloc(count, size) : NULL;
}
