/* histo merge: add saved histograms with equal names. */
#include <stdio.h>
#include <string.h>

#include "output/saved/merge.h"
#include "output/saved/merge_names.h"
#include "output/write.h"

/* All shards together are what one process counts; nothing more is recorded. */
static int check_shards(const settings *s, result *sum, fault *f)
{
    char missing[600];
    if (s->complete && !sum->shards)
        return fault_set(f, EXIT_USAGE, "%s is not a shard: --complete is for files that --shard wrote", s->files[0]);
    if (!sum->shards) return 0;
    if (manifest_is_complete(sum->shards)) {
        const bool by_name = strstr(sum->shards->run, "--sort name") != NULL;
        for (int i = 0; i < sum->count; i++)
            if (!sum->series[i].shares_hist && series_sort_names(&sum->series[i], by_name, f) != 0) return -1;
        manifest_free(sum->shards);
        sum->shards = NULL;
        return 0;
    }
    if (s->complete) return fault_set(f, EXIT_DATA, "%s", manifest_missing(sum->shards, missing, sizeof missing));
    if (!s->quiet) saved_remark(sum, "the sum");
    return 0;
}

static int run(const settings *s, output *to, result *sum, fault *f)
{
    if (s->files_count == 0)
        return fault_set(f, EXIT_USAGE, "nothing to merge: name the saved histograms, as in histo merge a.json b.json");
    if (output_open(to, s, f) != 0 || saved_merge(s->files, s->files_count, sum, f) != 0) return -1;
    if (check_shards(s, sum, f) != 0) return -1;
    return output_write(to, sum, f);
}

int command_merge(const settings *s)
{
    return output_command(s, run);
}
