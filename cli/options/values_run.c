/* Plans, and runs of benchmarks. */
#include "options/parse.h"
#include "options/values.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "options/nearest.h"

int value_device(settings *s, char *text, fault *f)
{
    enum { MAX_DEVICES = 1024 };
    static const char numbered[] = "cuda:";
    int64_t ordinal = 0;
    if (strcmp(text, "auto") == 0)
        s->device = HISTO_DEVICE_AUTO;
    else if (strcmp(text, "cpu") == 0)
        s->device = HISTO_DEVICE_CPU;
    else if (strcmp(text, "cuda:all") == 0)
        s->device = HISTO_DEVICE_CUDA_ALL;
    else if (strcmp(text, "cuda") == 0 ||
             (strncmp(text, numbered, sizeof numbered - 1) == 0 &&
              parse_naturals(text + sizeof numbered - 1, "", &ordinal, 1) == 1 && ordinal < MAX_DEVICES))
        s->device = HISTO_DEVICE_CUDA((int)ordinal);
    else
        return fault_set(f, EXIT_USAGE,
                         "there is no device '%s': --device takes auto, cpu, cuda, cuda:N for GPU N, or cuda:all",
                         text);
    return 0;
}

int value_strategy(settings *s, char *text, fault *f)
{
    const char *name = strchr(text, '/') ? strchr(text, '/') + 1 : text;
    nearest meant = {.word = name};
    histo_strategy_info info;
    for (int i = 0; histo_strategy_describe(i, &info) == HISTO_OK; i++) {
        size_t prefix = (size_t)(name - text);
        bool same_backend =
            !prefix || (strlen(info.backend) == prefix - 1 && strncmp(text, info.backend, prefix - 1) == 0);
        if (same_backend && strcmp(name, info.name) == 0) {
            s->strategy = text;
            return 0;
        }
        nearest_try(&meant, info.name);
    }
    if (meant.best)
        return fault_set(f, EXIT_USAGE, "there is no strategy '%s': did you mean %s? ('histo strategies' lists them)",
                         text, meant.best);
    return fault_set(f, EXIT_USAGE, "there is no strategy '%s': 'histo strategies' lists them", text);
}

int value_strategies(settings *s, char *text, fault *f)
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

int value_param(settings *s, char *text, fault *f)
{
    static char joined[1024]; /* lives as long as the process */
    const char *equals = strchr(text, '=');
    if (!equals || equals == text || !equals[1])
        return fault_set(f, EXIT_USAGE, "--param takes NAME=VALUE, not '%s'", text);
    if (!s->params) joined[0] = '\0';
    size_t length = strlen(joined);
    if (strlen(text) + 2 > sizeof joined - length)
        return fault_set(f, EXIT_USAGE, "--param takes at most %zu characters in all: leave some out", sizeof joined);
    if (length) joined[length++] = ',';
    strcpy(joined + length, text);
    s->params = joined;
    return 0;
}

enum { MAX_THREADS = 1024 };

int value_threads(settings *s, char *text, fault *f)
{
    return parse_int("threads", text, 1, MAX_THREADS, &s->threads, f);
}

int value_environment(fault *f)
{
    static const char *const levels[] = {"", "baseline", "avx2", "avx512", "avx512vbmi2"};
    const char *threads = getenv("HISTO_THREADS"), *cpu = getenv("HISTO_CPU");
    int64_t number;
    bool known = !cpu;
    if (threads && *threads && !(text_to_i64(threads, &number) && number >= 1 && number <= MAX_THREADS))
        return fault_set(f, EXIT_USAGE, "HISTO_THREADS is '%s': it must be a whole number from 1 to %d, or not set",
                         threads, MAX_THREADS);
    for (size_t i = 0; i < sizeof levels / sizeof *levels && !known; i++)
        known = strcmp(cpu, levels[i]) == 0;
    if (known) return 0;
    return fault_set(f, EXIT_USAGE, "HISTO_CPU is '%s': it must be baseline, avx2, avx512 or avx512vbmi2, or not set",
                     cpu);
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

int value_counts(const char *option, const char *text, int64_t largest, int64_t *numbers, int most, fault *f)
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
            if (count == most) return fault_set(f, EXIT_USAGE, "--%s takes at most %d numbers", option, most);
            numbers[count++] = n;
            if (n > last / 2) break;
        }
        at += length;
        if (!*at) return count;
    }
}

int value_samples(settings *s, char *text, fault *f)
{
    static const char *const units[] = {"KiB", "MiB", "GiB"};
    int64_t most = INT64_C(1) << 40, *value = &s->samples;
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
    if (strncmp(text, "2^", 2) == 0 && parse_count(text, value) && *value <= most) return 0;
    if (parse_whole("samples", text, 1, most >> shift, value, f) != 0) return -1;
    *value <<= shift;
    return 0;
}

int value_budget(settings *s, char *text, fault *f)
{
    if (text_to_f64(text, &s->budget_s) && s->budget_s > 0) return 0;
    return fault_set(f, EXIT_USAGE, "--budget takes seconds, more than 0, not '%s'", text);
}

int value_repeat(settings *s, char *text, fault *f)
{
    return parse_int("repeat", text, 1, 101, &s->repeat, f);
}

int value_seed(settings *s, char *text, fault *f)
{
    return parse_whole("seed", text, 0, INT64_MAX, &s->seed, f);
}

int value_count(settings *s, char *text, fault *f)
{
    return parse_whole("count", text, 1, 1000000, &s->count, f);
}

int value_effort(settings *s, char *text, fault *f)
{
    static const char *const names[] = {
        [HISTO_ESTIMATE] = "estimate", [HISTO_COMPILE] = "compile", [HISTO_MEASURE] = "measure"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(text, names[i]) != 0) continue;
        s->effort = (histo_effort)i;
        return 0;
    }
    return fault_set(f, EXIT_USAGE, "there is no effort '%s': --effort takes estimate, compile or measure", text);
}
