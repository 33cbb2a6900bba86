#include "modules/zarr/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zip.h>

#include "base/list.h"
#include "base/text.h"
#include "input/stream/folder.h"

enum { LARGEST_TEXT = 64 << 20 };

typedef struct member {
    const char *name; /* the archive's */
    zip_uint64_t index;
} member;

struct zarr_store {
    char *path, *name;
    char said[PATH_MAX];
    zip_t *archive;  /* NULL: a directory */
    member *members; /* [count], by name */
    size_t count;
};

struct zarr_object {
    zarr_store *of;
    char *key;
    int file; /* in a directory: the descriptor */
    zip_uint64_t index;
    zip_file_t *inflated; /* in an archive: the member, read up to `at` */
    bool seeks;
    int64_t at, size;
};

static int fault_memory(const zarr_store *s, fault *f)
{
    return fault_set(f, EXIT_DATA, "no memory to read %s", s->name);
}

static int fault_key(zarr_store *s, const char *key, const char *why, fault *f)
{
    return fault_set(f, EXIT_DATA, "%s cannot be read: %s", zarr_store_name(s, key), why);
}

const char *zarr_store_name(zarr_store *s, const char *key)
{
    snprintf(s->said, sizeof s->said, "%s%s%s", s->name, *key ? "/" : "", key);
    return s->said;
}

bool zarr_store_join(const char *group, const char *entry, char *key, size_t size)
{
    return (size_t)snprintf(key, size, "%s%s%s", group, *group && *entry ? "/" : "", entry) < size;
}

/* ---- Archives ------------------------------------------------------------------------------------------- */

static int compare_members(const void *a, const void *b)
{
    const member *x = a, *y = b;
    const int by_name = strcmp(x->name, y->name);
    return by_name ? by_name : (x->index > y->index) - (x->index < y->index);
}

static int list_members(zarr_store *s, fault *f)
{
    const zip_int64_t entries = zip_get_num_entries(s->archive, 0);
    s->members = malloc(((size_t)entries + 1) * sizeof *s->members);
    if (!s->members) return fault_memory(s, f);
    for (zip_int64_t i = 0; i < entries; i++) {
        const char *name = zip_get_name(s->archive, (zip_uint64_t)i, 0);
        if (name) s->members[s->count++] = (member){name, (zip_uint64_t)i};
    }
    qsort(s->members, s->count, sizeof *s->members, compare_members);
    return 0;
}

/* The first member whose name is not before this one. */
static size_t find_place(const zarr_store *s, const char *name)
{
    size_t first = 0, end = s->count;
    while (first < end) {
        const size_t middle = first + (end - first) / 2;
        if (strcmp(s->members[middle].name, name) < 0)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

/* Of members with the same name, the last one written is current. */
static const member *find_member(const zarr_store *s, const char *key)
{
    const member *found = NULL;
    for (size_t i = find_place(s, key); i < s->count && strcmp(s->members[i].name, key) == 0; i++)
        found = &s->members[i];
    return found;
}

static int open_archive(zarr_store *s, fault *f)
{
    int code = 0;
    s->archive = zip_open(s->path, ZIP_RDONLY, &code);
    if (s->archive) return list_members(s, f);
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    fault_set(f, EXIT_DATA, "%s cannot be opened as a zip archive (%s): save it again", s->name,
              zip_error_strerror(&error));
    zip_error_fini(&error);
    return -1;
}

/* ---- Stores --------------------------------------------------------------------------------------------- */

zarr_store *zarr_store_open(const char *path, const char *name, fault *f)
{
    zarr_store *s = calloc(1, sizeof *s);
    if (!s) {
        fault_set(f, EXIT_DATA, "no memory to read %s", name);
        return NULL;
    }
    s->path = strdup(path);
    s->name = strdup(name);
    const int failed = !s->path || !s->name ? fault_set(f, EXIT_DATA, "no memory to read %s", name)
                       : folder_is(path)    ? 0
                                            : open_archive(s, f);
    if (!failed) return s;
    zarr_store_close(s);
    return NULL;
}

void zarr_store_close(zarr_store *s)
{
    if (!s) return;
    if (s->archive) zip_discard(s->archive);
    free(s->members);
    free(s->path);
    free(s->name);
    free(s);
}

char *zarr_store_text(zarr_store *s, const char *key, size_t *size, fault *f)
{
    zarr_object *o;
    if (zarr_object_open(s, key, &o, f) != 0) return NULL;
    char *text = NULL;
    *size = (size_t)o->size;
    if (o->size > LARGEST_TEXT)
        fault_key(s, key, "it is too large", f);
    else if (!(text = malloc(*size + 1)))
        fault_memory(s, f);
    else if (zarr_object_read(o, 0, text, *size, f) != 0) {
        free(text);
        text = NULL;
    }
    if (text) text[*size] = '\0';
    zarr_object_close(o);
    return text;
}

static int list_folder(const char *path, char ***names)
{
    struct dirent **entries = NULL;
    const int count = scandir(path, &entries, NULL, alphasort);
    int kept = 0;
    *names = count > 0 ? calloc((size_t)count, sizeof **names) : NULL;
    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name;
        if (*names && name[0] != '.' && ((*names)[kept] = strdup(name))) kept++;
        free(entries[i]);
    }
    free(entries);
    return kept;
}

/* Members do not list their groups: take the names up to the next slash, once each. */
static int list_in_archive(const zarr_store *s, const char *group, char ***names)
{
    char prefix[PATH_MAX];
    const size_t length = (size_t)snprintf(prefix, sizeof prefix, "%s%s", group, *group ? "/" : "");
    const char *last = "";
    size_t last_size = 0;
    int count = 0;
    *names = NULL;
    for (size_t i = length < sizeof prefix ? find_place(s, prefix) : s->count;
         i < s->count && strncmp(s->members[i].name, prefix, length) == 0; i++) {
        const char *name = s->members[i].name + length;
        const size_t size = strcspn(name, "/");
        if (name[size] == '\0' || size == 0 || name[0] == '.' || (size == last_size && strncmp(name, last, size) == 0))
            continue;
        last = name;
        last_size = size;
        char **more = list_grown(*names, count, sizeof *more);
        if (!more) break;
        *names = more;
        if (!((*names)[count] = strndup(name, size))) break;
        count++;
    }
    return count;
}

int zarr_store_list(zarr_store *s, const char *group, char ***names)
{
    if (s->archive) return list_in_archive(s, group, names);
    char path[PATH_MAX];
    *names = NULL;
    return zarr_store_join(s->path, group, path, sizeof path) ? list_folder(path, names) : 0;
}

/* ---- Objects -------------------------------------------------------------------------------------------- */

static int open_member(zarr_object *o, fault *f)
{
    zarr_store *s = o->of;
    const member *found = find_member(s, o->key);
    zip_stat_t about;
    if (!found) return ZARR_NOT_THERE;
    if (zip_stat_index(s->archive, found->index, 0, &about) != 0 || !(about.valid & ZIP_STAT_SIZE) ||
        about.size > INT64_MAX)
        return fault_key(s, o->key, zip_strerror(s->archive), f);
    o->index = found->index;
    o->seeks = (about.valid & ZIP_STAT_COMP_METHOD) && about.comp_method == ZIP_CM_STORE;
    o->size = (int64_t)about.size;
    return 0;
}

static int open_file(zarr_object *o, fault *f)
{
    char path[PATH_MAX];
    struct stat status;
    if (!zarr_store_join(o->of->path, o->key, path, sizeof path))
        return fault_key(o->of, o->key, strerror(ENAMETOOLONG), f);
    o->file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* does not block on a pipe */
    if (o->file < 0 && (errno == ENOENT || errno == ENOTDIR)) return ZARR_NOT_THERE;
    if (o->file < 0 || fstat(o->file, &status) != 0 || !S_ISREG(status.st_mode))
        return fault_key(o->of, o->key, o->file < 0 ? strerror(errno) : "it is not a file", f);
    o->size = (int64_t)status.st_size;
    return 0;
}

int zarr_object_open(zarr_store *s, const char *key, zarr_object **object, fault *f)
{
    zarr_object *o = calloc(1, sizeof *o);
    char *copy = strdup(key);
    *object = NULL;
    if (!o || !copy) {
        free(o);
        free(copy);
        return fault_memory(s, f);
    }
    *o = (zarr_object){.of = s, .key = copy, .file = -1};
    const int opened = s->archive ? open_member(o, f) : open_file(o, f);
    if (opened == 0)
        *object = o;
    else
        zarr_object_close(o);
    return opened;
}

int64_t zarr_object_size(const zarr_object *o)
{
    return o->size;
}

static int read_file(zarr_object *o, int64_t offset, char *to, size_t size, fault *f)
{
    for (size_t done = 0; done < size;) {
        const ssize_t got = pread(o->file, to + done, size - done, (off_t)(offset + (int64_t)done));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return fault_key(o->of, o->key, strerror(errno), f);
        if (got == 0) return fault_key(o->of, o->key, "it has become shorter", f);
        done += (size_t)got;
    }
    return 0;
}

static int read_on(zarr_object *o, char *to, size_t size, fault *f)
{
    for (size_t done = 0; done < size;) {
        const zip_int64_t got = zip_fread(o->inflated, to + done, size - done);
        if (got <= 0) return fault_key(o->of, o->key, got < 0 ? zip_file_strerror(o->inflated) : "it is truncated", f);
        done += (size_t)got;
        o->at += got;
    }
    return 0;
}

/* Uncompressed members can be read from anywhere, others only from their beginning. */
static int go_to(zarr_object *o, int64_t offset, fault *f)
{
    char skipped[16384];
    if (o->inflated && offset < o->at && !o->seeks) {
        zip_fclose(o->inflated);
        o->inflated = NULL;
    }
    if (!o->inflated) {
        o->inflated = zip_fopen_index(o->of->archive, o->index, 0);
        if (!o->inflated) return fault_key(o->of, o->key, zip_strerror(o->of->archive), f);
        o->at = 0;
    }
    if (o->seeks && offset != o->at) {
        if (zip_fseek(o->inflated, offset, SEEK_SET) != 0)
            return fault_key(o->of, o->key, zip_file_strerror(o->inflated), f);
        o->at = offset;
    }
    while (o->at < offset) {
        const int64_t left = offset - o->at;
        if (read_on(o, skipped, left < (int64_t)sizeof skipped ? (size_t)left : sizeof skipped, f) != 0) return -1;
    }
    return 0;
}

int zarr_object_read(zarr_object *o, int64_t offset, void *to, size_t size, fault *f)
{
    if (!o->of->archive) return read_file(o, offset, to, size, f);
    return go_to(o, offset, f) != 0 ? -1 : read_on(o, to, size, f);
}

void zarr_object_close(zarr_object *o)
{
    if (!o) return;
    if (o->inflated) zip_fclose(o->inflated);
    if (o->file >= 0) close(o->file);
    free(o->key);
    free(o);
}
