/* Directories that are read as one input: Zarr arrays and groups, and series of DICOM files. */
#ifndef CLI_FOLDER_H
#define CLI_FOLDER_H

#include <stdbool.h>
#include <stdint.h>

/* Does the path name a directory? */
bool folder_is(const char *path);
/* folder/name, freed by the caller; NULL without memory. */
char *folder_path(const char *folder, const char *name);

/* The file that describes the Zarr array or group in this directory (freed by the caller); NULL: there is none. */
char *folder_zarr(const char *folder);
/* A DICOM file in it, or in directories in it (freed by the caller); NULL: there is none among the first ones. bare:
 * files may lack the 128 bytes in front. */
char *folder_dicom(const char *folder, bool bare);

/* Called with the paths of files; false: no more are wanted. */
typedef bool folder_visitor(void *self, const char *path);
/* Visit what is in a directory and in those in it, as deep as media of DICOM are, but not hidden ones, nor behind
 * links. At most so many entries, which are counted down. False if the visitor ended it, or the directory cannot be
 * read. */
bool folder_walk(const char *folder, int64_t *entries, folder_visitor *visit, void *self);

/* Is this a regular file, not hidden, with the beginning of a DICOM file? And with its suffix? */
bool folder_dicom_file(const char *path, bool bare);
bool folder_dicom_name(const char *path);

#endif
