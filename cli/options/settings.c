/* The settings of the command line: options, operands, and which of them require others. */
#define _GNU_SOURCE
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/progress.h"
#include "base/text.h"
#include "options/options.h"

struct kept_text {
    struct kept_text *next;
    char text[];
};

char *settings_join(settings *s, const char *before, char divider, const char *text)
{
    const size_t begin = before ? strlen(before) + 1 : 0, length = strlen(text);
    struct kept_text *kept = malloc(sizeof *kept + begin + length + 1);
    if (!kept) return NULL;
    if (before) snprintf(kept->text, begin + 1, "%s%c", before, divider);
    memcpy(kept->text + begin, text, length + 1);
    kept->next = s->texts;
    s->texts = kept;
    return kept->text;
}

void settings_free(settings *s)
{
    for (struct kept_text *kept = s->texts, *next; kept; kept = next) {
        next = kept->next;
        free(kept);
    }
    s->texts = NULL;
}

static bool takes_times(const settings *s)
{
    bool any = false;
    for (int unit = 0; unit < TIME_UNITS; unit++)
        any = any || s->times[unit];
    return any;
}

/* Set `what` to the options that determine what is counted, as they were written, one per line. */
static int describe(settings *s, const option_table *options, const char *const *given, fault *f)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    for (int i = 0; out && i < options->count; i++)
        if (given[i] && options->rows[i].group <= GROUP_BINS) {
            fprintf(out, "--%s%s", options->rows[i].name, *given[i] ? " " : "");
            text_put_line(given[i], out);
        }
    if (out && fclose(out) == 0) s->what = settings_join(s, NULL, '\0', text);
    free(text);
    return s->what ? 0 : fault_set(f, EXIT_DATA, "no memory for the options");
}

/* Check options that only make sense together with others. */
static int check_needs(const settings *s, bool is_hist, bool has_interval, fault *f)
{
    const bool joint = s->joint || s->pairs;
    const struct {
        bool given, needed;
        const char *sentence;
    } needs[] = {
        {s->reproducible, s->weights,
         "--reproducible applies to sums of weights (counts are always exact): add --weights COLUMN"},
        {s->relative, s->pairs, "--relative is for differences of images: add --pairs ring or apart"},
        {s->reverse, s->cumulative, "--reverse is for sums from the last bin down: add --cumulative"},
        {s->sparse, joint, "--sparse is for joint histograms: add --joint A,B,…"},
        {s->dense, joint || !is_hist, "--dense is for joint histograms: add --joint A,B or --pairs ring"},
        {has_interval, s->checkpoint, "--every is for checkpoints: add --checkpoint FILE"},
    };
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
        if (needs[i].given && !needs[i].needed) return fault_set(f, EXIT_USAGE, "%s", needs[i].sentence);
    return 0;
}

/* A byte order in a type code, such as <f4, overrides --endian. */
static int settle_byte_order(settings *s, const char *dtype, const char *endian, fault *f)
{
    if (!dtype || !strchr("<>", *dtype)) return 0;
    if (endian && s->read.big_endian != (*dtype == '>'))
        return fault_set(f, EXIT_USAGE, "--endian %s contradicts --dtype '%s': leave one out", endian, dtype);
    s->read.big_endian = *dtype == '>';
    return 0;
}

/* Whether the last operand is the file to write. */
static bool writes_operand(const command_row *command)
{
    const char *last = strrchr(command->operands, ' ');
    return last && strncmp(last + 1 + (last[1] == '['), "OUT", 3) == 0;
}

static int check_operands(const command_row *command, int count, char **operands, fault *f)
{
    static const char *const names[] = {"no names", "one name", "two names", "three names"};
    if (command->max_operands < 0 || count <= command->max_operands) return 0;
    return fault_set(f, EXIT_USAGE, "'histo %s' takes %s, and '%s' is one too many", command->name,
                     names[command->max_operands], operands[command->max_operands]);
}

/* The first operand of bench, its subject, takes some of bench's options and its own operands. */
static int check_subject(const option_table *options, const char **given, int count, char **operands, fault *f)
{
    const command_row *subject = count > 0 ? subject_find(operands[0]) : NULL;
    for (int i = 0; i < options->count && subject; i++)
        if (given[i] && !option_taken(&options->rows[i], subject))
            return fault_set(f, EXIT_USAGE, "'histo %s' has no option --%s: leave it out", subject->name,
                             options->rows[i].name);
    return subject ? check_operands(subject, count - 1, operands + 1, f) : 0;
}

static int take_operands(settings *s, const command_row *command, int count, char **operands, fault *f)
{
    if (check_operands(command, count, operands, f) != 0) return -1;
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

/* --letters is --bytes with a bin for each capital letter; the reader folds lower case into it. */
static void settle_letters(settings *s)
{
    if (!s->read.letters) return;
    s->read.bytes = s->has_where = true;
    s->where[0] = 'A';
    s->where[1] = 'Z';
    s->bins = "26";
    s->range = "65:91";
}

static int parse(settings *s, const option_table *options, const command_row *command, int argc, char **argv,
                 const char **given, fault *f)
{
    const int parsed = options_parse(options, command, argc, argv, s, given, f);
    if (parsed != 0) return parsed;
    if (describe(s, options, given, f) != 0 ||
        check_needs(s, command == &command_rows[COMMAND_HIST], option_given(options, given, "every"), f) != 0 ||
        settle_byte_order(s, option_given(options, given, "dtype"), option_given(options, given, "endian"), f) != 0)
        return -1;
    settle_letters(s);
    s->read.in_slices = s->has_roi;
    s->read.columns = s->channels || s->joint || s->weights || s->by || s->category || takes_times(s);
    s->read.paired = s->joint || s->weights || s->conditions_count || s->mask || s->by;
    if (take_operands(s, command, argc - optind, argv + optind, f) != 0) return -1;
    if (command == &command_rows[COMMAND_BENCH] && check_subject(options, given, argc - optind, argv + optind, f) != 0)
        return -1;
    s->per_file = s->compare && s->files_count > 1;
    return check_standard_input(s, f);
}

int settings_parse(settings *s, const option_table *options, const char *name, int argc, char **argv, fault *f)
{
    const command_row *command = command_find(name);
    const char **given = calloc((size_t)options->count, sizeof *given);
    *s = (settings){.command = command->name, .read.header = -1, .clip = 2, .overlap = 1, .every_s = 60};
    const int parsed =
        given ? parse(s, options, command, argc, argv, given, f) : fault_set(f, EXIT_DATA, "no memory for the options");
    free(given);
    if (s->quiet) progress_silence();
    if (parsed != 0) settings_free(s);
    return parsed;
}
