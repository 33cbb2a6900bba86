#define _GNU_SOURCE
#include "input/stream/folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "input/readers/readers.h"

/* Depth for directories of patients, studies, series, and some more; entries among which a DICOM file is looked for. */
enum { DEEPEST = 8, MOST_SEARCHED = 10000 };

bool folder_is(const char *path)
{
    struct stat status;
    return strcmp(path, "-") != 0 && stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

char *folder_path(const char *folder, const char *name)
{
    char *path;
    const char *between = folder[strlen(folder) - 1] == '/' ? "" : "/";
    return asprintf(&path, "%s%s%s", folder, between, name) < 0 ? NULL : path;
}

char *folder_zarr(const char *folder)
{
    static const char *const files[] = {"zarr.json", ".zarray", ".zgroup"};
    for (size_t i = 0; folder_is(folder) && i < sizeof files / sizeof *files; i++) {
        char *path = folder_path(folder, files[i]);
        if (!path || access(path, F_OK) == 0) return path;
        free(path);
    }
    return NULL;
}

static bool is_visible_file(const char *path)
{
    struct stat status;
    return text_file_name(path)[0] != '.' && stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

bool folder_dicom_name(const char *path)
{
    const char *suffix = strrchr(path, '.');
    return suffix && (strcasecmp(suffix, ".dcm") == 0 || strcasecmp(suffix, ".ima") == 0) && is_visible_file(path);
}

bool folder_dicom_file(const char *path, bool bare)
{
    unsigned char head[256];
    const int fd = is_visible_file(path) ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    if (fd < 0) return false;
    const ssize_t size = read(fd, head, sizeof head);
    close(fd);
    return size > 0 && reader_dicom.recognise(head, (size_t)size, bare ? "bare.dcm" : path);
}

/* Whether this is a subdirectory to enter. */
static bool is_inner_folder(const char *path)
{
    struct stat status;
    return text_file_name(path)[0] != '.' && lstat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static bool walk(const char *folder, int depth, int64_t *entries, folder_visitor *visit, void *self)
{
    DIR *files = opendir(folder);
    const struct dirent *file;
    bool more = files != NULL;
    while (more && *entries > 0 && (file = readdir(files))) {
        char *path = folder_path(folder, file->d_name);
        --*entries;
        if (!path)
            more = false;
        else if (!is_inner_folder(path))
            more = visit(self, path);
        else if (depth < DEEPEST)
            more = walk(path, depth + 1, entries, visit, self);
        free(path);
    }
    if (files) closedir(files);
    return more;
}

bool folder_walk(const char *folder, int64_t *entries, folder_visitor *visit, void *self)
{
    return walk(folder, 0, entries, visit, self);
}

typedef struct dicom_search {
    bool bare;
    char *first;
} dicom_search;

static bool look_for_dicom(void *self, const char *path)
{
    dicom_search *s = self;
    if (folder_dicom_file(path, s->bare)) s->first = strdup(path);
    return !s->first;
}

char *folder_dicom(const char *folder, bool bare)
{
    dicom_search s = {.bare = bare};
    int64_t entries = MOST_SEARCHED;
    if (folder_is(folder)) folder_walk(folder, &entries, look_for_dicom, &s);
    return s.first;
}
