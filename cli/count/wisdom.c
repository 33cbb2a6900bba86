#include "count/wisdom.h"

#include <errno.h>
#include <histo/histo.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/failure.h"
#include "base/places.h"

const char *wisdom_default_path(void)
{
    static char path[PATH_MAX];
    return places_find("XDG_CONFIG_HOME", ".config", "histo/wisdom", path) ? path : NULL;
}

int wisdom_make_directory(fault *f)
{
    const char *path = wisdom_default_path();
    if (!path)
        return fault_set(f, EXIT_DATA, "there is no default place for wisdom without $HOME: name a file with --save");
    char part[PATH_MAX];
    for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        snprintf(part, sizeof part, "%.*s", (int)(slash - path), path);
        if (mkdir(part, 0777) != 0 && errno != EEXIST)
            return fault_set(f, EXIT_DATA, "the directory %s cannot be made (%s): name a file with --save", part,
                             strerror(errno));
    }
    return 0;
}

static int load_default(fault *f)
{
    const char *path = wisdom_default_path();
    if (!path || access(path, F_OK) != 0 || histo_wisdom_load(path) == HISTO_OK) return 0;
    return fault_set(f, EXIT_DATA, "%s", histo_last_error());
}

int wisdom_load(const settings *s, fault *f)
{
    if (!s->wisdom) return load_default(f);
    bool fresh = (s->measure || s->vary) && access(s->wisdom, F_OK) != 0; /* to be created */
    return fresh || histo_wisdom_load(s->wisdom) == HISTO_OK ? 0 : fault_of_wisdom(f);
}

int wisdom_save_measured(const settings *s, fault *f)
{
    if (!(s->measure || s->vary) || !s->wisdom || histo_wisdom_save(s->wisdom) == HISTO_OK) return 0;
    return fault_of_wisdom(f);
}
