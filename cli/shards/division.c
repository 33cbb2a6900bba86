#include "shards/division.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int division_make(division *d, const char *const *files, int count, int64_t shards, fault *f)
{
    *d = (division){.shards = shards, .files = count, .begins = calloc((size_t)count + 1, sizeof *d->begins)};
    if (!d->begins) return fault_set(f, EXIT_DATA, "no memory to divide %d files", count);
    if (count == 0) return fault_set(f, EXIT_USAGE, "standard input cannot be divided into shards: name files");
    for (int i = 0; i < count; i++) {
        struct stat status;
        if (strcmp(files[i], "-") == 0)
            return fault_set(f, EXIT_USAGE, "standard input cannot be divided into shards: name files");
        if (stat(files[i], &status) != 0)
            return fault_set(f, EXIT_DATA, "%s: %s", files[i],
                             errno == ENOENT ? "there is no such file" : strerror(errno));
        if (!S_ISREG(status.st_mode))
            return fault_set(f, EXIT_USAGE, "%s is not a regular file, and cannot be divided into shards", files[i]);
        if (status.st_size == 0) return fault_set(f, EXIT_DATA, "%s is empty", files[i]);
        if (__builtin_add_overflow(d->begins[i], status.st_size, &d->begins[i + 1]))
            return fault_set(f, EXIT_DATA, "the files have more than 2^63 bytes");
    }
    return 0;
}

void division_free(division *d)
{
    free(d->begins);
    *d = (division){0};
}

/* a * b / c, rounded down or up. */
static int64_t scale_down(int64_t a, int64_t b, int64_t c)
{
    return (int64_t)((__int128)a * b / c);
}

static int64_t scale_up(int64_t a, int64_t b, int64_t c)
{
    return (int64_t)(((__int128)a * b + c - 1) / c);
}

static int64_t clip(int64_t x, int64_t most)
{
    return x < 0 ? 0 : x < most ? x : most;
}

unit_range division_units(const division *d, int64_t shard, int file, int64_t units)
{
    const int64_t all = d->begins[d->files], begin = d->begins[file], size = d->begins[file + 1] - begin;
    const int64_t first = clip(scale_down(all, shard, d->shards) - begin, size);
    const int64_t end = clip(scale_down(all, shard + 1, d->shards) - begin, size);
    return (unit_range){scale_up(first, units, size), scale_up(end, units, size)};
}

/* The file that contains this byte of the concatenation. */
static int file_at(const division *d, int64_t byte)
{
    int first = 0, end = d->files;
    while (first < end) {
        const int middle = first + (end - first) / 2;
        if (d->begins[middle + 1] <= byte)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

unit_range division_files(const division *d, int64_t shard)
{
    const int64_t all = d->begins[d->files];
    const int64_t first = scale_down(all, shard, d->shards), end = scale_down(all, shard + 1, d->shards);
    return first < end ? (unit_range){file_at(d, first), file_at(d, end - 1) + 1} : (unit_range){0, 0};
}
