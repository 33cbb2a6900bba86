#define _GNU_SOURCE
#include "input/stream/first_size.h"

#include <fcntl.h>
#include <pthread.h>
#include <search.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A file that replaces another one may have the same number, but a different time of creation. */
typedef struct sized_file {
    struct {
        uint64_t device, number, made_s, made_ns;
    } id;
    off_t size;
} sized_file;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool remembers;
static void *files; /* a tree of tsearch */

static int compare(const void *a, const void *b)
{
    return memcmp(&((const sized_file *)a)->id, &((const sized_file *)b)->id, sizeof((const sized_file *)a)->id);
}

void first_size_remember(void)
{
    remembers = true;
}

off_t first_size_of(int fd, const struct stat *now)
{
    struct statx more;
    if (!remembers || statx(fd, "", AT_EMPTY_PATH, STATX_BTIME, &more) != 0) return now->st_size;
    sized_file *file = malloc(sizeof *file);
    if (!file) return now->st_size;
    *file =
        (sized_file){{now->st_dev, now->st_ino, (uint64_t)more.stx_btime.tv_sec, more.stx_btime.tv_nsec}, now->st_size};
    pthread_mutex_lock(&lock);
    sized_file *const *first = tsearch(file, &files, compare);
    const off_t size = first && (*first)->size < now->st_size ? (*first)->size : now->st_size;
    if (!first || *first != file) free(file);
    pthread_mutex_unlock(&lock);
    return size;
}
