/* Tones: the values of a pixel that are counted and mapped. For gray images the gray; for colours their luma, each
 * channel alone, all channels together, or the largest. */
#ifndef CLI_TONES_H
#define CLI_TONES_H

#include "apply/pages.h"

typedef enum tone_kind {
    TONE_CHANNEL = 0,
    TONE_LUMA,  /* Rec. 601, as --channel gray: its change is added to red, green and blue */
    TONE_VALUE, /* of HSV, the largest of red, green and blue: all three are scaled with it */
} tone_kind;

typedef struct tone {
    int channel; /* the first of three if the tone is computed from colours */
    int table;   /* which histogram counts it, and which map changes it */
    char name[24];
} tone;

typedef struct tones {
    tone_kind kind; /* of all tones */
    int count;
    int tables;
    tone *tone; /* [count] */
    histo_dtype dtype;
    unsigned char *values, *mapped; /* of the current rows, unless tones are channels */
    size_t room;
} tones;

/* Choose the tones by --color (or the command's default) and --channel; both may be NULL. */
int tones_choose(tones *t, const pages *p, const char *color, const char *channels, fault *f);
void tones_free(tones *t);

/* The rows of tone i. Valid until the next call. */
int tones_view(tones *t, int i, const band *b, histo_view *view, fault *f);

/* The result of a band of rows: interleaved samples, all channels of which hold their old values. */
typedef struct tone_rows {
    unsigned char *samples;
    histo_dtype dtype;
    int channels;
    int64_t rows, cols;
    double lo, hi; /* colours are clamped to this range */
} tone_rows;

/* Where to write the mapped values of tone i, after tones_view: in the result, or in memory of its own. */
histo_view tones_place(const tones *t, int i, const tone_rows *out);
/* Then change the result's colours as tone i was changed. */
void tones_put(const tones *t, int i, const tone_rows *out);

#endif
