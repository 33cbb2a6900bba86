/* The man pages of histo and of histo-bench, in the classic man macros. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "commands/document.h"
#include "input/reader.h"
#include "options/help.h"
#include "output/images/images.h"

enum { LINE = 72 };

/* Print a character with roff's escapes. */
static void print_character(char c, FILE *out)
{
    static const char *const escapes[128] = {
        ['\\'] = "\\e", ['-'] = "\\-", ['\''] = "\\(aq", ['^'] = "\\(ha", ['~'] = "\\(ti"};
    const char *escape = c > 0 ? escapes[(int)c] : NULL;
    if (escape)
        fputs(escape, out);
    else
        fputc(c, out);
}

static void print_literal(const char *text, size_t bytes, FILE *out)
{
    if (bytes && *text == '.') fputs("\\&", out); /* would be a roff request at the start of a line */
    for (size_t i = 0; i < bytes; i++)
        print_character(text[i], out);
}

static void print_text(const char *text, FILE *out)
{
    size_t column = 0;
    for (text += strspn(text, " \n"); *text; text += strspn(text, " \n")) {
        size_t bytes = strcspn(text, " \n");
        if (column) fputc(column + bytes > LINE ? '\n' : ' ', out);
        column = (column + bytes > LINE ? 0 : column) + bytes + 1;
        print_literal(text, bytes, out);
        text += bytes;
    }
    fputc('\n', out);
}

static void print_bold(const char *text, FILE *out)
{
    fputs("\\fB", out);
    print_literal(text, strlen(text), out);
    fputs("\\fR", out);
}

/* Print a list entry: its label in bold, and text. */
static void print_entry(const char *label, const char *text, FILE *out)
{
    fputs(".TP\n", out);
    print_bold(label, out);
    fputc('\n', out);
    print_text(text, out);
}

static void print_heading(const char *title, const char *name, const char *does, FILE *out)
{
    const char *epoch = getenv("SOURCE_DATE_EPOCH"); /* for reproducible packages */
    time_t when = epoch ? (time_t)strtoll(epoch, NULL, 10) : time(NULL);
    struct tm broken = {.tm_year = 70, .tm_mday = 1};
    gmtime_r(&when, &broken);
    char date[32];
    strftime(date, sizeof date, "%Y-%m-%d", &broken);
    fprintf(out, ".TH %s 1 %s \"histo %s\" \"User Commands\"\n", title, date, histo_version());
    fprintf(out, ".SH NAME\n%s \\- %s\n", name, does);
}

/* Print how a subcommand of a program is called. */
static void print_call(const char *program, const command_row *command, FILE *out)
{
    fprintf(out, "\\fB%s %s\\fR [\\fIOPTION\\fR]...", program, command->name);
    const char *name = command->operands + strspn(command->operands, "[");
    size_t bytes = strcspn(name, "].");
    if (bytes)
        fprintf(out, " %.*s\\fI%.*s\\fR%s", (int)(name - command->operands), command->operands, (int)bytes, name,
                name + bytes);
    fputc('\n', out);
}

static void print_synopsis(FILE *out)
{
    fputs(".SH SYNOPSIS\n\\fBhisto\\fR [\\fIOPTION\\fR]... [\\fIFILE\\fR]...\n", out);
    for (int i = 0; i < COMMAND_COUNT; i++) {
        fputs(".br\n", out);
        print_call("histo", &command_rows[i], out);
    }
}

static void print_command(const command_row *command, FILE *out)
{
    const char *description = command->description;
    char line[HELP_LINE_BYTES], *what;
    help_next_line(&description, line, sizeof line, &what);
    print_entry(command->name, line, out);
    const bool has_subjects = command == &command_rows[COMMAND_BENCH];
    if (!*description && !has_subjects) return;
    fputs(".RS\n", out);
    while (help_next_line(&description, line, sizeof line, &what))
        print_entry(line, what, out);
    for (int i = 0; i < SUBJECT_COUNT && has_subjects; i++)
        print_entry(subject_rows[i].name, subject_rows[i].description, out);
    fputs(".RE\n", out);
}

static void print_description(FILE *out)
{
    fputs(".SH DESCRIPTION\n", out);
    print_text(
        "histo counts samples into bins: the pixels of images, the elements of arrays, columns of tables, numbers "
        "in text, raw binary samples or bytes. Counts are exact 64-bit numbers; samples below the first bin, above "
        "the last one and those that are not numbers are counted too, so that nothing is lost in silence. A sample "
        "is in a bin if it is not below its lower edge and below its upper edge; the last bin includes its upper "
        "edge, too, unless the bins are those that integers get when nothing is said about bins.",
        out);
    fputs(".PP\n", out);
    print_text("To count a file named like a subcommand, give its directory, as in ./show.", out);
    for (int i = 0; i < COMMAND_COUNT; i++)
        print_command(&command_rows[i], out);
}

static void print_sentence(const char *phrase, FILE *out)
{
    char sentence[512];
    snprintf(sentence, sizeof sentence, "%s.", phrase);
    if (*sentence >= 'a' && *sentence <= 'z') *sentence = (char)(*sentence - 'a' + 'A');
    print_text(sentence, out);
}

static void print_takers(const option_row *option, const char *beginning, FILE *out)
{
    char takers[320], sentence[400];
    snprintf(sentence, sizeof sentence, "%s %s.", beginning, option_takers(option, takers, sizeof takers));
    print_text(sentence, out);
}

static void print_option(const option_row *option, FILE *out)
{
    fputs(".TP\n", out);
    if (option->letter) fprintf(out, "\\fB\\-%c\\fR, ", option->letter);
    fputs("\\fB\\-\\-", out);
    print_literal(option->name, strlen(option->name), out);
    fputs("\\fR", out);
    if (option->argument) {
        fputs(" \\fI", out);
        print_literal(option->argument, strlen(option->argument), out);
        fputs("\\fR", out);
    }
    fputc('\n', out);
    print_sentence(option->help, out);
    if (*option->more) print_text(option->more, out);
}

/* Whether all options of a group belong to the same subcommands. */
static bool is_uniform(option_group group, const option_row **any)
{
    *any = NULL;
    for (int i = 0; i < histo_options.count; i++) {
        if (histo_options.rows[i].group != group) continue;
        if (*any && (*any)->commands != histo_options.rows[i].commands) return false;
        *any = &histo_options.rows[i];
    }
    return true;
}

static void print_options(FILE *out)
{
    fputs(".SH OPTIONS\n", out);
    print_text("--column, --category, --time, --channel, --where and --param may be repeated, and add up; other "
               "options that take a "
               "value may be given once.",
               out);
    for (int group = 0; group < GROUP_HIDDEN; group++) {
        const option_row *any;
        bool uniform = is_uniform((option_group)group, &any);
        fprintf(out, ".SS %s\n", option_group_names[group]);
        if (uniform) print_takers(any, "These are for", out);
        for (int i = 0; i < histo_options.count; i++) {
            if (histo_options.rows[i].group != (option_group)group) continue;
            print_option(&histo_options.rows[i], out);
            if (!uniform) print_takers(&histo_options.rows[i], "For", out);
        }
    }
}

static void print_formats(FILE *out)
{
    const reader_kind *kind;
    const image_writer *writer;
    fputs(".SH FORMATS\n", out);
    fputs(".SS Input\n", out);
    print_text("Formats are detected by content; --format selects one.", out);
    for (int i = 0; (kind = reader_kind_at(i)); i++)
        print_entry(kind->name, kind->formats, out);
    fputs(".SS Images that are written\n", out);
    print_text("They have the format of their suffix; - is a pipe in the format of the input.", out);
    for (int i = 0; (writer = image_writer_at(i)); i++)
        print_entry(writer->name, writer->formats, out);
    fputs(".SS Histograms that are written\n", out);
    print_text("The format follows from the suffix of -o; --to selects one.", out);
#define OUTPUT(name, what) print_entry(#name, what, out);
#include "output/outputs.def"
#undef OUTPUT
}

static void print_statuses(FILE *out)
{
    fputs(".SH EXIT STATUS\n", out);
    print_entry("0", "Success.", out);
    print_entry("1", "A file could not be read or written, or its content is invalid.", out);
    print_entry("2", "Usage error.", out);
    print_entry("130, 143", "Interrupted by SIGINT (Ctrl-C) or SIGTERM, as shells see it.", out);
    fputs(".PP\n", out);
    print_text(
        "On failure, one sentence on standard error says what is wrong, where, and what to do, and no output file "
        "is left behind.",
        out);
}

static void print_surroundings(FILE *out)
{
    fputs(".SH FILES\n", out);
    print_entry(".histo-XXXXXXXX-N.tmp",
                "An output file while it is written, in the directory of its target. It replaces the target when it is "
                "complete; an interrupt removes it. What a killed process leaves is removed when the same target is "
                "written again.",
                out);
    print_entry(
        "$TMPDIR/histo-XXXXXX",
        "The copy of a pipe that must be read more than once. It is unlinked at once and disappears with the process.",
        out);
    print_entry("$XDG_CONFIG_HOME/histo/wisdom, ~/.config/histo/wisdom",
                "The wisdom that hist and explain use by default.", out);
    print_entry(
        "$XDG_CACHE_HOME/histo/kernels, ~/.cache/histo/kernels",
        "Kernels that were compiled for a GPU, at most 64 MiB. They can be deleted at any time. With --device cpu "
        "they are neither read nor written.",
        out);
    fputs(".SH ENVIRONMENT\n", out);
    print_entry("HISTO_THREADS", "The number of CPU threads, unless --threads is given.", out);
    print_entry("HISTO_STRATEGY", "The strategy to use, unless --strategy is given.", out);
    print_entry("HISTO_CPU",
                "The newest instruction set to use: baseline, avx2, avx512 or avx512vbmi2. Counts do not depend on it; "
                "it is for tests and comparisons.",
                out);
    print_entry(
        "HISTO_KERNEL_CACHE",
        "The directory of kernels that were compiled for a GPU, instead of those under FILES. If set but empty, "
        "none are kept.",
        out);
    print_entry("TMPDIR", "Where temporary copies go; /tmp if not set.", out);
    print_entry("COLUMNS, LINES", "The size of drawings where the output is not a terminal.", out);
    print_entry("LC_ALL, LC_CTYPE, LANG", "Where they name no UTF-8, drawings are in ASCII.", out);
    print_entry("NO_COLOR", "If set and not empty, or if TERM is dumb, drawings have no colours.", out);
    print_statuses(out);
}

static void print_examples_of(const command_row *command, FILE *out)
{
    const char *examples = command->examples;
    char line[HELP_LINE_BYTES], *what;
    while (help_next_line(&examples, line, sizeof line, &what))
        print_entry(line, what, out);
}

static void print_examples(FILE *out)
{
    fputs(".SH EXAMPLES\n", out);
    for (int i = 0; i < COMMAND_COUNT; i++)
        print_examples_of(&command_rows[i], out);
    for (int i = 0; i < SUBJECT_COUNT; i++)
        print_examples_of(&subject_rows[i], out);
}

void document_man(FILE *out)
{
    print_heading("HISTO", "histo", "exact histograms of images, arrays, tables and raw data", out);
    print_synopsis(out);
    print_description(out);
    print_options(out);
    print_formats(out);
    print_surroundings(out);
    print_examples(out);
}

/* ---- histo-bench ---- */

static const command_row *const of_bench[] = {&command_rows[COMMAND_BENCH], &command_rows[COMMAND_GENERATE],
                                              &command_rows[COMMAND_TUNE]};
enum { OF_BENCH = sizeof of_bench / sizeof *of_bench };

/* The subjects of bench, and the other subcommands, that take an option: "map, random and tune"; "" if none does. */
static const char *takers_in_bench(const option_row *option, char *text, size_t capacity)
{
    const char *names[SUBJECT_COUNT + OF_BENCH];
    int count = 0;
    for (int i = 0; i < SUBJECT_COUNT; i++)
        if (option_taken(option, &subject_rows[i])) names[count++] = strchr(subject_rows[i].name, ' ') + 1;
    for (int i = 1; i < OF_BENCH; i++)
        if (option_taken(option, of_bench[i])) names[count++] = of_bench[i]->name;
    return option_list(names, count, text, capacity);
}

static void print_options_of_bench(FILE *out)
{
    fputs(".SH OPTIONS\n", out);
    for (int group = 0; group < GROUP_HIDDEN; group++) {
        bool headed = false;
        for (int i = 0; i < histo_options.count; i++) {
            const option_row *option = &histo_options.rows[i];
            char takers[320], sentence[400];
            if (option->group != (option_group)group || !*takers_in_bench(option, takers, sizeof takers)) continue;
            if (!headed) fprintf(out, ".SS %s\n", option_group_names[group]);
            headed = true;
            print_option(option, out);
            snprintf(sentence, sizeof sentence, "For %s.", takers);
            print_text(sentence, out);
        }
    }
}

void document_man_bench(FILE *out)
{
    print_heading("HISTO\\-BENCH", "histo\\-bench",
                  "measure histograms and applications, and tune the choice of strategies", out);
    fputs(".SH SYNOPSIS\n", out);
    for (int i = 0; i < OF_BENCH; i++) {
        if (i) fputs(".br\n", out);
        print_call("histo\\-bench", of_bench[i], out);
    }
    fputs(".SH DESCRIPTION\n", out);
    print_text("histo-bench is the program that 'histo bench', 'histo generate' and 'histo tune' run. It also runs by "
               "itself, where the command is not installed. The word bench may be left out.",
               out);
    for (int i = 0; i < OF_BENCH; i++)
        print_command(of_bench[i], out);
    print_options_of_bench(out);
    print_statuses(out);
    fputs(".SH EXAMPLES\n", out);
    for (int i = 0; i < OF_BENCH; i++)
        print_examples_of(of_bench[i], out);
    for (int i = 0; i < SUBJECT_COUNT; i++)
        print_examples_of(&subject_rows[i], out);
    fputs(".SH SEE ALSO\n.BR histo (1)\n", out);
}
