/* `histo info`: this machine and the formats. */
#include <stdlib.h>
#include <string.h>

#include "base/failure.h"
#include "base/wrap.h"
#include "input/reader.h"
#include "options/help.h"
#include "output/images/images.h"

static void print_entry(const char *label, const char *text)
{
    enum { COLUMN = 10 };
    int width = printf("  %-*s", COLUMN - 2, label);
    wrap_print(stdout, text, width, COLUMN, wrap_columns(stdout));
}

static void print_reader(const reader_kind *kind)
{
    char text[512];
    const bool is_there = !kind->library || reader_is_there(kind);
    snprintf(text, sizeof text, is_there ? "%s" : "%s; not in this build, which lacks %s", kind->formats,
             kind->library);
    print_entry(kind->name, text);
}

static int print_machine(fault *f)
{
    size_t length = histo_machine_describe(NULL, 0);
    char *text = malloc(length + 1);
    if (!text) return fault_set(f, EXIT_DATA, "no memory to describe this machine");
    histo_machine_describe(text, length + 1);
    puts("\nMachine");
    char *rest = text;
    for (char *line; (line = strsep(&rest, "\n"));)
        if (*line) {
            printf("  ");
            wrap_print(stdout, line, 2, 4, wrap_columns(stdout));
        }
    free(text);
    return 0;
}

int command_info(const settings *s)
{
    (void)s;
    fault f = {0};
    const reader_kind *kind;
    const image_writer *writer;
    help_version(stdout);
    if (print_machine(&f) != 0) return fault_report(&f);
    puts("\nFormats of input, recognised by content (--format NAME)");
    for (int i = 0; (kind = reader_kind_at(i)); i++)
        print_reader(kind);
    puts("\nFormats of output, by the suffix of -o (--to NAME)");
#define OUTPUT(name, what) print_entry(#name, what);
#include "output/outputs.def"
#undef OUTPUT
    puts("\nFormats of images that are written, by the suffix");
    for (int i = 0; (writer = image_writer_at(i)); i++)
        print_entry(writer->name, writer->formats);
    print_entry("y4m", "YUV4MPEG2 video, of video only: as it came, with luma mapped");
    return EXIT_OK;
}
