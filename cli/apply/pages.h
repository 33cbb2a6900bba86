/* The pages of an input as bands of whole rows, from the top down, with all channels, in any number of passes: for
 * commands that map images to images. Files larger than memory are read again in each pass; data that take longer to
 * decode than to keep are kept if there is room. */
#ifndef CLI_PAGES_H
#define CLI_PAGES_H

#include "input/reader.h"
#include "input/readers/video/y4m_stream.h"

typedef struct pages pages;

/* each: every page is a unit with passes of its own, and is held in memory; otherwise all pages are one unit. */
pages *pages_open(const char *path, const read_options *options, bool each, fault *f);
void pages_close(pages *p);

/* Before the first one: make every page a unit, if there are several. */
void pages_each(pages *p);
/* Before the first band: make pages of the slices of an array of three or more dimensions. */
void pages_fold(pages *p);
/* The number of pages; -1: unknown. */
int64_t pages_count(const pages *p);
bool pages_are_units(const pages *p);

const reader *pages_reader(const pages *p);
/* If the pages are frames of a video stream: the stream, before its first frame; frames are then read there instead,
 * once. Else NULL. */
y4m *pages_video(const pages *p);

/* Advance to the next unit: 1, 0 after the last one, or -1. */
int pages_unit(pages *p, fault *f);
/* Start another pass over the unit. */
int pages_again(pages *p, fault *f);
/* 1 and a band of whole rows, valid until the next call; 0 at the end of the unit; -1. Colours are not premultiplied,
 * even if the file's are. Missing samples have their stored values. */
int pages_next(pages *p, band *b, fault *f);

/* Copy a band to interleaved rows, `pitch` bytes apart. */
void pages_interleave(const band *b, int channels, unsigned char *out, size_t pitch);

/* Size and metadata of the page of the last band or, before the first band, of the first page. */
int64_t pages_height(const pages *p);
int64_t pages_width(const pages *p);
metadata *pages_about(const pages *p);

#endif
