/* histo show: draw saved histograms, or write them in another format. */
#include "output/saved/merge.h"
#include "output/saved/saved.h"
#include "output/write.h"

static int run(const settings *s, output *to, result *r, fault *f)
{
    static const char *const piped[] = {"-"};
    const char *const *files = s->files_count ? s->files : piped;
    if (output_open(to, s, f) != 0) return -1;
    for (int i = 0; i < (s->files_count ? s->files_count : 1); i++)
        if (saved_load(files[i], r, f) != 0) return -1;
    if (!s->quiet) saved_remark(r, files[0]);
    return output_write(to, r, f);
}

int command_show(const settings *s)
{
    return output_command(s, run);
}
