/* A command that maps an image to an image is a job (apply/job.h).
 *
 *     static int make(job *j, int table, fault *f) { … histo_map_equalize(j->maps[table], j->hists[table], …); }
 *     static const job_kind equalize = {.verb = "equalizing", .make = make};
 *     int command_equalize(const settings *s) { return job_command(s, &equalize); } */
#ifndef CLI_APPLY_COMMAND_H
#define CLI_APPLY_COMMAND_H

#include "apply/job.h"

/* Run the whole command; returns the exit status. */
int job_command(const settings *s, const job_kind *kind);

#endif
