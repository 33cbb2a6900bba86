/* histo merge: add saved histograms with equal names. */
#include "output/sum.h"
#include "output/write.h"

static int run(const settings *s, output *to, result *sum, fault *f)
{
    if (s->files_count == 0)
        return fault_set(f, EXIT_USAGE, "nothing to merge: name the saved histograms, as in histo merge a.json b.json");
    if (output_open(to, s, f) != 0 || saved_sum(s->files, s->files_count, sum, f) != 0) return -1;
    return output_write(to, sum, f);
}

int command_merge(const settings *s)
{
    return output_command(s, run);
}
