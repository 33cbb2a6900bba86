/* histo equalize: spread the levels of an image evenly. */
#include "apply/command.h"
#include "base/failure.h"

static int make(job *j, int table, fault *f)
{
    const levels *l = &j->levels[table];
    if (job_new_map(j, table, l->within, f) != 0) return -1;
    double lo, hi;
    job_results(j, table, &lo, &hi);
    const histo_make_options options = {.lo = lo, .hi = hi, .rule = j->settings->rule};
    return histo_map_equalize(j->maps[table], j->hists[table], &options) == HISTO_OK
               ? 0
               : fault_of_library(f, EXIT_DATA, job_name(j));
}

int command_equalize(const settings *s)
{
    static const job_kind equalize = {.verb = "equalizing", .make = make};
    return job_command(s, &equalize);
}
