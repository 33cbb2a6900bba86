/* --help and --version, generated from the tables. */
#include "options/help.h"

#include <ctype.h>
#include <string.h>

#include "base/wrap.h"

void help_version(FILE *out)
{
    fprintf(out, "histo %s\n", histo_version());
}

void help_option_label(const option_row *option, char *label, size_t capacity)
{
    char letter[8] = "";
    if (option->letter) snprintf(letter, sizeof letter, "-%c, ", option->letter);
    snprintf(label, capacity, "%s--%s%s%s", letter, option->name, option->argument ? " " : "",
             option->argument ? option->argument : "");
}

bool help_next_line(const char **lines, char *line, size_t capacity, char **what)
{
    const size_t length = strcspn(*lines, "\n");
    if (length == 0) return false;
    snprintf(line, capacity, "%.*s", (int)length, *lines);
    *what = strchr(line, '\t');
    if (*what) *(*what)++ = '\0';
    *lines += length + ((*lines)[length] == '\n');
    return true;
}

static void print_example(const char *line, const char *what, FILE *out)
{
    fprintf(out, "  %s\n      ", line);
    wrap_print(out, what, 6, 6, wrap_columns(out));
}

/* Purpose, usage and where to read more, a line each, and an example: *examples are the remaining ones. */
static void print_beginning(const char *does, const char *usage, const char *more, const char **examples, FILE *out)
{
    char line[HELP_LINE_BYTES], *what;
    fprintf(out, "%c%s.\n%s\nMore: %s\n\n", toupper((unsigned char)*does), does + 1, usage, more);
    if (help_next_line(examples, line, sizeof line, &what)) print_example(line, what, out);
}

static void print_examples(const char *examples, FILE *out)
{
    char line[HELP_LINE_BYTES], *what;
    if (*examples) fputs("\nMore examples\n", out);
    while (help_next_line(&examples, line, sizeof line, &what))
        print_example(line, what, out);
}

/* Print a label, and text to its right (below it if the label is long). */
static void print_entry(const char *label, const char *text, int column, int columns, FILE *out)
{
    int width = fprintf(out, "  %s", label);
    if (width + 2 > column) {
        fputc('\n', out);
        width = 0;
    }
    fprintf(out, "%*s", column - width, "");
    wrap_print(out, text, column, column, columns);
}

static void print_group(const option_table *options, const command_row *command, option_group group, FILE *out)
{
    enum { COLUMN = 26, LETTERS = 4 };
    bool begun = false;
    for (int i = 0; i < options->count; i++) {
        const option_row *option = &options->rows[i];
        if (option->group != group || !option_taken(option, command)) continue;
        if (!begun) fprintf(out, "\n%s\n", option_group_names[group]);
        begun = true;
        char label[96] = "    "; /* in place of a letter */
        help_option_label(option, option->letter ? label : label + LETTERS, sizeof label - LETTERS);
        print_entry(label, option->help, COLUMN, wrap_columns(out), out);
    }
}

static void print_rows(const char *heading, const command_row *rows, int count, int column, FILE *out)
{
    fprintf(out, "\n%s\n", heading);
    for (int i = 0; i < count; i++)
        print_entry(rows[i].name, rows[i].summary, column, wrap_columns(out), out);
}

static void print_details(const char *description, FILE *out)
{
    enum { COLUMN = 16 };
    char line[HELP_LINE_BYTES], *what;
    const int columns = wrap_columns(out);
    fputs("\nDetails\n", out);
    while (help_next_line(&description, line, sizeof line, &what)) {
        if (what) {
            print_entry(line, what, COLUMN, columns, out);
            continue;
        }
        fputs("  ", out);
        wrap_print(out, line, 2, 2, columns);
    }
}

void help_command(const option_table *options, const command_row *command, FILE *out)
{
    char usage[128];
    const char *examples = command->examples, *more = "details and examples follow the options; man histo";
    const bool has_subjects = command == &command_rows[COMMAND_BENCH];
    if (has_subjects) more = "histo bench SUBJECT --help lists the options of each; man histo";
    snprintf(usage, sizeof usage, "Usage: histo %s [OPTION]...%s%s", command->name, *command->operands ? " " : "",
             command->operands);
    print_beginning(command->summary, usage, more, &examples, out);
    if (has_subjects) print_rows("Subjects", subject_rows, SUBJECT_COUNT, 22, out);
    for (int group = 0; group < GROUP_HIDDEN && !has_subjects; group++)
        print_group(options, command, (option_group)group, out);
    print_details(command->description, out);
    print_examples(examples, out);
}

void help_overview(FILE *out)
{
    const char *examples = command_rows[COMMAND_HIST].examples;
    print_beginning("exact histograms of images, arrays, tables, numbers in text and raw samples",
                    "Usage: histo [SUBCOMMAND] [OPTION]... [FILE]...",
                    "histo SUBCOMMAND --help lists the options of each; man histo", &examples, out);
    print_rows("Subcommands", command_rows, COMMAND_COUNT, 15, out);
    print_examples(examples, out);
}
