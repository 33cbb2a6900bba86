/* Directories that are read as one input: Zarr arrays and groups, and series of DICOM files. */
#ifndef CLI_FOLDER_H
#define CLI_FOLDER_H

#include <stdbool.h>

/* Does the path name a directory? */
bool folder_is(const char *path);
/* folder/name, freed by the caller; NULL without memory. */
char *folder_path(const char *folder, const char *name);

/* The file that describes the Zarr array or group in this directory (freed by the caller); NULL: there is none. */
char *folder_zarr(const char *folder);
/* A DICOM file in it (freed by the caller); NULL: there is none. bare: files may lack the 128 bytes in front. */
char *folder_dicom(const char *folder, bool bare);

/* Is this a regular file, not hidden, with the beginning of a DICOM file? And with its suffix? */
bool folder_dicom_file(const char *path, bool bare);
bool folder_dicom_name(const char *path);

#endif
