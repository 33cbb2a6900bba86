/* histo hist: count files, and draw or write the histogram. */
#include <stdio.h>
#include <string.h>

#include "count/count.h"
#include "output/outfile.h"
#include "output/terminal/terminal.h"
#include "output/write.h"

/* Print the statistics of a terminal drawing on standard error. */
static int tell(const result *r, fault *f)
{
    const screen to = screen_of(stderr);
    table *tables = tables_read(r, TABLE_OF_OCCUPIED, f);
    if (!tables) return -1;
    terminal_stats(&to, r, tables);
    if (r->ran[0]) screen_phrases(&to, r->ran);
    tables_free(tables, r);
    return 0;
}

static int hist(const settings *s, output *to, result *r, fault *f)
{
    if (outfile_spare_inputs(s, f) != 0 || output_open(to, s, f) != 0) return -1;
    if (count_files(s, to->writer->shows_stats || s->verbose, r, f) != 0) return -1;
    if (output_write(to, r, f) != 0) return -1;
    return s->verbose && strcmp(to->writer->name, "text") != 0 ? tell(r, f) : 0;
}

int command_hist(const settings *s)
{
    return output_command(s, hist);
}
