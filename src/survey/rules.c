/* The rules of numpy.histogram_bin_edges. Each gives a bin width; the range is divided into ceil(range / width) bins.
 * Operations are in NumPy's order, so that ceil gets the same quotient. */
#include "survey/rules.h"

#include <math.h>
#include <string.h>

#include "base/error.h"

static const char *const names[] = {
    [HISTO_RULE_AUTO] = "auto",   [HISTO_RULE_FD] = "fd",           [HISTO_RULE_SCOTT] = "scott",
    [HISTO_RULE_STONE] = "stone", [HISTO_RULE_STURGES] = "sturges", [HISTO_RULE_DOANE] = "doane",
    [HISTO_RULE_RICE] = "rice",   [HISTO_RULE_SQRT] = "sqrt",
};

enum { RULES = sizeof names / sizeof names[0] };

bool histo_rule_known(histo_rule rule)
{
    return (unsigned)rule < RULES;
}

bool histo_rule_needs_quartiles(histo_rule rule)
{
    return rule == HISTO_RULE_FD || rule == HISTO_RULE_AUTO;
}

bool histo_rule_needs_moments(histo_rule rule)
{
    return rule == HISTO_RULE_SCOTT || rule == HISTO_RULE_DOANE;
}

histo_status histo_rule_parse(const char *name, histo_rule *rule)
{
    if (rule) *rule = 0;
    if (!name || !rule) return histo_fail(HISTO_INVALID, "rule name or result is NULL");
    for (int r = HISTO_RULE_NONE + 1; r < RULES; r++) {
        if (strcmp(name, names[r]) == 0) {
            *rule = (histo_rule)r;
            return HISTO_OK;
        }
    }
    return histo_fail(HISTO_INVALID, "no rule is called '%s': use auto fd scott stone sturges doane rice or sqrt",
                      name);
}

static double fd_width(const histo_rule_facts *f)
{
    return 2 * f->quartile_spread * pow((double)f->n, -1.0 / 3);
}

static double scott_width(const histo_rule_facts *f)
{
    double n = (double)f->n;
    return pow(24 * sqrt(M_PI) / n, 1.0 / 3) * sqrt(f->m2 / n);
}

static double sturges_width(const histo_rule_facts *f)
{
    return f->spread / (log2((double)f->n) + 1);
}

static double doane_width(const histo_rule_facts *f)
{
    double n = (double)f->n;
    double sigma = sqrt(f->m2 / n);
    if (f->n <= 2 || !(sigma > 0)) return 0;
    double skewness = f->m3 / n / (sigma * sigma * sigma);
    double expected = sqrt(6 * (n - 2) / ((n + 1) * (n + 3)));
    return f->spread / (1 + log2(n) + log2(1 + fabs(skewness) / expected));
}

static double rice_width(const histo_rule_facts *f)
{
    return f->spread / (2 * pow((double)f->n, 1.0 / 3));
}

static double sqrt_width(const histo_rule_facts *f)
{
    return f->spread / sqrt((double)f->n);
}

/* fd, but at most twice as fine as sqrt and never coarser than sturges. */
static double auto_width(const histo_rule_facts *f)
{
    return fmin(fmax(fd_width(f), sqrt_width(f) / 2), sturges_width(f));
}

static double stone_width(const histo_rule_facts *f)
{
    return f->spread / (double)f->stone_bins;
}

static double (*const widths[])(const histo_rule_facts *facts) = {
    [HISTO_RULE_AUTO] = auto_width,   [HISTO_RULE_FD] = fd_width,           [HISTO_RULE_SCOTT] = scott_width,
    [HISTO_RULE_STONE] = stone_width, [HISTO_RULE_STURGES] = sturges_width, [HISTO_RULE_DOANE] = doane_width,
    [HISTO_RULE_RICE] = rice_width,   [HISTO_RULE_SQRT] = sqrt_width,
};

histo_status histo_rule_bins(histo_rule rule, const histo_rule_facts *facts, int64_t *bins)
{
    double wanted = 1;
    double width = facts->n && widths[rule] ? widths[rule](facts) : 0;
    if (width > 0) { /* else all samples, or nearly all, are equal, and the rule's width is 0 */
        if (facts->integer) width = fmax(width, 1);
        wanted = fmax(ceil(facts->range / width), 1);
    }
    if (wanted > (double)HISTO_MAX_BINS)
        return histo_fail(HISTO_INVALID,
                          "rule %s asks for %.10g bins, more than %lld: give a number of bins or a narrower range",
                          names[rule], wanted, (long long)HISTO_MAX_BINS);
    *bins = (int64_t)wanted;
    return HISTO_OK;
}
