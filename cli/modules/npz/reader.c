/* NumPy's .npz: a zip archive of .npy members, decompressed while reading. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zip.h>

#include "input/readers/arrays/npy.h"
#include "input/readers/names.h"
#include "input/readers/readers.h"

/* An open member of the archive, as a source of bytes. */
typedef struct member {
    zip_t *archive;
    zip_uint64_t index;
    zip_file_t *file;
    char *subject;
} member;

static int fault_member(const member *m, const char *why, fault *f)
{
    return fault_set(f, EXIT_DATA, "%s is damaged or an unsupported kind of zip (%s): save it again", m->subject, why);
}

static int member_open(member *m, fault *f)
{
    m->file = zip_fopen_index(m->archive, m->index, 0);
    return m->file ? 0 : fault_member(m, zip_strerror(m->archive), f);
}

static int64_t member_read(void *self, void *buffer, size_t size, fault *f)
{
    member *m = self;
    int64_t got = zip_fread(m->file, buffer, size);
    return got < 0 ? fault_member(m, zip_file_strerror(m->file), f) : got;
}

static int member_rewind(void *self, fault *f)
{
    member *m = self;
    zip_fclose(m->file);
    return member_open(m, f);
}

static void member_close(void *self)
{
    member *m = self;
    if (m->file) zip_fclose(m->file);
    zip_discard(m->archive);
    free(m->subject);
    free(m);
}

/* The array name of a member: "x" for "x.npy"; NULL for other files. */
static const char *array_name(const char *file_name, char *name, size_t size)
{
    size_t length = strlen(file_name);
    if (length < 4 || strcmp(file_name + length - 4, ".npy") != 0) return NULL;
    snprintf(name, size, "%.*s", (int)(length - 4 < size ? length - 4 : size - 1), file_name);
    return name;
}

/* Open the member with this index, at its first sample. */
static int member_begin(member *m, zip_uint64_t index, const char *file, const char *name, array_info *info,
                        array_place *place, fault *f)
{
    if (m->file) zip_fclose(m->file);
    free(m->subject);
    m->file = NULL;
    m->index = index;
    size_t size = strlen(file) + strlen(name) + 16;
    m->subject = malloc(size);
    if (!m->subject) return fault_set(f, EXIT_DATA, "no memory to read %s", file);
    snprintf(m->subject, size, "%s, array %s", file, name);
    byte_source source = {.read = member_read, .rewind = member_rewind, .close = member_close, .self = m};
    zip_stat_t status;
    if (zip_stat_index(m->archive, index, 0, &status) != 0) return fault_member(m, zip_strerror(m->archive), f);
    if (member_open(m, f) != 0 || npy_read_header(&source, m->subject, info, &place->start, f) != 0) return -1;
    *place = (array_place){.start = place->start,
                           .size = -1,
                           .subject = m->subject,
                           .described = "its header describes",
                           .remedy = "save it again"};
    if ((status.valid & ZIP_STAT_SIZE) && status.size <= INT64_MAX) place->size = (int64_t)status.size - place->start;
    return 0;
}

/* Find the requested array, or the only one of numbers; or of strings, if there are no numbers. */
static int choose(member *m, const char *file, const char *wanted, array_info *info, array_place *place, fault *f)
{
    name_list numeric = {0}, strings = {0};
    zip_int64_t chosen = -1, entries = zip_get_num_entries(m->archive, 0);
    char name[256];
    fault why = {0};
    for (zip_int64_t i = 0; i < entries; i++) {
        const char *file_name = zip_get_name(m->archive, (zip_uint64_t)i, 0);
        if (!file_name || !array_name(file_name, name, sizeof name)) continue;
        if (wanted && (strcmp(wanted, name) == 0 || strcmp(wanted, file_name) == 0))
            return member_begin(m, (zip_uint64_t)i, file, name, info, place, f);
        if (member_begin(m, (zip_uint64_t)i, file, name, info, place, &why) != 0) continue;
        const bool has_strings = array_info_has_strings(info);
        array_info_list(has_strings ? &strings : &numeric, name, info);
        array_info_free(info);
        if (!has_strings || numeric.count == 0) chosen = i;
    }
    if (wanted)
        return fault_set(f, EXIT_DATA, "%s has no array '%s': its arrays of numbers are %s; choose one with --dataset",
                         file, wanted, name_list_text(&numeric));
    name_list *all = numeric.count ? &numeric : &strings;
    if (all->count > 1)
        return fault_set(f, EXIT_DATA, "%s holds %d arrays of %s: choose one with --dataset: %s", file, all->count,
                         numeric.count ? "numbers" : "strings", name_list_text(all));
    if (all->count == 0 && why.status != EXIT_OK) return fault_set(f, why.status, "%s", why.text);
    if (all->count == 0)
        return fault_set(f, EXIT_DATA, "%s is a zip archive without NumPy arrays (.npy) in it: unpack it first", file);
    array_name(zip_get_name(m->archive, (zip_uint64_t)chosen, 0), name, sizeof name);
    return member_begin(m, (zip_uint64_t)chosen, file, name, info, place, f);
}

reader *npz_open(input *in, const read_options *options, fault *f)
{
    const char *path = input_path(in, f);
    member *m = path ? calloc(1, sizeof *m) : NULL;
    int code = 0;
    if (m) m->archive = zip_open(path, ZIP_RDONLY, &code);
    if (!m || !m->archive) {
        zip_error_t error;
        zip_error_init_with_code(&error, code);
        fault_set(f, EXIT_DATA, "%s cannot be opened as a zip archive (%s): save it again", input_name(in),
                  zip_error_strerror(&error));
        zip_error_fini(&error);
        free(m);
        return NULL;
    }
    array_info info;
    array_place place = {0};
    if (choose(m, input_name(in), options->dataset, &info, &place, f) != 0) {
        member_close(m);
        return NULL;
    }
    byte_source source = {.read = member_read, .rewind = member_rewind, .close = member_close, .self = m};
    if (options->raw) array_info_forget_missing(&info);
    return array_reader_open(in, source, &info, &place, f);
}
