/* histo hist: count files, and draw or write the histogram. */
#include <stdio.h>
#include <string.h>

#include "commands/live.h"
#include "output/advice.h"
#include "output/outfile.h"
#include "output/saved/checkpoint.h"
#include "output/terminal/terminal.h"
#include "output/write.h"

/* Print the statistics of a terminal drawing on standard error. */
static int tell(const settings *s, const result *r, fault *f)
{
    const screen to = screen_of(stderr);
    table *tables = tables_read(r, TABLE_OF_OCCUPIED, f);
    if (!tables) return -1;
    const int failed = terminal_stats(&to, r, tables, s, f);
    if (!failed && r->ran[0]) screen_phrases(&to, r->ran);
    tables_free(tables, r);
    return failed;
}

static int hist(const settings *s, output *to, result *r, fault *f)
{
    if (outfile_spare_inputs(s, f) != 0 || output_open(to, s, f) != 0) return -1;
    if (s->live) return live_count(s, r, f) != 0 ? -1 : live_write(s, to, r, f);
    if (s->shards && strcmp(to->writer->name, "histo") != 0)
        return fault_set(f, EXIT_USAGE, "only .histo files say which shard they are: name one with -o");
    if (checkpoint_count(s, output_moments(to), r, f) != 0) return -1;
    if (output_write(to, r, f) != 0) return -1;
    const bool saves = strcmp(to->writer->name, "histo") == 0 || strcmp(to->writer->name, "json") == 0;
    if (!saves) advise_on_bins(s, r);
    checkpoint_remove(s);
    return s->verbose && strcmp(to->writer->name, "text") != 0 ? tell(s, r, f) : 0;
}

int command_hist(const settings *s)
{
    return output_command(s, hist);
}
