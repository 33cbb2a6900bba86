/* histo survey: find bins that shards agree on. */
#include <stdio.h>

#include "base/failure.h"
#include "count/axes/surveys.h"
#include "output/outfile.h"

static int run_survey(const settings *s, outfile *out, fault *f)
{
    bool again = false;
    if (!s->merge_surveys) return surveys_make(s, outfile_stream(out), f);
    if (s->files_count == 0) return fault_set(f, EXIT_USAGE, "nothing to merge: name the surveys of all shards");
    if (surveys_merge(s->files, s->files_count, outfile_stream(out), stdout, &again, f) != 0) return -1;
    if (again && !s->quiet) note("another pass is needed: survey all shards again, with --survey %s", s->output);
    return 0;
}

int command_survey(const settings *s)
{
    fault f = {0};
    if (!s->output || (s->output[0] == '-' && !s->output[1])) {
        fault_set(&f, EXIT_USAGE, "name a file for the survey with -o");
        return fault_report(&f);
    }
    if (outfile_spare_inputs(s, &f) != 0 || outfile_spare(s->output, s->agreed, "its survey", &f) != 0)
        return fault_report(&f);
    outfile *out = outfile_open(s->output, &f);
    if (!out) return fault_report(&f);
    if (run_survey(s, out, &f) != 0) {
        outfile_abandon(out);
        return fault_report(&f);
    }
    return outfile_commit(out, &f) == 0 ? EXIT_OK : fault_report(&f);
}
