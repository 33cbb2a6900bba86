/* Options for how samples are counted: devices, strategies, threads. */
#include "options/parse.h"
#include "options/values.h"

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

int value_param(settings *s, char *text, fault *f)
{
    enum { MOST = 1024 };
    const char *equals = strchr(text, '=');
    if (!equals || equals == text || !equals[1])
        return fault_set(f, EXIT_USAGE, "--param takes NAME=VALUE, not '%s'", text);
    if ((s->params ? strlen(s->params) : 0) + strlen(text) + 2 > MOST)
        return fault_set(f, EXIT_USAGE, "--param takes at most %d characters in all: leave some out", MOST);
    s->params = s->params ? settings_join(s, s->params, ',', text) : text;
    return s->params ? 0 : fault_set(f, EXIT_DATA, "no memory for the options");
}

int value_environment(fault *f)
{
    static const char *const levels[] = {"", "baseline", "avx2", "avx512", "avx512vbmi2"};
    const char *threads = getenv("HISTO_THREADS"), *cpu = getenv("HISTO_CPU");
    int64_t number;
    bool valid = !cpu;
    if (threads && *threads && !(text_to_i64(threads, &number) && number >= 1 && number <= MAX_THREADS))
        return fault_set(f, EXIT_USAGE, "HISTO_THREADS is '%s': it must be a whole number from 1 to %d, or not set",
                         threads, MAX_THREADS);
    for (size_t i = 0; i < sizeof levels / sizeof *levels && !valid; i++)
        valid = strcmp(cpu, levels[i]) == 0;
    if (valid) return 0;
    return fault_set(f, EXIT_USAGE, "HISTO_CPU is '%s': it must be baseline, avx2, avx512 or avx512vbmi2, or not set",
                     cpu);
}
