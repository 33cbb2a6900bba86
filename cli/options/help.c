/* --help and --version, generated from the tables. */
#include "options/help.h"

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

bool help_next_example(const char **examples, char *line, size_t capacity, char **what)
{
    size_t length = strcspn(*examples, "\n");
    if (length == 0) return false;
    snprintf(line, capacity, "%.*s", (int)length, *examples);
    *what = strchr(line, '\t');
    *(*what)++ = '\0';
    *examples += length + 1;
    return true;
}

static void print_examples(const char *examples, FILE *out)
{
    char line[256], *what;
    int columns = wrap_columns(out);
    fputs("\nExamples\n", out);
    while (help_next_example(&examples, line, sizeof line, &what)) {
        fprintf(out, "  %s\n      ", line);
        wrap_print(out, what, 6, 6, columns);
    }
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
        char label[96] = "    "; /* instead of a letter */
        help_option_label(option, option->letter ? label : label + LETTERS, sizeof label - LETTERS);
        print_entry(label, option->help, COLUMN, wrap_columns(out), out);
    }
}

void help_command(const option_table *options, const command_row *command, FILE *out)
{
    fprintf(out, "Usage: histo %s [OPTION]...%s%s\n\n", command->name, *command->operands ? " " : "",
            command->operands);
    wrap_print(out, command->description, 0, 0, wrap_columns(out));
    for (int group = 0; group < GROUP_HIDDEN; group++)
        print_group(options, command, (option_group)group, out);
    print_examples(command->examples, out);
}

void help_overview(FILE *out)
{
    enum { COLUMN = 15 };
    int columns = wrap_columns(out);
    fputs("Usage: histo [OPTION]... [FILE]...\n"
          "       histo SUBCOMMAND [OPTION]... [ARGUMENT]...\n\n",
          out);
    wrap_print(out, "Exact histograms of images, arrays, tables, numbers in text and raw samples.", 0, 0, columns);
    fputs("\nSubcommands\n", out);
    for (int i = 0; i < COMMAND_COUNT; i++)
        print_entry(command_rows[i].name, command_rows[i].summary, COLUMN, columns, out);
    print_examples(command_rows[COMMAND_HIST].examples, out);
    fputc('\n', out);
    wrap_print(out, "'histo SUBCOMMAND --help' lists the options of each; 'man histo' has everything.", 0, 0, columns);
}
