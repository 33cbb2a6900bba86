#include "base/process.h"

#include <stdio.h>

#include "base/text.h"

const char *process_command_line(void)
{
    static char line[4096];
    static const char *program;
    if (program) return program;
    FILE *in = fopen("/proc/self/cmdline", "re");
    size_t length = in ? fread(line, 1, sizeof line - 1, in) : 0;
    if (in) fclose(in);
    if (!length) return "histo";
    program = text_file_name(line);
    for (size_t i = 0; i + 1 < length; i++)
        if (!line[i]) line[i] = ' ';
    return program;
}
