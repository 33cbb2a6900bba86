/* Saved histograms: JSON with one or several by name, and the binary form.
 *
 * The binary form holds one histogram without a name. A file of several, or of one with a name, is made of them:
 *
 *     "histo set 1\n"
 *     of a part of a run: "shards <checksum of the manifest> <its bytes>\n", the manifest (shards/manifest.h)
 *     for each: "<bytes of the name> <bytes of the histogram>\n", the name, the histogram */
#ifndef CLI_SAVED_H
#define CLI_SAVED_H

#include <stdbool.h>
#include <stdio.h>

#include "count/result.h"

/* Add the histograms of a file to r, whose title defaults to the file's name; path "-" is standard input. r takes the
 * file's manifest only if it has nothing else. */
int saved_load(const char *path, result *r, fault *f);

/* Whether this is a regular file with saved histograms, rather than samples. */
bool saved_is_file(const char *path);

/* Write the histograms as one document, with the statistics that the settings request. */
int saved_write_json(const result *r, const settings *s, FILE *out, fault *f);
int saved_write_binary(const result *r, bool with_moments, FILE *out, fault *f);

/* Refuse groups and weights, which need samples. */
int saved_refuse_samples(const settings *s, fault *f);

#endif
