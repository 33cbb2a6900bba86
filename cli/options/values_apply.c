/* Options for image-to-image commands and tracking. */
#include "options/parse.h"
#include "options/values.h"

#include <math.h>
#include <string.h>

#include "base/text.h"

int value_window(settings *s, char *text, fault *f)
{
    return parse_region("window", text, s->window, f);
}

int value_model_roi(settings *s, char *text, fault *f)
{
    return parse_region("model-roi", text, s->model_roi, f);
}

/* States of a search are stored until all are scored: at most 17 million. */
int value_state_range(settings *s, char *text, fault *f)
{
    enum { MOST_PIXELS = 256, MOST_SCALES = 32 };
    int64_t *range = s->state_range;
    range[2] = 1;
    s->has_state_range = parse_naturals(text, "x,", range, 3) >= 2 && range[0] <= MOST_PIXELS &&
                         range[1] <= MOST_PIXELS && range[2] <= MOST_SCALES;
    if (s->has_state_range) return 0;
    return fault_set(f, EXIT_USAGE,
                     "--search takes ranges of x and y, up to %d, and of the scale, up to %d, as in 8x8 or 16x4x1, not "
                     "'%.40s'",
                     MOST_PIXELS, MOST_SCALES, text);
}

enum { MOST_TILES = 1 << 16 };

/* Integers of at least 1, as in 8x8: returns how many; 0 if the text is anything else. */
static int parse_sizes(const char *text, int64_t *sizes, int most)
{
    const int count = parse_naturals(text, "x,", sizes, most);
    for (int i = 0; i < count; i++)
        if (sizes[i] < 1 || sizes[i] > MOST_TILES) return 0;
    return count;
}

int value_tiles(settings *s, char *text, fault *f)
{
    int64_t sizes[3] = {0, 0, 1};
    if (parse_sizes(text, sizes, 3) < 2)
        return fault_set(
            f, EXIT_USAGE,
            "--tiles takes numbers of columns and rows of tiles, and of pages, as in 8x8 or 8x8x4, not '%s'", text);
    for (int i = 0; i < 3; i++)
        s->tiles[2 - i] = sizes[i];
    return 0;
}

int value_tile_size(settings *s, char *text, fault *f)
{
    int64_t sizes[2];
    if (parse_sizes(text, sizes, 2) < 2)
        return fault_set(f, EXIT_USAGE, "--tile-size takes width and height in pixels, as in 64x64, not '%s'", text);
    s->tile_size[0] = sizes[1];
    s->tile_size[1] = sizes[0];
    return 0;
}

int value_clip(settings *s, char *text, fault *f)
{
    if (text_to_f64(text, &s->clip) && !isnan(s->clip)) return 0;
    return fault_set(f, EXIT_USAGE, "--clip takes a number such as 2, or 0 for no limit, not '%s'", text);
}

int value_landmarks(settings *s, char *text, fault *f)
{
    enum { MOST = 60 };
    static const char itk[] = "itk:";
    const size_t skip = strncmp(text, itk, sizeof itk - 1) == 0 ? sizeof itk - 1 : 0;
    int64_t count;
    s->landmarks_itk = skip > 0;
    if (!text_to_i64(text + skip, &count) || count < (skip ? 1 : 2) || count > MOST)
        return fault_set(f, EXIT_USAGE, "--landmarks takes a whole number from 2 to %d, or itk:N, not '%s'", MOST,
                         text);
    s->landmarks = (int)count;
    return 0;
}

int value_8_bits(settings *s, char *text, fault *f)
{
    s->to_8_bits = strcmp(text, "8bit") == 0;
    if (s->to_8_bits) return 0;
    return fault_set(f, EXIT_USAGE, "--to takes 8bit, for a result of 8 bits, not '%.40s'", text);
}

int value_target_or_8_bits(settings *s, char *text, fault *f)
{
    return strcmp(text, "8bit") == 0 ? value_8_bits(s, text, f) : value_target(s, text, f);
}

int value_target(settings *s, char *text, fault *f)
{
    char ends[2 * TEXT_NUMBER_BYTES];
    char *colon = strlen(text) < sizeof ends ? strchr(strcpy(ends, text), ':') : NULL;
    if (colon) *colon = '\0';
    s->has_target = colon && text_to_f64(ends, &s->target[0]) && text_to_f64(colon + 1, &s->target[1]) &&
                    isfinite(s->target[0]) && isfinite(s->target[1]) && s->target[0] != s->target[1];
    if (s->has_target) return 0;
    return fault_set(f, EXIT_USAGE, "'%s' is not a range of results: --to takes two different numbers, LO:HI", text);
}

int value_split_method(settings *s, char *text, fault *f)
{
    s->split_name = text;
    if (histo_split_method_parse(text, &s->split) == HISTO_OK) return 0;
    return fault_set(f, EXIT_USAGE,
                     "--method is otsu, li, yen, isodata, triangle, minimum, mean or max-entropy, not '%s'", text);
}

int value_sigma(settings *s, char *text, fault *f)
{
    if (text_to_f64(text, &s->sigma) && s->sigma > 0 && isfinite(s->sigma)) return 0;
    return fault_set(f, EXIT_USAGE, "--sigma takes a number above 0, as in --sigma 6, not '%.40s'", text);
}
