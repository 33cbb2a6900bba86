/* The datasets of a file: found behind links of all kinds, chosen by name or as the only one, and described. */
#include "modules/hdf5/hdf5.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_PATH = 1024, DEEPEST_GROUP = 64, MOST_OBJECTS = 1 << 18 };

/* The innermost message of the error stack is the cause. */
static herr_t take_first_message(unsigned n, const H5E_error2_t *error, void *text)
{
    if (n == 0 && error->desc) snprintf(text, 160, "%s", error->desc);
    return 0;
}

int hdf5_fault(const char *file, const char *what, fault *f)
{
    char cause[160] = "no reason given";
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_first_message, cause);
    return fault_set(f, EXIT_DATA,
                     "%s: %s cannot be read (HDF5: %s); it is damaged, or of a later version: check it with h5dump",
                     file, what, cause);
}

/* ---- Descriptions --------------------------------------------------------------------------------------- */

static int describe_shape(hid_t dataset, const char *file, const char *name, array_info *info, fault *f)
{
    hid_t space = H5Dget_space(dataset);
    H5S_class_t class = H5Sget_simple_extent_type(space);
    hsize_t dims[H5S_MAX_RANK];
    int ndim = H5Sget_simple_extent_dims(space, dims, NULL);
    if (space < 0 || ndim < 0) hdf5_fault(file, name, f);
    if (space >= 0) H5Sclose(space);
    if (space < 0 || ndim < 0) return -1;
    if (class == H5S_NULL || hdf5_is_empty(dataset))
        return fault_set(f, EXIT_DATA, "%s: dataset %s is empty: choose another with --dataset", file, name);
    if (ndim > HISTO_MAX_DIMS)
        return fault_set(f, EXIT_DATA, "%s: dataset %s has %d dimensions, more than %d", file, name, ndim,
                         HISTO_MAX_DIMS);
    info->ndim = ndim;
    for (int d = 0; d < ndim; d++) {
        if (dims[d] > INT64_MAX)
            return fault_set(f, EXIT_DATA, "%s: dataset %s is damaged: it is too large", file, name);
        info->shape[d] = (int64_t)dims[d];
    }
    return 0;
}

/* The columns of records, and the size that they need in memory, or in the file if that is larger. */
static int describe_records(hid_t type, const char *file, const char *name, array_info *info, hid_t *memory_type,
                            fault *f)
{
    char subject[LONGEST_PATH];
    snprintf(subject, sizeof subject, "%s: dataset %.200s", file, name);
    if (hdf5_find_columns(type, &info->columns, subject, f) != 0) return -1;
    *memory_type = hdf5_record_in_memory(type, &info->columns, NULL);
    if (*memory_type < 0)
        return fault_set(f, EXIT_DATA,
                         "%s: dataset %s holds records without fields of numbers: choose another with --dataset", file,
                         name);
    const size_t in_memory = H5Tget_size(*memory_type), in_file = H5Tget_size(type);
    info->record_bytes = (int64_t)(in_memory > in_file ? in_memory : in_file);
    return 0;
}

/* Strings are a table with one unnamed column. */
static int describe_strings(const hdf5_type *t, const char *file, array_info *info, fault *f)
{
    const table_column made = {.string = t->string, .dtype = t->dtype};
    info->record_bytes = t->string.bytes;
    return columns_add(&info->columns, "", &made, file, f);
}

int hdf5_describe(hid_t dataset, const char *file, const char *name, array_info *info, hid_t *memory_type, fault *f)
{
    *info = (array_info){0};
    *memory_type = -1;
    hid_t type = H5Dget_type(dataset);
    if (type < 0) return hdf5_fault(file, name, f);
    int failed = 0;
    if (H5Tget_class(type) == H5T_COMPOUND) {
        failed = describe_records(type, file, name, info, memory_type, f);
    } else {
        hdf5_type t = hdf5_type_in_memory(type);
        *memory_type = t.memory;
        info->dtype = t.dtype;
        info->boolean = t.boolean;
        if (t.string.kind) failed = describe_strings(&t, file, info, f);
        info->rule = t.rule;
        if (!t.what && hdf5_is_text(dataset)) t.what = "text";
        if (t.what && !failed)
            failed =
                fault_set(f, EXIT_DATA, "%s: dataset %s holds %s, not plain numbers: choose another with --dataset",
                          file, name, t.what);
    }
    H5Tclose(type);
    if (!failed) failed = describe_shape(dataset, file, name, info, f);
    if (failed) {
        if (*memory_type >= 0) H5Tclose(*memory_type);
        array_info_free(info);
    }
    return failed;
}

/* ---- Finding them --------------------------------------------------------------------------------------- */

/* Objects that were visited: several links may lead to one, even in cycles. */
typedef struct object_set {
    struct object {
        unsigned long file;
        haddr_t place;
        bool used;
    } * slots;
    size_t room, count;
} object_set;

/* False if it is there already, or memory runs out. */
static bool add_object(object_set *set, unsigned long file, haddr_t place)
{
    if (2 * set->count >= set->room) {
        object_set larger = {.room = set->room ? 2 * set->room : 256};
        larger.slots = calloc(larger.room, sizeof *larger.slots);
        if (!larger.slots) return false;
        for (size_t i = 0; i < set->room; i++)
            if (set->slots[i].used) add_object(&larger, set->slots[i].file, set->slots[i].place);
        free(set->slots);
        *set = larger;
    }
    size_t at = (size_t)(((uint64_t)place * UINT64_C(0x9e3779b97f4a7c15)) >> 20) + file;
    for (;; at++) {
        struct object *slot = &set->slots[at & (set->room - 1)];
        if (slot->used && slot->file == file && slot->place == place) return false;
        if (slot->used) continue;
        *slot = (struct object){file, place, true};
        set->count++;
        return true;
    }
}

/* Datasets with numbers: data, and dimension scales. */
typedef struct candidates {
    name_list list;
    char *first;
} candidates;

typedef struct search {
    const char *file;
    char path[LONGEST_PATH]; /* of the group */
    int depth;
    object_set visited;
    candidates data, scales, strings;
    fault why; /* why the first rejected one is not a candidate */
} search;

/* Links that cannot be followed are listed among the candidates. */
static int fault_link(hid_t group, const char *link, const char *file, const char *path, fault *f)
{
    H5L_info_t info;
    char value[LONGEST_PATH] = "";
    const char *target_file, *target;
    if (H5Lget_info(group, link, &info, H5P_DEFAULT) < 0) return hdf5_fault(file, path, f);
    if (info.type == H5L_TYPE_HARD) {
        H5Oopen(group, link, H5P_DEFAULT); /* repeated, for its message */
        return hdf5_fault(file, path, f);
    }
    if (info.u.val_size >= sizeof value || H5Lget_val(group, link, value, sizeof value - 1, H5P_DEFAULT) < 0)
        return hdf5_fault(file, path, f);
    if (info.type == H5L_TYPE_SOFT)
        return fault_set(f, EXIT_DATA, "%s: %s is a link to %s, which is not there: choose another with --dataset",
                         file, path, value);
    if (info.type != H5L_TYPE_EXTERNAL || H5Lunpack_elink_val(value, info.u.val_size, NULL, &target_file, &target) < 0)
        return hdf5_fault(file, path, f);
    return fault_set(f, EXIT_DATA,
                     "%s: %s is a link to %s in the file %s, which cannot be opened: put that file there, or choose "
                     "another with --dataset",
                     file, path, target, target_file);
}

static void consider_dataset(search *s, hid_t dataset)
{
    array_info info;
    hid_t memory_type;
    if (hdf5_describe(dataset, s->file, s->path, &info, &memory_type, &s->why) != 0) return;
    candidates *c = array_info_has_strings(&info) ? &s->strings : hdf5_is_scale(dataset) ? &s->scales : &s->data;
    if (c->list.count == 0) c->first = strdup(s->path);
    array_info_list(&c->list, s->path, &info);
    H5Tclose(memory_type);
    array_info_free(&info);
}

static herr_t consider_link(hid_t group, const char *link, const H5L_info_t *info, void *data)
{
    (void)info;
    search *s = data;
    if (s->depth == 0 && (strcmp(link, "#refs#") == 0 || strcmp(link, "#subsystem#") == 0))
        return 0; /* MATLAB's, for the contents of cells and objects */
    const size_t length = strlen(s->path);
    H5O_info_t about;
    if (length + strlen(link) + 2 > sizeof s->path || s->visited.count >= MOST_OBJECTS) return 0;
    snprintf(s->path + length, sizeof s->path - length, "%s%s", length ? "/" : "", link);
    hid_t object = H5Oopen(group, link, H5P_DEFAULT);
    if (object < 0)
        fault_link(group, link, s->file, s->path, &s->why);
    else if (H5Oget_info2(object, &about, H5O_INFO_BASIC) >= 0 && add_object(&s->visited, about.fileno, about.addr)) {
        if (about.type == H5O_TYPE_DATASET) consider_dataset(s, object);
        if (about.type == H5O_TYPE_GROUP && s->depth < DEEPEST_GROUP) {
            s->depth++;
            H5Literate(object, H5_INDEX_NAME, H5_ITER_INC, NULL, consider_link, s);
            s->depth--;
        }
    }
    if (object >= 0) H5Oclose(object);
    s->path[length] = '\0';
    return 0;
}

static void find_candidates(search *s, hid_t file)
{
    H5O_info_t root;
    if (H5Oget_info2(file, &root, H5O_INFO_BASIC) >= 0) add_object(&s->visited, root.fileno, root.addr);
    H5Literate(file, H5_INDEX_NAME, H5_ITER_INC, NULL, consider_link, s);
    free(s->visited.slots);
    s->visited = (object_set){0};
}

/* The first link of a path that cannot be followed, unless it is a missing hard link. */
static int fault_path(hid_t file, const char *name, const char *wanted, fault *f)
{
    char path[LONGEST_PATH];
    if (strlen(wanted) >= sizeof path) return 0;
    for (const char *end = wanted; *end; end++) {
        end += strspn(end, "/");
        end += strcspn(end, "/");
        snprintf(path, sizeof path, "%.*s", (int)(end - wanted), wanted);
        if (H5Lexists(file, path, H5P_DEFAULT) <= 0) return 0;
        hid_t object = H5Oopen(file, path, H5P_DEFAULT);
        if (object < 0) return fault_link(file, path, name, path, f);
        H5Oclose(object);
        if (!*end) break;
    }
    return 0;
}

char *hdf5_choose(hid_t file, const char *name, const char *wanted, fault *f)
{
    hid_t object = wanted ? H5Oopen(file, wanted, H5P_DEFAULT) : -1;
    H5I_type_t kind = object >= 0 ? H5Iget_type(object) : H5I_BADID;
    if (object >= 0) H5Oclose(object);
    if (kind == H5I_DATASET) return strdup(wanted);
    if (wanted && kind == H5I_BADID && fault_path(file, name, wanted, f) != 0) return NULL;
    search s = {.file = name};
    find_candidates(&s, file);
    const bool refused = s.why.status != EXIT_OK;
    candidates *c = s.data.list.count || (refused && !s.strings.list.count) ? &s.data
                    : s.scales.list.count                                   ? &s.scales
                                                                            : &s.strings;
    const char *list = name_list_text(&c->list);
    char *chosen = NULL;
    if (!wanted && c->list.count == 1)
        chosen = strdup(c->first);
    else if (kind == H5I_GROUP)
        fault_set(f, EXIT_DATA, "%s: %s is a group: choose one of its datasets with --dataset; those of numbers are %s",
                  name, wanted, list);
    else if (kind != H5I_BADID)
        fault_set(f, EXIT_DATA, "%s: %s is a named type: choose a dataset with --dataset; those of numbers are %s",
                  name, wanted, list);
    else if (wanted)
        fault_set(f, EXIT_DATA, "%s has no dataset '%s': its datasets of numbers are %s; choose one with --dataset",
                  name, wanted, list);
    else if (c->list.count == 0 && s.why.status != EXIT_OK)
        fault_set(f, s.why.status, "%s", s.why.text);
    else if (c->list.count == 0)
        fault_set(f, EXIT_DATA, "%s holds no dataset of numbers that can be read: inspect it with h5dump", name);
    else
        fault_set(f, EXIT_DATA, "%s holds %d datasets of %s: choose one with --dataset: %s", name, c->list.count,
                  c == &s.strings ? "strings" : "numbers", list);
    free(s.data.first);
    free(s.scales.first);
    free(s.strings.first);
    return chosen;
}
