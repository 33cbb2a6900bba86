/* Files are the same if device and inode are, whatever they are called. */
#include "output/overwrite.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static int check(const struct stat *output, const char *path, const char *what, const settings *s, fault *f)
{
    struct stat other;
    bool found = strcmp(path, "-") == 0 ? fstat(0, &other) == 0 : stat(path, &other) == 0;
    if (!found || other.st_dev != output->st_dev || other.st_ino != output->st_ino) return 0;
    return fault_set(f, EXIT_USAGE, "-o %s would overwrite %s: name another file", s->output, what);
}

/* -b may be a list of @FILE, one for each axis. */
static int check_edges(const struct stat *output, const settings *s, fault *f)
{
    for (const char *item = s->bins; item && *item;) {
        size_t length = strcspn(item, ";");
        char path[4096];
        snprintf(path, sizeof path, "%.*s", (int)(length < sizeof path ? length : 0), item);
        if (path[0] == '@' && check(output, path + 1, "its file of edges", s, f) != 0) return -1;
        item += length + (item[length] == ';');
    }
    return 0;
}

int overwrite_refuse(const settings *s, fault *f)
{
    struct stat output;
    if (s->output && s->wisdom && strcmp(s->output, s->wisdom) == 0) /* which --measure may have yet to make */
        return fault_set(f, EXIT_USAGE, "-o and --wisdom are both %s: name another file", s->output);
    if (!s->output || strcmp(s->output, "-") == 0 || stat(s->output, &output) != 0 || !S_ISREG(output.st_mode))
        return 0;
    for (int i = 0; i < s->files_count; i++)
        if (check(&output, s->files[i], "its input", s, f) != 0) return -1;
    if (s->files_count == 0 && check(&output, "-", "its input", s, f) != 0) return -1;
    if (s->mask && check(&output, s->mask, "its mask", s, f) != 0) return -1;
    if (s->segments && check(&output, s->segments, "its segments", s, f) != 0) return -1;
    if (s->wisdom && check(&output, s->wisdom, "its wisdom", s, f) != 0) return -1;
    return check_edges(&output, s, f);
}
