/* Numbers of bins by rule, from what a look at the samples has found. */
#ifndef AXIS_RULES_H
#define AXIS_RULES_H

#include <histo/histo.h>

typedef struct histo_rule_facts {
    bool integer;           /* the samples are integers: no bin is narrower than 1 */
    uint64_t n;             /* samples within the range */
    double spread;          /* largest minus smallest of them */
    double m2, m3;          /* their central sums: used by scott and doane */
    double quartile_spread; /* third minus first quartile: used by fd and auto */
    int64_t stone_bins;     /* used by stone */
    double range;           /* hi - lo, to be divided into bins */
} histo_rule_facts;

bool histo_rule_known(histo_rule rule);
bool histo_rule_needs_quartiles(histo_rule rule);

/* HISTO_INVALID if the rule asks for more than HISTO_MAX_BINS. */
histo_status histo_rule_bins(histo_rule rule, const histo_rule_facts *facts, int64_t *bins);

#endif
