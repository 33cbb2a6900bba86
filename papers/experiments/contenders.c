/* Which strategies the gallery runs, and with which parameters. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "papers/experiments/gallery.h"
#include "plan/strategy.h"

static bool is_listed(const char *list, const char *name)
{
    char item[64];
    while (bench_next_item(&list, ',', item, sizeof item))
        if (strcmp(item, name) == 0 || strcmp(item, bench_bare_name(name)) == 0) return true;
    return false;
}

/* The next NAME=VALUE,VALUE… of params: a copy of the name, and where its values begin and end. */
static const char *next_parameter(const char *params, char name[64], const char **end)
{
    size_t length = strcspn(params, "=");
    snprintf(name, 64, "%.*s", (int)length, params);
    const char *values = params + length + (params[length] == '=');
    *end = values + strlen(values);
    const char *next = strchr(values, '=');
    while (next && next > values && *next != ',')
        next--;
    if (next && *next == ',') *end = next;
    return values;
}

bool bench_combination(const char *params, int which, char *text, size_t size)
{
    size_t used = 0;
    *text = '\0';
    while (params && *params) {
        char name[64];
        const char *end, *value = next_parameter(params, name, &end);
        int count = 1;
        for (const char *c = value; c < end; c++)
            count += *c == ',';
        for (int skip = which % count; skip > 0; skip--)
            value = strchr(value, ',') + 1;
        size_t length = strcspn(value, ",");
        if (value + length > end) length = (size_t)(end - value);
        if (used < size)
            used += (size_t)snprintf(text + used, size - used, "%s%s=%.*s", used ? "," : "", name, (int)length, value);
        which /= count;
        params = end + (*end == ',');
    }
    return which == 0;
}

/* A backend has none of the strategies in a list; another may have one. */
static histo_status fail_unlisted(const char *backend, const char *strategies)
{
    histo_strategy_info info;
    for (int i = 0; histo_strategy_describe(i, &info) == HISTO_OK; i++) {
        char name[sizeof((bench_contender *)NULL)->name];
        snprintf(name, sizeof name, "%s/%s", info.backend, info.name);
        if (is_listed(strategies, name))
            return histo_fail(HISTO_INVALID, "%s is a strategy of %s, not of %s: take --device %s", info.name,
                              info.backend, backend, info.backend);
    }
    return histo_fail(HISTO_INVALID, "no strategy of %s is called %s: 'histo strategies' lists them", backend,
                      strategies);
}

bench_contender *bench_contenders_list(const char *backend, const char *strategies, const char *params, int *count)
{
    enum { MOST = 4096 };
    char text[sizeof((bench_contender *)NULL)->params];
    int combinations = 0;
    while (combinations < MOST && bench_combination(params, combinations, text, sizeof text))
        combinations++;
    const size_t room = (size_t)histo_strategy_count() * (size_t)combinations;
    bench_contender *list = calloc(room, sizeof *list);
    *count = 0;
    if (!list) {
        histo_fail_memory(room * sizeof *list, "strategies");
        return NULL;
    }
    histo_strategy_info info;
    for (int i = 0; histo_strategy_describe(i, &info) == HISTO_OK; i++) {
        char name[sizeof list->name];
        snprintf(name, sizeof name, "%s/%s", info.backend, info.name);
        if (strcmp(info.backend, backend) != 0 || (strategies && !is_listed(strategies, name))) continue;
        for (int c = 0; c < combinations; c++) {
            bench_contender *next = &list[(*count)++];
            memcpy(next->name, name, sizeof name);
            bench_combination(params, c, next->params, sizeof next->params);
        }
    }
    if (*count) return list;
    free(list);
    fail_unlisted(backend, strategies);
    return NULL;
}
