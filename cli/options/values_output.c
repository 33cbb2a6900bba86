/* Options for numbers of histograms, and for drawings. */
#define _GNU_SOURCE
#include "options/parse.h"
#include "options/values.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

int value_logy(settings *s, char *text, fault *f)
{
    (void)text;
    (void)f;
    s->scale = SCALE_LOG;
    return 0;
}

int value_theme(settings *s, char *text, fault *f)
{
    const int which = parse_choice("theme", text, "light dark", f);
    s->light = which == 0;
    s->dark = which == 1;
    return which < 0 ? -1 : 0;
}

int value_quantiles(const char *text, double **quantiles, fault *f)
{
    int count = 1;
    if (!text) text = "25,50,75";
    for (const char *c = text; *c; c++)
        count += *c == ',';
    char *items = strdup(text), *rest = items;
    *quantiles = malloc((size_t)count * sizeof **quantiles);
    int failed = items && *quantiles ? 0 : fault_set(f, EXIT_DATA, "no memory for %d quantiles", count);
    for (int i = 0; i < count && !failed; i++) {
        const char *item = text_trim(strsep(&rest, ","));
        double percent;
        if (!text_to_f64(item, &percent) || !(percent >= 0 && percent <= 100))
            failed = fault_set(f, EXIT_USAGE, "--quantiles takes percentages from 0 to 100, as in 1,50,99, not '%.40s'",
                               item);
        else
            (*quantiles)[i] = percent / 100;
    }
    free(items);
    if (!failed) return count;
    free(*quantiles);
    *quantiles = NULL;
    return -1;
}

int value_quantile_rule(settings *s, char *text, fault *f)
{
    if (histo_quantile_rule_parse(text, &s->quantile_rule) == HISTO_OK) return 0;
    return fault_set(f, EXIT_USAGE,
                     "there is no rule '%.40s': --rule takes the methods of numpy.quantile, as in --rule nearest",
                     text);
}

int value_metric(settings *s, char *text, fault *f)
{
    histo_metric metric;
    s->metric = text;
    if (histo_metric_parse(text, &metric) == HISTO_OK) return 0;
    return fault_set(
        f, EXIT_USAGE,
        "there is no metric '%.40s': --metric takes correlation, chi-square, chi-square-alt, intersection, "
        "bhattacharyya, kl-divergence, js-divergence, kolmogorov or earth-mover",
        text);
}

int value_size(settings *s, char *text, fault *f)
{
    int64_t size[2];
    if (parse_naturals(text, "x,", size, 2) != 2)
        return fault_set(f, EXIT_USAGE, "'%s' is not a size: --size takes width and height in pixels, as in 800x600",
                         text);
    for (int i = 0; i < 2; i++)
        if (size[i] < PICTURE_MIN_SIZE || size[i] > PICTURE_MAX_SIZE)
            return fault_set(f, EXIT_USAGE,
                             "a picture of '%s' pixels cannot be drawn: width and height of --size are %d to %d", text,
                             PICTURE_MIN_SIZE, PICTURE_MAX_SIZE);
    s->plot_width = (int)size[0];
    s->plot_height = (int)size[1];
    return 0;
}
