/* histo hist: count files, and draw or write the histogram. */
#include <stdio.h>

#include "count.h"
#include "failure.h"
#include "write.h"

static int run(const settings *s, output *to, result *r, fault *f)
{
    if (output_open(to, s, f) != 0) return -1;
    if (count_files(s, to->writer->shows_stats, r, f) != 0) return -1;
    if (output_write(to, r, f) != 0) return -1;
    if (s->verbose && r->ran[0]) fprintf(stderr, "histo: %s\n", r->ran);
    return 0;
}

int command_hist(const settings *s)
{
    fault f = {0};
    output to = {0};
    result r = {0};
    int failed = run(s, &to, &r, &f);
    output_close(&to);
    result_free(&r);
    return failed ? fault_report(&f) : EXIT_OK;
}
