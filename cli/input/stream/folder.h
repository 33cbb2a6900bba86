/* Directories that are read as one input: Zarr arrays and groups, and series of DICOM files. */
#ifndef CLI_FOLDER_H
#define CLI_FOLDER_H

#include <stdbool.h>
#include <stdint.h>

/* Whether the path is a directory. */
bool folder_is(const char *path);
/* folder/name, freed by the caller; NULL if out of memory. */
char *folder_path(const char *folder, const char *name);

/* The file that describes the Zarr array or group in this directory (freed by the caller); NULL: none. */
char *folder_zarr(const char *folder);
/* A DICOM file in the directory or its subdirectories (freed by the caller); NULL: none among the first entries. bare:
 * files may lack the 128-byte preamble. */
char *folder_dicom(const char *folder, bool bare);

/* Called with the paths of files; returns false to stop. */
typedef bool folder_visitor(void *self, const char *path);
/* Visit a directory and its subdirectories, as deep as DICOM media go, except hidden ones and links. Visits at most
 * *entries entries, counting down. False if the visitor stopped, or the directory cannot be read. */
bool folder_walk(const char *folder, int64_t *entries, folder_visitor *visit, void *self);

/* Whether this is a regular file, not hidden, that begins like a DICOM file; and whether it has that suffix. */
bool folder_dicom_file(const char *path, bool bare);
bool folder_dicom_name(const char *path);

#endif
