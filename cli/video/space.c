#include "video/space.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "input/samples/select.h"

/* Computed spaces. The letters are the initials of their channels' names. */
static const struct {
    const char *name, *letters, *channels[3], *axes;
} computed[] = {
    [SPACE_HSV] = {"hsv", "hsv", {"hue", "saturation", "value"}, "h:30,s:32"},
    [SPACE_OPPONENT] = {"opponent", "bgi", {"blue-green", "green-red", "intensity"}, "b:8,g:8,i:4"},
};

/* The letters of the channels in the file. */
static const char *letters_of(const reader *r)
{
    static const char *const letters[] = {
        [CHANNELS_GRAY] = "y",    [CHANNELS_GRAY_ALPHA] = "y", [CHANNELS_RGB] = "rgb", [CHANNELS_RGBA] = "rgb",
        [CHANNELS_CMYK] = "cmyk", [CHANNELS_YUV] = "yuv",      [CHANNELS_YUVA] = "yuv"};
    if (r->model != CHANNELS_PLAIN) return letters[r->model];
    return choice_has_colors(r) ? "rgb" : "y";
}

/* The values of a channel. */
static double values_of(const space *sp, const reader *r)
{
    if (sp->kind) return 256;
    return r->dtypes[0] == HISTO_U8 ? 256 : (double)(1 << (r->video ? r->video->bits : 16));
}

/* OpenCV finds the bin of a hue with the double bins / 180. If that is rounded down, the hues at some edges are in the
 * bin below: for 26 bins, 90. Edges at the first hue of each bin give the same. */
static histo_axis hue_axis(space *sp, int64_t bins)
{
    if (bins > SPACE_HUES) return histo_axis_regular(bins, 0, SPACE_HUES);
    const double scale = (double)bins / SPACE_HUES;
    int hue = 0;
    for (int64_t bin = 0; bin < bins; bin++) {
        while ((int64_t)(hue * scale) < bin)
            hue++;
        sp->hue_edges[bin] = hue;
    }
    sp->hue_edges[bins] = SPACE_HUES;
    return histo_axis_variable(bins, sp->hue_edges);
}

/* The channel with this letter or name. */
static const char *find_letter(const char *letters, const char *name, size_t length)
{
    static const char *const names[][2] = {{"hsv", "hue"},        {"hsv", "saturation"}, {"hsv", "value"},
                                           {"bgi", "blue-green"}, {"bgi", "green-red"},  {"bgi", "intensity"},
                                           {"rgb", "red"},        {"rgb", "green"},      {"rgb", "blue"},
                                           {"cmyk", "cyan"},      {"cmyk", "magenta"},   {"cmyk", "yellow"}};
    if (length == 1) return strchr(letters, *name);
    if (*letters == 'y' && length == 4 && (memcmp(name, "gray", 4) == 0 || memcmp(name, "luma", 4) == 0))
        return letters;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i][0], letters) == 0 && strlen(names[i][1]) == length &&
            memcmp(names[i][1], name, length) == 0)
            return strchr(letters, *name);
    return NULL;
}

/* One item, such as h:30. */
static int add_axis(space *sp, const char *item, const char *letters, const reader *r, fault *f)
{
    const char *colon = strchr(item, ':');
    const char *letter = colon && colon > item ? find_letter(letters, item, (size_t)(colon - item)) : NULL;
    int64_t bins = 0;
    if (!letter || !text_to_i64(colon + 1, &bins) || bins < 1 || bins > 65536)
        return fault_set(f, EXIT_USAGE,
                         "--axes takes channels of '%s' and their numbers of bins, from 1 to 65536, as in %c:32, not "
                         "'%.40s'",
                         letters, *letters, item);
    for (int a = 0; a < sp->naxes; a++)
        if (sp->channels[a] == (int)(letter - letters))
            return fault_set(f, EXIT_USAGE, "--axes names '%c' twice: name it once", *letter);
    sp->channels[sp->naxes] = (int)(letter - letters);
    sp->axes[sp->naxes] =
        sp->kind == SPACE_HSV && *letter == 'h' ? hue_axis(sp, bins) : histo_axis_regular(bins, 0, values_of(sp, r));
    sp->naxes++;
    return 0;
}

static int add_axes(space *sp, const char *list, const char *letters, const reader *r, fault *f)
{
    char *items = strdup(list), *rest = items;
    if (!items) return fault_set(f, EXIT_DATA, "no memory for the axes");
    int failed = 0;
    for (char *item; !failed && (item = strsep(&rest, ",")) != NULL;)
        failed = add_axis(sp, text_trim(item), letters, r, f);
    free(items);
    return failed;
}

const char *space_axis_name(const space *sp, int a, const reader *r)
{
    static const char *const letters[] = {['r'] = "r", ['g'] = "g", ['b'] = "b", ['y'] = "y", ['u'] = "u",
                                          ['v'] = "v", ['c'] = "c", ['m'] = "m", ['k'] = "k"};
    if (sp->kind) return computed[sp->kind].channels[sp->channels[a]];
    return letters[(int)letters_of(r)[sp->channels[a]]];
}

/* The channels listed by a name such as "hue,saturation" or "r,g,b"; their number, or 0 if it is not such a list. */
static int channels_of(const char *name, const char *letters, int channels[SPACE_CHANNELS])
{
    int count = 0;
    for (const char *item = name; item && *item;) {
        const size_t length = strcspn(item, ",");
        const char *letter = length ? find_letter(letters, item, length) : NULL;
        if (!letter || count == SPACE_CHANNELS) return 0;
        channels[count++] = (int)(letter - letters);
        item += length;
        if (*item == ',') item++;
    }
    return count;
}

color_space space_of_name(const char *name)
{
    int channels[SPACE_CHANNELS];
    const bool in_words = name && strlen(name) > 2 && name[1] != ',';
    for (color_space kind = SPACE_HSV; in_words && kind <= SPACE_OPPONENT; kind++)
        if (channels_of(name, computed[kind].letters, channels) > 0) return kind;
    return SPACE_NONE;
}

const char *space_name(color_space kind)
{
    return computed[kind].name;
}

static color_space find_space(const char *name)
{
    for (color_space kind = SPACE_HSV; kind <= SPACE_OPPONENT; kind++)
        if (strcmp(name, computed[kind].name) == 0) return kind;
    return SPACE_NONE;
}

/* Without --axes, the axes are the channels that the histogram's name lists, or the first ones. */
static int take_saved(space *sp, const histo_hist *saved, const char *name, const settings *s, const char *letters,
                      fault *f)
{
    const int channels = (int)strlen(letters);
    const int naxes = histo_hist_naxes(saved);
    if (s->axes ? naxes != sp->naxes : naxes > channels)
        return fault_set(f, EXIT_USAGE, "the model %s has %d %s where %s %d: name its channels with --axes", s->model,
                         naxes, naxes == 1 ? "axis" : "axes", s->axes ? "--axes names" : "there are at most",
                         s->axes ? sp->naxes : channels);
    int named[SPACE_CHANNELS];
    const bool is_named = channels_of(name, letters, named) == naxes;
    sp->naxes = naxes;
    for (int a = 0; a < naxes; a++) {
        const histo_axis axis = histo_hist_axis(saved, a);
        if (!s->axes) sp->channels[a] = is_named ? named[a] : a;
        if (s->axes && axis.bins != sp->axes[a].bins)
            return fault_set(f, EXIT_USAGE, "axis %d of the model %s has %lld bins, and --axes %s says another number",
                             a, s->model, (long long)axis.bins, s->axes);
        sp->axes[a] = axis;
    }
    return 0;
}

int space_choose(space *sp, const reader *r, const settings *s, const histo_hist *saved, const char *saved_name,
                 fault *f)
{
    const char *name = input_name(r->in), *letters = letters_of(r);
    const bool colored = strcmp(letters, "rgb") == 0 || strcmp(letters, "yuv") == 0;
    *sp = (space){.kind = s->space ? find_space(s->space) : colored ? SPACE_HSV : SPACE_NONE};
    for (int c = 0; c < r->channels; c++)
        if (r->dtypes[c] != HISTO_U8 && r->dtypes[c] != HISTO_U16)
            return fault_set(f, EXIT_DATA, "%s has %s samples, but colours are looked for in images of u8 or u16", name,
                             histo_dtype_name(r->dtypes[c]));
    if (sp->kind && !colored)
        return fault_set(f, EXIT_USAGE, "%s has no colours for --space %s: choose --space none", name,
                         space_name(sp->kind));
    static const char *const defaults[] = {['r'] = "r:16,g:16,b:16", ['c'] = "c:16,m:16,y:16", ['y'] = "y:256"};
    const char *list = s->axes                       ? s->axes
                       : sp->kind                    ? computed[sp->kind].axes
                       : strcmp(letters, "yuv") == 0 ? "u:32,v:32"
                                                     : defaults[(int)*letters];
    if (sp->kind) letters = computed[sp->kind].letters;
    if (add_axes(sp, list, letters, r, f) != 0) return -1;
    return saved ? take_saved(sp, saved, saved_name, s, letters, f) : 0;
}
