/* A file is a header, the key, and the value. Its name is a hash of the key. */
#define _GNU_SOURCE
#include "cuda/jit/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/checksum.h"
#include "base/error.h"
#include "base/threads/locks.h"

typedef struct header {
    char magic[8];
    uint32_t checksum; /* of all that follows */
    uint32_t key_bytes;
    uint64_t value_bytes;
} header;

static const char magic[8] = "histoK1";
#define SUFFIX ".kernel"
enum { NAME_BYTES = 32, ABANDONED_SECONDS = 3600, SECONDS_OF_A_DAY = 86400 };

/* ---- The directory ---- */

/* Guarded by histo_compile_lock. */
static char *directory;
static unsigned generation; /* how many have been set; 0: the environment has not been asked either */
static unsigned in_use;     /* the generation of the directory, 0 without one; also read without the lock */

/* An absolute path, for free(), or NULL with errno. */
static char *absolute(const char *path)
{
    if (*path == '/') return strdup(path);
    char *current = getcwd(NULL, 0), *joined = NULL;
    if (current && asprintf(&joined, "%s/%s", current, path) < 0) {
        joined = NULL;
        errno = ENOMEM;
    }
    free(current);
    return joined;
}

/* Is this a directory of this user? Or nothing, where that is allowed: it can be made. */
static bool is_own(const char *path, bool may_lack)
{
    struct stat s;
    if (stat(path, &s) != 0) return may_lack && errno == ENOENT;
    return S_ISDIR(s.st_mode) && s.st_uid == geteuid();
}

/* The directory that the environment names, for free(), or NULL. With the home of another user, as sudo leaves it, and
 * with another user's rights, as programs with the set-user-ID bit have them, there is none. */
static char *directory_of_environment(void)
{
    const char *own = getenv("HISTO_KERNEL_CACHE"), *caches = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    char *path = NULL;
    if (getuid() != geteuid() || getgid() != getegid()) return NULL;
    if (own) return *own ? absolute(own) : NULL;
    int length = -1;
    if (caches && *caches == '/')
        length = is_own(caches, true) ? asprintf(&path, "%s/histo/kernels", caches) : -1;
    else if (home && *home == '/')
        length = is_own(home, false) ? asprintf(&path, "%s/.cache/histo/kernels", home) : -1;
    return length < 0 ? NULL : path;
}

/* The caller holds the lock. Returns the directory before. */
static char *set_directory(char *next)
{
    char *before = directory;
    directory = next;
    __atomic_store_n(&generation, generation + 1, __ATOMIC_RELEASE);
    __atomic_store_n(&in_use, next ? generation : 0, __ATOMIC_RELEASE);
    return before;
}

/* The caller holds the lock. */
static void set_by_environment(void)
{
    if (!generation) set_directory(directory_of_environment());
}

histo_status histo_kernel_cache(const char *path)
{
    if (path && !*path) return histo_fail(HISTO_INVALID, "the directory of the kernel cache is empty: name one");
    char *next = path ? absolute(path) : NULL;
    if (path && !next && errno == ENOMEM) return histo_fail_memory(strlen(path) + 1, "the kernel cache");
    if (path && !next)
        return histo_fail(HISTO_IO,
                          "the current directory cannot be named (%s): give an absolute path for the kernel "
                          "cache",
                          strerror(errno));
    pthread_mutex_lock(&histo_compile_lock);
    char *before = set_directory(next);
    pthread_mutex_unlock(&histo_compile_lock);
    free(before);
    return HISTO_OK;
}

unsigned histo_cache_generation(void)
{
    if (!__atomic_load_n(&generation, __ATOMIC_ACQUIRE)) {
        pthread_mutex_lock(&histo_compile_lock);
        set_by_environment();
        pthread_mutex_unlock(&histo_compile_lock);
    }
    return __atomic_load_n(&in_use, __ATOMIC_ACQUIRE);
}

/* A copy of the cache's directory, for the caller to free; NULL without one, or without memory. */
static char *current_directory(void)
{
    pthread_mutex_lock(&histo_compile_lock);
    set_by_environment();
    char *copy = directory ? strdup(directory) : NULL;
    pthread_mutex_unlock(&histo_compile_lock);
    return copy;
}

/* The code in a file will run, so nobody else may have written it. */
static bool is_private(const struct stat *s)
{
    return s->st_uid == geteuid() && (s->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/* The descriptor, or -1. */
static int open_directory(const char *path)
{
    struct stat s;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || (fstat(fd, &s) == 0 && is_private(&s))) return fd;
    close(fd);
    return -1;
}

static void make_directories(const char *path)
{
    char part[PATH_MAX];
    size_t length = strlen(path);
    if (length >= sizeof part) return;
    for (size_t i = 1; i <= length; i++)
        if (path[i] == '/' || path[i] == '\0') {
            memcpy(part, path, i);
            part[i] = '\0';
            mkdir(part, 0700);
        }
}

/* ---- Files ---- */

static void name_of(const char *key, char name[NAME_BYTES])
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    for (const char *c = key; *c; c++)
        hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
    snprintf(name, NAME_BYTES, "%016llx" SUFFIX, (unsigned long long)hash);
}

static bool read_all(int fd, void *to, size_t size)
{
    char *at = to;
    while (size) {
        ssize_t n = read(fd, at, size);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        at += n;
        size -= (size_t)n;
    }
    return true;
}

static bool write_all(int fd, const void *from, size_t size)
{
    const char *at = from;
    while (size) {
        ssize_t n = write(fd, at, size);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        at += n;
        size -= (size_t)n;
    }
    return true;
}

static uint32_t checksum(const header *h, const char *key, const void *value)
{
    uint32_t sum = histo_checksum_add(0, &h->key_bytes, sizeof *h - offsetof(header, key_bytes));
    sum = histo_checksum_add(sum, key, h->key_bytes);
    return histo_checksum_add(sum, value, h->value_bytes);
}

/* The value in an open file of this size. */
static void *read_value(int fd, uint64_t file_bytes, const char *key, size_t *size)
{
    header h;
    if (!read_all(fd, &h, sizeof h) || memcmp(h.magic, magic, sizeof magic) != 0) return NULL;
    const size_t key_bytes = strlen(key);
    const uint64_t before = sizeof h + key_bytes;
    if (h.key_bytes != key_bytes || file_bytes < before || file_bytes > HISTO_CACHE_BYTES ||
        h.value_bytes != file_bytes - before)
        return NULL;
    char *its_key = malloc(key_bytes + 1), *value = malloc(h.value_bytes + 1);
    if (its_key && value && read_all(fd, its_key, key_bytes) && memcmp(its_key, key, key_bytes) == 0 &&
        read_all(fd, value, h.value_bytes) && checksum(&h, key, value) == h.checksum) {
        *size = h.value_bytes;
    } else {
        free(value);
        value = NULL;
    }
    free(its_key);
    return value;
}

/* Note for histo_cache_trim that the file was used; once a day is enough. */
static void note_use(int fd, const struct stat *s)
{
    if (time(NULL) - s->st_mtime > SECONDS_OF_A_DAY) futimens(fd, NULL);
}

static void *read_file(int folder, const char *key, size_t *size)
{
    char name[NAME_BYTES];
    name_of(key, name);
    struct stat s;
    void *value = NULL;
    int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) return NULL;
    if (fstat(fd, &s) == 0 && S_ISREG(s.st_mode) && is_private(&s))
        value = read_value(fd, (uint64_t)s.st_size, key, size);
    if (value) note_use(fd, &s);
    close(fd);
    return value;
}

void *histo_cache_read(const char *key, size_t *size)
{
    char *path = current_directory();
    int folder = path ? open_directory(path) : -1;
    void *value = folder >= 0 ? read_file(folder, key, size) : NULL;
    if (folder >= 0) close(folder);
    free(path);
    return value;
}

/* Write under a temporary name first, so that readers only see complete files. */
static bool write_file(const char *path, const char *key, const void *value, size_t size)
{
    char name[NAME_BYTES], temporary[PATH_MAX], final[PATH_MAX];
    name_of(key, name);
    if (snprintf(final, sizeof final, "%s/%s", path, name) >= (int)sizeof final ||
        snprintf(temporary, sizeof temporary, "%s/%s.XXXXXX", path, name) >= (int)sizeof temporary)
        return false;
    header h = {.key_bytes = (uint32_t)strlen(key), .value_bytes = size};
    memcpy(h.magic, magic, sizeof magic);
    h.checksum = checksum(&h, key, value);
    int fd = mkostemp(temporary, O_CLOEXEC); /* readable and writable by this user only */
    if (fd < 0) return false;
    bool written = write_all(fd, &h, sizeof h) && write_all(fd, key, h.key_bytes) && write_all(fd, value, size);
    written = close(fd) == 0 && written;
    if (written && rename(temporary, final) == 0) return true;
    unlink(temporary);
    return false;
}

void histo_cache_write(const char *key, const void *value, size_t size)
{
    char *path = current_directory();
    if (!path) return;
    make_directories(path);
    int folder = open_directory(path);
    if (folder >= 0) {
        close(folder);
        if (write_file(path, key, value, size)) histo_cache_trim(path, HISTO_CACHE_BYTES);
    }
    free(path);
}

/* ---- The size limit ---- */

typedef struct file {
    struct timespec used;
    uint64_t bytes;
    char name[NAME_BYTES];
} file;

static int by_use(const void *a, const void *b)
{
    const struct timespec *x = &((const file *)a)->used, *y = &((const file *)b)->used;
    if (x->tv_sec != y->tv_sec) return x->tv_sec < y->tv_sec ? -1 : 1;
    return (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

/* The kernels in an open directory, for free(). Abandoned temporary files are deleted. */
static file *list_files(DIR *open, int *count)
{
    enum { MAX_FILES = 1 << 16 };
    const size_t stem = strlen("0123456789abcdef" SUFFIX);
    file *files = NULL;
    int room = 0, n = 0;
    for (const struct dirent *it; n < MAX_FILES && (it = readdir(open));) {
        struct stat s;
        size_t length = strlen(it->d_name);
        if (length < stem || length >= NAME_BYTES || strncmp(it->d_name + 16, SUFFIX, strlen(SUFFIX)) != 0 ||
            fstatat(dirfd(open), it->d_name, &s, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(s.st_mode))
            continue;
        if (length > stem) {
            if (time(NULL) - s.st_mtime > ABANDONED_SECONDS) unlinkat(dirfd(open), it->d_name, 0);
            continue;
        }
        if (n == room) {
            room = room ? 2 * room : 64;
            file *more = realloc(files, (size_t)room * sizeof *files);
            if (!more) break;
            files = more;
        }
        files[n] = (file){.used = s.st_mtim, .bytes = (uint64_t)s.st_size};
        memcpy(files[n++].name, it->d_name, length + 1);
    }
    *count = n;
    return files;
}

void histo_cache_trim(const char *path, uint64_t bytes)
{
    DIR *open = opendir(path);
    if (!open) return;
    int count;
    uint64_t all = 0;
    file *files = list_files(open, &count);
    for (int i = 0; i < count; i++)
        all += files[i].bytes;
    if (all > bytes) qsort(files, (size_t)count, sizeof *files, by_use);
    for (int i = 0; i < count && all > bytes; i++) {
        unlinkat(dirfd(open), files[i].name, 0);
        all -= files[i].bytes;
    }
    free(files);
    closedir(open);
}
