#include "output/images/images.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define IMAGE(id, ...) const image_writer image_##id = {.name = #id, __VA_ARGS__};
#include "output/images/images.def"
#undef IMAGE

static const image_writer *const writers[] = {
#define IMAGE(id, ...) &image_##id,
#include "output/images/images.def"
#undef IMAGE
};

enum { WRITERS = sizeof writers / sizeof *writers };

const image_writer *image_writer_at(int i)
{
    return i >= 0 && i < WRITERS ? writers[i] : NULL;
}

/* ---- Which format ---- */

static bool has_suffix(const image_writer *writer, const char *path)
{
    const size_t length = strlen(path);
    for (const char *word = writer->suffixes; *word; word += strspn(word, " ")) {
        const size_t bytes = strcspn(word, " ");
        const char *suffix = path + length - bytes;
        if (length > bytes && suffix[-1] == '.' && strncasecmp(word, suffix, bytes) == 0) return true;
        word += bytes;
    }
    return false;
}

static const char *limit_of(const image_writer *writer, const image_page *page)
{
    return writer->limit ? writer->limit(page) : NULL;
}

/* "a, .b or .c": the first suffixes of the formats that could hold the page; if NULL, of all. */
static void list_suffixes(const image_page *page, char *text, size_t size)
{
    const image_writer *able[WRITERS];
    int count = 0;
    size_t length = 0;
    for (int i = 0; i < WRITERS; i++)
        if (!page || !limit_of(writers[i], page)) able[count++] = writers[i];
    text[0] = '\0';
    for (int i = 0; i < count && length < size; i++)
        length += (size_t)snprintf(text + length, size - length, "%s.%.*s",
                                   i == 0           ? ""
                                   : i == count - 1 ? " or "
                                                    : ", ",
                                   (int)strcspn(able[i]->suffixes, " "), able[i]->suffixes);
}

static const image_writer *writer_of_input(const reader *from, fault *f)
{
    for (int i = 0; i < WRITERS; i++)
        if (strcmp(writers[i]->name, from->kind->name) == 0 && !writers[i]->seeks) return writers[i];
    fault_set(f, EXIT_USAGE, "%s is read as %s, which cannot be written to a pipe: name a file for the result",
              input_name(from->in), from->kind->name);
    return NULL;
}

const image_writer *image_writer_find(const char *path, const reader *from, fault *f)
{
    char known[128];
    if (strcmp(path, "-") == 0) return writer_of_input(from, f);
    const char *slash = strrchr(path, '/');
    const char *dot = strrchr(slash ? slash : path, '.');
    for (int i = 0; dot && i < WRITERS; i++)
        if (has_suffix(writers[i], path)) return writers[i];
    list_suffixes(NULL, known, sizeof known);
    if (dot && dot[1])
        fault_set(f, EXIT_USAGE, "%s: no image format has the suffix %.40s: use %s", path, dot, known);
    else
        fault_set(f, EXIT_USAGE, "%s has no suffix that names the format: add %s",
                  *path ? path : "the empty name of the result", known);
    return NULL;
}

/* ---- Writing ---- */

size_t image_row_bytes(const image_page *page)
{
    return (size_t)page->width * (size_t)page->channels * histo_dtype_size(page->dtype);
}

size_t image_valid_bytes(const image_page *page)
{
    return ((size_t)page->width + 7) / 8;
}

int image_shape(const image_file *file, int64_t shape[HISTO_MAX_DIMS])
{
    const image_page *p = &file->page;
    int64_t samples = 1;
    int ndim = 0;
    for (int d = 0; p->about && d < p->about->ndim; d++)
        samples *= p->about->shape[d];
    if (p->about && p->about->ndim &&
        samples == p->height * p->width * p->channels * (file->pages > 1 ? file->pages : 1)) {
        memcpy(shape, p->about->shape, sizeof p->about->shape);
        return p->about->ndim;
    }
    if (file->pages > 1) shape[ndim++] = file->pages;
    shape[ndim++] = p->height;
    shape[ndim++] = p->width;
    if (p->channels > 1) shape[ndim++] = p->channels;
    return ndim;
}

int image_alike(image_file *file, fault *f)
{
    const image_page *p = &file->page;
    if (p->height == file->height && p->width == file->width) return 0;
    return fault_set(f, EXIT_DATA,
                     "%s: pages of an array have one size, and page %d has another: choose one with --page",
                     outfile_name(file->out), file->number);
}

int image_refused(const image_file *file, const char *complaint, fault *f)
{
    const int error = errno;
    if (ferror(outfile_stream(file->out))) return outfile_fail(file->out, error ? error : EIO, f);
    return fault_set(f, EXIT_DATA, "%s cannot be written (%s): choose another format", outfile_name(file->out),
                     complaint);
}

int image_put(image_file *file, const void *bytes, size_t size, fault *f)
{
    errno = 0;
    if (fwrite(bytes, 1, size, outfile_stream(file->out)) == size) return 0;
    return outfile_fail(file->out, errno ? errno : EIO, f);
}

static int check_page(const image_writer *writer, const char *path, const image_page *page, int64_t pages, fault *f)
{
    char able[128];
    const char *limit = limit_of(writer, page);
    if (!limit && (writer->pages || pages < 2)) return 0;
    if (!limit)
        return fault_set(f, EXIT_USAGE, "%s: %s holds one page, and there are several: choose one with --page", path,
                         writer->name);
    list_suffixes(page, able, sizeof able);
    return fault_set(f, EXIT_USAGE, "%s: %s %s, and these are %d x %s: write %s", path, writer->name, limit,
                     page->channels, histo_dtype_name(page->dtype), *able ? able : "one channel at a time");
}

static const image_codec *find_codec(const image_writer *writer, const char *path, fault *f)
{
    char name[32];
    snprintf(name, sizeof name, "%s_codec", writer->name);
    return module_symbol(writer->name, name, path, f);
}

image_file *image_create_file(const char *path, const image_writer *writer, const image_page *like, int64_t pages,
                              fault *f)
{
    if (strcmp(path, "-") == 0 && isatty(STDOUT_FILENO)) {
        fault_set(f, EXIT_USAGE, "an image cannot be written to a terminal: name a file for the result");
        return NULL;
    }
    if (check_page(writer, path, like, pages, f) != 0) return NULL;
    const image_codec *codec = writer->codec ? writer->codec : find_codec(writer, path, f);
    if (!codec) return NULL;
    image_file *file = calloc(1, codec->size ? codec->size : sizeof *file);
    if (!file) {
        fault_set(f, EXIT_DATA, "no memory to write %s", path);
        return NULL;
    }
    *file = (image_file){.writer = writer, .codec = codec, .pages = pages, .number = -1, .out = outfile_open(path, f)};
    if (file->out) return file;
    free(file);
    return NULL;
}

static int end_page(image_file *file, bool last, fault *f)
{
    return file->number >= 0 && file->codec->end ? file->codec->end(file, last, f) : 0;
}

int image_begin(image_file *file, const image_page *page, fault *f)
{
    if (end_page(file, false, f) != 0) return -1;
    file->page = *page;
    free(file->valid);
    file->valid = NULL;
    file->number++;
    file->y = 0;
    if (file->number == 0) file->height = page->height;
    if (file->number == 0) file->width = page->width;
    if (check_page(file->writer, outfile_name(file->out), page, file->number + 1, f) != 0) return -1;
    return file->codec->begin(file, f);
}

int image_rows(image_file *file, void *rows, int64_t count, fault *f)
{
    if (file->codec->rows ? file->codec->rows(file, rows, count, f) != 0
                          : image_put(file, rows, image_row_bytes(&file->page) * (size_t)count, f) != 0)
        return -1;
    file->y += count;
    return 0;
}

int image_leave_out(image_file *file, const unsigned char *valid, int64_t count, fault *f)
{
    const size_t pitch = image_valid_bytes(&file->page), bytes = pitch * (size_t)file->page.height;
    if (!file->valid) {
        if (!(file->valid = malloc(bytes ? bytes : 1)))
            return fault_set(f, EXIT_DATA, "no memory for the mask of %s", outfile_name(file->out));
        memset(file->valid, 0xff, bytes);
    }
    for (int64_t y = 0; y < count; y++) {
        unsigned char *row = file->valid + (size_t)(file->y + y) * pitch;
        for (int64_t x = 0; x < file->page.width; x++)
            if (!*valid++) row[x / 8] &= (unsigned char)~(0x80 >> x % 8);
    }
    return 0;
}

int image_commit(image_file *file, fault *f)
{
    if (end_page(file, true, f) != 0) {
        image_abandon(file);
        return -1;
    }
    outfile *out = file->out;
    file->out = NULL;
    image_abandon(file);
    return outfile_commit(out, f);
}

void image_abandon(image_file *file)
{
    if (!file) return;
    if (file->codec->close) file->codec->close(file);
    outfile_abandon(file->out);
    free(file->valid);
    free(file);
}
