/* The byte stream below the readers, in three layers: the descriptor; gzip, if the first bytes indicate it (all
 * members, with CRC checks); and the head, the first 64 KiB of data, for peeking. Inputs that cannot seek are copied to
 * an unnamed temporary file, which replaces them. */
#define _GNU_SOURCE
#include "input/input.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { STORED_BYTES = 1 << 18, LARGEST_READ = 1 << 30, PIPE_BYTES = 1 << 20 };

/* The page tables of a map have a five-hundredth of its size. */
#define LARGEST_KEPT_MAP (INT64_C(1) << 32)

struct input {
    char *name;
    int fd;
    bool is_stdin;
    bool seekable;
    off_t origin;     /* beginning of the data in a seekable descriptor */
    int64_t size;     /* bytes as stored, or -1 */
    int64_t position; /* stored bytes consumed from the descriptor */
    bool spooled;
    char path[32];
    bool read_again; /* after input_keep */
    bool whole;      /* the map is of the whole file; else … */
    void *map;       /* … it is the last result of input_map, from its page's beginning on; NULL: none */
    size_t map_size;

    bool begun; /* the head is filled and gzip detected */
    unsigned char head[INPUT_PEEK_BYTES];
    size_t head_size, head_used;

    bool gzip;
    bool in_member; /* the next bytes belong to a gzip member */
    z_stream inflater;
    unsigned char stored[STORED_BYTES]; /* bytes read from the descriptor, not gunzipped yet */
};

input *input_open(const char *path, fault *f)
{
    bool is_stdin = strcmp(path, "-") == 0;
    input *in = calloc(1, sizeof *in);
    char *name = strdup(is_stdin ? "standard input" : path);
    if (!in || !name) {
        fault_set(f, EXIT_DATA, "no memory to open %s", path);
        goto fail;
    }
    in->name = name;
    in->is_stdin = is_stdin;
    in->size = -1;
    in->fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (in->fd < 0) {
        if (errno == ENOENT)
            fault_set(f, EXIT_DATA, "%s: there is no such file", path);
        else if (errno == EACCES)
            fault_set(f, EXIT_DATA, "%s: permission denied", path);
        else
            fault_set(f, EXIT_DATA, "%s cannot be opened: %s", path, strerror(errno));
        goto fail;
    }
    struct stat status;
    if (fstat(in->fd, &status) != 0) {
        fault_set(f, EXIT_DATA, "%s cannot be read: %s", name, strerror(errno));
        goto fail_open;
    }
    if (S_ISDIR(status.st_mode)) {
        fault_set(f, EXIT_DATA, "%s is a directory: name the files in it", name);
        goto fail_open;
    }
    if (S_ISFIFO(status.st_mode)) fcntl(in->fd, F_SETPIPE_SZ, PIPE_BYTES); /* fewer switches of processes */
    off_t origin = S_ISREG(status.st_mode) ? lseek(in->fd, 0, SEEK_CUR) : -1;
    if (origin >= 0) {
        in->seekable = true;
        in->origin = origin;
        if (status.st_size > origin) in->size = status.st_size - origin; /* files in /proc report 0 but have contents */
        posix_fadvise(in->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    }
    return in;

fail_open:
    if (!is_stdin) close(in->fd);
fail:
    free(name);
    free(in);
    return NULL;
}

static void stop_inflating(input *in)
{
    if (in->gzip) inflateEnd(&in->inflater);
    in->gzip = false;
}

static void unmap(input *in)
{
    if (in->map) munmap(in->map, in->map_size);
    in->map = NULL;
    in->whole = false;
}

void input_close(input *in)
{
    if (!in) return;
    stop_inflating(in);
    unmap(in);
    if (!in->is_stdin || in->spooled) close(in->fd);
    free(in->name);
    free(in);
}

const char *input_name(const input *in)
{
    return in->name;
}

static int64_t read_stored(input *in, void *buffer, size_t size, fault *f)
{
    ssize_t got;
    do {
        got = read(in->fd, buffer, size < LARGEST_READ ? size : LARGEST_READ);
    } while (got < 0 && errno == EINTR);
    if (got < 0) return fault_set(f, EXIT_DATA, "%s cannot be read: %s", in->name, strerror(errno));
    in->position += got;
    return got;
}

/* Refill the inflater's input: 1, 0 at the end of the file, -1 on failure. */
static int refill_inflater(input *in, fault *f)
{
    int64_t got = read_stored(in, in->stored, sizeof in->stored, f);
    if (got <= 0) return (int)got;
    in->inflater.next_in = in->stored;
    in->inflater.avail_in = (uInt)got;
    return 1;
}

static int64_t read_gunzipped(input *in, void *buffer, size_t size, fault *f)
{
    z_stream *z = &in->inflater;
    uInt room = size < LARGEST_READ ? (uInt)size : LARGEST_READ;
    z->next_out = buffer;
    z->avail_out = room;
    while (room && z->avail_out == room) {
        if (z->avail_in == 0) {
            int more = refill_inflater(in, f);
            if (more < 0) return -1;
            if (!more && in->in_member)
                return fault_set(f, EXIT_DATA,
                                 "%s is truncated: its gzip data stops after %" PRId64
                                 " bytes, before its end; download or compress it again",
                                 in->name, in->position);
            if (!more) return 0;
        }
        if (!in->in_member) {
            if (*z->next_in == 0) { /* padding after the last member, as on tapes */
                z->next_in++;
                z->avail_in--;
                continue;
            }
            inflateReset(z);
            in->in_member = true;
        }
        int result = inflate(z, Z_NO_FLUSH);
        if (result == Z_STREAM_END)
            in->in_member = false;
        else if (result == Z_MEM_ERROR)
            return fault_set(f, EXIT_DATA, "no memory to gunzip %s", in->name);
        else if (result != Z_OK && result != Z_BUF_ERROR)
            return fault_set(f, EXIT_DATA,
                             "%s is damaged: its gzip data is invalid (%s) before byte %" PRId64
                             "; download or compress it again",
                             in->name, z->msg ? z->msg : "it needs a dictionary", in->position - z->avail_in);
    }
    return (int64_t)(room - z->avail_out);
}

/* magic, deflate, and no reserved flag */
static bool is_gzip(const unsigned char *bytes, size_t size)
{
    return size >= 10 && bytes[0] == 0x1f && bytes[1] == 0x8b && bytes[2] == 8 && (bytes[3] & 0xe0) == 0;
}

/* Read until the buffer is full or the data ends. */
static int64_t read_full(input *in, int64_t (*read_some)(input *, void *, size_t, fault *), unsigned char *buffer,
                         size_t size, fault *f)
{
    size_t filled = 0;
    while (filled < size) {
        int64_t got = read_some(in, buffer + filled, size - filled, f);
        if (got < 0) return -1;
        if (got == 0) break;
        filled += (size_t)got;
    }
    return (int64_t)filled;
}

static int begin(input *in, fault *f)
{
    if (in->begun) return 0;
    int64_t got = read_full(in, read_stored, in->head, sizeof in->head, f);
    if (got < 0) return -1;
    if (!in->spooled && is_gzip(in->head, (size_t)got)) {
        memset(&in->inflater, 0, sizeof in->inflater);
        if (inflateInit2(&in->inflater, 15 + 16) != Z_OK)
            return fault_set(f, EXIT_DATA, "no memory to gunzip %s", in->name);
        in->gzip = true;
        in->in_member = true;
        memcpy(in->stored, in->head, (size_t)got);
        in->inflater.next_in = in->stored;
        in->inflater.avail_in = (uInt)got;
        got = read_full(in, read_gunzipped, in->head, sizeof in->head, f);
        if (got < 0) return -1;
    }
    in->head_size = (size_t)got;
    in->head_used = 0;
    in->begun = true;
    return 0;
}

const unsigned char *input_peek(input *in, size_t *size, fault *f)
{
    if (begin(in, f) != 0) return NULL;
    *size = in->head_size;
    return in->head;
}

int64_t input_read(input *in, void *buffer, size_t size, fault *f)
{
    if (begin(in, f) != 0) return -1;
    size_t left = in->head_size - in->head_used;
    if (left) {
        size_t taken = size < left ? size : left;
        memcpy(buffer, in->head + in->head_used, taken);
        in->head_used += taken;
        return (int64_t)taken;
    }
    return in->gzip ? read_gunzipped(in, buffer, size, f) : read_stored(in, buffer, size, f);
}

/* Check the file's size again: touching a truncated mapping would be fatal. */
static bool file_reaches(const input *in, off_t end)
{
    struct stat status;
    return fstat(in->fd, &status) == 0 && status.st_size >= end;
}

/* Map bytes begin … end - 1 of a file that is read again and not too large, from page `first` on, in a map that stays:
 * the next pass finds its pages mapped, which takes half as long as looking at the samples. */
static bool map_in_whole(input *in, off_t first, off_t end)
{
#ifdef MADV_POPULATE_READ
    if (!in->read_again || in->origin + in->size > LARGEST_KEPT_MAP) return false;
    if (!in->whole) {
        unmap(in);
        in->map_size = (size_t)(in->origin + in->size);
        void *map = mmap(NULL, in->map_size, PROT_READ, MAP_SHARED, in->fd, 0);
        in->whole = map != MAP_FAILED;
        in->map = in->whole ? map : NULL;
    }
    if (in->whole && end <= (off_t)in->map_size &&
        madvise((char *)in->map + first, (size_t)(end - first), MADV_POPULATE_READ) == 0)
        return true;
#endif
    in->read_again = false; /* do not try again */
    return false;
}

const void *input_map(input *in, size_t size)
{
    if (!in->whole) unmap(in);
    if (input_data_size(in) < 0 || size == 0) return NULL;
    int64_t position = in->position - (int64_t)(in->head_size - in->head_used);
    off_t begin = in->origin + position, end = begin + (off_t)size, page = begin % sysconf(_SC_PAGESIZE);
    if (!file_reaches(in, end) || lseek(in->fd, end, SEEK_SET) != end) return NULL;
    if (!map_in_whole(in, begin - page, end)) {
        unmap(in);
        in->map_size = size + (size_t)page;
        in->map = mmap(NULL, in->map_size, PROT_READ, MAP_SHARED | MAP_POPULATE, in->fd, begin - page);
    }
    if (in->map == MAP_FAILED) {
        in->map = NULL;
        lseek(in->fd, in->origin + in->position, SEEK_SET);
        return NULL;
    }
    posix_fadvise(in->fd, end, (off_t)size, POSIX_FADV_WILLNEED);
    in->position = position + (int64_t)size;
    in->head_used = in->head_size;
    return (const char *)in->map + (in->whole ? begin : page);
}

static int open_nameless(const char *folder)
{
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0) return fd;
    char *path;
    if (asprintf(&path, "%s/histo-XXXXXX", folder) < 0) return -1;
    fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0) unlink(path);
    free(path);
    return fd;
}

static int write_all(int fd, const unsigned char *bytes, size_t size)
{
    while (size) {
        ssize_t put = write(fd, bytes, size);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return -1;
        bytes += put;
        size -= (size_t)put;
    }
    return 0;
}

/* Copy the data, decompressed, to a temporary file, and continue from there. */
static int spool(input *in, fault *f)
{
    const char *folder = getenv("TMPDIR");
    if (!folder || !*folder) folder = "/tmp";
    int fd = open_nameless(folder);
    if (fd < 0)
        return fault_set(f, EXIT_DATA,
                         "%s has to be copied to a temporary file, and none can be made in %s (%s): set TMPDIR to a "
                         "directory with room",
                         in->name, folder, strerror(errno));
    enum { PIECE = 1 << 18 };
    unsigned char *piece = malloc(PIECE);
    int64_t total = 0, got = -1;
    if (!piece) fault_set(f, EXIT_DATA, "no memory to copy %s to a temporary file", in->name);
    while (piece && (got = input_read(in, piece, PIECE, f)) > 0) {
        if (write_all(fd, piece, (size_t)got) != 0) {
            fault_set(f, EXIT_DATA,
                      "the temporary copy of %s in %s cannot be written (%s): set TMPDIR to a directory with room",
                      in->name, folder, strerror(errno));
            got = -1;
            break;
        }
        total += got;
    }
    free(piece);
    if (got < 0) {
        close(fd);
        return -1;
    }
    stop_inflating(in);
    if (!in->is_stdin) close(in->fd);
    in->fd = fd;
    in->spooled = true;
    in->seekable = true;
    in->origin = 0;
    in->size = total;
    return input_rewind(in, f);
}

int input_keep(input *in, fault *f)
{
    in->read_again = true;
    return in->seekable ? 0 : spool(in, f);
}

int input_rewind(input *in, fault *f)
{
    if (!in->seekable)
        return fault_set(f, EXIT_DATA, "%s cannot be read a second time: save it as a file first", in->name);
    if (lseek(in->fd, in->origin, SEEK_SET) < 0)
        return fault_set(f, EXIT_DATA, "%s cannot be read again: %s", in->name, strerror(errno));
    stop_inflating(in);
    in->begun = false;
    in->position = 0;
    return 0;
}

bool input_can_rewind(const input *in)
{
    return in->seekable;
}

bool input_was_spooled(const input *in)
{
    return in->spooled;
}

const char *input_path(input *in, fault *f)
{
    if (begin(in, f) != 0) return NULL;
    if (!in->seekable || in->gzip || in->origin != 0) {
        if (spool(in, f) != 0) return NULL;
    }
    if (!in->is_stdin && !in->spooled) return in->name;
    snprintf(in->path, sizeof in->path, "/proc/self/fd/%d", in->fd);
    return in->path;
}

int64_t input_size(const input *in)
{
    return in->size;
}

int64_t input_position(const input *in)
{
    return in->position;
}

int64_t input_data_size(const input *in)
{
    return in->begun && !in->gzip && in->seekable ? in->size : -1;
}
