#define _GNU_SOURCE
#include "input/folder.h"

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
    return size > 0 && reader_dicom.recognize(head, (size_t)size, bare ? "bare.dcm" : path);
}

char *folder_dicom(const char *folder, bool bare)
{
    DIR *files = folder_is(folder) ? opendir(folder) : NULL;
    const struct dirent *file;
    char *found = NULL;
    while (files && !found && (file = readdir(files))) {
        found = folder_path(folder, file->d_name);
        if (!found || folder_dicom_file(found, bare)) continue;
        free(found);
        found = NULL;
    }
    if (files) closedir(files);
    return found;
}
