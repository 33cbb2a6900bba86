/* Writes a temporary file, then renames it. The temporary file is in the target's directory, since renames are atomic
 * only within a file system. Links are followed first, so that the file behind a link is replaced, not the link.
 *
 * A killed process leaves its temporary file behind. Its name is derived from the target's, and it is locked while it
 * is written, so that the next process that writes the target finds it and knows that it is no longer being written. */
#define _GNU_SOURCE
#include "output/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/process/interrupt.h"
#include "base/text.h"

struct outfile {
    FILE *stream;
    char *name;
    bool is_stdout;
    char *target;    /* final name; NULL: written directly */
    char *temporary; /* NULL: written directly */
    int guard;       /* protects the temporary file against interrupts */
    int lock;        /* a second descriptor of the temporary file, which stays locked until it has its final name */
};

static void outfile_free(outfile *o)
{
    free(o->name);
    free(o->target);
    free(o->temporary);
    free(o);
}

static int fail_to_open(const outfile *o, int error, fault *f)
{
    if (error == ENOENT)
        return fault_set(f, EXIT_DATA, "%s cannot be written: its directory does not exist; create it first", o->name);
    return fault_set(f, EXIT_DATA, "%s cannot be written (%s): choose another place", o->name, strerror(error));
}

enum { PIPE_BYTES = 1 << 20 };

static int open_stdout(outfile *o, fault *f)
{
    int fd = dup(STDOUT_FILENO); /* so that all outputs are closed and checked alike */
    o->stream = fd < 0 ? NULL : fdopen(fd, "wb");
    if (o->stream) {
        fcntl(fd, F_SETPIPE_SZ, PIPE_BYTES); /* fewer context switches; fails if it is not a pipe */
        return 0;
    }
    int error = errno == EINVAL ? EBADF : errno; /* EINVAL: open for reading only */
    if (fd >= 0) close(fd);
    return fault_set(f, EXIT_DATA, "standard output cannot be written (%s): name a file with -o", strerror(error));
}

static int open_directly(outfile *o, fault *f)
{
    o->stream = fopen(o->name, "wbe");
    return o->stream ? 0 : fail_to_open(o, errno, f);
}

/* The destination of path's links, which may not exist yet; the caller frees it. */
static char *follow_links(const char *path)
{
    enum { MAX_LINKS = 40 };
    char *at = strdup(path), link[PATH_MAX];
    for (int i = 0; at && i < MAX_LINKS; i++) {
        ssize_t length = readlink(at, link, sizeof link);
        if (length < 0 || length == sizeof link) break;
        const char *slash = link[0] == '/' ? NULL : strrchr(at, '/');
        char *next;
        if (asprintf(&next, "%.*s%.*s", slash ? (int)(slash - at) + 1 : 0, at, (int)length, link) < 0) next = NULL;
        free(at);
        at = next;
    }
    return at;
}

/* ".histo-1f2e3d4c-0.tmp" in the target's directory; NULL without memory. */
static char *name_temporary(const char *target, int i)
{
    const char *name = text_file_name(target);
    uint32_t hash = 2166136261; /* FNV-1a */
    for (const char *c = name; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 16777619;
    char *path;
    return asprintf(&path, "%.*s.histo-%08" PRIx32 "-%d.tmp", (int)(name - target), target, hash, i) < 0 ? NULL : path;
}

/* Whether the path still names the open file. */
static bool is_named(int fd, const char *path)
{
    struct stat open_file, named;
    return fstat(fd, &open_file) == 0 && lstat(path, &named) == 0 && open_file.st_dev == named.st_dev &&
           open_file.st_ino == named.st_ino;
}

/* Lock this open file; false if somebody else is writing it. Some network file systems have no locks. */
static bool lock_file(int fd, const char *path)
{
    return (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) && is_named(fd, path);
}

/* Remove a file that a killed process left: false with errno if there is none, or if somebody is writing it. */
static bool remove_stale(const char *path)
{
    int fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) return false;
    const bool stale = flock(fd, LOCK_EX | LOCK_NB) == 0 && is_named(fd, path) && unlink(path) == 0;
    if (!stale) errno = EEXIST;
    close(fd);
    return stale;
}

/* Create and lock a file with this name: returns the descriptor, or -1 with errno; EEXIST: another process is writing
 * it. */
static int make_locked(const char *path)
{
    int fd;
    do {
        fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    } while (fd < 0 && errno == EEXIST && remove_stale(path));
    if (fd < 0 || lock_file(fd, path)) return fd;
    close(fd); /* another process has just taken it for a stale one, and removes it */
    errno = EEXIST;
    return -1;
}

/* Create and guard a new file in the target's directory, and remove those that killed processes left: returns the
 * descriptor, or -1 with errno. */
static int make_temporary(outfile *o)
{
    enum { WRITERS_AT_ONCE = 1000 };
    int fd = -1;
    errno = EEXIST;
    for (int i = 0; i < WRITERS_AT_ONCE && fd < 0 && errno == EEXIST; i++) {
        free(o->temporary);
        o->temporary = name_temporary(o->target, i);
        interrupt_hold();
        fd = o->temporary ? make_locked(o->temporary) : -1;
        if (fd >= 0) o->guard = interrupt_guard_file(o->temporary);
        const int error = errno;
        interrupt_let_go();
        errno = error;
    }
    return fd;
}

/* The temporary file is gone, or has its final name. */
static void let_go_of_temporary(outfile *o)
{
    interrupt_release_file(o->guard);
    if (o->lock >= 0) close(o->lock);
    o->guard = o->lock = -1;
}

static void remove_temporary(outfile *o)
{
    interrupt_hold();
    if (o->temporary) unlink(o->temporary);
    let_go_of_temporary(o);
    interrupt_let_go();
}

/* existing: the current target, or NULL. */
static int open_temporary(outfile *o, const struct stat *existing, fault *f)
{
    if (existing && access(o->name, W_OK) != 0) return fail_to_open(o, errno, f);
    o->target = follow_links(o->name);
    int fd = o->target ? make_temporary(o) : -1;
    if (fd < 0) return fail_to_open(o, errno, f);
    o->lock = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (o->lock >= 0 && (!existing || fchmod(fd, existing->st_mode & 0777) == 0) && (o->stream = fdopen(fd, "w+b")))
        return 0;
    int error = errno;
    close(fd);
    remove_temporary(o);
    return fail_to_open(o, error, f);
}

static int open_target(outfile *o, fault *f)
{
    struct stat existing;
    if (o->is_stdout) return open_stdout(o, f);
    if (stat(o->name, &existing) != 0) {
        if (errno != ENOENT) return fail_to_open(o, errno, f);
        return open_temporary(o, NULL, f);
    }
    if (S_ISDIR(existing.st_mode))
        return fault_set(f, EXIT_DATA, "%s is a directory: name a file in it to write to", o->name);
    return S_ISREG(existing.st_mode) ? open_temporary(o, &existing, f) : open_directly(o, f);
}

outfile *outfile_open(const char *path, fault *f)
{
    if (!*path) {
        fault_set(f, EXIT_USAGE, "the output file has an empty name: name a file with -o, or - for standard output");
        return NULL;
    }
    outfile *o = calloc(1, sizeof *o);
    if (o) o->is_stdout = strcmp(path, "-") == 0;
    if (o) o->name = strdup(o->is_stdout ? "standard output" : path);
    if (o) o->guard = o->lock = -1;
    if (!o || !o->name)
        fault_set(f, EXIT_DATA, "no memory to write %s", path);
    else if (open_target(o, f) == 0)
        return o;
    if (o) outfile_free(o);
    return NULL;
}

outfile *outfile_open_memory(const char *name, char **bytes, size_t *size, fault *f)
{
    outfile *o = calloc(1, sizeof *o);
    if (o) o->name = strdup(name);
    if (o) o->guard = o->lock = -1;
    if (o && o->name) o->stream = open_memstream(bytes, size);
    if (o && o->stream) return o;
    fault_set(f, EXIT_DATA, "no memory to write %s", name);
    if (o) outfile_free(o);
    return NULL;
}

FILE *outfile_stream(outfile *o)
{
    return o->stream;
}

const char *outfile_name(const outfile *o)
{
    return o->name;
}

/* Find out why an earlier write failed, by another write; the file is removed anyway. 0 if that write succeeds. */
static int ask_again(const outfile *o)
{
    static const char block[1 << 16];
    return o->temporary && write(fileno(o->stream), block, sizeof block) < 0 ? errno : 0;
}

/* Flush everything to disk: 0, or an errno (EIO for failures without one). */
static int finish(outfile *o)
{
    errno = 0;
    bool good = fflush(o->stream) == 0 && !ferror(o->stream);
    if (!good && !errno) errno = ask_again(o);
    if (good && o->temporary) good = fsync(fileno(o->stream)) == 0;
    int error = good ? 0 : errno ? errno : EIO;
    errno = 0;
    if (fclose(o->stream) != 0 && !error) error = errno ? errno : EIO;
    o->stream = NULL;
    if (error || !o->target) return error;
    interrupt_hold();
    if (rename(o->temporary, o->target) == 0)
        let_go_of_temporary(o);
    else
        error = errno;
    interrupt_let_go();
    return error;
}

int outfile_fail(const outfile *o, int error, fault *f)
{
    if (error == ENOSPC || error == EDQUOT)
        return fault_set(f, EXIT_DATA,
                         "%s cannot be written: the disk is full; free some space, or choose another place", o->name);
    return fault_set(f, EXIT_DATA, "%s cannot be written (%s): choose another place", o->name, strerror(error));
}

int outfile_commit(outfile *o, fault *f)
{
    int error = finish(o);
    if (error) {
        outfile_fail(o, error, f);
        outfile_abandon(o);
        return -1;
    }
    outfile_free(o);
    return 0;
}

void outfile_abandon(outfile *o)
{
    if (!o) return;
    if (o->stream) fclose(o->stream);
    remove_temporary(o);
    outfile_free(o);
}

int outfile_check(const char *path, fault *f)
{
    if (!path) return 0;
    outfile *o = outfile_open(path, f);
    if (!o) return -1;
    outfile_abandon(o);
    return 0;
}

/* ---- Inputs must not be outputs ------------------------------------------------------------------------ */

/* Files are the same if device and inode are equal, under any name. */
static bool is_same(const struct stat *output, const char *path)
{
    struct stat other;
    bool found = strcmp(path, "-") == 0 ? fstat(0, &other) == 0 : stat(path, &other) == 0;
    return found && other.st_dev == output->st_dev && other.st_ino == output->st_ino;
}

static int check_same(const struct stat *output, const char *path, const char *what, const settings *s, fault *f)
{
    if (!is_same(output, path)) return 0;
    return fault_set(f, EXIT_USAGE, "-o %s would overwrite %s: name another file", s->output, what);
}

int outfile_spare(const char *path, const char *other, const char *what, fault *f)
{
    struct stat output;
    if (!path || !other || strcmp(path, "-") == 0 || stat(path, &output) != 0 || !S_ISREG(output.st_mode) ||
        !is_same(&output, other))
        return 0;
    return fault_set(f, EXIT_USAGE, "%s is %s, and would be overwritten: name another file", path, what);
}

/* -b and --edges may be a list of @FILE, one per axis. */
static int check_edges(const struct stat *output, const char *list, const settings *s, fault *f)
{
    for (const char *item = list; item && *item;) {
        size_t length = strcspn(item, ";");
        char path[4096];
        snprintf(path, sizeof path, "%.*s", (int)(length < sizeof path ? length : 0), item);
        if (path[0] == '@' && check_same(output, path + 1, "its file of edges", s, f) != 0) return -1;
        item += length + (item[length] == ';');
    }
    return 0;
}

int outfile_spare_inputs(const settings *s, fault *f)
{
    struct stat output;
    if (s->output && s->wisdom &&
        strcmp(s->output, s->wisdom) == 0) /* a file that --measure may still have to create */
        return fault_set(f, EXIT_USAGE, "-o and --wisdom are both %s: name another file", s->output);
    if (!s->output || strcmp(s->output, "-") == 0 || stat(s->output, &output) != 0 || !S_ISREG(output.st_mode))
        return 0;
    for (int i = 0; i < s->files_count; i++)
        if (check_same(&output, s->files[i], "its input", s, f) != 0) return -1;
    if (s->files_count == 0 && check_same(&output, "-", "its input", s, f) != 0) return -1;
    if (s->mask && check_same(&output, s->mask, "its mask", s, f) != 0) return -1;
    if (s->segments && check_same(&output, s->segments, "its segments", s, f) != 0) return -1;
    if (s->wisdom && check_same(&output, s->wisdom, "its wisdom", s, f) != 0) return -1;
    if (s->agreed && check_same(&output, s->agreed, "its survey", s, f) != 0) return -1;
    return check_edges(&output, s->bins, s, f) != 0 ? -1 : check_edges(&output, s->edges, s, f);
}
