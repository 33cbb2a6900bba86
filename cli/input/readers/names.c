/* A list of names for a message. */
#include "input/readers/names.h"

#include <stdio.h>
#include <string.h>

enum { ROOM_FOR_REST = 32 };

void name_list_add(name_list *list, const char *name)
{
    size_t used = strlen(list->text);
    const char *separator = list->count++ ? ", " : "";
    if (list->hidden || used + strlen(separator) + strlen(name) + ROOM_FOR_REST > sizeof list->text)
        list->hidden++;
    else
        snprintf(list->text + used, sizeof list->text - used, "%s%s", separator, name);
}

const char *name_list_text(name_list *list)
{
    if (list->count == 0) return "none";
    if (list->hidden) {
        size_t used = strlen(list->text);
        snprintf(list->text + used, sizeof list->text - used, " and %d more", list->hidden);
        list->hidden = 0;
    }
    return list->text;
}
