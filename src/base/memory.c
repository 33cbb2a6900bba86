#include "base/memory.h"

#include <histo/histo.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
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

/* The file cache in a group's usage, in bytes, which the kernel drops under pressure. line: which line of
 * memory.stat. */
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

/* Lower `self`, the minimum so far, to the limit of a control group. */
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

/* ---- Taking and giving back ---- */

/* Precedes each block from the application's allocator. */
typedef struct block_head {
    void *taken;
    size_t bytes; /* bytes in use */
} block_head;

enum { ALIGNMENT = 64, SMALL = 64 << 20 };

static histo_allocator application; /* the application's allocator; if allocate is NULL: libc's */
static _Atomic size_t used, limit = SIZE_MAX;

histo_status histo_set_allocator(const histo_allocator *allocator)
{
    static const histo_allocator none;
    if (!allocator) allocator = &none;
    histo_status status = histo_check_reserved(allocator->reserved, sizeof allocator->reserved, "histo_allocator");
    if (status != HISTO_OK) return status;
    if (!allocator->allocate != !allocator->release)
        return histo_fail(HISTO_INVALID, "allocator has one of allocate and release, and needs both");
    if (allocator->allocate == application.allocate && allocator->release == application.release &&
        allocator->context == application.context)
        return HISTO_OK;
    if (used)
        return histo_fail(HISTO_INVALID,
                          "the library has taken %zu bytes, which the allocator before must get back: "
                          "set it before all else",
                          used);
    application = *allocator;
    return HISTO_OK;
}

void histo_set_memory_limit(size_t bytes)
{
    limit = bytes ? bytes : SIZE_MAX;
}

size_t histo_memory_used(void)
{
    return used;
}

static size_t left_by_application(void)
{
    return limit == SIZE_MAX ? SIZE_MAX : left_of(limit, used);
}

size_t histo_memory_available(void)
{
    return smaller(histo_memory_available_in("/proc", "/sys/fs/cgroup"), left_by_application());
}

bool histo_memory_suffices(size_t bytes)
{
    return bytes <= left_by_application() && (bytes <= SMALL || bytes <= histo_memory_available());
}

/* A block from the application's allocator, aligned for vectors. */
static void *take_from_application(size_t bytes)
{
    const size_t room = sizeof(block_head) + ALIGNMENT;
    if (bytes > SIZE_MAX - room) return NULL;
    char *taken = application.allocate(application.context, bytes + room);
    if (!taken) return NULL;
    const uintptr_t first = (uintptr_t)taken + sizeof(block_head);
    char *block = taken + sizeof(block_head) + (ALIGNMENT - first % ALIGNMENT) % ALIGNMENT;
    const block_head head = {taken, bytes + room};
    memcpy(block - sizeof head, &head, sizeof head);
    return block;
}

static block_head head_of(const void *block)
{
    block_head head;
    memcpy(&head, (const char *)block - sizeof head, sizeof head);
    return head;
}

static size_t size_of(void *block)
{
    return application.allocate ? head_of(block).bytes : histo_block_bytes(block);
}

static void *counted(void *block)
{
    if (block) used += size_of(block);
    return block;
}

void *histo_malloc(size_t bytes)
{
    if (!histo_memory_suffices(bytes)) return NULL;
    return counted(application.allocate ? take_from_application(bytes) : malloc(bytes));
}

void *histo_calloc(size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || !histo_memory_suffices(bytes)) return NULL;
    if (!application.allocate) return counted(calloc(count, size));
    void *block = take_from_application(bytes);
    if (block) memset(block, 0, bytes);
    return counted(block);
}

void *histo_malloc_aligned(size_t alignment, size_t bytes)
{
    if (!histo_memory_suffices(bytes)) return NULL;
    return counted(application.allocate ? take_from_application(bytes) : histo_aligned_alloc(alignment, bytes));
}

void *histo_realloc(void *block, size_t bytes)
{
    if (!block) return histo_malloc(bytes);
    const size_t before = size_of(block);
    if (bytes > before && !histo_memory_suffices(bytes - before)) return NULL;
    if (!application.allocate) {
        void *moved = realloc(block, bytes);
        if (moved) used += histo_block_bytes(moved) - before;
        return moved;
    }
    void *moved = take_from_application(bytes);
    if (!moved) return NULL;
    const size_t held = before - sizeof(block_head) - ALIGNMENT;
    memcpy(moved, block, smaller(held, bytes));
    histo_free(block);
    return counted(moved);
}

void histo_free(void *block)
{
    if (!block) return;
    used -= size_of(block);
    if (application.allocate) {
        const block_head head = head_of(block);
        application.release(application.context, head.taken, head.bytes);
    } else {
        free(block);
    }
}
