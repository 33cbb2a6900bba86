/* Translates names, letters and numbers into channels. A list is first looked up as a whole, so that columns with
 * commas in their names can be selected; then item by item. */
#include "input/select.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"

static bool is_image(const reader *r)
{
    return r->model != CHANNELS_PLAIN;
}

/* Are the channels luma, Cb and Cr? */
static bool is_video(const reader *r)
{
    return r->model == CHANNELS_YUV || r->model == CHANNELS_YUVA;
}

bool choice_has_colors(const reader *r)
{
    bool array = r->model == CHANNELS_PLAIN && !r->names && !r->numeric;
    return r->model == CHANNELS_RGB || r->model == CHANNELS_RGBA || (array && (r->channels == 3 || r->channels == 4));
}

int choice_alpha(const reader *r)
{
    if (r->model == CHANNELS_GRAY_ALPHA) return 1;
    return r->model == CHANNELS_RGBA || r->model == CHANNELS_YUVA ? 3 : NO_SOURCE;
}

static bool is_numeric(const reader *r, int channel)
{
    return !r->numeric || r->numeric[channel];
}

/* "a, b, c" for messages, shortened if long. */
static void list_channels(const reader *r, bool numeric_only, char *text, size_t size)
{
    enum { MAX_LISTED = 12 };
    size_t length = 0;
    int listed = 0;
    text[0] = '\0';
    for (int c = 0; c < r->channels && length < size; c++) {
        if (numeric_only && !is_numeric(r, c)) continue;
        if (listed++ == MAX_LISTED) {
            snprintf(text + length, size - length, ", …");
            return;
        }
        const char *comma = listed > 1 ? ", " : "";
        int more = r->names && r->names[c][0] ? snprintf(text + length, size - length, "%s%.40s", comma, r->names[c])
                                              : snprintf(text + length, size - length, "%s%d", comma, c);
        length += (size_t)more;
    }
}

/* How many columns have this name; *last is the last one. */
static int count_named(const reader *r, const char *item, int (*compare)(const char *, const char *), int *last)
{
    int hits = 0;
    for (int c = 0; r->names && c < r->channels; c++)
        if (compare(r->names[c], item) == 0) {
            *last = c;
            hits++;
        }
    return hits;
}

static int fault_unknown(const reader *r, const char *item, fault *f)
{
    char known[600];
    const char *name = input_name(r->in);
    if (r->model == CHANNELS_RGB || r->model == CHANNELS_RGBA)
        return fault_set(f, EXIT_USAGE, "%s has no channel '%.60s': choose among r, g, b, %sgray and all", name, item,
                         r->model == CHANNELS_RGBA ? "a, " : "");
    if (r->model == CHANNELS_CMYK)
        return fault_set(f, EXIT_USAGE, "%s has no channel '%.60s': choose among c, m, y, k and all", name, item);
    if (is_video(r))
        return fault_set(f, EXIT_USAGE, "%s has no channel '%.60s': choose among y, u, v, %sgray and all", name, item,
                         r->model == CHANNELS_YUVA ? "a, " : "");
    if (is_image(r))
        return fault_set(f, EXIT_USAGE, "%s is a gray image and has no channel '%.60s': choose among gray, %sall", name,
                         item, r->model == CHANNELS_GRAY_ALPHA ? "a and " : "0 and ");
    int last, same = count_named(r, item, strcasecmp, &last);
    if (same > 1)
        return fault_set(f, EXIT_USAGE, "%s has %d columns called '%.60s': give the number of one, from 0 to %d", name,
                         same, item, r->channels - 1);
    list_channels(r, false, known, sizeof known);
    if (r->names)
        return fault_set(f, EXIT_USAGE, "%s has no column '%.60s': it has %s (or their numbers, 0 to %d)", name, item,
                         known, r->channels - 1);
    if (r->channels == 1) return fault_set(f, EXIT_USAGE, "%s has one column, 0, and no '%.60s'", name, item);
    return fault_set(f, EXIT_USAGE, "%s has no column '%.60s': its columns have no names, only numbers, 0 to %d", name,
                     item, r->channels - 1);
}

static int channel_by_name(const reader *r, const char *item)
{
    int channel = NO_SOURCE, hits = count_named(r, item, strcmp, &channel);
    if (hits == 0) hits = count_named(r, item, strcasecmp, &channel);
    return hits == 1 ? channel : NO_SOURCE;
}

static const char channel_letters[3][5] = {"rgba", "cmyk", "yuva"};

static int letters_of(const reader *r)
{
    return r->model == CHANNELS_CMYK ? 1 : is_video(r) ? 2 : 0;
}

static int channel_by_letter(const reader *r, const char *item)
{
    static const char *const names[3][4] = {
        {"red", "green", "blue", "alpha"}, {"cyan", "magenta", "yellow", "black"}, {"luma", "cb", "cr", "alpha"}};
    const int set = letters_of(r);
    for (int i = 0; i < 4; i++) {
        if (strcasecmp(item, names[set][i]) != 0 && !(item[0] == channel_letters[set][i] && item[1] == '\0')) continue;
        if ((set || choice_has_colors(r)) && i < r->channels) return i;
        return i == 3 ? choice_alpha(r) : NO_SOURCE;
    }
    return NO_SOURCE;
}

static int channel_by_number(const reader *r, const char *item)
{
    int64_t number;
    return text_to_i64(item, &number) && number >= 0 && number < r->channels ? (int)number : NO_SOURCE;
}

/* The name of a channel in results; NULL if it has none. */
static const char *channel_name(const reader *r, int channel, char room[16])
{
    if (r->names && r->names[channel][0]) return r->names[channel];
    if (r->model == CHANNELS_GRAY || r->model == CHANNELS_GRAY_ALPHA) return channel == 0 ? "gray" : "a";
    if (is_image(r))
        snprintf(room, 16, "%c", channel_letters[letters_of(r)][channel]);
    else if (r->channels > 1)
        snprintf(room, 16, "%d", channel);
    else
        return NULL;
    return room;
}

static int add_source(choice *c, const reader *r, int channel, bool luma, fault *f)
{
    sample_source *more = realloc(c->sources, (size_t)(c->total + 1) * sizeof *more);
    if (!more) return fault_set(f, EXIT_DATA, "no memory for the channels of %s", input_name(r->in));
    c->sources = more;
    sample_source *made = &more[c->total];
    *made = (sample_source){.dtype = r->dtypes[channel], .luma = luma, .channel = channel};
    if (luma && (made->dtype >= HISTO_F16 || histo_dtype_size(made->dtype) == 8)) made->dtype = HISTO_F64;
    char room[16];
    const char *name = luma ? "gray" : channel_name(r, channel, room);
    if (name && !(made->name = strdup(name)))
        return fault_set(f, EXIT_DATA, "no memory for the channels of %s", input_name(r->in));
    c->total++;
    return 0;
}

static int add_all(choice *c, const reader *r, bool with_alpha, fault *f)
{
    for (int i = 0; i < r->channels; i++)
        if (is_numeric(r, i) && (with_alpha || i != choice_alpha(r)))
            if (add_source(c, r, i, false, f) != 0) return -1;
    return 0;
}

/* Look up one name, letter or number; false, without a fault, if there is no such channel. */
static bool find_item(const reader *r, const char *item, int *channel, bool *luma)
{
    *luma = false;
    *channel = channel_by_name(r, item);
    if (*channel == NO_SOURCE && (strcasecmp(item, "gray") == 0 || strcasecmp(item, "grey") == 0)) {
        *luma = choice_has_colors(r);
        if (*luma || r->model == CHANNELS_GRAY || r->model == CHANNELS_GRAY_ALPHA || is_video(r)) *channel = 0;
    }
    if (*channel == NO_SOURCE) *channel = channel_by_letter(r, item);
    if (*channel == NO_SOURCE) *channel = channel_by_number(r, item);
    return *channel != NO_SOURCE;
}

static int add_item(choice *c, const reader *r, const char *item, fault *f)
{
    int channel;
    bool luma;
    if (find_item(r, item, &channel, &luma)) return add_source(c, r, channel, luma, f);
    if (strcasecmp(item, "all") == 0) return add_all(c, r, true, f);
    return fault_unknown(r, item, f);
}

static int add_list(choice *c, const reader *r, const char *list, fault *f)
{
    int channel;
    bool luma;
    if (find_item(r, list, &channel, &luma)) return add_source(c, r, channel, luma, f);
    char *items = strdup(list), *rest = items;
    if (!items) return fault_set(f, EXIT_DATA, "no memory for the channels of %s", input_name(r->in));
    int failed = 0;
    for (char *item; !failed && (item = strsep(&rest, ",")) != NULL;)
        failed = add_item(c, r, text_trim(item), f);
    free(items);
    return failed;
}

/* The default: an image's colours, all channels of an array, or the only numeric column. */
static int add_default(choice *c, const reader *r, fault *f)
{
    int numbers = 0;
    for (int i = 0; r->numeric && i < r->channels; i++)
        numbers += r->numeric[i];
    if (numbers < 2) return add_all(c, r, false, f);
    char known[600];
    list_channels(r, true, known, sizeof known);
    return fault_set(f, EXIT_USAGE, "%s has %d columns of numbers: choose with --column among %s (or all)",
                     input_name(r->in), numbers, known);
}

/* All columns were requested, and none is numeric. */
static int fault_no_numbers(const reader *r, fault *f)
{
    char known[600];
    list_channels(r, false, known, sizeof known);
    return fault_set(f, EXIT_DATA, "%s has no column of numbers among %s: name another file, or give --delimiter",
                     input_name(r->in), known);
}

/* Add a source that is not counted itself. */
static int add_extra(choice *c, const reader *r, const char *item, int *index, fault *f)
{
    int before = c->total;
    if (add_item(c, r, item, f) != 0) return -1;
    *index = before;
    if (c->total == before + 1) return 0;
    return fault_set(f, EXIT_USAGE, "'%.60s' names %d %ss of %s where one is expected: name one", item,
                     c->total - before, r->numeric ? "column" : "channel", input_name(r->in));
}

static int select_in_reader(choice *c, reader *r, fault *f)
{
    int *wanted = malloc((size_t)c->total * 3 * sizeof *wanted);
    if (!wanted) return fault_set(f, EXIT_DATA, "no memory for the channels of %s", input_name(r->in));
    int views = 0;
    for (int i = 0; i < c->total; i++) {
        sample_source *s = &c->sources[i];
        s->view = views;
        for (int k = 0; k < (s->luma ? 3 : 1); k++)
            wanted[views++] = s->channel + k;
    }
    int failed = r->select(r, wanted, views, f);
    free(wanted);
    return failed;
}

static int find_sources(choice *c, const reader *r, const settings *s, fault *f)
{
    c->joint = s->joint != NULL;
    if (c->joint && s->channels)
        return fault_set(f, EXIT_USAGE, "--joint %s already selects what is counted: leave --channel and --column out",
                         s->joint);
    int failed = c->joint      ? add_list(c, r, s->joint, f)
                 : s->channels ? add_list(c, r, s->channels, f)
                               : add_default(c, r, f);
    if (failed) return -1;
    if (c->total == 0) return fault_no_numbers(r, f);
    c->count = c->total;
    if (c->joint && (c->count < 2 || c->count > HISTO_MAX_AXES))
        return fault_set(f, EXIT_USAGE, "--joint %s names %d %s%s of %s: name 2 to %d, as in --joint A,B", s->joint,
                         c->count, r->numeric ? "column" : "channel", c->count == 1 ? "" : "s", input_name(r->in),
                         HISTO_MAX_AXES);
    if (s->weights && add_extra(c, r, s->weights, &c->weights, f) != 0) return -1;
    if (s->has_where && s->where_column && add_extra(c, r, s->where_column, &c->where, f) != 0) return -1;
    if (s->has_where && c->joint && !s->where_column)
        return fault_set(f, EXIT_USAGE,
                         "with --joint, --where must say by which channel to filter: --where NAME=lo:hi");
    return 0;
}

int choice_make(choice *c, reader *r, const settings *s, fault *f)
{
    *c = (choice){.weights = NO_SOURCE, .where = NO_SOURCE};
    if (find_sources(c, r, s, f) == 0 && select_in_reader(c, r, f) == 0) return 0;
    choice_free(c);
    return -1;
}

int choice_list(choice *c, const reader *r, const char *list, fault *f)
{
    *c = (choice){.weights = NO_SOURCE, .where = NO_SOURCE};
    if (add_list(c, r, list, f) == 0) return 0;
    choice_free(c);
    return -1;
}

void choice_free(choice *c)
{
    for (int i = 0; i < c->total; i++)
        free(c->sources[i].name);
    free(c->sources);
    *c = (choice){.weights = NO_SOURCE, .where = NO_SOURCE};
}
