/* The number of bins by a rule, from statistics of the samples. */
#ifndef SURVEY_RULES_H
#define SURVEY_RULES_H

#include <histo/histo.h>

typedef struct histo_rule_facts {
    bool integer;           /* integer samples: no bin is narrower than 1 */
    uint64_t n;             /* samples in the range */
    double spread;          /* largest minus smallest sample in the range */
    double m2, m3;          /* central sums of the samples in the range, for scott and doane */
    double quartile_spread; /* third minus first quartile, for fd and auto */
    int64_t stone_bins;     /* for stone */
    double range;           /* hi - lo, the range to divide into bins */
} histo_rule_facts;

bool histo_rule_known(histo_rule rule);
bool histo_rule_needs_quartiles(histo_rule rule);
bool histo_rule_needs_moments(histo_rule rule);

/* HISTO_INVALID if the rule asks for more than HISTO_MAX_BINS bins. */
histo_status histo_rule_bins(histo_rule rule, const histo_rule_facts *facts, int64_t *bins);

#endif
