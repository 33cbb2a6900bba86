/* Zarr, versions 2 and 3: an array in a directory or a zip archive, or one of the arrays of a group, read by the reader
 * of tiles. The input is the metadata file, or the archive. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "input/readers/arrays/tiled.h"
#include "input/readers/readers.h"
#include "modules/zarr/chunks.h"

enum { DEEPEST_GROUP = 32, MOST_FOLDERS = 1 << 16 };

/* ---- Metadata ------------------------------------------------------------------------------------------- */

static int fault_array(zarr_store *store, const char *key, const char *why, fault *f)
{
    return fault_set(f, EXIT_DATA, "%s is not a readable Zarr array: %s", zarr_store_name(store, key), why);
}

/* The text of a file at a key; NULL if it is missing, or on failure, with a fault. */
static char *read_text(zarr_store *store, const char *key, const char *file, size_t *size, fault *f)
{
    char full[PATH_MAX];
    return zarr_store_join(key, file, full, sizeof full) ? zarr_store_text(store, full, size, f) : NULL;
}

/* Read the metadata at a key: 1, 0 if there are none, -1. */
static int describe(zarr_store *store, const char *key, zarr_metadata *about, fault *f)
{
    static const char *const files[] = {"zarr.json", ".zarray", ".zgroup"};
    char why[ZARR_WHY_BYTES];
    size_t size;
    char *text = NULL;
    for (size_t i = 0; i < sizeof files / sizeof *files && !text && f->status == EXIT_OK; i++)
        text = read_text(store, key, files[i], &size, f);
    if (!text) return f->status == EXIT_OK ? 0 : -1;
    bool good = zarr_parse(text, size, about, why);
    free(text);
    char *attributes = good && !about->is_group ? read_text(store, key, ".zattrs", &size, f) : NULL;
    if (attributes) good = zarr_parse_attributes(attributes, size, about, why);
    free(attributes);
    if (!good) fault_array(store, key, why, f);
    return good && f->status == EXIT_OK ? 1 : -1;
}

static bool find_attribute(void *self, const char *name, attribute *found)
{
    const zarr_metadata *z = self;
    for (int i = 0; i < z->attributes_count; i++) {
        const zarr_attribute *a = &z->attributes[i];
        if (strcmp(a->name, name) != 0) continue;
        *found = (attribute){.dtype = a->integers ? HISTO_I64 : HISTO_F64, .count = a->count};
        memcpy(found->text, a->text, sizeof found->text);
        for (int k = 0; k < a->count; k++)
            if (a->integers)
                found->values[k].i = a->whole[k];
            else
                found->values[k].f = a->values[k];
        return true;
    }
    return false;
}

static void inform(zarr_metadata *z, bool raw, array_info *info)
{
    *info = (array_info){.dtype = z->dtype, .boolean = z->boolean, .ndim = z->ndim};
    memcpy(info->shape, z->shape, sizeof info->shape);
    if (raw) return;
    const unpack_number fill = unpack_load(z->fill, z->dtype);
    info->rule = unpack_rule(find_attribute, z, &info->dtype);
    if (z->fill_is_missing) unpack_add_missing(&info->rule, fill);
    if (z->dated) unpack_add_missing(&info->rule, (unpack_number){.i = INT64_MIN});
    if (z->epoch.units) info->rule.epoch = z->epoch;
}

/* ---- The choice of an array ----------------------------------------------------------------------------- */

typedef struct search {
    zarr_store *store;
    size_t root; /* length of the key at which it began */
    int folders, depth;
    name_list data, scales;
    char *first_data, *first_scale;
    fault why; /* why the first unreadable array is not among them */
} search;

static void consider(search *s, const char *key);

/* Add what is in a group, in order of names. */
static void consider_group(search *s, const char *group)
{
    char **names = NULL;
    const int count = s->depth < DEEPEST_GROUP ? zarr_store_list(s->store, group, &names) : 0;
    s->depth++;
    for (int i = 0; i < count; i++) {
        char key[PATH_MAX];
        if (zarr_store_join(group, names[i], key, sizeof key) && s->folders++ < MOST_FOLDERS) consider(s, key);
        free(names[i]);
    }
    s->depth--;
    free(names);
}

/* Whether it is the scale of the dimension with its name. */
static bool is_scale(const zarr_metadata *z, const char *name)
{
    const char *last = strrchr(name, '/');
    return z->ndim == 1 && strcmp(z->only_dimension, last ? last + 1 : name) == 0;
}

static void consider(search *s, const char *key)
{
    zarr_metadata about;
    fault why = {0};
    const int found = describe(s->store, key, &about, &why);
    if (found < 0) fault_set(&s->why, why.status, "%s", why.text);
    if (found < 1) return;
    if (about.is_group) {
        consider_group(s, key);
        return;
    }
    array_info info;
    const char *name = key + s->root + (s->root > 0);
    const bool scale = is_scale(&about, name);
    char **first = scale ? &s->first_scale : &s->first_data;
    inform(&about, false, &info);
    array_info_list(scale ? &s->scales : &s->data, name, &info);
    if (!*first) *first = strdup(key);
}

/* The only array of a group, or a fault that lists the choices. */
static char *choose_in_group(zarr_store *store, const char *group, const char *wanted, fault *f)
{
    search s = {.store = store, .root = strlen(group)};
    consider_group(&s, group);
    const bool data = s.data.count > 0;
    name_list *list = data ? &s.data : &s.scales;
    const char *name = zarr_store_name(store, group);
    char *chosen = NULL;
    if (wanted)
        fault_set(f, EXIT_DATA, "%s has no array '%s': its arrays of numbers are %s; choose one with --dataset", name,
                  wanted, name_list_text(list));
    else if (list->count == 1)
        chosen = strdup(data ? s.first_data : s.first_scale);
    else if (list->count == 0 && s.why.status != EXIT_OK)
        fault_set(f, s.why.status, "%s", s.why.text);
    else if (list->count == 0)
        fault_set(f, EXIT_DATA, "%s is a Zarr group without arrays of numbers", name);
    else
        fault_set(f, EXIT_DATA, "%s holds %d arrays of numbers: choose one with --dataset: %s", name, list->count,
                  name_list_text(list));
    free(s.first_data);
    free(s.first_scale);
    return chosen;
}

/* The key of the array (freed by the caller), with its metadata; NULL with a fault. */
static char *choose(zarr_store *store, const char *wanted, zarr_metadata *about, fault *f)
{
    char *key = strdup(wanted ? wanted : "");
    const size_t length = key ? strlen(key) : 0;
    if (length && key[length - 1] == '/') key[length - 1] = '\0';
    int found = key ? describe(store, key, about, f) : -1;
    if (found == 1 && !about->is_group) return key;
    if (found >= 0) {
        char *chosen = choose_in_group(store, found ? key : "", found ? NULL : wanted, f);
        free(key);
        key = chosen;
        if (key && describe(store, key, about, f) == 1) return key;
    }
    free(key);
    fault_array(store, "", "it has no metadata", f);
    return NULL;
}

/* ---- The reader ----------------------------------------------------------------------------------------- */

static int read_box(void *self, const int64_t *start, const int64_t *count, void *buffer, fault *f)
{
    return zarr_chunks_read(self, start, count, buffer, f);
}

static void close_chunks(void *self)
{
    zarr_chunks_close(self);
}

/* The store that the input, a metadata file or an archive, belongs to. */
static zarr_store *open_store(input *in, fault *f)
{
    size_t size;
    const unsigned char *head = input_peek(in, &size, f);
    if (!head) return NULL;
    if (size >= 2 && memcmp(head, "PK", 2) == 0) {
        const char *path = input_path(in, f);
        return path ? zarr_store_open(path, input_name(in), f) : NULL;
    }
    char *root = strdup(input_name(in));
    char *slash = root ? strrchr(root, '/') : NULL;
    if (slash) *slash = '\0';
    zarr_store *store = root && input_rename(in, slash ? root : ".", f) == 0
                            ? zarr_store_open(input_name(in), input_name(in), f)
                            : NULL;
    free(root);
    return store;
}

reader *zarr_open(input *in, const read_options *options, fault *f)
{
    zarr_metadata about;
    zarr_store *store = open_store(in, f);
    char *key = store ? choose(store, options->dataset, &about, f) : NULL;
    zarr_chunks *chunks = key ? zarr_chunks_open(store, key, &about, f) : NULL;
    if (!key) zarr_store_close(store);
    free(key);
    if (!chunks) return NULL;
    array_info info;
    inform(&about, options->raw, &info);
    const tiled_source source = {.self = chunks, .read = read_box, .close = close_chunks};
    reader *r = tiled_open(in, source, &info, about.chunk, f);
    if (r) r->data_bytes = r->height * r->width * r->channels * (int64_t)histo_dtype_size(about.dtype);
    return r;
}
