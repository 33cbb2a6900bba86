/* The byte stream below the readers, in three layers: the descriptor; a decoder, if the first bytes show that the data
 * are compressed (all members); and the head, the first 64 KiB of data, for peeking. Inputs that cannot seek are copied
 * to an unnamed temporary file, which replaces them. */
#define _GNU_SOURCE
#include "input/stream/input.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "input/stream/decoder.h"
#include "input/stream/first_size.h"
#include "input/stream/read_ahead.h"

#include <histo/histo.h>

#include "base/failure.h"
#include "base/process/child.h"
#include "base/progress.h"
#include "base/text.h"

enum { STORED_BYTES = 1 << 18, LARGEST_READ = 1 << 30, PIPE_BYTES = 1 << 20 };

/* Mapped pages count as memory of the process, which stays below 256 MiB. */
enum { LARGEST_KEPT_MAP = 192 << 20 };

struct input {
    char *name;
    int fd;
    bool is_stdin;
    bool seekable;
    off_t origin;             /* beginning of the data in a seekable descriptor */
    int64_t size;             /* bytes as stored, or -1 */
    _Atomic int64_t position; /* stored bytes consumed from the descriptor; other threads display it */
    child *child;             /* its output is read; NULL: none */
    input *from;              /* its input; owned */
    bool warned;              /* its warning has been reported */
    bool spooled;
    char path[32];
    bool read_again; /* after input_keep */
    bool whole;      /* the map is of the whole file */
    void *map;       /* of the file, or the last result of input_map, from its page's beginning on; NULL: none */
    size_t map_size;
    read_ahead *ahead;          /* of what is mapped next; NULL: not started */
    const input_waiter *waiter; /* NULL: none */

    bool begun; /* the head is filled and compression detected */
    unsigned char head[INPUT_PEEK_BYTES];
    size_t head_size, head_used;

    const compression *compressed; /* NULL: not compressed */
    decoder *decoder;
    bool in_member;                     /* the next bytes belong to a member */
    unsigned char stored[STORED_BYTES]; /* bytes read from the descriptor */
    size_t stored_at, stored_size;      /* the range not decoded yet */
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
    if (S_ISFIFO(status.st_mode)) fcntl(in->fd, F_SETPIPE_SZ, PIPE_BYTES); /* fewer context switches */
    off_t origin = S_ISREG(status.st_mode) ? lseek(in->fd, 0, SEEK_CUR) : -1;
    if (origin >= 0) {
        in->seekable = true;
        in->origin = origin;
        const off_t size = first_size_of(in->fd, &status);
        if (size > origin) in->size = size - origin; /* files in /proc report 0 but have contents */
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

/* Start the program. */
static int start_child(input *in, fault *f)
{
    in->fd = child_start(in->child);
    if (in->fd >= 0) {
        fcntl(in->fd, F_SETPIPE_SZ, PIPE_BYTES);
        return 0;
    }
    if (errno == ENOENT)
        return fault_set(f, EXIT_DATA, "%s is decoded by %s, which is not installed: install it, or convert the file",
                         in->name, child_name(in->child));
    return fault_set(f, EXIT_DATA, "%s cannot be decoded: %s cannot be started: %s", in->name, child_name(in->child),
                     strerror(errno));
}

/* At the end of its output: 0 if it succeeded. Warnings that it wrote nevertheless, such as about a missing end, are
 * reported once. */
static int end_of_child(input *in, fault *f)
{
    char said[256];
    const bool succeeded = child_succeeded(in->child, said, sizeof said);
    const char *rest = said[0] == '[' ? strchr(said, ']') : NULL; /* after the prefix with its name */
    rest = rest ? rest + 1 + strspn(rest + 1, " ") : said;
    if (!succeeded)
        return fault_set(f, EXIT_DATA, "%s cannot be decoded by %s (%s): get an intact copy, or convert it", in->name,
                         child_name(in->child), *rest ? rest : "it failed without a message");
    if (*rest && !in->warned) {
        note("%s: %s says: %s", in->name, child_name(in->child), rest);
        in->warned = true;
    }
    return 0;
}

int input_decode_by(input *in, child *c, fault *f)
{
    input *from = malloc(sizeof *from);
    char *name = strdup(in->name);
    if (!from || !name) {
        free(from);
        free(name);
        child_close(c);
        return fault_set(f, EXIT_DATA, "%s: out of memory", in->name);
    }
    *from = *in;
    *in = (input){.name = name, .fd = -1, .size = -1, .child = c, .from = from};
    return start_child(in, f);
}

static void stop_decoding(input *in)
{
    if (in->decoder) in->decoder->close(in->decoder);
    in->decoder = NULL;
    in->compressed = NULL;
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
    stop_decoding(in);
    unmap(in);
    read_ahead_stop(in->ahead);
    if ((!in->is_stdin || in->spooled) && !in->child) close(in->fd);
    child_close(in->child);
    input_close(in->from);
    free(in->name);
    free(in);
}

const char *input_name(const input *in)
{
    return in->name;
}

int input_rename(input *in, const char *name, fault *f)
{
    char *copy = strdup(name);
    if (!copy) return fault_set(f, EXIT_DATA, "no memory to open %s", name);
    free(in->name);
    in->name = copy;
    return 0;
}

void input_wait_with(input *in, const input_waiter *waiter)
{
    in->waiter = waiter;
}

bool input_has_waiter(const input *in)
{
    return in->waiter;
}

bool input_waits(const input *in)
{
    struct pollfd now = {.fd = in->fd, .events = POLLIN};
    return in->waiter && in->stored_at == in->stored_size && poll(&now, 1, 0) == 0;
}

/* When reading began, and how often the thread had waited by then. */
typedef struct reading {
    double seconds;
    long waits;
} reading;

static reading reading_now(void)
{
    struct rusage usage = {0};
    getrusage(RUSAGE_THREAD, &usage);
    return (reading){progress_seconds(), usage.ru_nvcsw};
}

/* After reading this many bytes: if they came from a disk rather than from memory, start prefetching while the caller
 * is busy with them. A thread that was slow but never waited had merely lost its CPU to others. */
static void keep_ahead(input *in, int64_t bytes, reading begun)
{
    enum { LEAST = 1 << 17 /* smaller reads are not conclusive */, AHEAD = 64 << 20 };
    const double slow = 2e9; /* bytes per second */
    if (!in->seekable || in->size < 0) return;
    if (!in->ahead && bytes >= LEAST) {
        const reading now = reading_now();
        if (now.waits > begun.waits && (double)bytes < slow * (now.seconds - begun.seconds))
            in->ahead = read_ahead_start(in->fd);
    }
    const int64_t left = in->size - in->position;
    const off_t at = in->origin + in->position;
    read_ahead_want(in->ahead, at, at + (left < AHEAD ? left : AHEAD));
}

static int64_t read_stored(input *in, void *buffer, size_t size, fault *f)
{
    ssize_t got;
    if (in->waiter && !in->waiter->wait(in->waiter->self, in->fd)) return fault_set(f, EXIT_OK, "%s", "");
    if (size > LARGEST_READ) size = LARGEST_READ;
    if (in->size >= 0 && in->size - in->position < (int64_t)size) { /* it may have grown */
        const int64_t left = in->size - in->position;
        size = left > 0 ? (size_t)left : 0;
    }
    const reading begun = reading_now();
    do {
        got = read(in->fd, buffer, size);
    } while (got < 0 && errno == EINTR);
    if (got < 0) return fault_set(f, EXIT_DATA, "%s cannot be read: %s", in->name, strerror(errno));
    in->position += got;
    keep_ahead(in, got, begun);
    return got == 0 && in->child ? end_of_child(in, f) : got;
}

static int fault_truncated(const input *in, fault *f)
{
    return fault_set(f, EXIT_DATA,
                     "%s is truncated: its %s data stops after %" PRId64
                     " bytes, before its end; download or compress it again",
                     in->name, in->compressed->name, in->position);
}

static int fault_decoder(const input *in, decoded result, fault *f)
{
    if (result == DECODED_NO_MEMORY) return fault_set(f, EXIT_DATA, "no memory to decompress %s", in->name);
    if (result == DECODED_LARGE)
        return fault_set(f, EXIT_DATA,
                         "%s needs more than %d MiB of memory to be decompressed: pipe it through %s into histo",
                         in->name, DECODER_MOST_MEMORY >> 20, in->compressed->command);
    return fault_set(
        f, EXIT_DATA,
        "%s is damaged: its %s data is invalid (%s) before byte %" PRId64 "; download or compress it again", in->name,
        in->compressed->name, in->decoder->why, in->position - (int64_t)(in->stored_size - in->stored_at));
}

/* Skip padding between members, as on tapes: true if another member begins in the stored bytes. */
static bool find_member(input *in)
{
    while (in->stored_at < in->stored_size && in->stored[in->stored_at] == 0)
        in->stored_at++;
    return in->stored_at < in->stored_size;
}

static int64_t read_decoded(input *in, void *buffer, size_t size, fault *f)
{
    decoder_span s = {.out = buffer, .out_size = size};
    while (size && s.out_size == size) {
        if (in->stored_at == in->stored_size) {
            const int64_t got = read_stored(in, in->stored, sizeof in->stored, f);
            if (got < 0) return -1;
            in->stored_at = 0;
            in->stored_size = (size_t)got;
        }
        const bool ended = in->stored_size == 0;
        if (!in->in_member) {
            if (ended) return 0;
            if (!find_member(in)) continue;
            if (!in->decoder->restart(in->decoder)) return fault_decoder(in, DECODED_NO_MEMORY, f);
            in->in_member = true;
        }
        s.in = in->stored + in->stored_at;
        s.in_size = in->stored_size - in->stored_at;
        const decoded result = in->decoder->decode(in->decoder, &s);
        in->stored_at = in->stored_size - s.in_size;
        if (result == DECODED_MEMBER)
            in->in_member = false;
        else if (result != DECODED_SOME)
            return fault_decoder(in, result, f);
        else if (ended && s.out_size == size)
            return fault_truncated(in, f);
    }
    return (int64_t)(size - s.out_size);
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
        if (input_waits(in)) break;
    }
    return (int64_t)filled;
}

static int begin(input *in, fault *f)
{
    if (in->begun) return 0;
    int64_t got = read_full(in, read_stored, in->head, sizeof in->head, f);
    if (got < 0) return -1;
    in->compressed = in->spooled ? NULL : compression_of(in->head, (size_t)got);
    if (in->compressed) {
        in->decoder = compression_open(in->compressed, in->name, f);
        if (!in->decoder) return -1;
        in->in_member = true;
        memcpy(in->stored, in->head, (size_t)got);
        in->stored_at = 0;
        in->stored_size = (size_t)got;
        got = read_full(in, read_decoded, in->head, sizeof in->head, f);
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
    return in->decoder ? read_decoded(in, buffer, size, f) : read_stored(in, buffer, size, f);
}

/* Check the file's size again: touching a truncated mapping would be fatal. */
static bool file_reaches(const input *in, off_t end)
{
    struct stat status;
    return fstat(in->fd, &status) == 0 && status.st_size >= end;
}

/* Map bytes begin … end - 1 of a file that is read again and not too large, from page `first` on, in a map that stays:
 * the next pass finds its pages mapped; mapping takes half as long as processing the samples. */
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
    const reading begun = reading_now();
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
    in->position = position + (int64_t)size;
    in->head_used = in->head_size;
    keep_ahead(in, (int64_t)size, begun);
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
    stop_decoding(in);
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
    return input_can_rewind(in) ? 0 : spool(in, f);
}

int input_rewind(input *in, fault *f)
{
    if (!input_can_rewind(in))
        return fault_set(f, EXIT_DATA, "%s cannot be read a second time: save it as a file first", in->name);
    if (in->child && start_child(in, f) != 0) return -1;
    if (!in->child && lseek(in->fd, in->origin, SEEK_SET) < 0)
        return fault_set(f, EXIT_DATA, "%s cannot be read again: %s", in->name, strerror(errno));
    stop_decoding(in);
    in->begun = false;
    in->position = 0;
    return 0;
}

int input_seek(input *in, int64_t position, fault *f)
{
    if (lseek(in->fd, in->origin + position, SEEK_SET) < 0)
        return fault_set(f, EXIT_DATA, "%s cannot be read from byte %" PRId64 " on: %s", in->name, position,
                         strerror(errno));
    in->position = position;
    in->head_used = in->head_size;
    return 0;
}

bool input_can_rewind(const input *in)
{
    return in->seekable || in->child;
}

bool input_was_spooled(const input *in)
{
    return in->spooled;
}

int64_t input_random(input *in, fault *f)
{
    if (begin(in, f) != 0) return -1;
    if ((!in->seekable || in->decoder) && spool(in, f) != 0) return -1;
    if (in->size >= 0) return in->size;
    struct stat status; /* for some files in /proc, only a lower bound of the size is known */
    if (fstat(in->fd, &status) != 0) return fault_set(f, EXIT_DATA, "%s cannot be read: %s", in->name, strerror(errno));
    return status.st_size > in->origin ? status.st_size - in->origin : 0;
}

int64_t input_read_at(const input *in, int64_t position, void *buffer, size_t size, fault *f)
{
    size_t filled = 0;
    while (filled < size) {
        ssize_t got = pread(in->fd, (char *)buffer + filled, size - filled, in->origin + position + (off_t)filled);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return fault_set(f, EXIT_DATA, "%s cannot be read: %s", in->name, strerror(errno));
        if (got == 0) break;
        filled += (size_t)got;
    }
    return (int64_t)filled;
}

unsigned char *input_read_all(input *in, size_t max_bytes, size_t *size, fault *f)
{
    enum { FIRST_ROOM = 1 << 20 };
    size_t room = in->size > 0 && !in->decoder && (uint64_t)in->size < max_bytes ? (size_t)in->size + 1 : FIRST_ROOM;
    unsigned char *all = malloc(room);
    int64_t got = -1;
    *size = 0;
    while (all && (got = input_read(in, all + *size, room - *size, f)) > 0) {
        *size += (size_t)got;
        if (*size > max_bytes) {
            char limit[TEXT_NUMBER_BYTES];
            fault_set(f, EXIT_DATA, "%s has more than %s, which must be in memory together: cut it into smaller files",
                      in->name, text_bytes((double)max_bytes, limit));
            break;
        }
        if (*size < room) continue;
        room *= 2;
        unsigned char *more = room <= histo_memory_available() ? realloc(all, room) : NULL;
        if (!more) {
            free(all);
            all = NULL;
        } else {
            all = more;
        }
    }
    if (!all) fault_set(f, EXIT_DATA, "no memory for the contents of %s", in->name);
    if (got == 0) return all;
    free(all);
    return NULL;
}

const char *input_path(input *in, fault *f)
{
    if (begin(in, f) != 0) return NULL;
    if (!in->seekable || in->decoder || in->origin != 0) {
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
    return in->begun && !in->decoder && in->seekable ? in->size : -1;
}
