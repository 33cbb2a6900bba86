/* Counts a file of floats that is larger than the buffer it is read into: once to find the range, once to count. Both
 * passes need the same memory for a file of any size. Usage: stream_file FILE (without one, counts a file that it
 * makes). */
#include "must.h"

static float buffer[4096];

static FILE *example_file(void)
{
    FILE *file = tmpfile();
    for (int i = 0; file && i < 100000; i++) {
        const float sample = (float)(i % 1000);
        fwrite(&sample, sizeof sample, 1, file);
    }
    return file;
}

/* The next piece of the file, or false at its end. */
static bool next(FILE *file, histo_view *piece)
{
    size_t n = fread(buffer, sizeof buffer[0], sizeof buffer / sizeof buffer[0], file);
    *piece = histo_view_1d(buffer, HISTO_F32, (int64_t)n);
    return n > 0;
}

int main(int argc, char **argv)
{
    FILE *file = argc > 1 ? fopen(argv[1], "rb") : example_file();
    if (!file) return perror("stream_file"), EXIT_FAILURE;
    histo_view piece;
    histo_survey *survey;
    histo_axis axis;
    bool more;
    histo_survey_options five_bins = HISTO_DEFAULTS;
    five_bins.bins = 5;
    must(histo_survey_create(&survey, HISTO_F32, &five_bins));
    while (histo_survey_next_pass(survey, &more) == HISTO_OK && more)
        for (rewind(file); next(file, &piece);)
            must(histo_survey_add(survey, &piece, NULL));
    must(histo_survey_axis(survey, &axis));
    histo_survey_destroy(survey);

    uint64_t counts[5];
    histo_hist *hist;
    must(histo_hist_create(&hist, 1, &axis, NULL));
    for (rewind(file); next(file, &piece);)
        must(histo_hist_fill(hist, &piece, NULL));
    must(histo_hist_read_counts(hist, HISTO_BINS, counts, 5, NULL));
    printf("from %g to %g:", axis.lo, axis.hi);
    for (int i = 0; i < 5; i++)
        printf(" %ju", (uintmax_t)counts[i]);
    printf("\n");
    histo_hist_destroy(hist);
    fclose(file);
}
