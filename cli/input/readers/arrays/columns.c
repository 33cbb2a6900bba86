#include "input/readers/arrays/columns.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "input/readers/arrays/column_words.h"

static int fault_memory(const char *subject, fault *f)
{
    return fault_set(f, EXIT_DATA, "no memory for the columns of %s", subject);
}

int columns_add(column_table *c, const char *name, const table_column *made, const char *subject, fault *f)
{
    if (c->count == COLUMNS_MOST)
        return fault_set(f, EXIT_DATA, "%s has more than %d columns: save it in parts", subject, COLUMNS_MOST);
    table_column *columns = list_grown(c->column, c->count, sizeof *columns);
    if (!columns) return fault_memory(subject, f);
    c->column = columns;
    table_column *to = &columns[c->count];
    *to = *made;
    to->name = strdup(name);
    if (!to->name) return fault_memory(subject, f);
    c->count++;
    return 0;
}

int columns_publish(column_table *c, reader *r, const char *subject, fault *f)
{
    const size_t n = (size_t)c->count;
    const char **names = arena_take(&r->memory, n, sizeof *names);
    histo_dtype *dtypes = arena_take(&r->memory, n, sizeof *dtypes);
    values_kind *kinds = arena_take(&r->memory, n, sizeof *kinds);
    bool *numeric = arena_take(&r->memory, n, sizeof *numeric), *booleans = arena_take(&r->memory, n, sizeof *booleans);
    packing *packings = arena_take(&r->memory, n, sizeof *packings);
    time_epoch *epochs = arena_take(&r->memory, n, sizeof *epochs);
    if (!names || !dtypes || !numeric || !booleans || !kinds || !packings || !epochs) return fault_memory(subject, f);
    for (int i = 0; i < c->count; i++) {
        const table_column *from = &c->column[i];
        names[i] = from->name;
        dtypes[i] = unpack_dtype(&from->rule, from->dtype);
        kinds[i] = from->string.kind ? VALUES_WORDS : VALUES_NUMBERS;
        numeric[i] = !from->what && !from->string.kind && (from->rule.epoch.units == 0 || from->rule.epoch.span);
        booleans[i] = from->boolean;
        packings[i] = from->rule;
        epochs[i] = from->rule.epoch;
    }
    c->packings = packings;
    r->channels = c->count;
    r->names = names;
    r->dtypes = dtypes;
    r->numeric = numeric;
    r->booleans = booleans;
    r->epochs = epochs;
    r->kinds = kinds;
    r->takes_forms = r->declares = true;
    return 0;
}

int columns_check(const column_table *c, const selection *s, const char *subject, fault *f)
{
    const channel_form numbers = {.kind = VALUES_NUMBERS};
    for (int i = 0; i < s->count; i++)
        if (column_words_check(&c->column[s->wanted[i]], s->forms ? &s->forms[i] : &numbers, subject, f) != 0)
            return -1;
    return 0;
}

void columns_free(column_table *c)
{
    for (int i = 0; i < c->count; i++)
        free(c->column[i].name);
    free(c->column);
    *c = (column_table){0};
}
