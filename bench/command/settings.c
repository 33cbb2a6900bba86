/* The table of histo-bench's options, and the parsers of their values. */
#include "bench/command/settings.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "options/parse.h"
#include "options/rows.h"

static bench_settings *of_common(settings *common)
{
    return (bench_settings *)common;
}

static int value_strategies(settings *s, char *text, fault *f)
{
    for (const char *at = text; *at; at += strcspn(at, ",")) {
        char name[64];
        at += *at == ',';
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at, ","), at);
        if (value_strategy(s, name, f) != 0) return -1;
    }
    s->strategy = text;
    return *text ? 0 : fault_set(f, EXIT_USAGE, "--strategy is empty: 'histo strategies' lists the names");
}

/* "1000" or "2^20" */
static bool parse_count(const char *text, int64_t *count)
{
    int64_t power;
    if (strncmp(text, "2^", 2) != 0) return text_to_i64(text, count);
    if (!text_to_i64(text + 2, &power) || power < 0 || power > 62) return false;
    *count = INT64_C(1) << power;
    return true;
}

/* A number, or the first and last of a range that is doubled: "256..4096". */
static bool parse_range(const char *text, int64_t *first, int64_t *last)
{
    char begin[TEXT_NUMBER_BYTES];
    const char *dots = strstr(text, "..");
    snprintf(begin, sizeof begin, "%.*s", dots ? (int)(dots - text) : (int)sizeof begin - 1, text);
    if (!parse_count(begin, first)) return false;
    *last = *first;
    return !dots || (parse_count(dots + 2, last) && *last >= *first);
}

int bench_parse_numbers(const char *option, const char *text, int64_t largest, int64_t *numbers, int max_numbers,
                        fault *f)
{
    int count = 0;
    for (const char *at = text;; at++) {
        size_t length = strcspn(at, ",");
        char item[2 * TEXT_NUMBER_BYTES];
        int64_t first, last;
        snprintf(item, sizeof item, "%.*s", (int)length, at);
        if (length >= sizeof item || !parse_range(item, &first, &last) || first < 1 || last > largest)
            return fault_set(f, EXIT_USAGE,
                             "--%s takes whole numbers from 1 to %" PRId64 ", as in 1000 or 2^20, not '%.*s'", option,
                             largest, (int)length, at);
        if (count > 0 && first <= numbers[count - 1])
            return fault_set(f, EXIT_USAGE, "the numbers of --%s must increase, and %.*s follows a larger one", option,
                             (int)length, at);
        for (int64_t n = first; n <= last; n *= 2) {
            if (count == max_numbers)
                return fault_set(f, EXIT_USAGE, "--%s takes at most %d numbers", option, max_numbers);
            numbers[count++] = n;
            if (n > last / 2) break;
        }
        at += length;
        if (!*at) return count;
    }
}

static int value_samples(settings *common, char *text, fault *f)
{
    bench_settings *s = of_common(common);
    static const char *const units[] = {"KiB", "MiB", "GiB"};
    int64_t limit = INT64_C(1) << 40, *value = &s->samples;
    size_t digits = strspn(text, "0123456789");
    int shift = 0;
    s->sample_list = NULL;
    if (strchr(text, ',') || strstr(text, "..")) {
        s->sample_list = text;
        return 0;
    }
    for (int u = 0; u < 3; u++)
        if (strcmp(text + digits, units[u]) == 0) shift = 10 * (u + 1);
    s->samples = s->bytes = 0;
    if (shift) {
        text[digits] = '\0';
        value = &s->bytes;
    }
    if (strncmp(text, "2^", 2) == 0 && parse_count(text, value) && *value <= limit) return 0;
    if (parse_whole("samples", text, 1, limit >> shift, value, f) != 0) return -1;
    *value <<= shift;
    return 0;
}

static int value_budget(settings *common, char *text, fault *f)
{
    bench_settings *s = of_common(common);
    if (text_to_f64(text, &s->budget_s) && s->budget_s > 0) return 0;
    return fault_set(f, EXIT_USAGE, "--budget takes seconds, more than 0, not '%s'", text);
}

static const option_row rows[] = {
#define OPTION OPTION_ROW
#define SETTINGS settings
#include "options/shared.def"
#undef SETTINGS
#define SETTINGS bench_settings
#include "bench/command/options.def"
#undef SETTINGS
#undef OPTION
};

const option_table bench_option_table = {rows, sizeof rows / sizeof *rows};

int bench_settings_parse(bench_settings *s, const char *command, int argc, char **argv, fault *f)
{
    *s = (bench_settings){.effort = HISTO_ESTIMATE};
    return settings_parse(&s->common, &bench_option_table, command, argc, argv, f);
}
