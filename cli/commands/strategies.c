/* `histo strategies`: the library's table, for people on a terminal, else as tab-separated values or JSON. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/failure.h"
#include "base/wrap.h"
#include "options/settings.h"
#include "output/outfile.h"

typedef void print_row(int row, const histo_strategy_info *info, FILE *out);

static void print_text(int row, const histo_strategy_info *info, FILE *out)
{
    enum { INDENT = 4 };
    int columns = wrap_columns(out);
    fprintf(out, "%s%s/%s\n%*s", row ? "\n" : "", info->backend, info->name, INDENT, "");
    wrap_print(out, info->summary, INDENT, INDENT, columns);
    int width = fprintf(out, "%*sfor: ", INDENT, "");
    wrap_print(out, info->limits, width, INDENT, columns);
    width = fprintf(out, "%*sfrom: ", INDENT, "");
    wrap_print(out, info->source, width, INDENT, columns);
}

static void print_tsv(int row, const histo_strategy_info *info, FILE *out)
{
    if (row == 0) fputs("backend\tname\tsummary\tlimits\tsource\n", out);
    fprintf(out, "%s\t%s\t%s\t%s\t%s\n", info->backend, info->name, info->summary, info->limits, info->source);
}

static void print_json(int row, const histo_strategy_info *info, FILE *out)
{
    const char *const fields[][2] = {{"backend", info->backend},
                                     {"name", info->name},
                                     {"summary", info->summary},
                                     {"limits", info->limits},
                                     {"source", info->source}};
    for (int i = 0; i < 5; i++) {
        fprintf(out, "%s\"%s\": \"", i ? ", " : row ? "},\n {" : "[{", fields[i][0]);
        for (const char *text = fields[i][1]; *text; text++)
            fprintf(out, "%s%c", *text == '"' || *text == '\\' ? "\\" : "", *text);
        fputc('"', out);
    }
    if (row == histo_strategy_count() - 1) fputs("}]\n", out);
}

static const struct {
    const char *format;
    print_row *print;
} formats[] = {{"text", print_text}, {"tsv", print_tsv}, {"json", print_json}};

/* --to, else the suffix of -o, else the default for standard output. */
static const char *wanted_format(const settings *s, const char *path)
{
    if (s->output_format) return s->output_format;
    if (strcmp(path, "-") == 0) return isatty(STDOUT_FILENO) ? "text" : "tsv";
    const char *suffix = strrchr(path, '.');
    return suffix ? suffix + 1 : "";
}

static int write_rows(print_row *print, const char *path, fault *f)
{
    outfile *o = outfile_open(path, f);
    if (!o) return -1;
    histo_strategy_info info;
    for (int row = 0; histo_strategy_describe(row, &info) == HISTO_OK; row++)
        print(row, &info, outfile_stream(o));
    return outfile_commit(o, f);
}

int command_strategies(const settings *s)
{
    fault f = {0};
    const char *path = s->output ? s->output : "-";
    const char *format = wanted_format(s, path);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (strcmp(formats[i].format, format) != 0) continue;
        return write_rows(formats[i].print, path, &f) == 0 ? EXIT_OK : fault_report(&f);
    }
    fault_set(&f, EXIT_USAGE, "strategies are listed as text, tsv or json: choose one with --to");
    return fault_report(&f);
}
