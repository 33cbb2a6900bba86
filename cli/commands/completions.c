/* Completions for bash, zsh and fish. Shells differ, so each has its own functions; their data come from the same
 * tables. */
#include <stdio.h>
#include <string.h>

#include "commands/document.h"
#include "input/reader.h"
#include "options/options.h"

enum { WORDS = 512 };

/* ---- Words of values, some listed by other tables ---- */

static void add_word(char *words, size_t capacity, const char *word)
{
    size_t length = strlen(words);
    snprintf(words + length, capacity - length, "%s%s", length ? " " : "", word);
}

const char *option_values(const option_row *option, char *words, size_t capacity)
{
    const char *values = option->values ? option->values : "";
    words[0] = '\0';
    if (strcmp(values, VALUES_FORMATS) == 0) {
        const reader_kind *kind;
        for (int i = 0; (kind = reader_kind_at(i)); i++)
            add_word(words, capacity, kind->name);
    } else if (strcmp(values, VALUES_OUTPUTS) == 0) {
#define OUTPUT(name, what) add_word(words, capacity, #name);
#include "output/outputs.def"
#undef OUTPUT
    } else if (strcmp(values, VALUES_DTYPES) == 0) {
        for (int i = 0; i < HISTO_DTYPE_COUNT; i++)
            add_word(words, capacity, histo_dtype_name((histo_dtype)i));
    } else if (strcmp(values, VALUES_STRATEGIES) == 0) {
        histo_strategy_info info;
        for (int i = 0; histo_strategy_describe(i, &info) == HISTO_OK; i++)
            add_word(words, capacity, info.name);
    } else {
        add_word(words, capacity, values);
    }
    return words;
}

static bool is_listed(const option_row *option, const command_row *command)
{
    return option->group != GROUP_HIDDEN && option_taken(option, command);
}

/* The names of all subcommands, separated by `between`. */
static void print_commands(const char *between, FILE *out)
{
    for (int i = 0; i < COMMAND_COUNT; i++)
        fprintf(out, "%s%s", i ? between : "", command_rows[i].name);
}

/* How a shell escapes help texts, which are in single quotes. */
typedef struct quoting {
    const char *escaped; /* characters to escape by a backslash */
    const char *quote;   /* a single quote */
} quoting;

static const quoting zsh = {"[]:\\", "'\\''"};
static const quoting fish = {"\\", "\\'"};

static void print_quoted(const char *text, const quoting *q, FILE *out)
{
    for (; *text; text++) {
        if (*text == '\'')
            fputs(q->quote, out);
        else
            fprintf(out, "%s%c", strchr(q->escaped, *text) ? "\\" : "", *text);
    }
}

/* The names and summaries of all subcommands. */
static void print_summaries(const char *before, const char *between, const char *after, const quoting *q, FILE *out)
{
    for (int i = 0; i < COMMAND_COUNT; i++) {
        fprintf(out, "%s%s%s", before, command_rows[i].name, between);
        print_quoted(command_rows[i].summary, q, out);
        fputs(after, out);
    }
}

/* ---- bash ---- */

static void print_bash_pattern(const option_row *option, FILE *out)
{
    if (option->letter) fprintf(out, "-%c | ", option->letter);
    fprintf(out, "--%s", option->name);
}

/* What may follow an option: words of a list, a file, or free text. */
static void print_bash_values(FILE *out)
{
    char words[WORDS];
    const char *unknown = "    ";
    for (int i = 0; i < histo_options.count; i++) {
        const option_row *option = &histo_options.rows[i];
        if (!option->argument || !option->values) continue;
        option_values(option, words, sizeof words);
        fputs("    ", out);
        print_bash_pattern(option, out);
        if (strcmp(words, VALUES_FILES) == 0)
            fputs(") return ;;\n", out);
        else
            fprintf(out, ") compopt +o default; _histo_words '%s'; return ;;\n", words);
    }
    for (int i = 0; i < histo_options.count; i++) {
        if (!histo_options.rows[i].argument || histo_options.rows[i].values) continue;
        fputs(unknown, out);
        print_bash_pattern(&histo_options.rows[i], out);
        unknown = " | ";
    }
    fputs(") compopt +o default; return ;;\n", out);
}

static void print_bash_options(FILE *out)
{
    for (int c = 0; c < COMMAND_COUNT; c++) {
        fprintf(out, "        %s) _histo_words '", command_rows[c].name);
        for (int i = 0; i < histo_options.count; i++)
            if (is_listed(&histo_options.rows[i], &command_rows[c])) fprintf(out, " --%s", histo_options.rows[i].name);
        fputs("' ;;\n", out);
    }
}

void document_bash(FILE *out)
{
    fputs("# Completions of histo for bash, made by 'histo help --bash'. Where nothing else is known, files complete.\n"
          "_histo_words() { mapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$word\"); }\n"
          "\n"
          "_histo()\n"
          "{\n"
          "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=hist\n"
          "    COMPREPLY=()\n"
          "    if [[ $word == = ]]; then\n"
          "        word=\n"
          "    elif [[ $before == = ]]; then\n"
          "        before=${COMP_WORDS[COMP_CWORD - 2]}\n"
          "    fi\n"
          "    case $before in\n",
          out);
    print_bash_values(out);
    fputs("    esac\n"
          "    if ((COMP_CWORD > 1)); then\n"
          "        case ${COMP_WORDS[1]} in\n"
          "        ",
          out);
    print_commands(" | ", out);
    fputs(") command=${COMP_WORDS[1]} ;;\n"
          "        esac\n"
          "    fi\n"
          "    if [[ $word == -* ]]; then\n"
          "        case $command in\n",
          out);
    print_bash_options(out);
    fputs("        esac\n"
          "    elif ((COMP_CWORD == 1)); then\n"
          "        compopt -o filenames\n"
          "        mapfile -t COMPREPLY < <(compgen -W '",
          out);
    print_commands(" ", out);
    fputs("' -- \"$word\"; compgen -f -- \"$word\")\n"
          "    elif [[ $command == help ]]; then\n"
          "        _histo_words '",
          out);
    print_commands(" ", out);
    fputs("'\n"
          "    fi\n"
          "}\n"
          "complete -o default -F _histo histo\n",
          out);
}

/* ---- zsh ---- */

static void print_zsh_option(const option_row *option, FILE *out)
{
    char words[WORDS];
    const bool repeats = option->target.repeats;
    const char *with_value = option->argument ? "=" : "", *short_with_value = option->argument ? "+" : "";
    fputs(" \\\n        '", out);
    if (repeats)
        fputc('*', out);
    else if (option->letter)
        fprintf(out, "(-%c --%s)", option->letter, option->name);
    if (option->letter)
        fprintf(out, "'{-%c%s,--%s%s}'[", option->letter, short_with_value, option->name, with_value);
    else
        fprintf(out, "--%s%s[", option->name, with_value);
    print_quoted(option->help, &zsh, out);
    fputc(']', out);
    if (option->argument) {
        fputc(':', out);
        print_quoted(option->argument, &zsh, out);
        option_values(option, words, sizeof words);
        if (strcmp(words, VALUES_FILES) == 0) {
            fputs(":_files", out);
        } else {
            fputs(":(", out);
            print_quoted(words, &zsh, out);
            fputc(')', out);
        }
    }
    fputc('\'', out);
}

void document_zsh(FILE *out)
{
    fputs("#compdef histo\n"
          "# Completions of histo for zsh, made by 'histo help --zsh'.\n"
          "_histo() {\n"
          "    local command=hist\n"
          "    local -a subcommands=(",
          out);
    print_summaries("\n        '", ":", "'", &zsh, out);
    fputs(")\n"
          "    if ((CURRENT == 2)) && [[ $words[2] != -* ]]; then\n"
          "        _describe -t subcommands subcommand subcommands\n"
          "        _files\n"
          "        return\n"
          "    fi\n"
          "    case $words[2] in\n"
          "    (",
          out);
    print_commands("|", out);
    fputs(") command=$words[2]; shift words; ((CURRENT--)) ;;\n"
          "    esac\n"
          "    case $command in\n",
          out);
    for (int c = 0; c < COMMAND_COUNT; c++) {
        const command_row *command = &command_rows[c];
        fprintf(out, "    (%s) _arguments -s -S", command->name);
        for (int i = 0; i < histo_options.count; i++)
            if (is_listed(&histo_options.rows[i], command)) print_zsh_option(&histo_options.rows[i], out);
        if (c == COMMAND_HELP) {
            fputs(" \\\n        ':subcommand:(", out);
            print_commands(" ", out);
            fputs(")'", out);
        } else if (command->max_operands != 0) {
            fputs(" \\\n        '*:file:_files'", out);
        }
        fputs(" ;;\n", out);
    }
    fputs("    esac\n"
          "}\n"
          "_histo \"$@\"\n",
          out);
}

/* ---- fish ---- */

static void print_fish_option(const option_row *option, FILE *out)
{
    char words[WORDS];
    fputs("complete -c histo -n '__histo_runs", out);
    for (int c = 0; c < COMMAND_COUNT; c++)
        if (option_taken(option, &command_rows[c])) fprintf(out, " %s", command_rows[c].name);
    fprintf(out, "' -l %s", option->name);
    if (option->letter) fprintf(out, " -s %c", option->letter);
    if (option->argument) {
        option_values(option, words, sizeof words);
        if (strcmp(words, VALUES_FILES) == 0)
            fputs(" -r -F", out);
        else
            fprintf(out, " -x -a '%s'", words);
    }
    fputs(" -d '", out);
    print_quoted(option->help, &fish, out);
    fputs("'\n", out);
}

void document_fish(FILE *out)
{
    fputs("# Completions of histo for fish, made by 'histo help --fish'.\n"
          "function __histo_runs --description 'Is the subcommand one of these?'\n"
          "    set -l tokens (commandline -opc)\n"
          "    set -l command hist\n"
          "    if contains -- \"$tokens[2]\" ",
          out);
    print_commands(" ", out);
    fputs("\n"
          "        set command $tokens[2]\n"
          "    end\n"
          "    contains -- $command $argv\n"
          "end\n",
          out);
    print_summaries("complete -c histo -n 'test (count (commandline -opc)) -eq 1' -a ", " -d '", "'\n", &fish, out);
    fputs("complete -c histo -n '__histo_runs help' -f -a '", out);
    print_commands(" ", out);
    fputs("'\ncomplete -c histo -n '__histo_runs", out);
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (command_rows[i].max_operands == 0) fprintf(out, " %s", command_rows[i].name);
    fputs("' -f\n", out);
    for (int i = 0; i < histo_options.count; i++)
        if (histo_options.rows[i].group != GROUP_HIDDEN) print_fish_option(&histo_options.rows[i], out);
}
