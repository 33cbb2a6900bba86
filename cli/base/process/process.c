#define _GNU_SOURCE
#include "base/process/process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/text.h"

static char **arguments;

void process_keep_arguments(int argc, char **argv)
{
    arguments = calloc((size_t)argc + 1, sizeof *arguments);
    for (int i = 0; arguments && i < argc; i++)
        if (!(arguments[i] = strdup(argv[i]))) arguments = NULL;
}

char *const *process_arguments(void)
{
    return arguments;
}

bool process_directory(char directory[PATH_MAX])
{
    const ssize_t length = readlink("/proc/self/exe", directory, PATH_MAX - 1);
    if (length > 0)
        directory[length] = '\0';
    else if (!realpath((const char *)getauxval(AT_EXECFN), directory)) /* NOLINT: no /proc, and a pointer by contract */
        return false;
    strrchr(directory, '/')[1] = '\0';
    return true;
}

const char *process_command_line(void)
{
    static char line[4096];
    if (!arguments || !arguments[0]) return "histo";
    int length = snprintf(line, sizeof line, "%s", text_file_name(arguments[0]));
    for (int i = 1; arguments[i] && length < (int)sizeof line; i++)
        length += snprintf(line + length, sizeof line - (size_t)length, " %s", arguments[i]);
    return line;
}
