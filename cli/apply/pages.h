/* The pages of an input as bands of whole rows, from the top down, with all channels, in any number of passes: what
 * commands need that turn images into images. Files larger than memory are read again in each pass; what takes longer
 * to decode than to keep is kept where there is room. */
#ifndef CLI_PAGES_H
#define CLI_PAGES_H

#include "input/reader.h"
#include "input/readers/video/y4m_stream.h"

typedef struct pages pages;

/* each: every page is a unit with passes of its own, and is held in memory; else all pages are one. */
pages *pages_open(const char *path, const read_options *options, bool each, fault *f);
void pages_close(pages *p);

/* Make every page a unit, before the first one, if there are several. */
void pages_each(pages *p);
/* Make pages of the slices of an array of three or more dimensions; before the first band. */
void pages_fold(pages *p);
/* How many there are; -1: not known. */
int64_t pages_count(const pages *p);
bool pages_are_units(const pages *p);

const reader *pages_reader(const pages *p);
/* The stream whose frames the pages are, before its first one: frames are read there instead, once. NULL if they are
 * none. */
y4m *pages_video(const pages *p);

/* Go to the next unit: 1, 0 after the last one, -1. */
int pages_unit(pages *p, fault *f);
/* Another pass over the unit. */
int pages_again(pages *p, fault *f);
/* 1 and a band of whole rows, valid until the next call; 0 at the end of the unit; -1. Colours are without alpha, also
 * where the file has them premultiplied. Missing samples are what is stored. */
int pages_next(pages *p, band *b, fault *f);

/* Copy a band to interleaved rows, `pitch` bytes apart. */
void pages_interleave(const band *b, int channels, unsigned char *out, size_t pitch);

/* Size and metadata of the page of the last band or, before the first band, of the first page. */
int64_t pages_height(const pages *p);
int64_t pages_width(const pages *p);
metadata *pages_about(const pages *p);

#endif
