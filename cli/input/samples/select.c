/* Maps names, letters and numbers to channels. A list is first looked up as a whole, so that columns with commas in
 * their names can be selected; then item by item: a name, a number, a range of numbers, or a pattern. */
#define _GNU_SOURCE
#include "input/samples/select.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "options/nearest.h"

static int fault_no_memory(const reader *r, fault *f)
{
    return fault_set(f, EXIT_DATA, "no memory for the channels of %s", input_name(r->in));
}

static bool is_image(const reader *r)
{
    return r->model != CHANNELS_PLAIN;
}

/* Whether the channels are luma, Cb and Cr. */
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
            snprintf(text + length, size - length, ", … ('histo columns' lists all)");
            return;
        }
        const char *comma = listed > 1 ? ", " : "";
        int more = r->names && r->names[c][0] ? snprintf(text + length, size - length, "%s%.40s", comma, r->names[c])
                                              : snprintf(text + length, size - length, "%s%d", comma, c);
        length += (size_t)more;
    }
}

/* The number of columns with this name; *last is the last one. */
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
    char channels_text[600];
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
    list_channels(r, false, channels_text, sizeof channels_text);
    nearest meant = {.word = item};
    for (int c = 0; r->names && c < r->channels; c++) {
        const char *dot = strrchr(r->names[c], '.'); /* of a nested column */
        nearest_try(&meant, r->names[c]);
        if (dot && strcasecmp(dot + 1, item) == 0) {
            meant.best = r->names[c];
            break;
        }
    }
    if (meant.best)
        return fault_set(f, EXIT_USAGE, "%s has no column '%.60s': did you mean '%.60s'? It has %s", name, item,
                         meant.best, channels_text);
    if (r->names)
        return fault_set(f, EXIT_USAGE, "%s has no column '%.60s': it has %s (or their numbers, 0 to %d)", name, item,
                         channels_text, r->channels - 1);
    if (r->channels == 1)
        return fault_set(f, EXIT_USAGE, "%s has one column, 0, and no '%.60s'%s", name, item,
                         r->numeric ? ": if its first row is a name, add --header yes; --skip-lines N leaves titles out"
                                    : "");
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

static int letteroptions(const reader *r)
{
    return r->model == CHANNELS_CMYK ? 1 : is_video(r) ? 2 : 0;
}

static int channel_by_letter(const reader *r, const char *item)
{
    static const char *const names[3][4] = {
        {"red", "green", "blue", "alpha"}, {"cyan", "magenta", "yellow", "black"}, {"luma", "cb", "cr", "alpha"}};
    const int set = letteroptions(r);
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

const char *choice_channel_name(const reader *r, int channel, char room[16])
{
    if (r->names && r->names[channel][0]) return r->names[channel];
    if (r->model == CHANNELS_GRAY || r->model == CHANNELS_GRAY_ALPHA) return channel == 0 ? "gray" : "a";
    if (is_image(r))
        snprintf(room, 16, "%c", channel_letters[letteroptions(r)][channel]);
    else if (r->channels > 1)
        snprintf(room, 16, "%d", channel);
    else
        return NULL;
    return room;
}

static int add_source(choice *c, const reader *r, int channel, bool luma, fault *f)
{
    sample_source *more = realloc(c->sources, (size_t)(c->total + 1) * sizeof *more);
    if (!more) return fault_no_memory(r, f);
    c->sources = more;
    sample_source *made = &more[c->total];
    *made = (sample_source){.dtype = r->dtypes[channel], .luma = luma, .channel = channel};
    if (luma && (made->dtype >= HISTO_F16 || histo_dtype_size(made->dtype) == 8)) made->dtype = HISTO_F64;
    char room[16];
    const char *name = luma ? "gray" : choice_channel_name(r, channel, room);
    if (name && !(made->name = strdup(name))) return fault_no_memory(r, f);
    c->total++;
    return 0;
}

static int add_all(choice *c, const reader *r, bool with_alpha, fault *f)
{
    c->listed = true;
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

/* Add the channels of a range such as 3-5, if item is one. */
static int add_range(choice *c, const reader *r, const char *item, fault *f)
{
    const char *dash = strchr(item, '-');
    char first[16];
    int64_t from, to;
    if (!dash || dash == item || dash - item >= (int)sizeof first) return 0;
    snprintf(first, sizeof first, "%.*s", (int)(dash - item), item);
    if (!text_to_i64(first, &from) || !text_to_i64(dash + 1, &to) || from < 0 || from > to) return 0;
    if (to >= r->channels)
        return fault_set(f, EXIT_USAGE, "%s has no %s %" PRId64 ": their numbers are 0 to %d", input_name(r->in),
                         r->numeric ? "column" : "channel", to, r->channels - 1);
    for (; from <= to; from++) {
        if (add_source(c, r, (int)from, false, f) != 0) return -1;
        c->sources[c->total - 1].numbered = true;
    }
    return 0;
}

/* Add the columns whose names match a pattern such as Temp*, if item is one. */
static int add_pattern(choice *c, const reader *r, const char *item, fault *f)
{
    if (!r->names || !strpbrk(item, "*?[")) return 0;
    c->listed = true;
    for (int i = 0; i < r->channels; i++)
        if (fnmatch(item, r->names[i], FNM_CASEFOLD) == 0 && add_source(c, r, i, false, f) != 0) return -1;
    return 0;
}

static int add_found(choice *c, const reader *r, const char *item, int channel, bool luma, fault *f)
{
    if (add_source(c, r, channel, luma, f) != 0) return -1;
    c->sources[c->total - 1].numbered = channel_by_name(r, item) == NO_SOURCE;
    return 0;
}

static int add_item(choice *c, const reader *r, const char *item, fault *f)
{
    int channel;
    bool luma;
    if (find_item(r, item, &channel, &luma)) return add_found(c, r, item, channel, luma, f);
    if (strcasecmp(item, "all") == 0) return add_all(c, r, true, f);
    const int before = c->total;
    if (add_range(c, r, item, f) != 0 || (c->total == before && add_pattern(c, r, item, f) != 0)) return -1;
    c->unknown = c->total == before;
    return c->unknown ? fault_unknown(r, item, f) : 0;
}

static int add_list(choice *c, const reader *r, const char *list, fault *f)
{
    int channel;
    bool luma;
    if (find_item(r, list, &channel, &luma)) return add_found(c, r, list, channel, luma, f);
    char *items = strdup(list), *rest = items;
    if (!items) return fault_no_memory(r, f);
    int failed = 0;
    for (char *item; !failed && (item = text_list_item(&rest)) != NULL;)
        failed = add_item(c, r, item, f);
    free(items);
    return failed;
}

/* Add the lists of a repeated option. */
static int add_lists(choice *c, const reader *r, const char *lists, fault *f)
{
    const char divider[] = {LIST_DIVIDER, '\0'};
    char *copy = strdup(lists), *rest = copy;
    if (!copy) return fault_no_memory(r, f);
    int failed = 0;
    for (char *list; !failed && (list = strsep(&rest, divider)) != NULL;)
        failed = add_list(c, r, list, f);
    free(copy);
    return failed;
}

/* Whether an option uses this channel for something other than counting. */
static bool has_purpose(const reader *r, const settings *s, int channel)
{
    const char *const items[] = {s->weights, s->by};
    bool has = false;
    for (int i = 0; i < 2; i++) {
        int found;
        bool luma;
        has = has || (items[i] && find_item(r, items[i], &found, &luma) && found == channel);
    }
    return has;
}

/* The default: an image's colours, all channels of an array, or the numeric columns, if there are few. */
static int add_default(choice *c, const reader *r, const settings *s, fault *f)
{
    enum { FEW = 6 };
    c->listed = true;
    if (!r->numeric) return add_all(c, r, false, f);
    if (r->channels == 1) return add_source(c, r, 0, false, f);
    int numbers = 0;
    for (int i = 0; i < r->channels; i++)
        numbers += is_numeric(r, i) && !has_purpose(r, s, i);
    if (numbers > (s->by ? 1 : FEW)) {
        char channels_text[600];
        list_channels(r, true, channels_text, sizeof channels_text);
        return fault_set(f, EXIT_USAGE, "%s has %d columns of numbers: choose with --column among %s (or all)",
                         input_name(r->in), numbers, channels_text);
    }
    for (int i = 0; i < r->channels; i++)
        if (is_numeric(r, i) && !has_purpose(r, s, i) && add_source(c, r, i, false, f) != 0) return -1;
    return 0;
}

/* All columns were requested, and none is numeric. */
static int fault_no_numbers(const reader *r, fault *f)
{
    char channels_text[600];
    list_channels(r, false, channels_text, sizeof channels_text);
    return fault_set(f, EXIT_DATA,
                     "%s has no column of numbers among %s: choose strings to count with --column, or give --delimiter",
                     input_name(r->in), channels_text);
}

/* Add a source that is not counted itself. */
static int add_extra(choice *c, const reader *r, const char *item, int *index, fault *f)
{
    int before = c->total, channel;
    bool luma;
    const bool whole = find_item(r, item, &channel, &luma);
    if ((whole ? add_item(c, r, item, f) : add_list(c, r, item, f)) != 0) return -1;
    *index = before;
    if (c->total == before + 1) return 0;
    return fault_set(f, EXIT_USAGE, "'%.60s' names %d %ss of %s where one is expected: name one", item,
                     c->total - before, r->numeric ? "column" : "channel", input_name(r->in));
}

/* The kind of a channel's values, unless options say otherwise. */
static values_kind kind_of(const reader *r, int channel)
{
    return r->takes_forms && r->kinds ? r->kinds[channel] : VALUES_NUMBERS;
}

/* Whether a column of booleans is counted by value, false and true, as in text: no option asks for numbers. */
static bool counts_truths(const reader *r, const settings *s, int channel)
{
    const bool hist = strcmp(s->command, "hist") == 0 || strcmp(s->command, "explain") == 0;
    const bool numbers = s->bins || s->range || s->edges || s->width || s->log_bins || s->stats || s->quantiles ||
                         s->weights || s->joint || s->compare || s->live || s->has_where || s->segments;
    return hist && !numbers && r->takes_forms && r->booleans && r->booleans[channel];
}

/* The times, or spans, that the file says its numbers represent. */
static time_epoch stated_unit(const reader *r, const sample_source *s, bool span)
{
    const bool is = r->epochs && !s->luma && r->epochs[s->channel].span == span;
    return is ? r->epochs[s->channel] : (time_epoch){0};
}

static time_epoch stated_epoch(const reader *r, const sample_source *s)
{
    return stated_unit(r, s, false);
}

/* Whether the numbers are written in digits, and may be integers that doubles cannot represent. */
static bool is_written(const reader *r, const sample_source *s)
{
    return r->takes_forms && !r->declares && s->dtype == HISTO_F64 && !s->luma;
}

/* Stored numbers stay as they are, even if the numbers of other files, in text, are read as integers. */
static void set_form(const reader *r, sample_source *to, const channel_form *as)
{
    to->as = *as;
    if (!to->luma) to->dtype = r->dtypes[to->channel];
    if (as->kind == VALUES_INTEGERS && !is_written(r, to)) to->as = (channel_form){.kind = VALUES_NUMBERS};
    if (to->as.kind != VALUES_NUMBERS) to->dtype = as->dtype;
}

static const char *unit_of(const reader *r, const sample_source *s)
{
    return r->unit_of && !s->luma ? r->unit_of[s->channel] : NULL;
}

/* Numbers without a unit match bytes, too. */
static bool is_same_unit(const char *a, const char *b)
{
    if (!a || !b) return (!a || strcmp(a, "bytes") == 0) && (!b || strcmp(b, "bytes") == 0);
    return strcmp(a, b) == 0;
}

static int fault_not_alike(const reader *r, const sample_source *s, const channel_form *as, fault *f)
{
    static const char *const names[] = {"numbers", "numbers", "strings", "dates"};
    const char *name = input_name(r->in), *where = s->name ? s->name : "its samples";
    const bool spans = as->kind == VALUES_NUMBERS && stated_unit(r, s, true).units;
    if (spans && as->span.units)
        return fault_set(f, EXIT_DATA, "%s has spans of time in another unit in %.60s than other files: %s", name,
                         where, "convert them to one unit, or count it separately");
    if (spans || as->span.units)
        return fault_set(f, EXIT_DATA, "%s has %s in %.60s, where other files have %s: count it separately", name,
                         spans ? "spans of time" : "no spans of time", where, spans ? "numbers" : "them");
    const char *unit = unit_of(r, s);
    if (as->kind == VALUES_NUMBERS && stated_epoch(r, s).units == 0 && !is_same_unit(unit, as->unit))
        return fault_set(f, EXIT_DATA, "%s has numbers %s%s in %.60s, and other files %s%s: count it separately", name,
                         unit ? "in " : "without a unit", unit ? unit : "", where, as->unit ? "in " : "without a unit",
                         as->unit ? as->unit : "");
    if (as->kind == VALUES_TIMES && stated_epoch(r, s).units)
        return fault_set(f, EXIT_DATA, "%s stores the dates in %.60s as numbers of a unit, unlike the first file: %s",
                         name, where, "name it first, or count it separately");
    return fault_set(f, EXIT_DATA, "%s has no %s in %.60s, where other files have %s: count it separately", name,
                     names[as->kind], where, names[as->kind]);
}

static bool is_same_span(const time_epoch *a, const time_epoch *b)
{
    return a->units == b->units && a->per == b->per && a->months == b->months;
}

/* Whether no value of the column was seen in the rows examined, so that it may be of any kind. */
static bool is_blank_channel(const reader *r, int channel)
{
    return r->blank && r->blank[channel];
}

/* Whether the file's samples, of this kind, can be counted in this form. */
static bool is_alike(const reader *r, const sample_source *s, const channel_form *as, values_kind kind)
{
    const bool stated = stated_epoch(r, s).units != 0;
    const time_epoch span = stated_unit(r, s, true);
    if (r->declares && kind == VALUES_NUMBERS && !stated && !is_numeric(r, s->channel)) return true; /* no values */
    if (is_blank_channel(r, s->channel)) return true;
    if (as->kind == VALUES_NUMBERS || as->kind == VALUES_INTEGERS)
        return !stated && is_same_span(&span, &as->span) && is_same_unit(unit_of(r, s), as->unit);
    if (as->stated) return stated || kind == VALUES_TIMES;
    if (as->epoch.units) return !stated && kind != VALUES_TIMES;
    return r->takes_forms && !stated;
}

/* Whether the lists name this channel. */
static bool names_channel(const reader *r, const char *lists, int channel)
{
    choice named = {0};
    fault ignored = {0};
    bool found = false;
    if (lists && add_lists(&named, r, lists, &ignored) == 0)
        for (int i = 0; i < named.total; i++)
            found = found || named.sources[i].channel == channel;
    choice_free(&named);
    return found;
}

/* The units per second that --time gives for a channel of numbers; 0: none. */
static int64_t time_unit(const reader *r, const settings *options, int channel)
{
    int64_t per_second = 1;
    for (int unit = 0; unit < TIME_UNITS; unit++, per_second *= 1000)
        if (names_channel(r, options->times[unit], channel)) return per_second;
    return 0;
}

/* Determine how the samples of a file are read, regardless of other files. */
static int make_form(channel_form *made, const reader *r, const sample_source *s, values_kind kind, fault *f)
{
    *made = (channel_form){.kind = kind};
    made->blank = kind == VALUES_NUMBERS && !s->luma && is_blank_channel(r, s->channel);
    if (kind == VALUES_NUMBERS) made->unit = unit_of(r, s);
    made->looks = kind == VALUES_NUMBERS && is_written(r, s) && !(r->reals && r->reals[s->channel]);
    if (kind == VALUES_NUMBERS) made->span = stated_unit(r, s, true);
    if (kind == VALUES_TIMES) made->dtype = HISTO_I64;
    if (kind != VALUES_WORDS) return 0;
    made->dtype = HISTO_U32;
    made->words = dictionary_make();
    return made->words ? 0 : fault_no_memory(r, f);
}

static int add_form(channel_forms *all, const reader *r, const sample_source *s, values_kind kind, fault *f)
{
    channel_form *more = realloc(all->forms, (size_t)(all->count + 1) * sizeof *more);
    if (!more) return fault_no_memory(r, f);
    all->forms = more;
    return make_form(&more[all->count++], r, s, kind, f);
}

static channel_form epoch_form(time_epoch e, bool stated)
{
    return (channel_form){.kind = VALUES_TIMES, .dtype = HISTO_F64, .epoch = e, .stated = stated};
}

/* The column of the groups is read as words, whatever it holds. */
static int add_groups(choice *c, const reader *r, const char *item, channel_forms *all, fault *f)
{
    if (!all || !r->takes_forms)
        return fault_set(f, EXIT_USAGE, "--by takes a column of a table, and %s has none: leave it out",
                         input_name(r->in));
    if (add_extra(c, r, item, &c->by, f) != 0) return -1;
    sample_source *s = &c->sources[c->by];
    if (all->count == c->count && add_form(all, r, s, VALUES_WORDS, f) != 0) return -1;
    set_form(r, s, &all->forms[c->count]);
    return 0;
}

/* Times become words: the names of their positions in a cycle, all of which have a bin. */
static int make_cycle(channel_form *made, const reader *r, time_cycle cycle, fault *f)
{
    made->words = dictionary_make();
    bool good = made->words;
    for (int place = 0; place < cycle_places(cycle) && good; place++) {
        const char *name = cycle_name(cycle, place);
        uint32_t code;
        good = dictionary_code(made->words, name, strlen(name), &code) == 0;
    }
    if (!good || dictionary_freeze_as_is(made->words) != 0) return fault_no_memory(r, f);
    made->cycle = cycle;
    made->dtype = HISTO_U32;
    return 0;
}

/* Counted sources are read as in the first file. */
static int find_forms(choice *c, const reader *r, const settings *options, channel_forms *all, fault *f)
{
    for (int i = 0; i < c->count && all; i++) {
        sample_source *s = &c->sources[i];
        const bool forced =
            names_channel(r, options->category, s->channel) || (!s->luma && counts_truths(r, options, s->channel));
        const values_kind kind = s->luma ? VALUES_NUMBERS : forced ? VALUES_WORDS : kind_of(r, s->channel);
        const time_epoch stated = stated_epoch(r, s);
        const int64_t per_second =
            s->luma || kind == VALUES_TIMES || stated.units ? 0 : time_unit(r, options, s->channel);
        const bool first = i == all->count, was_blank = !first && all->forms[i].blank;
        if (first && add_form(all, r, s, kind, f) != 0) return -1;
        if (was_blank && make_form(&all->forms[i], r, s, kind, f) != 0) return -1;
        /* Text in other files may hold such integers, too. */
        if (first && kind == VALUES_NUMBERS && options->files_count > 1 &&
            (s->dtype == HISTO_I64 || s->dtype == HISTO_U64))
            all->forms[i].looks = true;
        const bool made = first || was_blank;
        if (made && stated.units) all->forms[i] = epoch_form(stated, true);
        if (made && per_second) all->forms[i] = epoch_form(epoch_per_second(per_second), false);
        if (made && options->cycle && all->forms[i].kind == VALUES_TIMES &&
            make_cycle(&all->forms[i], r, options->cycle, f) != 0)
            return -1;
        if (!is_alike(r, s, &all->forms[i], kind)) return fault_not_alike(r, s, &all->forms[i], f);
        set_form(r, s, &all->forms[i]);
    }
    return 0;
}

/* Whether the first file stores these times as numbers of a unit, and this one as dates. */
static bool is_read_as_times(const reader *r, const sample_source *s)
{
    return s->as.stated && stated_epoch(r, s).units == 0;
}

static int select_in_reader(choice *c, reader *r, fault *f)
{
    int *wanted = malloc((size_t)c->total * 3 * sizeof *wanted);
    channel_form *as = calloc((size_t)c->total * 3, sizeof *as);
    int views = 0, failed = wanted && as ? 0 : fault_no_memory(r, f);
    for (int i = 0; i < c->total && !failed; i++) {
        sample_source *s = &c->sources[i];
        s->view = views;
        if (s->as.epoch.units == 0) as[views] = s->as; /* otherwise as numbers, from which times are computed */
        if (is_read_as_times(r, s) || (s->as.cycle && s->as.epoch.units == 0))
            as[views] = (channel_form){.kind = VALUES_TIMES, .dtype = HISTO_I64};
        for (int k = 0; k < (s->luma ? 3 : 1); k++)
            wanted[views++] = s->channel + k;
    }
    if (!failed) failed = reader_select(r, wanted, r->takes_forms ? as : NULL, views, f);
    free(wanted);
    free(as);
    return failed;
}

/* Parse the values of a condition according to the kind of the column; if it has no values, as whatever they can be. */
static int parse_condition(condition *c, const reader *r, const where_condition *from, int channel, values_kind *kind,
                           fault *f)
{
    const time_style *style = r->styles ? &r->styles[channel] : NULL;
    const bool boolean = r->booleans && r->booleans[channel];
    const values_kind may_be[] = {VALUES_NUMBERS, VALUES_TIMES};
    for (size_t i = 0; is_blank_channel(r, channel) && i < sizeof may_be / sizeof *may_be; i++) {
        fault ignored = {0};
        *kind = may_be[i];
        if (condition_parse(c, from, *kind, boolean, style, input_name(r->in), &ignored) == 0) return 0;
        *kind = VALUES_WORDS;
    }
    return condition_parse(c, from, *kind, boolean, style, input_name(r->in), f);
}

/* Add a condition on a column. A single range without negation is a filter, which plans support. */
static int add_condition(choice *c, const reader *r, const where_condition *from, bool only, fault *f)
{
    int source;
    condition made;
    if (add_extra(c, r, from->column, &source, f) != 0) return -1;
    sample_source *s = &c->sources[source];
    const time_epoch stated = stated_epoch(r, s);
    values_kind kind = s->luma ? VALUES_NUMBERS : stated.units ? VALUES_TIMES : kind_of(r, s->channel);
    if (parse_condition(&made, r, from, s->channel, &kind, f) != 0) return -1;
    made.source = source;
    channel_form stored = {.kind = kind, .dtype = kind == VALUES_WORDS ? HISTO_U32 : HISTO_I64, .words = made.words};
    const channel_form times = epoch_form(stated, true);
    made.told = made.large && kind == VALUES_NUMBERS && is_written(r, s);
    if (made.told) stored = (channel_form){.kind = VALUES_TRUTHS, .dtype = HISTO_U8};
    if (stored.kind != VALUES_NUMBERS) set_form(r, s, stated.units ? &times : &stored);
    condition *more = realloc(c->conditions, (size_t)(c->conditions_count + 1) * sizeof *more);
    if (!more) {
        condition_free(&made);
        return fault_no_memory(r, f);
    }
    c->conditions = more;
    more[c->conditions_count++] = made;
    if (!only || made.negated || made.count != 1 || made.large) return 0;
    c->where = source;
    c->where_range[0] = made.ranges->lo;
    c->where_range[1] = made.ranges->hi;
    return 0;
}

static int add_conditions(choice *c, const reader *r, const settings *s, fault *f)
{
    const bool only = s->conditions_count == 1 && !s->has_where;
    for (int i = 0; i < s->conditions_count; i++)
        if (add_condition(c, r, &s->conditions[i], only, f) != 0) return -1;
    for (int i = 0; i < c->conditions_count; i++)
        if (c->conditions[i].told) c->sources[c->conditions[i].source].as.condition = &c->conditions[i];
    return 0;
}

/* Add the columns of --category or --time that are not counted already. */
static int add_uncounted(choice *c, const reader *r, const char *lists, fault *f)
{
    choice named = {0};
    int failed = lists ? add_lists(&named, r, lists, f) : 0;
    for (int i = 0; i < named.total && !failed; i++) {
        bool counted = false;
        for (int k = 0; k < c->total; k++)
            counted = counted || c->sources[k].channel == named.sources[i].channel;
        if (!counted && !failed) failed = add_source(c, r, named.sources[i].channel, false, f);
        if (!counted && !failed) c->sources[c->total - 1].numbered = named.sources[i].numbered;
    }
    c->listed = c->listed || named.listed;
    choice_free(&named);
    return failed;
}

/* Add the counted columns of the first file, by name. */
static int add_named(choice *c, const reader *r, const named_columns *columns, fault *f)
{
    for (int i = 0; i < columns->count; i++) {
        const int channel = named_columns_find(columns, i, r, f);
        c->unknown = channel < 0;
        if (channel < 0 || add_source(c, r, channel, false, f) != 0) return -1;
    }
    return 0;
}

/* Record which columns to count in other files, if the first file determines that, and has names. */
static int keep_names(const choice *c, const reader *r, named_columns *columns, fault *f)
{
    columns->known = true;
    for (int i = 0; i < c->count && c->listed && r->names; i++) {
        const sample_source *s = &c->sources[i];
        if (named_columns_add(columns, s->numbered ? NULL : r->names[s->channel], s->channel, f) != 0) return -1;
    }
    return 0;
}

/* Add what is counted, by the options. */
static int add_counted(choice *c, const reader *r, const settings *s, bool given, fault *f)
{
    int failed = c->joint      ? add_list(c, r, s->joint, f)
                 : s->channels ? add_lists(c, r, s->channels, f)
                 : given       ? 0
                               : add_default(c, r, s, f);
    if (!failed && !c->joint) failed = add_uncounted(c, r, s->category, f);
    for (int unit = 0; unit < TIME_UNITS && !failed && !c->joint; unit++)
        failed = add_uncounted(c, r, s->times[unit], f);
    return failed;
}

static int find_sources(choice *c, const reader *r, const settings *s, channel_forms *all, const named_columns *columns,
                        fault *f)
{
    c->joint = s->joint != NULL;
    if (c->joint && s->channels)
        return fault_set(f, EXIT_USAGE, "--joint %s already selects what is counted: leave --channel and --column out",
                         s->joint);
    if (s->category && (!all || !r->takes_forms))
        return fault_set(f, EXIT_USAGE, "--category takes columns of a table, and %s has none: leave it out",
                         input_name(r->in));
    bool given = s->category;
    for (int unit = 0; unit < TIME_UNITS; unit++)
        given = given || s->times[unit];
    if (given && !all)
        return fault_set(f, EXIT_USAGE, "--time works neither with --live nor in histo-mpi: leave it out");
    const bool by_name = columns && columns->count && r->names;
    if ((by_name ? add_named(c, r, columns, f) : add_counted(c, r, s, given, f)) != 0) return -1;
    if (c->total == 0) return fault_no_numbers(r, f);
    c->count = c->total;
    if (c->joint && (c->count < 2 || c->count > HISTO_MAX_AXES))
        return fault_set(f, EXIT_USAGE, "--joint %s names %d %s%s of %s: name 2 to %d, as in --joint A,B", s->joint,
                         c->count, r->numeric ? "column" : "channel", c->count == 1 ? "" : "s", input_name(r->in),
                         HISTO_MAX_AXES);
    if (find_forms(c, r, s, all, f) != 0 || (s->by && add_groups(c, r, s->by, all, f) != 0)) return -1;
    if (s->weights && add_extra(c, r, s->weights, &c->weights, f) != 0) return -1;
    if (s->has_where && c->joint)
        return fault_set(f, EXIT_USAGE,
                         "with --joint, --where must say by which channel to filter: --where NAME=lo:hi");
    return add_conditions(c, r, s, f);
}

int choice_make(choice *c, reader *r, const settings *s, channel_forms *all, named_columns *columns, fault *f)
{
    const int before = all ? all->count : 0;
    fault first = {0};
    *c = (choice){.weights = NO_SOURCE, .where = NO_SOURCE, .by = NO_SOURCE};
    int failed = find_sources(c, r, s, all, columns, &first);
    if (failed && c->unknown && r->find_more && r->find_more(r)) {
        choice_free(c);
        while (all && all->count > before)
            dictionary_free(all->forms[--all->count].words);
        failed = find_sources(c, r, s, all, columns, f);
    } else if (failed) {
        fault_set(f, first.status, "%s", first.text);
    }
    if (!failed && columns && !columns->known) failed = keep_names(c, r, columns, f);
    if (!failed && select_in_reader(c, r, f) == 0) return 0;
    choice_free(c);
    return -1;
}

int choice_reform(choice *c, reader *r, const channel_forms *all, fault *f)
{
    for (int i = 0; i < c->count; i++)
        set_form(r, &c->sources[i], &all->forms[i]);
    return select_in_reader(c, r, f);
}

int choice_list(choice *c, const reader *r, const char *list, fault *f)
{
    *c = (choice){.weights = NO_SOURCE, .where = NO_SOURCE, .by = NO_SOURCE};
    if (add_list(c, r, list, f) == 0) return 0;
    choice_free(c);
    return -1;
}

void choice_free(choice *c)
{
    for (int i = 0; i < c->total; i++)
        free(c->sources[i].name);
    for (int i = 0; i < c->conditions_count; i++)
        condition_free(&c->conditions[i]);
    free(c->conditions);
    free(c->sources);
    *c = (choice){.weights = NO_SOURCE, .where = NO_SOURCE, .by = NO_SOURCE};
}

void channel_forms_free(channel_forms *all)
{
    for (int i = 0; i < all->count; i++)
        dictionary_free(all->forms[i].words);
    free(all->forms);
    *all = (channel_forms){0};
}

bool channel_forms_are_open(const channel_forms *all)
{
    bool open = false;
    for (int i = 0; i < all->count; i++)
        open = open || all->forms[i].blank;
    return open;
}

void channel_forms_settle(channel_forms *all)
{
    for (int i = 0; i < all->count; i++)
        all->forms[i].blank = false;
}
