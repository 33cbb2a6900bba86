/* Parses the command line with getopt_long, whose tables are generated from options.def, and turns its failures into
 * messages. */
#define _GNU_SOURCE
#include "options/options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "options/help.h"
#include "options/nearest.h"
#include "options/values.h"

enum { LONG_CODE = 256 }; /* getopt returns letters unchanged, and long options as LONG_CODE + option_id */

typedef struct getopt_tables {
    char letters[2 * OPTION_COUNT + 2];
    struct option longs[OPTION_COUNT + 1];
} getopt_tables;

static void make_tables(getopt_tables *tables, const command_row *command)
{
    char *letter = tables->letters;
    struct option *next = tables->longs;
    *letter++ = ':'; /* distinguishes a missing argument from an unknown option */
    for (int i = 0; i < OPTION_COUNT; i++) {
        const option_row *row = &option_rows[i];
        if (!option_taken(row, command)) continue;
        *next++ = (struct option){row->name, row->argument ? required_argument : no_argument, NULL, LONG_CODE + i};
        if (!row->letter) continue;
        *letter++ = row->letter;
        if (row->argument) *letter++ = ':';
    }
    *letter = '\0';
    *next = (struct option){0};
}

static option_id id_of_code(int code, const command_row *command)
{
    int i = code - LONG_CODE;
    if (code < LONG_CODE)
        for (i = 0; option_rows[i].letter != code || !option_taken(&option_rows[i], command); i++)
            continue;
    return (option_id)i;
}

static int fail_elsewhere(const command_row *command, const char *written, const option_row *option, fault *f)
{
    char takers[320];
    return fault_set(f, EXIT_USAGE, "'histo %s' has no option %s, which is for %s: leave it out", command->name,
                     written, option_takers(option, takers, sizeof takers));
}

static int fail_unknown_letter(const command_row *command, char letter, fault *f)
{
    char written[] = {'-', letter, '\0'};
    for (int i = 0; i < OPTION_COUNT; i++)
        if (option_rows[i].letter == letter) return fail_elsewhere(command, written, &option_rows[i], f);
    return fault_set(f, EXIT_USAGE, "'histo %s' has no option %s: 'histo %s --help' lists its options", command->name,
                     written, command->name);
}

/* name: without dashes and value. */
static int fail_unknown_name(const command_row *command, const char *name, fault *f)
{
    char written[64];
    snprintf(written, sizeof written, "--%s", name);
    nearest meant = {.word = name};
    const option_row *first = NULL;
    for (int i = 0; i < OPTION_COUNT; i++) {
        const option_row *row = &option_rows[i];
        if (!option_taken(row, command)) continue;
        nearest_try(&meant, row->name);
        if (strncmp(row->name, name, strlen(name)) != 0) continue;
        if (first)
            return fault_set(f, EXIT_USAGE, "%s may be --%s or --%s: type more of it", written, first->name, row->name);
        first = row;
    }
    for (int i = 0; i < OPTION_COUNT; i++)
        if (option_rows[i].group != GROUP_HIDDEN && strcmp(option_rows[i].name, name) == 0)
            return fail_elsewhere(command, written, &option_rows[i], f);
    if (meant.best)
        return fault_set(f, EXIT_USAGE, "'histo %s' has no option %s: did you mean --%s?", command->name, written,
                         meant.best);
    return fault_set(f, EXIT_USAGE, "'histo %s' has no option %s: 'histo %s --help' lists its options", command->name,
                     written, command->name);
}

/* Report what getopt rejected: the argument before optind, or the letter optopt in it. */
static int fail_option(const command_row *command, char **argv, fault *f)
{
    if (optopt >= LONG_CODE)
        return fault_set(f, EXIT_USAGE, "--%s takes no value: leave out what follows the '='",
                         option_rows[optopt - LONG_CODE].name);
    if (optopt) return fail_unknown_letter(command, (char)optopt, f);
    char name[48];
    const char *written = argv[optind - 1] + 2;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(written, "="), written);
    return fail_unknown_name(command, name, f);
}

static int fail_missing(const command_row *command, int code, fault *f)
{
    const option_row *row = &option_rows[id_of_code(code, command)];
    return fault_set(f, EXIT_USAGE, "--%s needs a value: write --%s %s", row->name, row->name, row->argument);
}

/* Is this value another option, because the value was forgotten? */
static bool is_option(const char *value)
{
    if (strncmp(value, "--", 2) != 0) return false;
    size_t length = strcspn(value + 2, "=");
    for (int i = 0; i < OPTION_COUNT; i++)
        if (strlen(option_rows[i].name) == length && strncmp(option_rows[i].name, value + 2, length) == 0) return true;
    return false;
}

/* The destination of an option's value: a bool set to true, a pointer to the text, or the result of a parser. */
typedef struct target {
    enum { TO_NOTHING = 0, TO_FLAG, TO_TEXT, TO_PARSER } kind;
    size_t offset; /* in settings */
    int (*parse)(settings *s, char *text, fault *f);
} target;

#define FLAG(id, member) [OPTION_##id] = {TO_FLAG, offsetof(settings, member), NULL}
#define TEXT(id, member) [OPTION_##id] = {TO_TEXT, offsetof(settings, member), NULL}
#define PARSED(id, function) [OPTION_##id] = {TO_PARSER, 0, function}

static const target targets[OPTION_COUNT] = {
    TEXT(FORMAT, read.format),
    FLAG(BYTES, read.bytes),
    FLAG(LETTERS, read.letters),
    PARSED(DTYPE, value_dtype),
    PARSED(SHAPE, value_shape),
    PARSED(OFFSET, value_offset),
    PARSED(ENDIAN, value_endian),
    TEXT(DATASET, read.dataset),
    TEXT(QUERY, read.query),
    PARSED(PAGE, value_page),
    PARSED(IMAGE_PAGE, value_page),
    FLAG(RAW, read.raw),
    FLAG(SKIP_BAD, read.skip_bad),
    PARSED(DELIMITER, value_delimiter),
    PARSED(HEADER, value_header),
    PARSED(CHANNEL, value_channels),
    TEXT(IMAGE_CHANNEL, channels),
    PARSED(COLUMN, value_channels),
    PARSED(ROI, value_roi),
    TEXT(MASK, mask),
    PARSED(WHERE, value_where),
    TEXT(WEIGHTS, weights),
    TEXT(BY, by),
    PARSED(CATEGORY, value_category),
    PARSED(TIME, value_time),
    TEXT(JOINT, joint),
    PARSED(PAIRS, value_pairs),
    PARSED(PAIRS_OF_OUTLIERS, value_pairs),
    FLAG(RELATIVE, relative),
    FLAG(SPARSE, sparse),
    FLAG(REPRODUCIBLE, reproducible),
    FLAG(BATCH, batch),
    TEXT(SEGMENTS, segments),
    TEXT(BINS, bins),
    TEXT(WIDTH, width),
    TEXT(RANGE, range),
    TEXT(EDGES, edges),
    FLAG(LOG, log_bins),
    PARSED(TOP, value_top),
    PARSED(SORT, value_sort),
    PARSED(WINDOW, value_window),
    PARSED(MODEL_ROI, value_model_roi),
    PARSED(METHOD_OF_TRACK, value_track_method),
    TEXT(MODEL, model),
    PARSED(SPACE, value_space),
    TEXT(AXES, axes),
    PARSED(COLOR, value_color),
    PARSED(COLOR_TO_SPLIT, value_color),
    PARSED(BITS, value_bits),
    PARSED(BIN_COUNT, value_bin_count),
    PARSED(SMOOTH, value_smooth),
    PARSED(EQUALIZE_RULE, value_equalize_rule),
    PARSED(TILES, value_tiles),
    PARSED(TILE_SIZE, value_tile_size),
    PARSED(CLIP, value_clip),
    PARSED(OVERLAP, value_overlap),
    TEXT(REFERENCE_MASK, reference_mask),
    PARSED(LANDMARKS, value_landmarks),
    TEXT(TRAIN, train),
    TEXT(WITH, with),
    TEXT(STRETCH_RANGE, range),
    PARSED(TARGET, value_target),
    PARSED(METHOD_OF_THRESHOLD, value_split_method),
    PARSED(CLASSES, value_classes),
    TEXT(QUANTILES, quantiles),
    TEXT(QUANTILES_OF_BINS, quantiles),
    PARSED(QUANTILE_RULE, value_quantile_rule),
    PARSED(METRIC, value_metric),
    PARSED(SEARCH, value_search),
    FLAG(INTERPOLATE, interpolate),
    PARSED(SIGMA, value_sigma),
    TEXT(OUTPUT, output),
    TEXT(TO, output_format),
    PARSED(LOGY, value_logy),
    PARSED(SCALE, value_scale),
    TEXT(XLABEL, x_label),
    TEXT(YLABEL, y_label),
    TEXT(UNIT, unit),
    FLAG(ASCII, ascii),
    FLAG(COMPARE, compare),
    FLAG(LIVE, live),
    PARSED(THEME, value_theme),
    FLAG(DENSE, dense),
    FLAG(STATS, stats),
    FLAG(COUNTS, counts),
    FLAG(DENSITY, density),
    FLAG(NORMALIZE, normalize),
    FLAG(CUMULATIVE, cumulative),
    FLAG(REVERSE, reverse),
    TEXT(TITLE, title),
    PARSED(SIZE, value_size),
    FLAG(QUIET, quiet),
    FLAG(QUIET_DIFF, quiet),
    FLAG(REBIN, rebin),
    FLAG(QUIET_LONG, quiet),
    FLAG(VERBOSE, verbose),
    PARSED(DEVICE, value_device),
    PARSED(STRATEGY, value_strategy),
    PARSED(STRATEGIES_LIST, value_strategies),
    PARSED(PARAM, value_param),
    PARSED(THREADS, value_threads),
    FLAG(COMPILE, compile),
    FLAG(MEASURE, measure),
    FLAG(VARY, vary),
    TEXT(WISDOM, wisdom),
    PARSED(SAMPLES, value_samples),
    TEXT(INPUT, inputs),
    TEXT(GALLERY_BINS, bins),
    TEXT(FIGURE, figure),
    TEXT(TABLE, paper_table),
    TEXT(CELLS, cells),
    TEXT(IMAGE, image),
    PARSED(REPEAT, value_repeat),
    FLAG(QUICK, quick),
    PARSED(SEED, value_seed),
    PARSED(PROBLEMS, value_count),
    TEXT(ONLY, only),
    PARSED(EFFORT, value_effort),
    TEXT(PROBLEM, problem),
    TEXT(TYPES, types),
    TEXT(BIN_LIST, bins),
    TEXT(SAMPLE_LIST, sample_list),
    TEXT(DISTRIBUTIONS, distributions),
    FLAG(TRANSFERS, transfers),
    PARSED(BUDGET, value_budget),
    TEXT(SAVE, save),
    TEXT(JSON, json),
    PARSED(SHARD, value_shard),
    TEXT(AGREED, agreed),
    FLAG(MERGE_SURVEYS, merge_surveys),
    TEXT(CHECKPOINT, checkpoint),
    PARSED(EVERY, value_every),
    FLAG(COMPLETE, complete),
};

static bool takes_times(const settings *s)
{
    bool any = false;
    for (int unit = 0; unit < TIME_UNITS; unit++)
        any = any || s->times[unit];
    return any;
}

/* Options whose values add up. */
static bool accumulates(option_id id)
{
    return id == OPTION_PARAM || id == OPTION_WHERE || id == OPTION_COLUMN || id == OPTION_CATEGORY ||
           id == OPTION_TIME || id == OPTION_CHANNEL;
}

static int check_once(option_id id, bool again, fault *f)
{
    const option_row *row = &option_rows[id];
    if (!again || !row->argument || accumulates(id)) return 0;
    return fault_set(f, EXIT_USAGE, "--%s is given twice: leave one out", row->name);
}

/* The options that say what is counted, each on a line; kept until the next call. NULL without memory. Texts are as
 * they were written. */
static const char *describe(char *const *written)
{
    static char *text;
    size_t size;
    free(text);
    text = NULL;
    FILE *out = open_memstream(&text, &size);
    for (int i = 0; out && i < OPTION_COUNT; i++)
        if (written[i] && option_rows[i].group <= GROUP_BINS) {
            fprintf(out, "--%s%s", option_rows[i].name, *written[i] ? " " : "");
            text_put_line(written[i], out);
        }
    return out && fclose(out) == 0 ? text : NULL;
}

static int apply(settings *s, option_id id, char *text, fault *f)
{
    const target *to = &targets[id];
    if (to->kind == TO_FLAG) *(bool *)((char *)s + to->offset) = true;
    if (to->kind == TO_TEXT) *(const char **)((char *)s + to->offset) = text;
    if (option_rows[id].group == GROUP_HIDDEN) s->document = option_rows[id].name;
    return to->kind == TO_PARSER ? to->parse(s, text, f) : 0;
}

/* given: the texts of the options used, "" for those without a value. */
static int check_together(settings *s, const char *const *given, fault *f)
{
    static const option_id exclusive[][2] = {
        {OPTION_DENSITY, OPTION_NORMALIZE},
        {OPTION_COUNTS, OPTION_DENSITY},
        {OPTION_COUNTS, OPTION_NORMALIZE},
        {OPTION_IMAGE_CHANNEL, OPTION_COLOR},
        {OPTION_IMAGE_CHANNEL, OPTION_COLOR_TO_SPLIT},
        {OPTION_TILES, OPTION_TILE_SIZE},
        {OPTION_BYTES, OPTION_DTYPE},
        {OPTION_BYTES, OPTION_FORMAT},
        {OPTION_CHANNEL, OPTION_COLUMN},
        {OPTION_SEGMENTS, OPTION_BATCH},
        {OPTION_SEGMENTS, OPTION_ROI},
        {OPTION_SEGMENTS, OPTION_SKIP_BAD},
        {OPTION_PAIRS, OPTION_JOINT},
        {OPTION_PAIRS, OPTION_WEIGHTS},
        {OPTION_PAIRS, OPTION_MASK},
        {OPTION_LETTERS, OPTION_BYTES},
        {OPTION_LETTERS, OPTION_FORMAT},
        {OPTION_LETTERS, OPTION_DTYPE},
        {OPTION_LETTERS, OPTION_BINS},
        {OPTION_LETTERS, OPTION_WIDTH},
        {OPTION_LETTERS, OPTION_RANGE},
        {OPTION_LETTERS, OPTION_EDGES},
        {OPTION_LETTERS, OPTION_LOG},
        {OPTION_LETTERS, OPTION_WHERE},
        {OPTION_SPARSE, OPTION_WEIGHTS},
        {OPTION_LOGY, OPTION_SCALE},
        {OPTION_LIVE, OPTION_PAIRS},
        {OPTION_LIVE, OPTION_SEGMENTS},
        {OPTION_LIVE, OPTION_BATCH},
        {OPTION_LIVE, OPTION_SHARD},
        {OPTION_LIVE, OPTION_CHECKPOINT},
        {OPTION_LIVE, OPTION_AGREED},
        {OPTION_COMPARE, OPTION_JOINT},
        {OPTION_COMPARE, OPTION_PAIRS},
        {OPTION_COMPARE, OPTION_SEGMENTS},
        {OPTION_COMPARE, OPTION_SHARD},
        {OPTION_COMPARE, OPTION_BATCH},
        {OPTION_COMPARE, OPTION_CHECKPOINT},
        {OPTION_PAIRS, OPTION_WHERE},
        {OPTION_PAIRS, OPTION_BATCH},
        {OPTION_PAIRS, OPTION_SEGMENTS},
        {OPTION_QUIET, OPTION_VERBOSE},
        {OPTION_SHARD, OPTION_BATCH},
        {OPTION_SHARD, OPTION_SEGMENTS},
        {OPTION_SHARD, OPTION_PAIRS},
        {OPTION_CHECKPOINT, OPTION_SEGMENTS},
        {OPTION_CHECKPOINT, OPTION_PAIRS},
        {OPTION_BY, OPTION_BATCH},
        {OPTION_BY, OPTION_SEGMENTS},
        {OPTION_BY, OPTION_PAIRS},
        {OPTION_BY, OPTION_SHARD},
        {OPTION_BY, OPTION_CHECKPOINT},
        {OPTION_BY, OPTION_LIVE},
    };
    for (size_t i = 0; i < sizeof exclusive / sizeof *exclusive; i++) {
        const option_id *pair = exclusive[i];
        if (given[pair[0]] && given[pair[1]])
            return fault_set(f, EXIT_USAGE, "--%s and --%s contradict each other: leave one out",
                             option_rows[pair[0]].name, option_rows[pair[1]].name);
    }
    if (s->reproducible && !s->weights)
        return fault_set(f, EXIT_USAGE,
                         "--reproducible applies to sums of weights (counts are always exact): add --weights COLUMN");
    if (s->conditions_count && strcmp(s->command, "standardize") == 0)
        return fault_set(f, EXIT_USAGE, "'histo standardize' filters samples by themselves: write --where LO:HI");
    if (s->relative && !s->pairs)
        return fault_set(f, EXIT_USAGE, "--relative is for differences of images: add --pairs ring or apart");
    if (s->reverse && !s->cumulative)
        return fault_set(f, EXIT_USAGE, "--reverse is for sums from the last bin down: add --cumulative");
    if (s->sparse && !s->joint && !s->pairs)
        return fault_set(f, EXIT_USAGE, "--sparse is for joint histograms: add --joint A,B,…");
    if (s->dense && !s->joint && !s->pairs && strcmp(s->command, "hist") == 0)
        return fault_set(f, EXIT_USAGE, "--dense is for joint histograms: add --joint A,B or --pairs ring");
    if (given[OPTION_EVERY] && !s->checkpoint)
        return fault_set(f, EXIT_USAGE, "--every is for checkpoints: add --checkpoint FILE");
    const char *dtype = given[OPTION_DTYPE];
    if (!dtype || !strchr("<>", *dtype)) return 0;
    if (given[OPTION_ENDIAN] && s->read.big_endian != (*dtype == '>'))
        return fault_set(f, EXIT_USAGE, "--endian %s contradicts --dtype '%s': leave one out", given[OPTION_ENDIAN],
                         dtype);
    s->read.big_endian = *dtype == '>';
    return 0;
}

/* Is the last operand the file to write? */
static bool writes_operand(const command_row *command)
{
    const char *last = strrchr(command->operands, ' ');
    return last && strncmp(last + 1 + (last[1] == '['), "OUT", 3) == 0;
}

static int take_operands(settings *s, const command_row *command, int count, char **operands, fault *f)
{
    static const char *const names[] = {"no names", "one name", "two names", "three names"};
    if (command->max_operands >= 0 && count > command->max_operands)
        return fault_set(f, EXIT_USAGE, "'histo %s' takes %s, and '%s' is one too many", command->name,
                         names[command->max_operands], operands[command->max_operands]);
    s->files = (const char *const *)operands;
    s->files_count = count;
    if (writes_operand(command) && !s->train && count > 0 && count >= command->max_operands)
        s->output = operands[--s->files_count];
    return 0;
}

static bool is_standard_input(const char *path)
{
    return path && strcmp(path, "-") == 0;
}

/* Samples come from standard input if no file is named. */
static int check_standard_input(const settings *s, fault *f)
{
    int uses = is_standard_input(s->mask) + is_standard_input(s->segments);
    if (uses && s->files_count == 0) uses++;
    for (int i = 0; i < s->files_count; i++)
        uses += is_standard_input(s->files[i]);
    if (uses < 2) return 0;
    return fault_set(f, EXIT_USAGE, "standard input can be read only once: name files for all but one");
}

/* --letters is --bytes with one bin for each capital letter, into which the reader folds the others. */
static void settle_letters(settings *s)
{
    if (!s->read.letters) return;
    s->read.bytes = s->has_where = true;
    s->where[0] = 'A';
    s->where[1] = 'Z';
    s->bins = "26";
    s->range = "65:91";
}

int settings_parse(settings *s, const char *name, int argc, char **argv, fault *f)
{
    const command_row *command = command_find(name);
    const char *given[OPTION_COUNT] = {NULL};
    static char *written[OPTION_COUNT]; /* before values are cut */
    getopt_tables tables;
    int code;
    make_tables(&tables, command);
    for (int i = 0; i < OPTION_COUNT; i++) {
        free(written[i]);
        written[i] = NULL;
    }
    *s = (settings){
        .command = command->name, .read.header = -1, .clip = 2, .overlap = 1, .every_s = 60, .effort = HISTO_COMPILE};
    optind = 0; /* restart */
    opterr = 0;
    while ((code = getopt_long(argc, argv, tables.letters, tables.longs, NULL)) != -1) {
        if (code == '?') return fail_option(command, argv, f);
        if (code == ':') return fail_missing(command, optopt, f);
        if (optarg && optarg == argv[optind - 1] && is_option(optarg)) return fail_missing(command, code, f);
        option_id id = id_of_code(code, command);
        if (id == OPTION_USAGE) {
            help_command(command, stdout);
            return 1;
        }
        if (id == OPTION_RELEASE) {
            help_version(stdout);
            return 1;
        }
        const char *value = optarg ? optarg : "";
        char *before = written[id];
        if (!before || !accumulates(id))
            written[id] = strdup(value);
        else if (asprintf(&written[id], "%s%c%s", before, LIST_DIVIDER, value) < 0)
            written[id] = NULL;
        free(before);
        if (check_once(id, given[id], f) != 0 || apply(s, id, optarg, f) != 0) return -1;
        given[id] = optarg ? optarg : "";
    }
    s->what = describe(written);
    if (!s->what) return fault_set(f, EXIT_DATA, "no memory for the options");
    if (check_together(s, given, f) != 0) return -1;
    settle_letters(s);
    s->read.in_slices = s->has_roi;
    s->read.columns = s->channels || s->joint || s->weights || s->by || s->category || takes_times(s);
    s->read.paired = s->joint || s->weights || s->conditions_count || s->mask || s->by;
    if (take_operands(s, command, argc - optind, argv + optind, f) != 0) return -1;
    s->per_file = s->compare && s->files_count > 1;
    return check_standard_input(s, f);
}
