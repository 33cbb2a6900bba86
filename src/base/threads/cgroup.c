#include "base/threads/cgroup.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/system.h"

int histo_cgroup_read(const char *directory, const char *name, long long *first, long long *second)
{
    char path[PATH_MAX + 32];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = histo_open_to_read(path);
    if (!file) return 0;
    int numbers = fscanf(file, "%lld %lld", first, second);
    fclose(file);
    return numbers;
}

/* Visit the directory `path` under `root`, and its parents up to `root`. */
static void visit_along(const char *root, const char *path, histo_cgroup_visitor *visit, void *self)
{
    char directory[2 * PATH_MAX];
    int length = snprintf(directory, sizeof directory, "%s%s", root, path);
    if (length >= (int)sizeof directory) return;
    while (strlen(directory) > strlen(root)) {
        visit(self, directory);
        *strrchr(directory, '/') = '\0';
    }
    visit(self, root);
}

/* Whether `name` is one of the words of a comma-separated list. */
static bool has_word(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == '\0')) return true;
    return false;
}

void histo_cgroups_visit(const char *membership, const char *mount, const char *controller, histo_cgroup_visitor *visit,
                         void *self)
{
    char line[PATH_MAX], root[PATH_MAX];
    FILE *file = histo_open_to_read(membership);
    if (!file) return;
    while (fgets(line, sizeof line, file)) { /* number:controllers:path; in version 2, no controllers */
        line[strcspn(line, "\n")] = '\0';
        char *controllers = strchr(line, ':'), *path = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!path || path[1] != '/') continue;
        controllers++;
        *path++ = '\0';
        bool version_2 = *controllers == '\0';
        if (!version_2 && !has_word(controllers, controller)) continue;
        int length = snprintf(root, sizeof root, version_2 ? "%s" : "%s/%s", mount, controllers);
        if (length < (int)sizeof root) visit_along(root, path, visit, self);
    }
    fclose(file);
}
