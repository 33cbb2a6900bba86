/* The settings of histo-bench: every option of `histo bench`, `histo generate` and `histo tune`, as in options.def.
 * Zero or NULL: not given. */
#ifndef BENCH_SETTINGS_H
#define BENCH_SETTINGS_H

#include "options/options.h"

typedef struct bench_settings {
    settings common; /* what options mean for histo, too; the first member, as targets in shared.def need */

    int64_t samples;         /* --samples N: of each input */
    int64_t bytes;           /* --samples NMiB: the bytes of each input instead */
    const char *sample_list; /* --samples N,N…: several numbers instead */
    const char *inputs;      /* --input NAME,… */
    const char *cells;       /* --cells PATTERN,… */
    int repeat;              /* --repeat N */
    bool quick;              /* --quick */
    int64_t seed;            /* --seed N */
    int64_t count;           /* --count N */
    const char *only;        /* --only KEY=VALUE,… */
    const char *problem;     /* --problem LINE */
    histo_effort effort;     /* --effort NAME; HISTO_ESTIMATE if not given */
    const char *figure;      /* --figure N */
    const char *paper_table; /* --table N */
    const char *section;     /* --section N */
    double budget_s;         /* --budget SECONDS */
    const char *image;       /* --image FILE */

    const char *types;         /* --types u8,… */
    const char *distributions; /* --distributions NAME,… */
    bool transfers;            /* --transfers */
    const char *save;          /* --save FILE|default */
    const char *json;          /* --json FILE */
} bench_settings;

/* Parse argv of one subcommand, as settings_parse does. */
int bench_settings_parse(bench_settings *s, const char *command, int argc, char **argv, fault *f);
extern const option_table bench_option_table;

/* The numbers of a list such as 256,2^20: how many, from 1 to `max_numbers`, in increasing order; -1 with the sentence.
 */
int bench_parse_numbers(const char *option, const char *text, int64_t largest, int64_t *numbers, int max_numbers,
                        fault *f);

/* What histo-bench does. They return the exit status. */
int bench_command_bench(const bench_settings *s);
int bench_command_generate(const bench_settings *s);
int bench_command_tune(const bench_settings *s);

#endif
